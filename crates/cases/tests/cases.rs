//! Every failure case against the product: those of this crate, and those of the folder that
//! `LOREWELL_CASES` names. What fails must stand in `known.md`, what cannot run yet in `pending.md`.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use lorewell_cases::{
    ASKED, Case, Report, STAND_INS, TO_KILL, Verdict, asked_line, check_names, complaints,
    embed_until_killed, gap_of, known_rows, load, of_processes, pending_rows, run, run_here,
    run_with, shown, stand_in_rows, summary,
};
use serde_json::{Value, json};

const KNOWN: &str = include_str!("../known.md");
const PENDING: &str = include_str!("../pending.md");

fn own_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("own")
}

/// The cases of the environment; none where it names none.
fn named_cases() -> Vec<Case> {
    match std::env::var_os("LOREWELL_CASES") {
        Some(folder) => load(Path::new(&folder)).unwrap(),
        None => {
            eprintln!("SKIPPED: LOREWELL_CASES names no folder of failure cases");
            Vec::new()
        }
    }
}

/// Runs cases on as many threads as there are processors, and prints what came.
fn reports(cases: Vec<Case>) -> Vec<Report> {
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    let queue = Mutex::new(cases);
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(case) = { queue.lock().unwrap().pop() } {
                    let report = run_with(&case, None);
                    done.lock().unwrap().push(report);
                }
            });
        }
    });
    let mut reports = done.into_inner().unwrap();
    reports.sort_by(|a, b| a.id.cmp(&b.id));
    for report in &reports {
        print!("{}", shown(report));
    }
    print!("\n{}", summary(&reports));
    reports
}

#[test]
fn our_own_cases_hold() {
    let cases = load(&own_folder()).unwrap();
    assert!(cases.len() >= 20, "{} cases", cases.len());
    let reports = reports(cases);
    assert_eq!(complaints(&reports, KNOWN), Vec::<String>::new());
    let pending = |report: &&Report| matches!(report.verdict, Verdict::Pending { .. });
    assert_eq!(reports.iter().filter(pending).count(), 0);
}

#[test]
fn the_named_cases_hold_or_are_known() {
    let reports = reports(named_cases());
    assert_eq!(complaints(&reports, KNOWN), Vec::<String>::new());
}

/// A pending case that could run is listed too long; one that cannot run and is not listed is lost.
#[test]
fn what_is_pending_is_listed_with_its_reason() {
    let listed: BTreeSet<[String; 3]> = pending_rows(PENDING)
        .into_iter()
        .map(|row| [row.case, row.reason, row.part])
        .collect();
    let cases = named_cases();
    if cases.is_empty() {
        return;
    }
    let pending = |case: &Case| gap_of(case).map(|(reason, part)| [case.id.clone(), reason, part]);
    let really: BTreeSet<[String; 3]> = cases.iter().filter_map(pending).collect();
    let row = |row: &[String; 3]| format!("| {} |", row.join(" | "));
    let lacking: Vec<String> = really.difference(&listed).map(row).collect();
    let surplus: Vec<String> = listed.difference(&really).map(row).collect();
    assert!(
        lacking.is_empty() && surplus.is_empty(),
        "pending.md lacks:\n{}\nand has without need:\n{}",
        lacking.join("\n"),
        surplus.join("\n")
    );
    let ids: BTreeSet<&str> = cases.iter().map(|case| case.id.as_str()).collect();
    for row in known_rows(KNOWN) {
        let own = own_folder().join(&row.case).is_dir();
        assert!(
            own || ids.contains(row.case.as_str()),
            "known.md names {}",
            row.case
        );
        assert!(
            row.why.len() > 20,
            "known.md does not say why: {}",
            row.case
        );
    }
}

#[test]
fn what_stands_in_for_what_is_listed() {
    let listed = stand_in_rows(PENDING);
    let really = STAND_INS
        .iter()
        .map(|(what, as_what, part)| [*what, *as_what, *part]);
    let really: Vec<[String; 3]> = really.map(|row| row.map(str::to_string)).collect();
    let row = |row: &[String; 3]| format!("| {} |", row.join(" | "));
    let wanted: Vec<String> = really.iter().map(row).collect();
    assert_eq!(
        listed,
        really,
        "the table should be:\n{}",
        wanted.join("\n")
    );
}

