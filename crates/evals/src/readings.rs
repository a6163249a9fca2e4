//! What the engine knew of every passage that it showed, and whether the passage was right: what
//! `score` and `confidence` are calibrated from.

use anyhow::Result;
use lorewell_engine::{Answer, AnswerPassage, Confidence, EngineSettings, Reading, View};
use lorewell_evaluation::{Outcome, Question, SHOWN, System};

use crate::data::{Data, ENGLISH};
use crate::sample;
use crate::workbench::Workbench;

/// The set over the sample vault.
const SAMPLE: &str = "sample-vault";

/// A question that was asked of a vault, its own or another one.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// The vault that was asked.
    pub vault: String,
    /// The set that the question belongs to.
    pub set: String,
    /// The question.
    pub id: String,
    /// Its kind in its set.
    pub kind: String,
    /// How sure the engine was.
    pub confidence: Confidence,
    /// What it showed, best first.
    pub passages: Vec<Shown>,
}

/// A passage that was shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    /// What was known of it.
    pub reading: Reading,
    /// Its fused value.
    pub fused: f32,
    /// What the engine made of that.
    pub score: f32,
    /// Whether it answers.
    pub is_right: bool,
}

/// What is true of a question in the vault that was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truth {
    /// A passage that answers it is shown.
    Found,
    /// The vault answers it, and no such passage is shown.
    Missed,
    /// The set says that nothing in its vault answers it.
    Unanswerable,
    /// It belongs to another vault: nothing here answers it.
    Foreign,
}

impl Asked {
    /// Whether what is shown answers it.
    pub fn truth(&self) -> Truth {
        if self.set != self.vault {
            Truth::Foreign
        } else if self.kind == "none" {
            Truth::Unanswerable
        } else if self.passages.iter().any(|passage| passage.is_right) {
            Truth::Found
        } else {
            Truth::Missed
        }
    }

    /// Whether question and notes are in languages that have no word in common.
    pub fn is_across_languages(&self) -> bool {
        let english = |set: &str| ENGLISH.contains(&set) || set == SAMPLE;
        english(&self.set) != english(&self.vault)
    }

    fn new(view: &View<'_>, vault: &str, set: &str, question: &Question) -> Result<Asked> {
        let answer = view.search(&System::fused().request(&question.question, SHOWN))?;
        let shown = |passage: &AnswerPassage| Shown {
            reading: passage.reading,
            fused: passage.fused.value,
            score: passage.score,
            is_right: set == vault && answers(passage, &answer, question),
        };
        Ok(Asked {
            vault: vault.to_string(),
            set: set.to_string(),
            id: question.id.clone(),
            kind: question.kind.clone(),
            confidence: answer.confidence,
            passages: answer.passages.iter().map(shown).collect(),
        })
    }

    fn lines(&self) -> String {
        let kind = if self.truth() == Truth::Foreign {
            "foreign"
        } else {
            &self.kind
        };
        let mut lines = String::new();
        for (place, shown) in self.passages.iter().enumerate() {
            let r = &shown.reading;
            let rank = |rank: Option<usize>| rank.unwrap_or(0);
            lines += &format!(
                "{}\t{}\t{}\t{kind}\t{}\t{:.4}\t{}\t{:.3}\t{}\t{}\t{:.4}\t{}\t{:.3}\n",
                self.vault,
                self.set,
                self.id,
                place + 1,
                r.words,
                r.cosine.map_or("-".to_string(), |c| format!("{c:.4}")),
                r.name,
                rank(r.text_rank),
                rank(r.dense_rank),
                shown.fused,
                u8::from(shown.is_right),
                shown.score,
            );
        }
        lines
    }
}

/// Prints one line a passage: vault, set that asks, question, kind, rank, reading, right or not.
///
/// # Errors
/// Data that cannot be read, an index that cannot be made.
pub fn run(data: &Data) -> Result<()> {
    println!("vault\tset\tid\tkind\trank\twords\tcosine\tname\ttext\tdense\tfused\tright\tscore");
    for asked in all(data)? {
        print!("{}", asked.lines());
    }
    Ok(())
}

/// Every set asked of every vault: of its own, and of the others, where nothing answers it.
///
/// # Errors
/// Data that cannot be read, an index that cannot be made.
pub fn all(data: &Data) -> Result<Vec<Asked>> {
    let mut sets: Vec<(&str, Vec<Question>, Workbench)> = Vec::new();
    let mut holders = Vec::new();
    for name in Data::set_names() {
        let vault = data.vault(name)?;
        let bench = Workbench::build(name, &vault.root, EngineSettings::default())?;
        holders.push(vault);
        sets.push((name, data.questions(name)?, bench));
    }
    let (questions, bench) = sample::bench()?;
    sets.push((SAMPLE, questions, bench));
    let mut all = Vec::new();
    for (vault, _, bench) in &sets {
        for (set, questions, _) in &sets {
            all.extend(bench.each(questions, |view, question| {
                Asked::new(view, vault, set, question)
            })?);
        }
    }
    Ok(all)
}

/// Whether this passage alone holds something that the question wants.
fn answers(passage: &AnswerPassage, answer: &Answer, question: &Question) -> bool {
    let alone = Answer {
        passages: vec![passage.clone()],
        ..answer.clone()
    };
    let outcome = Outcome::judge(&alone, &question.wanted());
    outcome.passages.iter().any(Option::is_some)
}
