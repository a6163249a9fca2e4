//! Rare words that notes have in common.

use lorewell_index::{Snapshot, StoredPassage};
use lorewell_lexical::{Live, QueryTerm, SegmentError, document_frequency, search};
use lorewell_text::{StopWords, TokenKind, Tokenizer, fold};
use rustc_hash::{FxHashMap, FxHashSet};

use super::subject::{Subject, SubjectPassage, passage_key};
use crate::error::RetrievalError;

/// So many words of the note, those that say most of it, are looked for.
const WORDS: usize = 32;

/// So many different words of a note are looked up, those that it uses most and first.
const LOOKED_UP: usize = 512;

/// So many passages are looked at.
const DEPTH: usize = 150;

/// A word that a larger share of the passages has is common.
const COMMON: f32 = 0.03;

/// Whatever the vault's size, a word in so many passages is not common.
const NEVER_COMMON: u32 = 5;

/// What the second and third passage of a note add, as a share of their scores.
const NEXT: f32 = 0.2;

/// So many of the rarest words make a share of one half.
const HALF: f32 = 4.0;

/// Any two notes share so much by chance.
const CHANCE: f32 = 0.3;

/// A word of the title counts as if it stood in the text so many times more.
const IN_TITLE: u32 = 2;

/// In a passage of which the words are this rare, so many must occur for them to be the same text.
const TELLING: usize = 4;

/// A passage that stands in so many other notes is boilerplate.
const REPEATS: usize = 2;

/// The words of a note that say most of it.
pub(crate) struct RareWords {
    words: Vec<RareWord>,
    /// What a word that a single other passage has adds to a score.
    rarest: f32,
}

struct RareWord {
    term: String,
    /// As the note writes it first.
    shown: String,
    /// Inverse document frequency, passages of the note itself left out.
    idf: f32,
    /// `1 + ln` of how often the note has it.
    often: f32,
}

/// The words that another note shares.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SharedWords {
    /// As the asked note writes them, the rarest first.
    pub(crate) words: Vec<String>,
    /// The passage with most of them.
    pub(crate) passage: u32,
    /// 0 to 1.
    pub(crate) strength: f32,
}

/// In how many passages terms occur, each looked up once.
pub(crate) struct Frequencies<'a> {
    segments: &'a [Live<'a>],
    known: FxHashMap<String, u32>,
}

impl<'a> Frequencies<'a> {
    pub(crate) fn new(segments: &'a [Live<'a>]) -> Frequencies<'a> {
        Frequencies {
            segments,
            known: FxHashMap::default(),
        }
    }

    fn of(&mut self, term: &str) -> Result<u32, SegmentError> {
        if let Some(known) = self.known.get(term) {
            return Ok(*known);
        }
        let count = document_frequency(self.segments, term)?;
        self.known.insert(term.to_string(), count);
        Ok(count)
    }
}

impl RareWords {
    /// The words of a note that are rare elsewhere, and are there.
    pub(crate) fn of(
        subject: &Subject,
        frequencies: &mut Frequencies<'_>,
        passages: u64,
    ) -> Result<RareWords, SegmentError> {
        let mut counts = Counts::of(subject);
        let all = passages as f32;
        let common = ((all * COMMON) as u32).max(NEVER_COMMON);
        let mut words = Vec::new();
        for (term, count) in counts.most_used() {
            let in_all = counts.everywhere.contains(&term);
            let own = if in_all {
                subject.passages.len() as u32
            } else {
                count.passages
            };
            let outside = frequencies.of(&term)?.saturating_sub(own);
            if outside == 0 || outside > common {
                continue;
            }
            words.push(RareWord {
                idf: (1.0 + all / outside as f32).ln(),
                often: 1.0 + (count.times.max(1) as f32).ln(),
                shown: count.shown,
                term,
            });
        }
        words.sort_by(|a, b| {
            let worth = |word: &RareWord| word.idf * word.often;
            worth(b)
                .total_cmp(&worth(a))
                .then_with(|| a.term.cmp(&b.term))
        });
        words.truncate(WORDS);
        Ok(RareWords {
            words,
            // The note itself has the word as well.
            rarest: (1.0 + (all - 1.5).max(0.0) / 2.5).ln(),
        })
    }

