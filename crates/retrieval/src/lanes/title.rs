//! The title lane: identity. A question that names a note finds it.

use lorewell_index::{NameKind, NoteName, Snapshot};
use lorewell_text::{
    Day, NotePath, Question, StopWords, days_in, fold, fold_white_space, name_key,
};
use rustc_hash::FxHashMap;

use super::Ground;
use super::text::{Terms, best_passage_of};
use crate::error::RetrievalError;
use crate::lane::{Lane, LaneHit, LaneResult, LaneState};

/// A name of so many words can be found inside a question.
const LONGEST_NAME: usize = 10;
/// Only so many words of a question are looked through for names.
const WORDS_READ: usize = 64;
/// A name must be so much of what a question says, stop words aside.
const MOST: f32 = 0.6;
/// A question of so many words may be a misspelled or unfinished name.
const NEAR_WORDS: usize = 6;
/// Names less alike than this are other names (Jaro-Winkler similarity).
const NEAR: f64 = 0.9;
/// Only so many links of a question are followed.
const LINKS: usize = 8;
/// So many notes at most.
const NOTES: usize = 20;

/// How a name was found, as the lane's strength: the whole question is the name, the question
/// holds the name, the question is nearly the name.
const WHOLE: f32 = 4.0;
const HELD: f32 = 1.0;
const NEARLY: f32 = 1.5;

/// The question links the note, beside other words: what is asked need not be in it.
const LINKED: f32 = 1.5;
/// The question names the day of a daily note, beside other things.
const OF_DAY: f32 = 1.5;
/// So many bytes of a question are read for days, and so many days looked for.
const DAYS_READ: usize = 2_000;
const DAYS: usize = 8;

/// How sure a hit of this strength is about the note, 0 to 1.
pub(crate) fn sureness(strength: f32) -> f32 {
    if strength > NEARLY {
        1.0
    } else {
        0.5 * strength / NEARLY
    }
}

/// A file name names a note more surely than an alias, and that more than a heading.
fn of_kind(strength: f32, kind: NameKind) -> f32 {
    match kind {
        NameKind::File | NameKind::Title => strength,
        NameKind::Alias => strength * 0.95,
        NameKind::Heading => strength * 0.6,
    }
}

/// Runs the lane.
pub(crate) fn run(
    ground: &Ground<'_>,
    terms: &Terms,
    question: &str,
    today: Option<Day>,
) -> Result<LaneResult, RetrievalError> {
    let snapshot = ground.snapshot;
    let mut found = Found::default();
    linked(snapshot, question, &mut found)?;
    // A link as it is written names what stands between its brackets.
    let question = &question.replace("[[", " ").replace("]]", " ");
    let whole = fold_white_space(trim_signs(question));
    found.add(snapshot.notes_named(&whole)?, WHOLE);
    if found.notes.is_empty() {
        found.add(notes_at(snapshot, &whole)?, WHOLE);
    }
    let words: Vec<&str> = question
        .split_whitespace()
        .map(trim_signs)
        .filter(|w| !w.is_empty())
        .collect();
    // Words that say nothing of a subject name a note only if they are its whole name.
    let telling = !Question::new(question).only_stop_words;
    if found.notes.is_empty() && telling {
        held_names(snapshot, question, &words, &mut found)?;
    }
    if found.notes.is_empty() && telling && !words.is_empty() && words.len() <= NEAR_WORDS {
        near_names(snapshot, &whole, &mut found)?;
    }
    notes_of_days(snapshot, question, today, &mut found)?;
    let mut hits = Vec::new();
    for (note, strength) in found.in_order(snapshot)? {
        if ground
            .allowed
            .as_ref()
            .is_some_and(|a| !a.notes.contains(&note))
        {
            continue;
        }
        if let Some(passage) = best_passage_of(ground, terms, note)?.filter(|p| ground.may(*p)) {
            hits.push(LaneHit {
                strength,
                ..LaneHit::new(passage, strength)
            });
        }
    }
    Ok(LaneResult::new(Lane::Title, LaneState::Ok, hits))
}

/// Notes by the strength of the best name.
#[derive(Default)]
struct Found {
    notes: FxHashMap<u32, (f32, NameKind)>,
}

impl Found {
    fn add(&mut self, names: Vec<NoteName>, strength: f32) {
        for name in names {
            let strength = of_kind(strength, name.kind);
            let known = self.notes.entry(name.note).or_insert((strength, name.kind));
            if strength > known.0 || (strength == known.0 && name.kind < known.1) {
                *known = (strength, name.kind);
            }
        }
    }

    /// The strongest first; equal ones by path, for numbers tell how the index came about.
    fn in_order(&self, snapshot: &Snapshot) -> Result<Vec<(u32, f32)>, RetrievalError> {
        let mut notes = Vec::with_capacity(self.notes.len());
        for (note, (strength, kind)) in &self.notes {
            notes.push((*note, *strength, *kind, snapshot.path_of(*note)?));
        }
        notes.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.2.cmp(&b.2)).then(a.3.cmp(&b.3)));
        notes.truncate(NOTES);
        Ok(notes
            .into_iter()
            .map(|(note, strength, ..)| (note, strength))
            .collect())
    }
}