/// Started by a case that takes permissions away, as an ordinary user; alone it does nothing.
#[test]
fn the_case_that_is_asked_for() {
    if let Ok(asked) = std::env::var(TO_KILL) {
        embed_until_killed(&asked);
    }
    if let Some(folder) = std::env::var_os(ASKED) {
        let case = Case::read(Path::new(&folder)).unwrap();
        println!("{}", asked_line(&run_here(&case)));
    }
}

/// A vault on which each check is asked twice: as it is, and as it is not.
const VAULT: &[(&str, &str)] = &[
    (
        "Kiln.md",
        "---\ntags: [clay]\n---\n# Kiln\n\nThe kiln is fired with ash wood on Mondays. See [[Glaze]] and [[Lost]].\n\n\
         ## Copies\n\nKeep the log of every firing in the shed.\n",
    ),
    ("Glaze.md", "Celadon glaze for the kiln, and [[Twin]].\n"),
    ("a/Twin.md", "One kiln. %%hidden kiln%%\n"),
    ("b/Twin.md", "Two: [[Kiln#Copies]].\n"),
    ("bad.md", "---\ntitle: a: b\n---\nProse.\n"),
    ("New.md", "---\nsupersedes: \"[[Kiln]]\"\n---\nWood.\n"),
];

const STEPS: &str = r#"[
    {"do": "index"},
    {"do": "search", "query": "kiln", "as": "s"},
    {"do": "search", "query": "kiln", "as": "again"},
    {"do": "search", "query": "celadon", "as": "one"},
    {"do": "search", "query": "zzzz", "as": "none"},
    {"do": "context", "question": "When is the kiln fired?", "as": "x"},
    {"do": "context", "question": "zzzz qqqq", "as": "x0"},
    {"do": "check_answer", "after": "x", "answer": "It is fired with coal on Sundays [7].", "as": "v"},
    {"do": "links", "path": "Kiln.md", "as": "l"},
    {"do": "backlinks", "path": "Glaze.md", "as": "b"},
    {"do": "unresolved", "as": "u"},
    {"do": "resolve", "path": "b/Twin.md", "link": "[[Kiln#Copies]]", "as": "r"},
    {"do": "resolve", "path": "Glaze.md", "link": "[[Twin]]", "as": "r2"},
    {"do": "tags_of", "path": "Kiln.md", "as": "t"},
    {"do": "outline", "path": "Kiln.md", "as": "o"},
    {"do": "index_listing", "as": "i"},
    {"do": "status", "as": "st"},
    {"do": "read", "path": "Nowhere.md", "as": "e"},
    {"do": "read", "path": "Kiln.md", "as": "ok"},
    {"do": "grep_index_files", "text": "celadon", "as": "g"},
    {"do": "grep_index_files", "text": "zzzz", "as": "g0"},
    {"do": "compare_index_with_disk", "as": "d"},
    {"do": "open_each_citation", "after": "x", "as": "c"},
    {"do": "write", "path": "Late.md", "content": "Peat.\n"},
    {"do": "compare_index_with_disk", "as": "d1"},
    {"do": "open_each_citation", "after": "x0", "as": "c0"}
]"#;

