//! The HTTP interface, asked by schemathesis for what its description promises: it makes requests
//! from the schemas, right and wrong ones, and checks every answer against them.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, bail};

use crate::cargo::{cargo, root, succeed};
use crate::python;

/// The program that asks, from the Python package index.
const SCHEMATHESIS: &str = "schemathesis==4.32.5";

/// What is checked of each answer. Not that every input which fits its schema is taken: a question
/// of nothing, or a note that does not exist, fits and is refused, with a status that is described.
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,\
                      response_schema_conformance,negative_data_rejection,unsupported_method,\
                      ignored_auth";

/// Asks a bridge over the sample vault, in a home of its own.
///
/// # Errors
/// An answer is not as described. What has to be left out is said and given back.
pub(crate) fn run() -> Result<Vec<&'static str>> {
    let packages = match python::packages("schemathesis", &[SCHEMATHESIS]) {
        Ok(packages) => packages,
        Err(why) => {
            eprintln!("    SKIPPED: {why}");
            return Ok(vec!["schemathesis"]);
        }
    };
    succeed(cargo(&["build", "--quiet", "-p", "lorewell"]))?;
    let home = Home::new()?;
    let vault = root().join("sample-vault").display().to_string();
    home.done(&["vault", "add", &vault])?;
    let approved = home.done(&["agent", "approve", "schemathesis", "--local", "--json"])?;
    let token = after(&approved, "\"token\":\"").context("no token was shown")?;
    let bridge = home.serve()?;
    let mut command = packages.program("schemathesis");
    command
        .args(["run", &format!("{}/v1/openapi.json", bridge.url)])
        .args(["--checks", CHECKS, "--max-examples", "40", "--seed", "1"])
        // A stream without an end is no answer that can be checked.
        .args(["--exclude-path", "/v1/events"])
        .args(["--no-color", "--suppress-health-check", "all"])
        .arg("--header")
        .arg(format!("Authorization: Bearer {token}"))
        .env("HOME", &home.0)
        .current_dir(&home.0);
    // The token opens nothing but this home; it is not shown all the same.
    eprintln!("    schemathesis run {}/v1/openapi.json", bridge.url);
    let status = command.status().context("cannot start schemathesis")?;
    if !status.success() {
        bail!("the HTTP interface does not keep what its description promises");
    }
    Ok(Vec::new())
}

fn after(text: &str, mark: &str) -> Option<String> {
    let rest = &text[text.find(mark)? + mark.len()..];
    Some(rest[..rest.find('"')?].to_owned())
}

/// A home that goes when it is dropped.
struct Home(PathBuf);

/// A bridge that ends when it is dropped.
struct Serving {
    child: Child,
    url: String,
}

impl Home {
    fn new() -> Result<Home> {
        let name = format!("lorewell-http-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).with_context(|| path.display().to_string())?;
        Ok(Home(path))
    }

    fn lorewell(&self, words: &[&str]) -> Command {
        let program = root().join("target/debug/lorewell");
        let program = program.with_extension(std::env::consts::EXE_EXTENSION);
        let mut command = Command::new(program);
        command.args(words);
        for (name, _) in std::env::vars_os() {
            let name_shown = name.to_string_lossy();
            if name_shown.starts_with("LOREWELL_") || name_shown.starts_with("XDG_") {
                command.env_remove(name);
            }
        }
        command.env("HOME", &self.0).current_dir(&self.0);
        command
    }

    fn done(&self, words: &[&str]) -> Result<String> {
        let output = self
            .lorewell(words)
            .output()
            .context("cannot start lorewell")?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            bail!("`lorewell {}` failed: {said}", words.join(" "));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn serve(&self) -> Result<Serving> {
        let mut child = self
            .lorewell(&["serve", "--port", "0", "--json"])
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start lorewell serve")?;
        let out = child.stdout.take().context("no output")?;
        let mut line = String::new();
        BufReader::new(out).read_line(&mut line)?;
        match after(&line, "\"addresses\":[\"") {
            Some(address) => Ok(Serving {
                child,
                url: format!("http://{address}"),
            }),
            None => {
                let _ = child.kill();
                bail!("`lorewell serve` did not say where it listens: {line}")
            }
        }
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        // A leftover in the temporary folder harms nobody.
        let _ = fs::remove_dir_all::<&Path>(&self.0);
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
