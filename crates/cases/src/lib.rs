//! Failure cases against the real product: a case is a small vault, steps, and checks of what came
//! out. For tests only; nothing here is part of the product.
//!
//! A case lies in a folder of its own: `case.json` with `files`, `action` and `checks`, the notes in
//! `vault/`, and at times `outside/` beside it. [`run`] lays a copy of it out in a temporary folder,
//! does the steps through the capabilities and the engine in this process, and looks at each check.
//! Each step is one function in the table of `actions.rs`, each check one in that of `checks.rs`.
//! A case about servers or several processes starts the program itself; crates/cli/tests/cases.rs
//! runs these, for it knows where the program lies.
//! What no capability serves yet stands in `served.rs`; a case that needs such a thing is pending.
//!
//! The cases of this crate lie in `own/`, each a neighbour of a fault that such programs have; the
//! folder that `LOREWELL_CASES` names holds more. `cargo test -p lorewell-cases -- --nocapture` shows
//! what came of each; `known.md` lists checks that do not hold, `pending.md` cases that cannot run.
//!
//! What a case calls an *excerpt* is the passage without its hidden pieces (comments, data, ids), as
//! every surface shows it; its `text` in the JSON is the slice of the file.

mod actions;
mod case;
mod checks;
mod embedding;
mod lists;
mod ordinary_user;
mod processes;
mod report;
mod reranking;
mod served;
mod vault_copy;
mod watching;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

pub use case::{Case, CaseError, Check, Level, Step, load};
pub use embedding::{TO_KILL, embed_until_killed};
pub use lists::{KnownRow, PendingRow, complaints, known_rows, pending_rows, stand_in_rows};
pub use ordinary_user::{ASKED, asked_line};
pub use report::{Finding, Report, Verdict, shown, summary};
pub use served::{STAND_INS, gap_of};

use world::World;

/// Runs a case and says what came of it, where `program` is the product as it was built. One that
/// needs it is skipped without.
pub fn run_with(case: &Case, program: Option<&Path>) -> Report {
    if gap_of(case).is_some() || !case.needs_program() {
        return run(case);
    }
    match program {
        Some(program) => run_there(case, Some(program)),
        None => Report::skipped(case, "it starts the program".to_string()),
    }
}

/// Runs a case and says what came of it, without the program. One that takes permissions away runs as an ordinary user,
/// in a copy of the calling test program, for the superuser may read everything; one that asks for
/// few watches of the file system runs where the system gives no more.
pub fn run(case: &Case) -> Report {
    if let Some(gap) = gap_of(case) {
        return Report::pending(case, gap);
    }
    if let Some(most) = case.max_watches() {
        return ordinary_user::run_with_few_watches(case, most);
    }
    if case.takes_permissions() && ordinary_user::is_superuser() {
        return ordinary_user::run(case);
    }
    run_here(case)
}

/// Runs a case as whoever this process is.
pub fn run_here(case: &Case) -> Report {
    run_there(case, None)
}

fn run_there(case: &Case, program: Option<&Path>) -> Report {
    let mut findings = Vec::new();
    let mut world = match World::lay_out(case, program) {
        Ok(world) => world,
        Err(error) => return Report::of(case, vec![Finding::of_step("layout", Err(error))]),
    };
    for (number, step) in (1..).zip(&case.steps) {
        if step.text("during").is_ok() {
            // Done by the step that it goes with.
            continue;
        }
        world.during = case.steps_during(step);
        let outcome = catch_unwind(AssertUnwindSafe(|| world.take(step)));
        let name = format!("step {number} {}", step.action);
        match outcome {
            Ok(Ok(())) => {}
            Ok(Err(trouble)) => findings.push(Finding::of_step(&name, Err(trouble.to_string()))),
            Err(_) => {
                world.panicked = true;
                findings.push(Finding::of_step(&name, Err("it panicked".to_string())));
            }
        }
    }
    for check in &case.checks {
        if served::gap_of_check(check).is_none() {
            findings.push(Finding {
                label: check.label(),
                level: check.level,
                outcome: checks::look(&world, check),
            });
        }
    }
    Report::of(case, findings)
}

/// The names of the checks that there are.
pub fn check_names() -> Vec<&'static str> {
    checks::TABLE.iter().map(|(name, _)| *name).collect()
}

/// Whether a check is about what a process does.
pub fn of_processes(check: &str) -> bool {
    checks::OF_PROCESSES.contains(&check)
}