/// Each check as it holds, and as it does not. Nothing panics here, so `no_crash` is not asked.
const PAIRS: &str = r#"[
    [{"check": "all_paths_start_with", "after": "one", "prefix": "Gl"}, {"check": "all_paths_start_with", "after": "s", "prefix": "Gl"}],
    [{"check": "ambiguous", "after": "r2"}, {"check": "ambiguous", "after": "r"}],
    [{"check": "backlinks_equal", "after": "b", "paths": ["Kiln.md"]}, {"check": "backlinks_equal", "after": "b", "paths": []}],
    [{"check": "chunks", "path": "Kiln.md", "min": 2, "max": 2, "max_chars": 99, "lacks": "zz"}, {"check": "chunks", "path": "Kiln.md", "max": 1}],
    [{"check": "chunks", "path": "a/Twin.md", "lacks": "hidden"}, {"check": "chunks", "path": "a/Twin.md", "lacks": "One"}],
    [{"check": "chunks", "path": "Kiln.md", "min": 1}, {"check": "chunks", "path": "Kiln.md", "max_chars": 9}],
    [{"check": "chunks", "path": "Kiln.md", "whole_lines": true}, {"check": "chunks", "path": "a/Twin.md", "whole_lines": true}],
    [{"check": "citation_state", "after": "c", "path": "Kiln.md", "state": "same"}, {"check": "citation_state", "after": "c", "path": "Kiln.md", "state": "gone"}],
    [{"check": "citations_open", "after": "c0", "count": 0}, {"check": "citations_open", "after": "c", "count": 0}],
    [{"check": "context_contains", "after": "x", "text": "Mondays"}, {"check": "context_contains", "after": "x", "text": "Sundays"}],
    [{"check": "context_lacks", "after": "x", "text": "Sundays"}, {"check": "context_lacks", "after": "x", "text": "Mondays"}],
    [{"check": "context_sources", "after": "x0", "equals": 0}, {"check": "context_sources", "after": "x", "equals": 0}],
    [{"check": "context_tokens", "after": "x", "max": 1200}, {"check": "context_tokens", "after": "x", "max": 3}],
    [{"check": "count", "after": "one", "equals": 1}, {"check": "count", "after": "one", "equals": 2}],
    [{"check": "duplicates_folded", "after": "s", "max_same_text": 1}, {"check": "duplicates_folded", "after": "none", "max_same_text": 1}],
    [{"check": "embed_calls", "since": "status", "equals": 0}, {"check": "embed_calls", "since": "index", "equals": 0}],
    [{"check": "embed_input_chars", "max": 200}, {"check": "embed_input_chars", "max": 20}],
    [{"check": "empty", "after": "none"}, {"check": "empty", "after": "s"}],
    [{"check": "equal", "after": ["s", "again"]}, {"check": "equal", "after": ["s", "one"]}],
    [{"check": "error", "after": "e", "mentions": ["Nowhere.md"]}, {"check": "error", "after": "e", "mentions": ["zz"]}],
    [{"check": "error", "after": "e"}, {"check": "error", "after": "ok"}],
    [{"check": "excerpt_contains", "after": "s", "text": "One kiln"}, {"check": "excerpt_contains", "after": "s", "text": "zz"}],
    [{"check": "excerpt_lacks", "after": "s", "text": "hidden"}, {"check": "excerpt_lacks", "after": "s", "text": "One kiln"}],
    [{"check": "first", "after": "one", "path": "Glaze.md"}, {"check": "first", "after": "one", "path": "Kiln.md"}],
    [{"check": "first_or_marked", "after": "one", "first": "Glaze.md", "marked": "-"}, {"check": "first_or_marked", "after": "one", "first": "-", "marked": "Glaze.md"}],
    [{"check": "first_or_marked", "after": "s", "first": "-", "marked": "Kiln.md"}, {"check": "first_or_marked", "after": "s", "first": "-", "marked": "New.md"}],
    [{"check": "first_two_include", "after": "one", "paths": ["Glaze.md"]}, {"check": "first_two_include", "after": "one", "paths": ["Kiln.md"]}],
    [{"check": "found_nothing", "after": "g0"}, {"check": "found_nothing", "after": "g"}],
    [{"check": "hit", "after": "s", "path": "Kiln.md", "heading": "Kiln", "line": 6}, {"check": "hit", "after": "s", "path": "Kiln.md", "heading": "Kiln", "line": 1}],
    [{"check": "hit", "after": "s", "path": "Kiln.md", "mark": "superseded"}, {"check": "hit", "after": "s", "path": "Glaze.md", "mark": "superseded"}],
    [{"check": "hit", "after": "s", "path_nfc": "Kiln.md"}, {"check": "hit", "after": "s", "path": "New.md"}],
    [{"check": "index_equals_disk", "after": "d"}, {"check": "index_equals_disk", "after": "d1"}],
    [{"check": "indexed", "paths": ["bad.md"]}, {"check": "indexed", "paths": ["Late.md"]}],
    [{"check": "invalid_citations", "after": "v", "equals": ["[7]"]}, {"check": "invalid_citations", "after": "v", "equals": []}],
    [{"check": "links_equal", "after": "l", "targets": ["Glaze.md", "nothing: Lost"]}, {"check": "links_equal", "after": "l", "targets": ["Glaze.md"]}],
    [{"check": "listing_equal", "after": "i", "paths": ["Glaze.md", "Kiln.md", "New.md", "a/Twin.md", "b/Twin.md", "bad.md"]}, {"check": "listing_equal", "after": "i", "paths": []}],
    [{"check": "max_per_note", "after": "s", "path": "Kiln.md", "max": 2}, {"check": "max_per_note", "after": "s", "path": "Kiln.md", "max": 0}],
    [{"check": "no_error", "after": "s"}, {"check": "no_error", "after": "e"}],
    [{"check": "no_hit", "after": "one", "path": "Kiln.md"}, {"check": "no_hit", "after": "one", "path": "Glaze.md"}],
    [{"check": "only", "after": "one", "paths": ["Glaze.md"]}, {"check": "only", "after": "one", "paths": ["Glaze.md", "Kiln.md"]}],
    [{"check": "only_nfc", "after": "one", "paths": ["Glaze.md"]}, {"check": "only_nfc", "after": "s", "paths": ["Glaze.md"]}],
    [{"check": "order", "after": "one", "paths": ["Glaze.md"]}, {"check": "order", "after": "one", "paths": ["Glaze.md", "Kiln.md"]}],
    [{"check": "orphan_rows", "equals": 0}, {"check": "orphan_rows", "equals": 1}],
    [{"check": "outline_equal", "after": "o", "headings": ["Kiln", "Copies"]}, {"check": "outline_equal", "after": "o", "headings": ["Kiln"]}],
    [{"check": "passage_contains", "after": "one", "text": "Celadon"}, {"check": "passage_contains", "after": "one", "text": "Mondays"}],
    [{"check": "path_opens", "after": "s"}, {"check": "path_opens", "after": "none"}],
    [{"check": "position_matches_file", "after": "s"}, {"check": "position_matches_file", "after": "none"}],
    [{"check": "refused", "after": "e"}, {"check": "refused", "after": "ok"}],
    [{"check": "resolves", "after": "r", "to": "Kiln.md", "heading": "Copies"}, {"check": "resolves", "after": "r", "to": "Kiln.md", "heading": "Kiln"}],
    [{"check": "resolves", "after": "r2", "to": "a/Twin.md"}, {"check": "resolves", "after": "r2", "to": "b/Twin.md"}],
    [{"check": "resolves_link", "after": "l", "link": "[[Glaze]]", "to": "Glaze.md"}, {"check": "resolves_link", "after": "l", "link": "[[Lost]]", "to": "Glaze.md"}],
    [{"check": "result_says", "after": "r", "field": "part_exists", "value": true}, {"check": "result_says", "after": "r", "field": "part_exists", "value": false}],
    [{"check": "same_order", "after": ["s", "again"]}, {"check": "same_order", "after": ["s", "one"]}],
    [{"check": "sources_exist", "after": "x"}, {"check": "sources_exist", "after": "x0"}],
    [{"check": "status", "after": "st", "field": "notes", "equals": 6}, {"check": "status", "after": "st", "field": "notes", "min": 7}],
    [{"check": "status", "after": "st", "field": "state", "one_of": ["current"]}, {"check": "status", "after": "st", "field": "state", "not_equals": "current"}],
    [{"check": "tags_equal", "after": "t", "tags": ["clay"]}, {"check": "tags_equal", "after": "t", "tags": []}],
    [{"check": "tags_exclude", "after": "t", "tags": ["ash"]}, {"check": "tags_exclude", "after": "t", "tags": ["clay"]}],
    [{"check": "tags_include", "after": "t", "tags": []}, {"check": "tags_include", "after": "t", "tags": ["ash"]}],
    [{"check": "time_under", "ms": 600000}, {"check": "time_under", "after": "s", "ms": 0}],
    [{"check": "unresolved_equal", "path": "Kiln.md", "targets": ["Lost"]}, {"check": "unresolved_equal", "path": "Kiln.md", "targets": []}],
    [{"check": "unresolved_targets", "after": "u", "targets": {"Lost": ["Kiln.md"]}}, {"check": "unresolved_targets", "after": "u", "targets": {"Lost": []}}],
    [{"check": "uri_decodes_to_path", "after": "c"}, {"check": "uri_decodes_to_path", "after": "e"}],
    [{"check": "warning", "path": "bad.md"}, {"check": "warning", "path": "Kiln.md"}]
]"#;

