//! The Model Context Protocol, checked from outside: the official conformance suite over HTTP, and
//! the official Python client on every road. Both are run against a server alone, and against a
//! bridge (`lorewell serve`) with its gate.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, bail};

use crate::cargo::{cargo, root, shown, succeed, works};
use crate::house::Home;
use crate::{python, road};

const CLIENT: &str = "mcp==2.3.0";
const SUITE: &str = "@modelcontextprotocol/conformance@0.2.0-alpha.10";
/// The suite needs Node 22, which comes as a package where the system's is older.
const NODE: &str = "node@22.23.3";
/// Below `target/tools`.
const FOLDER: &str = "mcp-conformance";
/// What does not hold of a server alone, and of a bridge.
const BASELINE: &str = "crates/mcp/conformance.yml";
const BASELINE_OF_BRIDGE: &str = "crates/mcp/conformance-bridge.yml";
const NOTES: &str = "sample-vault";

/// The scenarios that ask for no tool of the suite's own, each with the revision it is run in.
const SCENARIOS: &[(&str, &str)] = &[
    ("server-initialize", "2025-11-25"),
    ("ping", "2025-11-25"),
    ("tools-list", "2025-11-25"),
    ("tools-list", "2026-07-28"),
    ("resources-list", "2025-11-25"),
    ("resources-list", "2026-07-28"),
    ("prompts-list", "2025-11-25"),
    ("prompts-list", "2026-07-28"),
    ("dns-rebinding-protection", "2025-11-25"),
    ("dns-rebinding-protection", "2026-07-28"),
    ("server-stateless", "2026-07-28"),
    ("http-header-validation", "2026-07-28"),
    ("caching", "2026-07-28"),
    ("sep-2164-resource-not-found", "2026-07-28"),
    ("input-required-result-unsupported-methods", "2026-07-28"),
];

/// Runs both; names what could not be had.
pub(crate) fn run() -> Result<Vec<&'static str>> {
    let mut skipped = Vec::new();
    let suite = or_skipped(suite(), "MCP conformance suite", &mut skipped);
    let client = or_skipped(
        python::packages("mcp-client", &[CLIENT]),
        "MCP client",
        &mut skipped,
    );
    if suite.is_none() && client.is_none() {
        return Ok(skipped);
    }
    succeed(cargo(&["build", "--quiet", "-p", "lorewell"]))?;
    succeed(cargo(&[
        "build",
        "--quiet",
        "-p",
        "lorewell-mcp",
        "--example",
        "serve_http",
    ]))?;
    let home = root().join("target/tools/mcp-home");
    std::fs::create_dir_all(&home).context("a home for the server")?;
    let server = Server::start(&home)?;
    // The suite sends no token of its own, so a road puts one into its requests.
    let house = Home::new("mcp")?;
    let bridge = house.serve()?;
    let address = bridge.url.trim_start_matches("http://").parse();
    let road = road::open(
        address.context("the bridge's address")?,
        house.approve("suite")?,
    )?;
    let by_bridge = format!("http://{road}/mcp");
    if let Some(suite) = suite {
        suite.run("a server alone", BASELINE, &server.url)?;
        suite.run("a bridge", BASELINE_OF_BRIDGE, &by_bridge)?;
    }
    if let Some(client) = client {
        let mut command = client.program("python");
        command
            .arg("crates/mcp/client.py")
            .arg(built("lorewell"))
            .arg(&home)
            .arg(root().join(NOTES))
            .arg(&server.url)
            .arg(&house.folder)
            .arg(&by_bridge);
        eprintln!("    {}", shown(&command));
        succeed(command)?;
    }
    Ok(skipped)
}

fn or_skipped<T>(
    tool: Result<T, String>,
    name: &'static str,
    skipped: &mut Vec<&'static str>,
) -> Option<T> {
    tool.map_err(|why| {
        eprintln!("    SKIPPED: {why}");
        skipped.push(name);
    })
    .ok()
}

/// What cargo built without optimization.
fn built(name: &str) -> PathBuf {
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    let name = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    root().join(target).join("debug").join(name)
}

/// A server on this machine; it ends with its standard input.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start(home: &std::path::Path) -> Result<Server> {
        let mut child = Command::new(built("examples/serve_http"))
            .arg(home)
            .arg(root().join(NOTES))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start the server")?;
        let mut url = String::new();
        if let Some(out) = child.stdout.take() {
            BufReader::new(out).read_line(&mut url)?;
        }
        let url = url.trim().to_string();
        if url.is_empty() {
            bail!("the server did not say where it is");
        }
        Ok(Server { child, url })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// The suite, as npm put it there.
struct Suite(PathBuf);

/// The suite and its Node, fetched where they are missing.
fn suite() -> Result<Suite, String> {
    let folder = root().join("target/tools").join(FOLDER);
    let suite = Suite(folder.clone());
    let stamp = folder.join("packages.txt");
    let list = [SUITE, NODE].join("\n");
    if std::fs::read_to_string(&stamp).is_ok_and(|made| made == list) {
        return Ok(suite);
    }
    eprintln!("    fetching {SUITE}, {NODE} into target/tools/{FOLDER}");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut npm = Command::new("npm");
    npm.args(["install", "--silent", "--no-audit", "--no-fund", "--prefix"])
        .arg(&folder)
        .args([SUITE, NODE])
        .current_dir(&folder);
    if !works(npm) || !works(suite.command(&["--version"])) {
        return Err(format!(
            "npm is not here, or could not fetch {SUITE} and {NODE}"
        ));
    }
    std::fs::write(&stamp, list).map_err(|error| format!("{}: {error}", stamp.display()))?;
    Ok(suite)
}

impl Suite {
    fn command(&self, words: &[&str]) -> Command {
        let modules = self.0.join("node_modules");
        let mut command = Command::new(modules.join("node/bin/node"));
        command
            .arg(modules.join("@modelcontextprotocol/conformance/dist/index.js"))
            .args(words)
            .current_dir(&self.0);
        command
    }

    /// Runs the scenarios; shows what they say where one does not hold.
    fn run(&self, of_what: &str, baseline: &str, url: &str) -> Result<()> {
        let baseline = root().join(baseline);
        for (scenario, version) in SCENARIOS {
            let words = ["server", "--url", url, "--scenario", scenario];
            let mut command = self.command(&words);
            command
                .args(["--spec-version", version, "--expected-failures"])
                .arg(&baseline);
            let output = command.output().context("cannot start the suite")?;
            if !output.status.success() {
                eprintln!("{}", String::from_utf8_lossy(&output.stdout));
                bail!(
                    "the conformance scenario {scenario} of {version} does not hold of {of_what}"
                );
            }
        }
        eprintln!("    {} scenarios hold of {of_what}", SCENARIOS.len());
        Ok(())
    }
}