    /// The notes that share some, by note. `may` says which passages may be looked at.
    ///
    /// What a note shares is the BM25 score of its best passage for the words, and a fifth of that
    /// of its two next. The sum `x` makes a share `x/(x + c)`, where `c` is four times what the
    /// rarest word could add; half of that for a single word. What is above the share that any two
    /// notes have counts.
    pub(crate) fn shared(
        &self,
        snapshot: &Snapshot,
        segments: &[Live<'_>],
        may: &dyn Fn(u32) -> bool,
    ) -> Result<FxHashMap<u32, SharedWords>, RetrievalError> {
        let terms: Vec<QueryTerm> = self
            .words
            .iter()
            .map(|word| QueryTerm {
                term: word.term.clone(),
                weight: word.often,
            })
            .collect();
        let mut notes: FxHashMap<u32, Matches> = FxHashMap::default();
        for hit in search(segments, &terms, DEPTH, Some(may))? {
            let Some(note) = snapshot.note_of_passage(hit.passage)? else {
                continue;
            };
            let matches = notes.entry(note).or_default();
            matches.all |= hit.matched;
            // Hits come best first.
            match matches.passages {
                0 => (matches.sum, matches.passage) = (hit.score, hit.passage),
                1 | 2 => matches.sum += NEXT * hit.score,
                _ => {}
            }
            matches.passages += 1;
        }
        let shared = notes.into_iter().map(|(note, matches)| {
            let sure = if matches.all.count_ones() == 1 {
                0.5
            } else {
                1.0
            };
            let share = sure * matches.sum / (matches.sum + HALF * self.rarest);
            let shared = SharedWords {
                words: self.shown(matches.all),
                passage: matches.passage,
                strength: ((share - CHANCE) / (1.0 - CHANCE)).max(0.0),
            };
            (note, shared)
        });
        Ok(shared.collect())
    }

    fn shown(&self, matched: u64) -> Vec<String> {
        let words = self.words.iter().enumerate();
        let mut matched: Vec<&RareWord> = words
            .filter(|(bit, _)| matched >> bit & 1 == 1)
            .map(|(_, word)| word)
            .collect();
        matched.sort_by(|a, b| b.idf.total_cmp(&a.idf).then_with(|| a.term.cmp(&b.term)));
        // What is rare enough to name, but at least the rarest.
        let rare = matched.iter().filter(|word| word.idf >= self.rarest / 2.0);
        let named = rare.count().max(1);
        matched.truncate(named);
        matched.iter().map(|word| word.shown.clone()).collect()
    }
}

#[derive(Default)]
struct Matches {
    all: u64,
    passages: u32,
    sum: f32,
    passage: u32,
}

/// The terms of a note.
struct Counts {
    terms: FxHashMap<String, Count>,
    /// Terms of its names and tags: every passage has them.
    everywhere: FxHashSet<String>,
    /// Those of the language of the note.
    stop_words: StopWords,
}

struct Count {
    shown: String,
    times: u32,
    passages: u32,
    /// The last passage that it was seen in.
    last: usize,
    /// How many other words the note has before it.
    place: usize,
}

impl Counts {
    fn of(subject: &Subject) -> Counts {
        let mut tokenizer = Tokenizer::new();
        let note = &subject.note;
        let title = std::iter::once(note.title.as_str());
        let names = note.aliases.iter().chain(&note.tags).map(String::as_str);
        let mut everywhere = FxHashSet::default();
        for name in title.chain(names).chain([note.path.as_str()]) {
            tokenizer.tokens(name, &mut |token| {
                everywhere.insert(token.term.to_string());
            });
        }
        let lines = subject.passages.iter().flat_map(|p| &p.lines);
        let text: Vec<&str> = lines.map(|line| line.words.as_str()).take(40).collect();
        let mut counts = Counts {
            terms: FxHashMap::default(),
            everywhere,
            stop_words: StopWords::of(&text.join("\n")),
        };
        counts.count(&mut tokenizer, &note.title, 0, IN_TITLE);
        for (at, passage) in subject.passages.iter().enumerate() {
            for line in &passage.lines {
                counts.count(&mut tokenizer, &line.words, at, 1);
            }
            for heading in &passage.heading_path {
                counts.count(&mut tokenizer, heading, at, 0);
            }
        }
        counts
    }