/// A vault whose meaning an endpoint knows.
const EMBEDDED: &[(&str, &str)] = &[
    (
        "Hedge.md",
        "# Hedge\n\nHazel hurdles for the lambing pen.\n\nA second line on osier.\n",
    ),
    ("Bad.md", "Poison of the yew.\n"),
];

const EMBEDDED_STEPS: &str = r#"[
    {"do": "embedder", "model": "nomic-embed-text", "rate": {"per_window": 1, "window_ms": 300, "retry_after_s": 0.3}},
    {"do": "index"},
    {"do": "embedder", "poison": {"contains": "yew", "status": 500, "body": "NaN"}},
    {"do": "status", "as": "st"},
    {"do": "search", "query": "osier", "mode": "semantic", "as": "s"},
    {"do": "vector_audit", "as": "v"},
    {"do": "search", "query": "osier", "as": "words"},
    {"do": "try_config", "base_url": "127.0.0.1:{port}", "as": "ok"},
    {"do": "try_config", "base_url": "https://api.anthropic.com", "as": "bad"},
    {"do": "embedder", "refuse": true},
    {"do": "search", "query": "osier beds", "mode": "semantic", "as": "away"},
    {"do": "search", "query": "osier beds", "mode": "hybrid", "as": "half"}
]"#;

