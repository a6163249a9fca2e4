//! evals
fn main() {}
