//! Whether the skill's description calls it up: twenty sentences, and the descriptions of other
//! skills beside it, compared by words alone (BM25 over descriptions, words cut to their stems'
//! first letters). It shows that the description has the words that people use and does not take
//! those of others. What a model makes of a description it does not show: models understand
//! sentences that share no word with it, and may pass over ones that do.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::collections::{BTreeMap, BTreeSet};

use lorewell_clients::skill::FILES;
use serde_json::Value;

const SENTENCES: &str = include_str!("triggers.jsonl");
const OTHERS: &str = include_str!("others.jsonl");

/// Words that say nothing about what is wanted.
const EMPTY: &[&str] = &[
    "the", "and", "for", "with", "that", "this", "from", "use", "when", "user", "what", "was",
    "are", "all", "his", "her", "has", "have", "not", "asks", "wants", "any", "every", "in", "on",
    "of", "to", "a", "or", "is", "it", "an", "at", "so", "so", "as", "be", "by", "should",
];

fn words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric());
    let words = words.filter(|word| !word.is_empty() && !EMPTY.contains(word));
    // `decided`, `decision` and `decide` meet in their first five letters.
    words
        .map(|word| word.chars().take(5).collect())
        .map(plain)
        .collect()
}

/// Without the plural.
fn plain(word: String) -> String {
    match word.strip_suffix('s') {
        Some(stem) if stem.len() > 2 => stem.to_string(),
        _ => word,
    }
}

struct Descriptions(BTreeMap<String, Vec<String>>);

impl Descriptions {
    /// BM25 (k1 1.2, b 0.5) of a sentence and a description.
    fn score(&self, name: &str, sentence: &BTreeSet<String>) -> f64 {
        let count = self.0.len() as f64;
        let mean = self.0.values().map(Vec::len).sum::<usize>() as f64 / count;
        let words = &self.0[name];
        let score = |word: &String| {
            let times = words.iter().filter(|other| *other == word).count() as f64;
            let having = self.0.values().filter(|words| words.contains(word)).count() as f64;
            let idf = (1.0 + (count - having + 0.5) / (having + 0.5)).ln();
            let length = 0.5 + 0.5 * words.len() as f64 / mean;
            idf * times * 2.2 / (times + 1.2 * length)
        };
        sentence.iter().map(score).sum()
    }

    /// The skill that a sentence calls up, if any has a word of it.
    fn called(&self, sentence: &str) -> Option<(String, f64)> {
        let sentence: BTreeSet<String> = words(sentence).into_iter().collect();
        let scores = self
            .0
            .keys()
            .map(|name| (name.clone(), self.score(name, &sentence)));
        let best = scores.max_by(|a, b| a.1.total_cmp(&b.1))?;
        (best.1 > 0.0).then_some(best)
    }
}

fn lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn descriptions(own: &str) -> Descriptions {
    let text = |value: &Value, field: &str| value[field].as_str().unwrap().to_string();
    let others = lines(OTHERS);
    let others = others
        .iter()
        .map(|o| (text(o, "name"), words(&text(o, "description"))));
    Descriptions(
        others
            .chain([("lorewell".to_string(), words(own))])
            .collect(),
    )
}

/// The sentences that call up the wrong skill.
fn wrong(descriptions: &Descriptions) -> Vec<String> {
    let mut wrong = Vec::new();
    for sentence in lines(SENTENCES) {
        let says = sentence["says"].as_str().unwrap();
        let called = descriptions.called(says);
        let fires = called.as_ref().is_some_and(|(name, _)| name == "lorewell");
        if fires != sentence["fires"].as_bool().unwrap() {
            wrong.push(format!("{says} → {called:?}"));
        }
    }
    wrong
}

fn own() -> String {
    let front = FILES[0].1.lines();
    let line = front
        .filter_map(|line| line.strip_prefix("description: "))
        .next();
    // What follows "Not for" keeps others' words away from a model, and would draw them here.
    line.unwrap().split(" Not for ").next().unwrap().to_string()
}

#[test]
fn the_sentences_are_ten_and_ten() {
    let sentences = lines(SENTENCES);
    let fires = sentences.iter().filter(|s| s["fires"] == true).count();
    assert_eq!((fires, sentences.len()), (10, 20));
}

#[test]
fn the_description_is_called_up_when_it_should_be() {
    assert_eq!(wrong(&descriptions(&own())), Vec::<String>::new());
}

#[test]
fn a_vague_description_would_fail() {
    let vague = descriptions("Helps with files and text. Use when the user asks something.");
    assert!(wrong(&vague).len() >= 8);
}
