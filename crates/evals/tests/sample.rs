//! The sample vault's questions are answered at least as well as the committed results say.

#[test]
fn no_answer_over_the_sample_vault_got_worse() {
    if let Err(worse) = lorewell_evals::sample::check() {
        panic!("{worse:#}");
    }
}
