//! Failure cases that start the program as processes: servers for one client, the bridge, several
//! clients at once. All others run in the tests of the crate `lorewell-cases`, which says more.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::path::{Path, PathBuf};

use lorewell_cases::{Case, Report, Verdict, complaints, gap_of, load, run_with, shown};
use serde_json::{Value, json};

const KNOWN: &str = include_str!("../../cases/known.md");

fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_lorewell"))
}

fn reports(folder: &Path) -> Vec<Report> {
    let cases = load(folder).unwrap();
    let mine = cases
        .iter()
        .filter(|case| case.needs_program() && gap_of(case).is_none());
    mine.map(|case| {
        let report = run_with(case, Some(program()));
        print!("{}", shown(&report));
        report
    })
    .collect()
}

fn hold(reports: &[Report]) {
    // Rows of other cases are for the other test.
    let told = complaints(reports, KNOWN);
    assert_eq!(told, Vec::<String>::new());
    let skipped = |report: &&Report| matches!(report.verdict, Verdict::Skipped { .. });
    assert_eq!(reports.iter().filter(skipped).count(), 0);
}

#[test]
fn our_own_cases_of_processes_hold() {
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../cases/own");
    let reports = reports(&own);
    assert!(reports.len() >= 6, "{} cases", reports.len());
    hold(&reports);
}

#[test]
fn the_named_cases_of_processes_hold_or_are_known() {
    match std::env::var_os("LOREWELL_CASES") {
        Some(folder) => hold(&reports(Path::new(&folder))),
        None => eprintln!("SKIPPED: LOREWELL_CASES names no folder of failure cases"),
    }
}

const STEPS: &str = r#"[
    {"do": "index"},
    {"do": "hold_store_lock", "ms": 1},
    {"do": "mcp_start", "env": {"LOG": "trace"}},
    {"do": "mcp_list_tools", "as": "t"},
    {"do": "mcp_call", "tool": "search", "args": {"query": "kiln"}, "as": "a"},
    {"do": "mcp_call", "tool": "read", "args": {"path": "Long.md"}, "as": "b"},
    {"do": "mcp_call", "tool": "status", "as": "s"},
    {"do": "mcp_call_follow_cursor", "after": "b", "as": "c"},
    {"do": "mcp_stop"},
    {"do": "cli_search", "query": "kiln", "as": "cli"},
    {"do": "daemon_start", "as": "d"},
    {"do": "http", "as": "ok"},
    {"do": "http", "headers": {"Host": "evil.example"}, "as": "h"},
    {"do": "listening_addresses", "as": "l"},
    {"do": "ui_answer", "as": "u"},
    {"do": "parallel_clients", "count": 2, "calls": 2, "tool": "search", "args": {"query": "kiln"}, "as": "p"},
    {"do": "parallel_clients", "count": 1, "calls": 2, "tool": "search", "args": {"query": ""}, "as": "p0"},
    {"do": "start_with_vault", "given": "{abs}/", "as": "s1"},
    {"do": "start_with_vault", "given": "{abs}/none", "as": "bad"},
    {"do": "list_store_files", "as": "f"},
    {"do": "write", "path": "Kiln.damaged", "content": ""}
]"#;

/// Each check as it holds, and as it does not.
const PAIRS: &str = r#"[
    [{"check": "stdout_only_jsonrpc"}, {"check": "no_error", "after": "bad"}],
    [{"check": "result_tokens", "after": "a", "max": 10000}, {"check": "result_tokens", "after": "a", "max": 1}],
    [{"check": "result_says", "after": "b", "field": "truncated", "value": true}, {"check": "result_tokens", "after": "t", "max": 9999}],
    [{"check": "concatenation_equals_file", "after": "c", "path": "Long.md"}, {"check": "concatenation_equals_file", "after": "c", "path": "Kiln.md"}],
    [{"check": "frame_not_broken", "after": "a"}, {"check": "frame_not_broken", "after": "s"}],
    [{"check": "schemas_valid", "dialect": "2020-12"}, {"check": "schemas_valid", "dialect": "draft-04"}],
    [{"check": "schemas_portable", "after": "t"}, {"check": "started", "after": "cli"}],
    [{"check": "tool_names_match", "pattern": "^[a-zA-Z0-9_-]{1,64}$"}, {"check": "tool_names_match", "pattern": ".*"}],
    [{"check": "tools_read_only"}, {"check": "no_error", "after": "bad"}],
    [{"check": "started", "after": "d"}, {"check": "started", "after": "a"}],
    [{"check": "http_status", "after": "ok", "equals": 200}, {"check": "http_status", "after": "h", "equals": 200}],
    [{"check": "http_status", "after": "h", "one_of": [403]}, {"check": "http_status", "after": "ok", "one_of": [403]}],
    [{"check": "header_absent", "after": "ok", "name": "Access-Control-Allow-Origin"}, {"check": "header_absent", "after": "ok", "name": "Content-Type"}],
    [{"check": "only_loopback", "after": "l"}, {"check": "only_loopback", "after": "f"}],
    [{"check": "no_remote_fetch", "after": "u"}, {"check": "no_remote_fetch", "after": "a"}],
    [{"check": "failures", "after": "p", "equals": 0}, {"check": "failures", "after": "p0", "equals": 0}],
    [{"check": "latency", "after": "p", "p99_ms": 600000}, {"check": "latency", "after": "p", "p99_ms": 0}],
    [{"check": "same_index", "after": ["s", "s1"]}, {"check": "same_index", "after": ["s", "a"]}],
    [{"check": "path_relative", "after": "cli"}, {"check": "path_relative", "after": "s"}],
    [{"check": "status", "field": "notes", "equals": 2}, {"check": "status", "field": "notes", "equals": 3}],
    [{"check": "error", "after": "bad", "mentions": ["none"]}, {"check": "error", "after": "s1"}],
    [{"check": "store_not_replaced", "after": "f"}, {"check": "store_not_replaced", "after": "bad"}]
]"#;

#[test]
fn every_check_of_processes_tells_right_from_wrong() {
    let place = tempfile::tempdir().unwrap();
    let vault = place.path().join("vault");
    std::fs::create_dir(&vault).unwrap();
    std::fs::write(vault.join("Kiln.md"), "The kiln is slow.\n").unwrap();
    std::fs::write(vault.join("Long.md"), "Of clay and fire.\n".repeat(2000)).unwrap();
    let pairs: Vec<[Value; 2]> = serde_json::from_str(PAIRS).unwrap();
    let checks: Vec<&Value> = pairs.iter().flatten().collect();
    let case = json!({ "action": serde_json::from_str::<Value>(STEPS).unwrap(), "checks": checks });
    std::fs::write(place.path().join("case.json"), case.to_string()).unwrap();
    let report = run_with(&Case::read(place.path()).unwrap(), Some(program()));
    let (steps, findings) = report
        .findings
        .split_at(report.findings.len() - checks.len());
    assert_eq!(steps, []);
    for (check, pair) in pairs.iter().zip(findings.chunks(2)) {
        assert_eq!(pair[0].outcome, Ok(()), "{}", check[0]);
        assert!(pair[1].outcome.is_err(), "{} holds", check[1]);
    }
    for name in lorewell_cases::check_names() {
        let asked = || checks.iter().any(|check| check["check"] == name);
        assert!(!lorewell_cases::of_processes(name) || asked(), "{name}");
    }
}
