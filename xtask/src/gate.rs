//! `cargo xtask test`: the one gate, used by people and by continuous integration alike.

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use crate::cargo::{cargo, root, shown, succeed, works};
use crate::smoke;

/// How much of the gate to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Everything.
    Whole,
    /// Without the steps that need a release build.
    Fast,
}

/// What the evaluation program is asked: evaluate the sample vault and compare with
/// the committed results.
const SAMPLE_EVALUATION: &[&str] = &["sample", "--check"];

/// One heading of the gate.
struct Step {
    name: &'static str,
    work: Work,
}

enum Work {
    Run(Command),
    Smoke,
    /// Not run here, and why.
    Skip(&'static str),
}

/// Runs the steps in order and stops at the first that fails.
pub(crate) fn run(extent: Extent) -> Result<()> {
    install_components()?;
    let steps = steps(extent);
    let count = steps.len();
    let start = Instant::now();
    let mut skipped = Vec::new();
    for (number, step) in (1..).zip(steps) {
        let name = step.name;
        eprintln!("\n=== [{number}/{count}] {name}");
        let began = Instant::now();
        let result = match step.work {
            Work::Run(command) => {
                eprintln!("    {}", shown(&command));
                succeed(command)
            }
            Work::Smoke => smoke::run(),
            Work::Skip(why) => {
                eprintln!("    SKIPPED: {why}");
                skipped.push(name);
                continue;
            }
        };
        result.with_context(|| format!("test FAILED at step {number} of {count}, {name}"))?;
        eprintln!("    ok, {}", seconds(began.elapsed()));
    }
    let note = match skipped.as_slice() {
        [] => String::new(),
        names => format!("; skipped: {}", names.join(", ")),
    };
    let took = seconds(start.elapsed());
    eprintln!("\nxtask: test passed, {count} steps in {took}{note}");
    Ok(())
}

fn steps(extent: Extent) -> Vec<Step> {
    let mut steps = vec![
        run_step("format", &["fmt", "--all", "--check"]),
        run_step(
            "lints",
            &[
                "clippy",
                "--workspace",
                "--all-targets",
                "--",
                "-D",
                "warnings",
            ],
        ),
        run_step(
            "tests",
            &[
                "test",
                "--workspace",
                "--lib",
                "--bins",
                "--tests",
                "--examples",
            ],
        ),
        run_step("doc tests", &["test", "--workspace", "--doc"]),
        benches(),
        documentation(),
        licences(),
    ];
    if extent == Extent::Whole {
        steps.extend([
            run_step("release build", &["build", "--release", "-p", "lorewell"]),
            Step {
                name: "smoke run",
                work: Work::Smoke,
            },
            sample_evaluation(),
        ]);
    }
    steps
}

fn run_step(name: &'static str, args: &[&str]) -> Step {
    let work = Work::Run(cargo(args));
    Step { name, work }
}

/// Every bench, compiled and run once without measuring (criterion's test mode).
fn benches() -> Step {
    let name = "benches, once each";
    let crates = root().join("crates").read_dir();
    let has_benches = |entry: std::io::Result<std::fs::DirEntry>| {
        entry.is_ok_and(|entry| entry.path().join("benches").is_dir())
    };
    if crates.is_ok_and(|mut crates| crates.any(has_benches)) {
        run_step(name, &["test", "--workspace", "--bench", "*"])
    } else {
        let work = Work::Skip("no crate has benches");
        Step { name, work }
    }
}

fn documentation() -> Step {
    let mut command = cargo(&["doc", "--no-deps", "--workspace"]);
    command.env("RUSTDOCFLAGS", "-D warnings");
    Step {
        name: "documentation",
        work: Work::Run(command),
    }
}

fn licences() -> Step {
    let name = "licences and advisories";
    if works(cargo(&["deny", "--version"])) {
        return run_step(name, &["deny", "check"]);
    }
    let work = Work::Skip("cargo-deny is not installed (`cargo install --locked cargo-deny`)");
    Step { name, work }
}

fn sample_evaluation() -> Step {
    let mut command = cargo(&["run", "--quiet", "--release", "-p", "lorewell-evals", "--"]);
    command.args(SAMPLE_EVALUATION);
    Step {
        name: "sample evaluation",
        work: Work::Run(command),
    }
}

/// Rust's own tools are all that the gate needs; what is missing is installed.
fn install_components() -> Result<()> {
    for (component, subcommand) in [("rustfmt", "fmt"), ("clippy", "clippy")] {
        if works(cargo(&[subcommand, "--version"])) {
            continue;
        }
        eprintln!("installing {component}: rustup component add {component}");
        let mut rustup = Command::new("rustup");
        rustup
            .args(["component", "add", component])
            .current_dir(root());
        if !rustup.status().context("cannot start rustup")?.success() {
            bail!("{component} is missing and `rustup component add {component}` failed");
        }
    }
    Ok(())
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}
