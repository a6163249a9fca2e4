//! What the engine knew of every passage that it showed, and whether the passage was right: the
//! rows from which `score` and `confidence` are calibrated.

use anyhow::Result;
use lorewell_engine::EngineSettings;
use lorewell_evaluation::{Outcome, Question, SHOWN, System};

use crate::data::Data;
use crate::sample;
use crate::workbench::Workbench;

/// Prints one line a passage: vault, set that asks, question, kind, rank, reading, right or not.
/// Every set is also asked of every other vault, where nothing answers it.
///
/// # Errors
/// Data that cannot be read, an index that cannot be made.
pub fn run(data: &Data) -> Result<()> {
    let mut sets: Vec<(String, Vec<Question>, Workbench)> = Vec::new();
    let mut holders = Vec::new();
    for name in Data::set_names() {
        let vault = data.vault(name)?;
        let bench = Workbench::build(name, &vault.root, EngineSettings::default())?;
        holders.push(vault);
        sets.push((name.to_string(), data.questions(name)?, bench));
    }
    let (questions, bench) = sample::bench()?;
    sets.push(("sample-vault".into(), questions, bench));
    println!("vault\tset\tid\tkind\trank\twords\tcosine\tname\ttext\tdense\tfused\tright\tscore");
    for (vault, _, bench) in &sets {
        for (set, questions, _) in &sets {
            let rows = bench.each(questions, |view, question| {
                let answer = view.search(&System::fused().request(&question.question, SHOWN))?;
                let wanted = if set == vault { question.wanted() } else { Vec::new() };
                let kind = if set == vault { question.kind.as_str() } else { "foreign" };
                let mut lines = String::new();
                for (place, passage) in answer.passages.iter().enumerate() {
                    let one = lorewell_engine::Answer {
                        passages: vec![passage.clone()],
                        ..answer.clone()
                    };
                    let right = Outcome::judge(&one, &wanted).passages.iter().any(Option::is_some);
                    let r = &passage.reading;
                    let rank = |rank: Option<usize>| rank.unwrap_or(0);
                    lines += &format!(
                        "{vault}\t{set}\t{}\t{kind}\t{}\t{:.4}\t{}\t{:.3}\t{}\t{}\t{:.4}\t{}\t{:.3}\n",
                        question.id,
                        place + 1,
                        r.words,
                        r.cosine.map_or("-".to_string(), |c| format!("{c:.4}")),
                        r.name,
                        rank(r.text_rank),
                        rank(r.dense_rank),
                        passage.fused.value,
                        u8::from(right),
                        passage.score,
                    );
                }
                Ok(lines)
            })?;
            rows.iter().for_each(|lines| print!("{lines}"));
        }
    }
    Ok(())
}
