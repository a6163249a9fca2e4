//! The figures of `lorewell eval` for people.

use std::fmt::Write as _;
use std::path::Path;

use lorewell_evaluation::{
    Advice, Basis, ConfidenceFigures, ENOUGH, Interval, Miss, ProbeFigures, Question,
    QuestionFigures, SystemFigures, Table, Verdict,
};

use super::{counted, grouped};
use crate::eval_command::Report;
use crate::style::{FAINT, TITLE, inert_line, styled};

/// The whole report. `misses`: name the questions that fell.
pub(crate) fn text(report: &Report, misses: bool) -> String {
    let mut out = format!(
        "{}: {}, {}\n",
        styled(TITLE, &inert_line(&report.vault)),
        counted(report.index.notes, "note"),
        counted(report.index.passages, "passage")
    );
    if let Some(figures) = &report.measurement.questions {
        out += &questions(figures, report, misses);
    }
    if let Some(figures) = &report.measurement.probes {
        out += &probes(figures, misses);
    }
    if report.measurement.questions.is_none() && report.measurement.probes.is_none() {
        out += "There is nothing to measure. `lorewell eval add \"QUESTION\" --note PATH` begins a golden set.\n";
    }
    if let Some(advice) = &report.measurement.advice {
        out += &format!("\n{}", advised(advice, &report.commands));
    }
    if !report.notices.is_empty() {
        out.push('\n');
    }
    for notice in &report.notices {
        let _ = writeln!(
            out,
            "{}",
            styled(FAINT, &format!("note: {}", inert_line(notice)))
        );
    }
    out
}

/// A question of the golden set, on one line.
pub(crate) fn question(question: &Question) -> String {
    let mut about = if question.is_answerable() {
        question.notes.join(", ")
    } else {
        "no note answers it".to_string()
    };
    if !question.snippet.is_empty() {
        about += &format!(": “{}”", question.snippet);
    }
    if question.is_answerable() && !question.kind.is_empty() {
        about += &format!(" ({})", question.kind);
    }
    format!(
        "{}  {}  {}",
        styled(TITLE, &inert_line(&question.id)),
        inert_line(&question.question),
        styled(FAINT, &inert_line(&about))
    )
}

/// All questions of a golden set, and where they are kept.
pub(crate) fn golden_set(questions: &[Question], file: &Path) -> String {
    let mut out: String = questions.iter().map(|one| question(one) + "\n").collect();
    if questions.is_empty() {
        out += "The golden set is empty. Add to it with `lorewell eval add \"QUESTION\" --note PATH`.\n";
    }
    let file = inert_line(&file.display().to_string());
    out + &format!("{}\n", styled(FAINT, &format!("kept in {file}")))
}

fn questions(figures: &QuestionFigures, report: &Report, misses: bool) -> String {
    let from = report.sources.iter();
    let from: Vec<String> = from
        .map(|source| format!("{} {}", inert_line(&source.from), source.questions))
        .collect();
    let mut out = format!(
        "\n{}: {} with an answer, {} without ({})\n",
        styled(TITLE, "Questions"),
        grouped(figures.answerable as u64),
        grouped(figures.unanswerable as u64),
        from.join(", ")
    );
    if figures.answerable > 0 {
        out += &format!("\n{}", systems(&figures.systems, &figures.found_nothing));
    }
    if !figures.kinds.is_empty() {
        let mut table = Table::new(&["kind, fused", "questions", "passage recall@6", "note MRR"]);
        for kind in &figures.kinds {
            table.row(vec![
                if kind.kind.is_empty() {
                    "–".to_string()
                } else {
                    inert_line(&kind.kind)
                },
                kind.questions.to_string(),
                shown(&kind.passage_recall_at_6),
                shown(&kind.note_mrr),
            ]);
        }
        out += &format!("\n{}", table.plain());
    }
    let sure = [
        ("with an answer", &figures.confidence),
        ("without", &figures.confidence_unanswerable),
    ];
    let sure = sure.into_iter().filter(|(_, counts)| counts.total() > 0);
    for (place, (which, counts)) in sure.enumerate() {
        if place == 0 {
            out.push('\n');
        }
        let _ = writeln!(out, "confidence, questions {which}: {}", confidence(counts));
    }
    if misses {
        out += &fallen(
            "question",
            "whose passages are not all among the first six",
            &figures.misses,
            true,
        );
    }
    out
}

fn probes(figures: &ProbeFigures, misses: bool) -> String {
    let mut out = format!(
        "\n{}: {}, each the sentence around a link without the link\n{}\n",
        styled(TITLE, "Links"),
        counted(figures.probes as u64, "probe"),
        styled(
            FAINT,
            "They measure finding the linked note among other notes, not answering."
        )
    );
    out += &format!("\n{}", systems(&figures.systems, &figures.found_nothing));
    if misses {
        out += &fallen(
            "probe",
            "whose linked note is not among the first five",
            &figures.misses,
            false,
        );
    }
    out
}

