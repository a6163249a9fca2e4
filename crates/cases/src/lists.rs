//! The two committed lists, `pending.md` and `known.md`: tables that people read and the test holds
//! to what really comes out.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Report, Verdict};

/// A case that cannot run yet.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PendingRow {
    /// The case.
    pub case: String,
    /// What it needs.
    pub reason: String,
    /// The part of the product that brings it.
    pub part: String,
}

/// A check that does not hold, and why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KnownRow {
    /// The case.
    pub case: String,
    /// The check, as its label.
    pub check: String,
    /// Why it does not hold.
    pub why: String,
}

/// The rows of the table under `# Pending`.
pub fn pending_rows(page: &str) -> Vec<PendingRow> {
    let rows = rows(page, "# Pending").into_iter();
    rows.map(|[case, reason, part]| PendingRow { case, reason, part })
        .collect()
}

/// The rows of the table under `## Stand-ins`.
pub fn stand_in_rows(page: &str) -> Vec<[String; 3]> {
    rows(page, "## Stand-ins")
}

/// The rows of the table of checks that do not hold.
pub fn known_rows(page: &str) -> Vec<KnownRow> {
    let rows = rows(page, "# Known").into_iter();
    rows.map(|[case, check, why]| KnownRow { case, check, why })
        .collect()
}

/// The rows of three cells of the table that follows a heading.
fn rows(page: &str, heading: &str) -> Vec<[String; 3]> {
    let lines = page.lines().skip_while(|line| !line.starts_with(heading));
    let section = lines.skip(1).take_while(|line| !line.starts_with('#'));
    let table = section.filter(|line| line.starts_with('|')).skip(2);
    table.filter_map(cells).collect()
}

fn cells(line: &str) -> Option<[String; 3]> {
    let inner = line.strip_prefix('|')?.trim_end().strip_suffix('|')?;
    let cells: Vec<String> = inner
        .split(" | ")
        .map(|cell| cell.trim().to_string())
        .collect();
    cells.try_into().ok()
}

/// What is wrong with some reports, given the list of what is known not to hold (`known.md`). What
/// was skipped says nothing.
pub fn complaints(reports: &[Report], known: &str) -> Vec<String> {
    let known = known_rows(known);
    let mut complaints = Vec::new();
    let looked_at = |report: &&Report| !matches!(report.verdict, Verdict::Skipped { .. });
    for report in reports.iter().filter(looked_at) {
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

#[cfg(test)]
mod tests {
    use super::{known_rows, pending_rows, stand_in_rows};

    #[test]
    fn tables_are_read_under_their_headings() {
        let page = "# Pending\n\nWords.\n\n| case | needs | part |\n| --- | --- | --- |\n| a-1 | x; y | P |\n\
            \n## Stand-ins\n\n| a | b | c |\n|-|-|-|\n| `w` | r | P |\n| broken |\n";
        let rows = pending_rows(page);
        assert_eq!((rows.len(), rows[0].reason.as_str()), (1, "x; y"));
        assert_eq!(stand_in_rows(page), [["`w`", "r", "P"].map(String::from)]);
        assert!(known_rows(page).is_empty());
    }
}