const EMBEDDED_PAIRS: &str = r#"[
    [{"check": "config_error", "after": "bad", "mentions": ["Anthropic"]}, {"check": "config_error", "after": "ok", "mentions": []}],
    [{"check": "config_ok", "after": "ok"}, {"check": "config_ok", "after": "bad"}],
    [{"check": "embed_calls", "since": "status", "max": 9}, {"check": "embed_calls", "since": "index", "equals": 0}],
    [{"check": "embed_errors", "max": 9}, {"check": "embed_errors", "max": 0}],
    [{"check": "embed_inputs", "since": "index", "equals_stub": "3-served"}, {"check": "embed_inputs", "since": "index", "equals_stub": "4-served"}],
    [{"check": "embed_inputs_blank", "equals": 0}, {"check": "embed_inputs_blank", "equals": 1}],
    [{"check": "embed_inputs_start_with", "purpose": "document", "text": "search_document: "}, {"check": "embed_inputs_start_with", "purpose": "document", "text": "search_query: "}],
    [{"check": "embed_inputs_start_with", "after": "s", "purpose": "query", "text": "search_query: osier"}, {"check": "embed_inputs_start_with", "after": "words", "purpose": "query", "text": "search_query: "}],
    [{"check": "embed_requests_during_pause", "max": 0}, {"check": "embed_requests_during_pause", "equals": 1}],
    [{"check": "error", "after": "away"}, {"check": "error", "after": "half"}],
    [{"check": "json_valid", "after": "s"}, {"check": "json_valid", "after": "bad"}],
    [{"check": "no_chunk_text_lost", "path": "Hedge.md"}, {"check": "no_chunk_text_lost", "path": "Nowhere.md"}],
    [{"check": "result_says", "after": "half", "field": "degraded", "value": "embedding_unavailable"}, {"check": "result_says", "after": "s", "field": "degraded", "value": "embedding_unavailable"}],
    [{"check": "status", "after": "st", "field": "vectors", "equals_stub": "served"}, {"check": "status", "after": "st", "field": "not_embeddable", "equals_stub": "served"}],
    [{"check": "vectors_compared_across_models", "equals": 0}, {"check": "vectors_compared_across_models", "equals": 1}],
    [{"check": "vectors_match_text", "after": "v"}, {"check": "vectors_match_text", "after": "st"}]
]"#;

/// The names of the checks in some pairs, of which the first of each must hold and the second not.
fn told_apart(vault: &[(&str, &str)], steps: &str, pairs: &str) -> BTreeSet<String> {
    let place = tempfile::tempdir().unwrap();
    for (path, text) in vault {
        let path = place.path().join("vault").join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let pairs: Vec<[Value; 2]> = serde_json::from_str(pairs).unwrap();
    let checks: Vec<&Value> = pairs.iter().flatten().collect();
    let case = json!({ "action": serde_json::from_str::<Value>(steps).unwrap(), "checks": checks });
    std::fs::write(place.path().join("case.json"), case.to_string()).unwrap();
    let report = run(&Case::read(place.path()).unwrap());
    let (steps, findings) = report
        .findings
        .split_at(report.findings.len() - checks.len());
    assert_eq!(steps, []);
    for (check, pair) in pairs.iter().zip(findings.chunks(2)) {
        let [right, wrong] = pair else {
            panic!("{pair:?}")
        };
        assert_eq!(right.outcome, Ok(()), "{}", check[0]);
        assert!(wrong.outcome.is_err(), "{} holds", check[1]);
    }
    let names = checks.iter().filter_map(|check| check["check"].as_str());
    names.map(str::to_string).collect()
}

#[test]
fn every_check_tells_right_from_wrong() {
    let mut asked = told_apart(VAULT, STEPS, PAIRS);
    asked.extend(told_apart(EMBEDDED, EMBEDDED_STEPS, EMBEDDED_PAIRS));
    // Those of processes are asked both ways in crates/cli/tests/cases.rs.
    let other = |name: &&str| *name != "no_crash" && !of_processes(name);
    let all = check_names().into_iter().filter(other);
    assert_eq!(asked, all.map(str::to_string).collect());
}
