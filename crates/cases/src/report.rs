//! What came of cases, to be read by people.

use std::collections::BTreeMap;

use crate::{Case, Level};

/// What came of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The case.
    pub id: String,
    /// Its kind.
    pub kind: String,
    /// How it ended.
    pub verdict: Verdict,
    /// Each check, and each step that did not come to its end.
    pub findings: Vec<Finding>,
}

/// How a case ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every check that must hold does.
    Holds,
    /// One does not.
    Fails,
    /// It needs what is not there yet.
    Pending {
        /// What.
        reason: String,
        /// The part of the product that brings it.
        part: String,
    },
    /// This machine cannot run it.
    Skipped {
        /// Why.
        reason: String,
    },
}

/// What came of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Which.
    pub label: String,
    /// How much it matters.
    pub level: Level,
    /// Nothing, or what was expected and what came.
    pub outcome: Result<(), String>,
}

impl Finding {
    /// A step, as a check that must hold.
    pub(crate) fn of_step(name: &str, outcome: Result<(), String>) -> Finding {
        Finding {
            label: name.to_string(),
            level: Level::Must,
            outcome,
        }
    }

    /// Whether it is at fault.
    pub fn is_fault(&self) -> bool {
        self.level == Level::Must && self.outcome.is_err()
    }
}

impl Report {
    pub(crate) fn of(case: &Case, findings: Vec<Finding>) -> Report {
        let verdict = if findings.iter().any(Finding::is_fault) {
            Verdict::Fails
        } else {
            Verdict::Holds
        };
        Report {
            verdict,
            ..Report::new(case, findings)
        }
    }

    pub(crate) fn pending(case: &Case, (reason, part): (String, String)) -> Report {
        Report {
            verdict: Verdict::Pending { reason, part },
            ..Report::new(case, Vec::new())
        }
    }

    pub(crate) fn skipped(case: &Case, reason: String) -> Report {
        Report {
            verdict: Verdict::Skipped { reason },
            ..Report::new(case, Vec::new())
        }
    }

    fn new(case: &Case, findings: Vec<Finding>) -> Report {
        Report {
            id: case.id.clone(),
            kind: case.kind.clone(),
            verdict: Verdict::Holds,
            findings,
        }
    }
}

/// A case in lines: its verdict, and under it what is not as it should be.
pub fn shown(report: &Report) -> String {
    let verdict = match &report.verdict {
        Verdict::Holds => "holds".to_string(),
        Verdict::Fails => "FAILS".to_string(),
        Verdict::Pending { reason, part } => format!("pending: {reason} ({part})"),
        Verdict::Skipped { reason } => format!("SKIPPED: {reason}"),
    };
    let mut text = format!("{:32} {verdict}\n", report.id);
    for finding in &report.findings {
        let level = match finding.level {
            Level::Must => "must",
            Level::Should => "should",
            Level::May => "may",
        };
        if let Err(what) = &finding.outcome {
            text += &format!("    {level} {}: {what}\n", finding.label);
        }
    }
    text
}

/// How many cases of each kind ended how.
pub fn summary(reports: &[Report]) -> String {
    let mut kinds: BTreeMap<&str, [usize; 4]> = BTreeMap::new();
    for report in reports {
        let counts = kinds.entry(&report.kind).or_default();
        counts[match report.verdict {
            Verdict::Holds => 0,
            Verdict::Fails => 1,
            Verdict::Pending { .. } => 2,
            Verdict::Skipped { .. } => 3,
        }] += 1;
    }
    let line = |(kind, [holds, fails, pending, skipped]): (&str, [usize; 4])| {
        format!("{kind:12} {holds:3} hold {fails:3} fail {pending:3} pending {skipped:3} skipped\n")
    };
    kinds.into_iter().map(line).collect()
}
