//! Automation, run as `cargo xtask COMMAND`. It calls cargo and the project's own
//! programs; it holds no logic of the product.

mod bench_vault;
mod cargo;
mod gate;
mod smoke;

use std::process::ExitCode;

use anyhow::{Result, bail};

const USAGE: &str = "\
cargo xtask COMMAND

  test [--fast]     the one gate: format, lints, tests, docs, release build, smoke run,
                    sample evaluation; --fast leaves the release steps out
  eval ARGS…        measure retrieval quality   (lorewell-evals, release build)
  bench ARGS…       measure speed               (lorewell-evals bench, release build)
  bench-vault DIR [--notes 10000] [--seed 1]
                    write a generated vault into DIR, which must be empty or absent
  docs              write the generated pages under docs/ anew
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[String]) -> Result<()> {
    let Some((command, rest)) = args.split_first() else {
        eprint!("{USAGE}");
        bail!("no command given");
    };
    match (command.as_str(), rest) {
        ("test", []) => gate::run(gate::Extent::Whole),
        ("test", [flag]) if flag == "--fast" => gate::run(gate::Extent::Fast),
        ("eval", rest) => cargo::evals(&[], rest),
        ("bench", rest) => cargo::evals(&["bench"], rest),
        ("bench-vault", rest) => bench_vault::run(rest),
        ("docs", []) => docs(),
        ("help" | "-h" | "--help", _) => {
            print!("{USAGE}");
            Ok(())
        }
        _ => {
            eprint!("{USAGE}");
            bail!("cannot make sense of `{}`", args.join(" "))
        }
    }
}

/// The test that compares the committed pages with the tables writes them when told to.
fn docs() -> Result<()> {
    let mut command = cargo::cargo(&["test", "--quiet", "-p", "lorewell-setup", "reference"]);
    command.env("LOREWELL_WRITE_DOCS", "1");
    cargo::succeed(command)?;
    eprintln!("written: docs/settings.md");
    Ok(())
}