fn systems(systems: &[SystemFigures], found_nothing: &[String]) -> String {
    let passages = systems.iter().any(|s| s.passage_recall_at_6.is_some());
    let mut head = vec!["lane"];
    head.extend(passages.then_some("passage recall@6"));
    head.extend(["note@1", "note@5", "note MRR"]);
    let silent = systems.iter().any(|system| system.did_not_run > 0);
    head.extend(silent.then_some("did not run"));
    let mut table = Table::new(&head);
    for system in systems {
        let mut row = vec![system.system.clone()];
        row.extend(system.passage_recall_at_6.as_ref().map(shown));
        row.extend([&system.note_at_1, &system.note_at_5, &system.note_mrr].map(shown));
        if silent {
            row.push(match system.did_not_run {
                0 => String::new(),
                silent => silent.to_string(),
            });
        }
        table.row(row);
    }
    let mut out = table.plain();
    if !found_nothing.is_empty() {
        let _ = writeln!(
            out,
            "{}",
            styled(
                FAINT,
                &format!("nothing found alone: {}", found_nothing.join(", "))
            )
        );
    }
    out
}

fn shown(interval: &Interval) -> String {
    interval.shown()
}

fn confidence(counts: &ConfidenceFigures) -> String {
    format!(
        "strong {}, weak {}, none {}",
        counts.strong, counts.weak, counts.none
    )
}

/// The questions or probes that fell, each with its ranks; nothing where none did.
fn fallen(what: &str, how: &str, misses: &[Miss], passages: bool) -> String {
    if misses.is_empty() {
        return String::new();
    }
    let mut out = format!("\n{} {how}:\n", counted(misses.len() as u64, what));
    let rank = |rank: Option<usize>| rank.map_or("–".to_string(), |rank| rank.to_string());
    for miss in misses {
        let mut ranks = format!("note {}", rank(miss.note_rank));
        if passages {
            ranks += &format!(", passage {}", rank(miss.passage_rank));
        }
        let _ = writeln!(
            out,
            "  {}  {}\n    {}",
            inert_line(&miss.id),
            inert_line(&miss.question),
            styled(
                FAINT,
                &format!("{ranks}; wanted: {}", inert_line(&miss.notes.join(", ")))
            )
        );
    }
    out
}

/// What to do about the weights, and why.
fn advised(advice: &Advice, commands: &[String]) -> String {
    let basis = match advice.measured_on {
        Basis::Questions => counted(advice.questions as u64, "question"),
        Basis::Probes => counted(advice.questions as u64, "probe"),
    };
    let head = styled(TITLE, "Weights");
    let Some(best) = &advice.best else {
        return format!(
            "{head}: {basis} cannot tell settings apart; from {ENOUGH} on others are tried.\n"
        );
    };
    let settings: Vec<String> = best
        .settings
        .iter()
        .map(|change| format!("{} {}", change.name, change.value))
        .collect();
    let settings = settings.join(", ");
    let gain = best.difference.shown();
    let held_out = best.held_out.shown();
    let tried = format!("{head}: {} other settings tried on {basis}", advice.tried);
    match advice.verdict {
        Verdict::Change => {
            let lines: String = commands
                .iter()
                .map(|line| format!("  {}\n", inert_line(line)))
                .collect();
            format!(
                "{tried}. {settings} is better: note MRR {gain}, on questions that did not choose it {held_out}.\n{lines}"
            )
        }
        Verdict::Contradicted => format!(
            "{tried}. {settings} is better there (note MRR {gain}) and worse on your own questions: keep what is set.\n"
        ),
        Verdict::Keep | Verdict::TooFew if best.difference.mean < 0.0005 => {
            format!("{tried}. None is better even on these: keep what is set.\n")
        }
        Verdict::Keep | Verdict::TooFew => {
            let needed = advice.questions_needed.map_or(String::new(), |needed| {
                format!(
                    " To tell that from chance would take about {} like these.",
                    grouped(needed as u64)
                )
            });
            format!(
                "{tried}. Nothing better was found, as far as so many can tell: keep what is set.\n  the best of them: {settings}; note MRR {gain}, on questions that did not choose it {held_out}.{needed}\n"
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fell_is_counted_and_nothing_is_not_told() {
        let miss = |id: &str| Miss {
            id: id.to_string(),
            question: "How hot?".to_string(),
            notes: vec!["Kiln.md".to_string()],
            note_rank: Some(7),
            passage_rank: None,
        };
        let told = |misses: &[Miss]| fallen("probe", "whose linked note fell", misses, false);
        assert_eq!(told(&[]), "");
        let one = told(&[miss("a")]);
        assert!(one.starts_with("\n1 probe whose linked note fell:\n  a  How hot?\n"));
        assert!(one.contains("note 7; wanted: Kiln.md") && !one.contains("passage"));
        let two = told(&[miss("a"), miss("b")]);
        assert!(two.starts_with("\n2 probes whose"));
    }
}
