//! Every failure case against the product: those of this crate, and those of the folder that
//! `LOREWELL_CASES` names. What fails must stand in `known.md`, what cannot run yet in `pending.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use lorewell_cases::{
    ASKED, Case, Report, STAND_INS, Verdict, asked_line, gap_of, known_rows, load, pending_rows,
    run, run_here, shown, stand_in_rows, summary,
};

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
                    let report = run(&case);
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

/// What is wrong with some reports, given the list of what is known not to hold.
fn complaints(reports: &[Report]) -> Vec<String> {
    let known = known_rows(KNOWN);
    let mut complaints = Vec::new();
    for report in reports {
        let listed: BTreeSet<&str> = known
            .iter()
            .filter(|row| row.case == report.id)
            .map(|row| row.check.as_str())
            .collect();
        let faults = report.findings.iter().filter(|finding| finding.is_fault());
        let faults: BTreeMap<&str, &str> = faults
            .map(|finding| {
                (
                    finding.label.as_str(),
                    finding.outcome.as_ref().err().map_or("", |e| e),
                )
            })
            .collect();
        let new = faults.iter().filter(|(label, _)| !listed.contains(*label));
        complaints.extend(new.map(|(label, what)| format!("{} {label}: {what}", report.id)));
        let gone = listed.iter().filter(|label| !faults.contains_key(*label));
        complaints.extend(gone.map(|label| format!("known.md: {} {label} holds now", report.id)));
    }
    complaints
}

#[test]
fn our_own_cases_hold() {
    let cases = load(&own_folder()).unwrap();
    assert!(cases.len() >= 20, "{} cases", cases.len());
    let reports = reports(cases);
    assert_eq!(complaints(&reports), Vec::<String>::new());
    let pending = |report: &&Report| matches!(report.verdict, Verdict::Pending { .. });
    assert_eq!(reports.iter().filter(pending).count(), 0);
}

#[test]
fn the_named_cases_hold_or_are_known() {
    let reports = reports(named_cases());
    assert_eq!(complaints(&reports), Vec::<String>::new());
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
    if let Some(folder) = std::env::var_os(ASKED) {
        let case = Case::read(Path::new(&folder)).unwrap();
        println!("{}", asked_line(&run_here(&case)));
    }
}