    fn most_used(&mut self) -> Vec<(String, Count)> {
        let mut terms: Vec<(String, Count)> = std::mem::take(&mut self.terms).into_iter().collect();
        terms.sort_by_key(|(_, count)| (std::cmp::Reverse(count.times), count.place));
        terms.truncate(LOOKED_UP);
        terms
    }

    fn count(&mut self, tokenizer: &mut Tokenizer, text: &str, passage: usize, times: u32) {
        tokenizer.tokens(text, &mut |token| {
            let shown = &text[token.range.clone()];
            if !says_something(token.kind, shown) || self.stop_words.holds(&fold(shown)) {
                return;
            }
            match self.terms.get_mut(token.term) {
                Some(count) => {
                    count.times += times;
                    count.passages += u32::from(count.last != passage);
                    count.last = passage;
                }
                // Headings above only repeat what stands in lines; times 0 adds no word.
                None if times == 0 => {}
                None => {
                    let count = Count {
                        shown: shown.to_string(),
                        times,
                        passages: 1,
                        last: passage,
                        place: self.terms.len(),
                    };
                    self.terms.insert(token.term.to_string(), count);
                }
            }
        });
    }
}

/// Whether a piece of text can be what two notes are both about: not a number, a sign or a letter.
fn says_something(kind: TokenKind, shown: &str) -> bool {
    match kind {
        TokenKind::Word | TokenKind::Identifier => {
            let letters = shown.chars().filter(|c| c.is_alphabetic()).count();
            // `AI` is a subject, `mm` is none.
            letters > 2 || (letters == 2 && !shown.bytes().all(|b| b.is_ascii_lowercase()))
        }
        // Hiragana alone is grammar more often than not.
        TokenKind::Bigram => !shown.chars().all(|c| matches!(c, '\u{3041}'..='\u{309F}')),
        TokenKind::Spelling | TokenKind::Beginning | TokenKind::Unigram | TokenKind::Symbol => {
            false
        }
    }
}

/// Drops the passages of the note whose text stands in two other notes or more.
pub(crate) fn drop_repeated(
    subject: &mut Subject,
    snapshot: &Snapshot,
    frequencies: &mut Frequencies<'_>,
) -> Result<(), RetrievalError> {
    let note = subject.note.id;
    let mut kept = Vec::with_capacity(subject.passages.len());
    for passage in std::mem::take(&mut subject.passages) {
        if !is_repeated(&passage, note, snapshot, frequencies)? {
            kept.push(passage);
        }
    }
    subject.passages = kept;
    Ok(())
}

fn is_repeated(
    passage: &SubjectPassage,
    note: u32,
    snapshot: &Snapshot,
    frequencies: &mut Frequencies<'_>,
) -> Result<bool, RetrievalError> {
    let mut terms: Vec<(u32, String)> = Vec::new();
    let mut seen = FxHashSet::default();
    let mut tokenizer = Tokenizer::new();
    for line in &passage.lines {
        for term in tokenizer.terms(&line.words) {
            // A number may differ from copy to copy.
            if term.bytes().any(|b| b.is_ascii_digit()) || !seen.insert(term.clone()) {
                continue;
            }
            let count = frequencies.of(&term)?;
            // A word that three passages do not have ends the matter at once.
            if count <= REPEATS as u32 {
                return Ok(false);
            }
            terms.push((count, term));
        }
    }
    terms.sort();
    let query: Vec<QueryTerm> = terms
        .into_iter()
        .take(TELLING)
        .map(|(_, term)| QueryTerm { term, weight: 1.0 })
        .collect();
    let every = (1u64 << query.len()) - 1;
    let mut others: FxHashSet<u32> = FxHashSet::default();
    for hit in search(frequencies.segments, &query, 48, None)? {
        if hit.matched != every {
            continue;
        }
        let Some(other) = snapshot.passage(hit.passage)? else {
            continue;
        };
        if other.note != note && same_text(&other, passage) {
            others.insert(other.note);
        }
        if others.len() >= REPEATS {
            return Ok(true);
        }
    }
    Ok(false)
}

fn same_text(other: &StoredPassage, passage: &SubjectPassage) -> bool {
    passage_key(&other.said()) == passage.key
}
