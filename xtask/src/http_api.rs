//! The HTTP interface, asked by schemathesis for what its description promises: it makes requests
//! from the schemas, right and wrong ones, and checks every answer against them.

use anyhow::{Context as _, Result, bail};

use crate::cargo::{cargo, succeed};
use crate::house::Home;
use crate::python;

/// The program that asks, from the Python package index.
const SCHEMATHESIS: &str = "schemathesis==4.32.5";

/// What is checked of each answer. Not that every input which fits its schema is taken: a question
/// of nothing, or a note that does not exist, fits and is refused, with a status that is described.
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,\
                      response_schema_conformance,negative_data_rejection,unsupported_method,\
                      ignored_auth";

/// What refuses wrong data: what schemathesis takes for that by itself but faults of the server, and
/// 413, since a body that is too large is refused before anybody knows what else is wrong with it.
const SETTINGS: &str = "[checks.negative_data_rejection]\nexpected-statuses = \
                        [400, 401, 403, 404, 405, 406, 409, 413, 415, 422, 428, 429]\n";

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
    let home = Home::new("http")?;
    let token = home.approve("schemathesis")?;
    let bridge = home.serve()?;
    std::fs::write(home.folder.join("schemathesis.toml"), SETTINGS)
        .context("the settings of schemathesis")?;
    let mut command = packages.program("schemathesis");
    command
        .args(["run", &format!("{}/v1/openapi.json", bridge.url)])
        .args(["--checks", CHECKS, "--max-examples", "40", "--seed", "1"])
        // A stream without an end is no answer that can be checked.
        .args(["--exclude-path", "/v1/events"])
        .args(["--no-color", "--suppress-health-check", "all"])
        .arg("--header")
        .arg(format!("Authorization: Bearer {token}"))
        .env("HOME", &home.folder)
        .current_dir(&home.folder);
    // The token opens nothing but this home; it is not shown all the same.
    eprintln!("    schemathesis run {}/v1/openapi.json", bridge.url);
    let status = command.status().context("cannot start schemathesis")?;
    if !status.success() {
        bail!("the HTTP interface does not keep what its description promises");
    }
    Ok(Vec::new())
}