/// Notes that links in the question mean: who writes a link means that very note. A heading is
/// nothing that a link can mean in this way.
fn linked(snapshot: &Snapshot, question: &str, found: &mut Found) -> Result<(), RetrievalError> {
    let inside = |part: &str| part.split_once("]]").map(|(link, _)| link.to_string());
    let links = question.split("[[").skip(1).filter_map(inside);
    for link in links.take(LINKS) {
        let end = link.find(['|', '#']).unwrap_or(link.len());
        let target = fold_white_space(link[..end].trim());
        let mut names = snapshot.notes_named(&target)?;
        names.retain(|name| name.kind != NameKind::Heading);
        if names.is_empty() {
            names = notes_at(snapshot, &target)?;
        }
        found.add(names, LINKED);
    }
    Ok(())
}

/// Notes that are asked for by their path or by the end of it, with or without `.md`.
fn notes_at(snapshot: &Snapshot, asked: &str) -> Result<Vec<NoteName>, RetrievalError> {
    let path = NotePath::new(asked);
    let folder = name_key(path.folder());
    let mut found = Vec::new();
    for name in snapshot.notes_named(path.name())? {
        let key = name_key(NotePath::new(snapshot.path_of(name.note)?).folder());
        let fits = key == folder
            || key
                .strip_suffix(&folder)
                .is_some_and(|head| head.ends_with('/'));
        if name.kind == NameKind::File && (folder.is_empty() || fits) {
            found.push(name);
        }
    }
    Ok(found)
}

/// Daily notes of the days that the question names: `3 May 2024`, `yesterday`.
fn notes_of_days(
    snapshot: &Snapshot,
    question: &str,
    today: Option<Day>,
    found: &mut Found,
) -> Result<(), RetrievalError> {
    let read = &question[..question.floor_char_boundary(DAYS_READ)];
    for (range, day) in days_in(read, today).into_iter().take(DAYS) {
        let rest = [&question[..range.start], &question[range.end..]];
        let alone = rest.iter().all(|text| Question::new(text).is_empty());
        let strength = if alone { WHOLE } else { OF_DAY };
        found.add(snapshot.notes_of_day(&day.to_string())?, strength);
    }
    Ok(())
}

/// Names that stand in the question and are most of what it says: `what is madder?` names
/// `Madder`, `how long does the second madder bath take?` does not. (A name that is only one
/// word of many already counts for its passages in the lexical lane.)
fn held_names(
    snapshot: &Snapshot,
    question: &str,
    words: &[&str],
    found: &mut Found,
) -> Result<(), RetrievalError> {
    let words = &words[..words.len().min(WORDS_READ)];
    let stop_words = StopWords::of(question);
    let tells: Vec<bool> = words.iter().map(|w| !stop_words.holds(&fold(w))).collect();
    let all = tells.iter().filter(|tells| **tells).count();
    for start in 0..words.len() {
        for end in (start + 1)..=words.len().min(start + LONGEST_NAME) {
            let telling = tells[start..end].iter().filter(|tells| **tells).count();
            let share = telling as f32 / all.max(1) as f32;
            let letters: usize = words[start..end].iter().map(|w| w.chars().count()).sum();
            if share < MOST || letters < 3 {
                continue;
            }
            let names = snapshot.notes_named(&words[start..end].join(" "))?;
            found.add(names, HELD * share);
        }
    }
    Ok(())
}

/// Names that the question nearly is: a slip of the pen, or a beginning. Only names with the same
/// first letter are looked at: a slip in the first letter is rare, and the others are many.
fn near_names(
    snapshot: &Snapshot,
    question: &str,
    found: &mut Found,
) -> Result<(), RetrievalError> {
    let key = name_key(question);
    let wanted = fold(&key);
    let length = wanted.chars().count();
    let Some(first) = key.chars().next().filter(|_| length >= 3) else {
        return Ok(());
    };
    let mut near: Vec<(f64, String, NoteName)> = Vec::new();
    for name in snapshot.names_beginning(first.encode_utf8(&mut [0; 4]))? {
        let key = fold(&name_key(&name.name));
        let likeness = if key.starts_with(&wanted) {
            0.95
        } else if key.chars().count().abs_diff(length) > 1 + length / 4 {
            continue;
        } else {
            strsim::jaro_winkler(&key, &wanted)
        };
        if likeness >= NEAR {
            near.push((likeness, snapshot.path_of(name.note)?, name));
        }
    }
    near.sort_by(|a, b| {
        b.0.total_cmp(&a.0)
            .then(a.2.name.len().cmp(&b.2.name.len()))
            .then_with(|| a.1.cmp(&b.1))
    });
    near.truncate(NOTES);
    for (likeness, _, name) in near {
        found.add(vec![name], NEARLY * likeness as f32);
    }
    Ok(())
}

/// Without the punctuation that a sentence puts around a name.
fn trim_signs(word: &str) -> &str {
    word.trim_matches(|c: char| {
        c.is_whitespace()
            || matches!(
                c,
                '?' | '!'
                    | ','
                    | ';'
                    | ':'
                    | '"'
                    | '“'
                    | '”'
                    | '„'
                    | '«'
                    | '»'
                    | '('
                    | ')'
                    | '。'
                    | '？'
                    | '！'
                    | '、'
                    | '，'
            )
    })
    .trim_end_matches('.')
}
