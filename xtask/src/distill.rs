//! `cargo xtask distill`: makes the built-in static model again, from a teacher and from texts of
//! packages. The steps are programs of their own, in xtask/distill and in two examples.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, anyhow, bail};

use crate::cargo::{cargo, root, succeed};
use crate::python::{self, Packages};

/// What the training computes with.
const PACKAGES: &[&str] = &["numpy==2.4.6", "scipy==1.17.1", "zstandard==0.25.0"];

/// Folder of the teacher among the weights that xtask/encoder/weights.py fetches.
const TEACHER: &str = "all-MiniLM-L6-v2";

/// Libraries of linear algebra that must not share their work between threads: sums would come out
/// otherwise each time.
const ONE_THREAD: &[&str] = &[
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
];

/// Makes the model in `--out DIR`, else in target/distill/static-en-256.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let work = root().join("target/distill");
    let out = match args {
        [] => work.join("static-en-256"),
        [flag, folder] if flag == "--out" => std::path::absolute(folder)?,
        _ => bail!("usage: cargo xtask distill [--out DIR]"),
    };
    let packages = python::packages("distill", PACKAGES).map_err(|why| anyhow!(why))?;
    let script = |name: &str| script(&packages, name);
    let weights = root().join("target/weights");
    let (texts, vocabulary) = (work.join("texts.jsonl"), work.join("vocabulary.jsonl"));

    step("the teacher's weights");
    run_with(script("encoder/weights.py"), &[&weights])?;

    step("texts");
    run_with(script("distill/texts.py"), &[&work.join("packages"), &work])?;

    step("tokens, as the model counts them");
    let tokens = example("lorewell-embed", "tokens");
    run_with(tokens, &[&texts, &work.join("texts.tokens")])?;

    step("the teacher's vectors");
    let teacher = weights.join(TEACHER);
    for (texts, vectors) in [(&vocabulary, "vocabulary.f32"), (&texts, "texts.f32")] {
        let (vectors, part) = (work.join(vectors), work.join("vectors.part"));
        if is_newer(&vectors, texts) {
            eprintln!("    {} is there", vectors.display());
            continue;
        }
        let encoder = example("lorewell-encoder", "vectors");
        run_with(encoder, &[&teacher, texts, &part])?;
        std::fs::rename(&part, &vectors)?;
    }

    step("training");
    let mut train = script("distill/train.py");
    for variable in ONE_THREAD {
        train.env(variable, "1");
    }
    run_with(train, &[&work, &out])?;
    run_with(script("distill/card.py"), &[&work, &out])
}

fn step(name: &str) {
    eprintln!("=== {name}");
}

/// Whether a file was made after another was; not so if either is absent.
fn is_newer(made: &Path, from: &Path) -> bool {
    let changed = |path: &Path| std::fs::metadata(path)?.modified();
    matches!((changed(made), changed(from)), (Ok(made), Ok(from)) if made > from)
}

fn script(packages: &Packages, name: &str) -> Command {
    let mut command = packages.program("python");
    command.arg(root().join("xtask").join(name));
    command
}

fn example(package: &str, name: &str) -> Command {
    let mut command = cargo(&["run", "--quiet", "--release", "-p", package]);
    command.args(["--example", name, "--"]);
    command
}

/// Runs a command with these paths as its last arguments.
fn run_with(mut command: Command, paths: &[&Path]) -> Result<()> {
    command.args(paths);
    succeed(command)
}
