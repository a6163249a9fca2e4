//! Automation, run as `cargo xtask COMMAND`. It calls cargo and the project's own
//! programs; it holds no logic of the product.

mod bench_vault;
mod cargo;
mod distill;
mod gate;
mod house;
mod http_api;
mod mcp;
mod python;
mod road;
mod smoke;
mod tools;

use std::process::ExitCode;

use anyhow::{Result, bail};

const USAGE: &str = "\
cargo xtask COMMAND

  test [--fast]     the one gate: format, lints, tests, docs, licences, release build,
                    smoke run, sample evaluation; --fast leaves out the release steps and
                    the comparison with tantivy
  eval ARGS…        measure retrieval quality   (lorewell-evals, release build)
  bench ARGS…       measure speed               (lorewell-evals bench, release build);
                    without --vault DIR… on a generated vault of --notes 10000
  bench-hook ARGS…  measure the hook for prompts (lorewell-evals hook), likewise
  bench-load        fifty clients of a bridge for a minute while notes change
  bench-vault DIR [--notes 10000] [--seed 1]
                    write a generated vault into DIR, which must be empty or absent
  mcp               check `lorewell mcp` from outside, with the official suite and client
  distill [--out DIR]
                    make the built-in static model again, into target/distill/static-en-256
  docs              write the generated pages under docs/ and README.md's transcript anew
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
        ("bench", rest) => bench("bench", rest),
        ("bench-hook", rest) => bench("hook", rest),
        ("bench-load", []) => load(),
        ("bench-vault", rest) => bench_vault::run(rest),
        ("mcp", []) => mcp::run().map(drop),
        ("distill", rest) => distill::run(rest),
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

/// Builds the program whose cold start is timed, and measures; on a generated vault, which is
/// removed afterwards, if none is named.
fn bench(what: &str, args: &[String]) -> Result<()> {
    cargo::succeed(cargo::cargo(&[
        "build",
        "--release",
        "--quiet",
        "-p",
        "lorewell",
    ]))?;
    if args
        .iter()
        .any(|arg| arg.starts_with("--vault") || arg == "--help")
    {
        return cargo::evals(&[what], args);
    }
    let (notes, args) = notes_of(args)?;
    let place = std::env::temp_dir().join(format!("lorewell-bench-{}", std::process::id()));
    let name = format!("{notes}-generated-notes");
    let vault = place.join(name).display().to_string();
    let wish = [vault.clone(), "--notes".to_string(), notes];
    let done =
        bench_vault::run(&wish).and_then(|()| cargo::evals(&[what, "--vault", &vault], &args));
    std::fs::remove_dir_all(&place)?;
    done
}

/// How many notes a generated vault is to have, and the other arguments.
fn notes_of(args: &[String]) -> Result<(String, Vec<String>)> {
    let mut rest = args.to_vec();
    let Some(at) = rest.iter().position(|arg| arg == "--notes") else {
        return Ok(("10000".to_string(), rest));
    };
    rest.remove(at);
    if at == rest.len() {
        bail!("--notes needs a number");
    }
    let notes = rest.remove(at);
    Ok((notes, rest))
}

/// Has the load test of the bridge run for a minute, release build; it prints the rows of
/// docs/evals/load.md.
fn load() -> Result<()> {
    let words = "test --release -p lorewell-bridge --test spec load -- --nocapture";
    let mut command = cargo::cargo(&words.split(' ').collect::<Vec<_>>());
    command.env("LOREWELL_LOAD_SECONDS", "60");
    cargo::succeed(command)
}

/// The tests that compare the committed pages with the tables write them when told to.
fn docs() -> Result<()> {
    let tests = [
        ("lorewell-setup", "reference"),
        ("lorewell-capabilities", "schemas_are_as_committed"),
        ("lorewell", "the_committed_pages_are_up_to_date"),
    ];
    for (package, test) in tests {
        let mut command = cargo::cargo(&["test", "--quiet", "-p", package, test]);
        command.env("LOREWELL_WRITE_DOCS", "1");
        cargo::succeed(command)?;
    }
    smoke::write_transcript()?;
    eprintln!(
        "written: docs/settings.md, docs/commands.md, skill/lorewell/references, \
         crates/capabilities/tests/schemas, the transcript of README.md"
    );
    Ok(())
}
