//! What the usual answer does not find, for reading by a person. It prints other people's text,
//! so it goes to the terminal and nowhere else.

use anyhow::Result;
use lorewell_engine::{Answer, AnswerPassage, EngineSettings, Lane, View};
use lorewell_evaluation::{DEPTH, Outcome, Question, SHOWN, System, Wanted, word};
use lorewell_text::fold_white_space;

use crate::data::Data;
use crate::workbench::Workbench;

/// Passages are looked for this deep in each lane.
const LANE_DEPTH: usize = 200;

/// Prints every question of a set whose wanted passages are not all among the first six.
///
/// # Errors
/// Data that cannot be read, an index that cannot be made.
pub fn run(data: &Data, name: &str) -> Result<()> {
    let vault = data.vault(name)?;
    let questions = data.questions(name)?;
    let bench = Workbench::build(name, &vault.root, EngineSettings::default())?;
    let view = bench.host().view()?;
    let system = System::fused();
    for question in questions.iter().filter(|question| question.is_answerable()) {
        let answer = view.search(&system.request(&question.question, DEPTH))?;
        let wanted = question.wanted();
        let outcome = Outcome::judge(&answer, &wanted);
        if outcome.recall_at(SHOWN) < 1.0 {
            print(&view, question, &answer, &outcome, &wanted)?;
        }
    }
    Ok(())
}

fn print(
    view: &View<'_>,
    question: &Question,
    answer: &Answer,
    outcome: &Outcome,
    wanted: &[Wanted],
) -> Result<()> {
    println!(
        "\n== {} ({}, {}): {}",
        question.id,
        question.kind,
        word(answer.confidence),
        question.question
    );
    for (index, wish) in wanted.iter().enumerate() {
        for (note, snippet) in &wish.notes {
            println!("   wanted: {note}\n           “{snippet}”");
        }
        let shown = |rank: Option<usize>| rank.map_or("-".to_string(), |r| r.to_string());
        println!(
            "   fused: note {}, passage {}; in the lanes: {}; {}",
            shown(outcome.notes[index]),
            shown(outcome.passages[index]),
            in_lanes(view, question, wish)?,
            whole(view, wish)?
        );
    }
    for passage in answer.passages.iter().take(SHOWN) {
        println!("   {}", line(passage));
    }
    Ok(())
}

fn line(passage: &AnswerPassage) -> String {
    let text = fold_white_space(&passage.passage.text);
    let parts: Vec<String> = passage
        .fused
        .trace
        .iter()
        .map(|c| format!("{} {} ({:.2})", c.lane, c.rank, c.score))
        .collect();
    format!(
        "{:2} {:.2} {} › {} [{}]\n           {}",
        passage.rank,
        passage.score,
        passage.note.path.as_str(),
        passage.passage.heading_path.join(" › "),
        parts.join(", "),
        text.chars().take(80).collect::<String>()
    )
}

/// Where the passage and the note stand further down, and in every lane alone. Lanes of the second
/// round find nothing alone.
fn in_lanes(view: &View<'_>, question: &Question, wish: &Wanted) -> Result<String> {
    let mut parts = Vec::new();
    let alone = Lane::DEFAULT.map(|lane| {
        System::new(lane.name(), move |r| {
            r.lanes = vec![lane];
            r.settings.max_per_note = LANE_DEPTH;
        })
    });
    let whole = System::with("all", |s| s.max_per_note = LANE_DEPTH);
    let capped = System::new("all, as shown", |_| {});
    for alone in alone.into_iter().chain([whole, capped]) {
        let answer = view.search(&alone.request(&question.question, LANE_DEPTH))?;
        let outcome = Outcome::judge(&answer, std::slice::from_ref(wish));
        let rank = |ranks: &[Option<usize>]| {
            ranks[0].map_or(format!(">{}", answer.passages.len()), |rank| {
                rank.to_string()
            })
        };
        parts.push(format!(
            "{} {} (note {})",
            alone.name,
            rank(&outcome.passages),
            rank(&outcome.notes)
        ));
    }
    Ok(parts.join(", "))
}

/// Whether any passage holds the wanted words, or they are cut in two.
fn whole(view: &View<'_>, wish: &Wanted) -> Result<String> {
    let lexical = System::new("text", |r| {
        r.lanes = vec![Lane::Text];
        r.settings.max_per_note = 50;
    });
    for (_, snippet) in &wish.notes {
        let answer = view.search(&lexical.request(snippet, 50))?;
        let whole = Outcome::judge(&answer, std::slice::from_ref(wish)).passages[0];
        if let Some(passage) = whole.and_then(|rank| answer.passages.get(rank - 1)) {
            return Ok(format!(
                "whole in a passage of {} characters under “{}”",
                passage.passage.text.chars().count(),
                passage.passage.heading_path.join(" › ")
            ));
        }
    }
    Ok("NO PASSAGE HOLDS IT WHOLE".to_string())
}
