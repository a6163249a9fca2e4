//! Probes: questions that a vault asks of itself. The sentence around a link, with the link taken
//! out, is the question; the linked note is what should be found.
//!
//! A probe measures *finding the linked note*, not answering: its sentence is about the note and
//! no question that anybody asked. It costs nothing and every vault with links has some.

use std::collections::HashMap;
use std::ops::Range;

use lorewell_engine::{EngineError, NoteLink, NoteParts, StoredPassage, View};
use lorewell_markdown::Settings;
use lorewell_text::{NotePath, Question, TokenKind, fold_white_space, name_key, whole_period};

use crate::prose::sentences;

/// So many probes are drawn at most.
pub const MOST_PROBES: usize = 200;
/// So many words that say something a sentence holds at least, outside its links.
const LEAST_WORDS: usize = 6;
/// So many a linked note holds at least: a stub cannot be found by what it says.
const TARGET_WORDS: usize = 12;
/// A longer sentence is no question, in characters.
const LONGEST: usize = 400;
/// So many probes of one source, and so many for one target at most.
const PER_NOTE: u32 = 3;

/// A question from a note's own links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The source and the line of the link in it.
    pub id: String,
    /// The sentence without the link.
    pub question: String,
    /// The linked note: what should be found.
    pub target: String,
    /// Notes that are left out of the ranking: the source, which holds the sentence itself, and
    /// what else the sentence links to, which is as right as the target.
    pub passed_over: Vec<String>,
}

/// Draws at most `limit` probes. The same generation of an index gives the same; whether a note
/// is drawn from hangs on its own path, so that a vault that grew a little keeps most of them.
///
/// # Errors
/// The index cannot be read.
pub fn draw_probes(view: &View<'_>, limit: usize) -> Result<Vec<Probe>, EngineError> {
    let mut sources = view.note_paths()?;
    sources.sort_by_cached_key(|path| place(path));
    let mut targets: HashMap<String, Target> = HashMap::new();
    let mut probes = Vec::new();
    for source in sources {
        let Some(parts) = view.note_parts(&source)? else {
            continue;
        };
        let mut of_source = 0;
        for candidate in candidates(&parts) {
            if probes.len() == limit {
                return Ok(probes);
            }
            if of_source == PER_NOTE {
                break;
            }
            let target = match targets.entry(candidate.target.clone()) {
                std::collections::hash_map::Entry::Occupied(known) => known.into_mut(),
                std::collections::hash_map::Entry::Vacant(new) => {
                    new.insert(Target::of(view.note_parts(&candidate.target)?.as_ref()))
                }
            };
            if target.takes(&candidate.question) {
                of_source += 1;
                probes.push(candidate);
            }
        }
    }
    Ok(probes)
}

/// Where a note stands in the order of drawing: a hash of its path (FNV-1a, then mixed).
fn place(path: &str) -> u64 {
    let hash = path.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mixed = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb)
}

/// A linked note, as far as it may be asked for.
struct Target {
    /// How many more probes may ask for it.
    left: u32,
    /// Its names, as they are compared.
    names: Vec<String>,
}

impl Target {
    /// A note without text, or one that stands for a day, is nothing to look for.
    fn of(parts: Option<&NoteParts>) -> Target {
        let fit = parts.filter(|parts| {
            let text = parts.passages.iter().map(|passage| passage.text.as_str());
            let text: String = text.flat_map(|text| [text, "\n"]).collect();
            content_words(&text) >= TARGET_WORDS
                && whole_period(stem(&parts.note.path), None).is_none()
        });
        let Some(parts) = fit else {
            return Target {
                left: 0,
                names: Vec::new(),
            };
        };
        let names = parts.note.aliases.iter().map(String::as_str);
        let names = names.chain([parts.note.title.as_str(), stem(&parts.note.path)]);
        Target {
            left: PER_NOTE,
            names: names
                .map(name_key)
                .filter(|name| !name.is_empty())
                .collect(),
        }
    }

    /// Whether this question may ask for it; if so it is counted.
    fn takes(&mut self, question: &str) -> bool {
        let question = name_key(question);
        let fit = self.left > 0 && !self.names.iter().any(|name| question.contains(name));
        self.left -= u32::from(fit);
        fit
    }
}

fn stem(path: &NotePath) -> &str {
    let name = path.as_str().rsplit('/').next().unwrap_or_default();
    lorewell_text::split_note_extension(name).0
}

/// What of a note could be a probe, in order: one of a sentence at most. Their targets are still
/// to be looked at.
fn candidates(parts: &NoteParts) -> Vec<Probe> {
    let mut found = Vec::new();
    for passage in &parts.passages {
        let links = links_in(passage, &parts.links);
        if links.is_empty() {
            continue;
        }
        let ranges: Vec<Range<usize>> = links.iter().map(|(range, _)| range.clone()).collect();
        for sentence in sentences(&passage.text, &ranges) {
            let links: Vec<_> = links
                .iter()
                .filter(|(range, _)| sentence.start <= range.start && range.end <= sentence.end)
                .collect();
            found.extend(probe(parts, passage, sentence, &links));
        }
    }
    found
}

/// The links of a passage, in bytes of its text.
fn links_in<'p>(
    passage: &StoredPassage,
    links: &'p [NoteLink],
) -> Vec<(Range<usize>, &'p NoteLink)> {
    let within = links.iter().filter_map(|link| {
        let start = link
            .byte_range
            .start
            .checked_sub(passage.byte_range.start)?;
        let end = link.byte_range.end.checked_sub(passage.byte_range.start)?;
        let range = usize::try_from(start).ok()?..usize::try_from(end).ok()?;
        passage.text.get(range.clone()).map(|_| (range, link))
    });
    let mut within: Vec<_> = within.collect();
    within.sort_by_key(|(range, _)| range.start);
    // A link in the label of another is part of it.
    let mut end = 0;
    within.retain(|(range, _)| {
        let apart = range.start >= end;
        end = end.max(range.end);
        apart
    });
    within
}

fn probe(
    parts: &NoteParts,
    passage: &StoredPassage,
    sentence: Range<usize>,
    links: &[&(Range<usize>, &NoteLink)],
) -> Option<Probe> {
    let source = parts.note.path.as_str();
    if links.iter().any(|(_, link)| link.embed) {
        return None;
    }
    let (at, link) = links
        .iter()
        .find(|(_, link)| !link.ambiguous && link.to != source)?;
    let text = &passage.text;
    let question = spoken(text, &sentence, links, |other| other.to == link.to);
    let alone = spoken(text, &sentence, links, |_| true);
    if content_words(&alone) < LEAST_WORDS || question.chars().count() > LONGEST {
        return None;
    }
    // Of links within links something is left.
    if question.contains("[[") || question.contains("]]") {
        return None;
    }
    let key = name_key(&question);
    let mut shown = links.iter().filter(|(_, other)| other.to == link.to);
    if shown.any(|(_, other)| tells(&key, other)) {
        return None;
    }
    let mut passed_over = vec![source.to_string()];
    for (_, other) in links.iter().filter(|(_, other)| other.to != link.to) {
        if !passed_over.contains(&other.to) {
            passed_over.push(other.to.clone());
        }
    }
    let line = passage.line_range.0 as usize + text[..at.start].matches('\n').count();
    Some(Probe {
        id: format!("{source}:{line}"),
        question,
        target: link.to.clone(),
        passed_over,
    })
}

/// Whether the question still holds what the link shows or names.
fn tells(question: &str, link: &NoteLink) -> bool {
    let name = link.target.rsplit('/').next().unwrap_or_default();
    let texts = [link.label.as_deref().unwrap_or_default(), name];
    let mut keys = texts
        .into_iter()
        .map(name_key)
        .filter(|key| !key.is_empty());
    keys.any(|key| question.contains(&key))
}

/// The sentence as a person would read it, without the links that are to go.
fn spoken(
    text: &str,
    sentence: &Range<usize>,
    links: &[&(Range<usize>, &NoteLink)],
    goes: impl Fn(&NoteLink) -> bool,
) -> String {
    let mut left = String::with_capacity(sentence.len());
    let mut at = sentence.start;
    for (range, _) in links.iter().filter(|(_, link)| goes(link)) {
        left.push_str(text.get(at..range.start).unwrap_or_default());
        // An ending that is written behind the link, as in `[[kiln]]s`, is part of its word.
        let rest = text.get(range.end..sentence.end).unwrap_or_default();
        let ending = rest.find(|c: char| !c.is_ascii_alphanumeric());
        at = range.end + ending.unwrap_or(rest.len());
    }
    left.push_str(text.get(at..sentence.end).unwrap_or_default());
    let note = lorewell_markdown::parse(left.trim(), &Settings::default()).note;
    let prose = note.passages.iter().map(|p| p.prose(left.trim()));
    let mut prose = fold_white_space(&prose.collect::<Vec<_>>().join(" "));
    // Emphasis that began in another sentence, and what stood around the link.
    for leftover in ["**", "__", "==", "~~", "()", "( )", "[]", "“”", "\"\""] {
        prose = prose.replace(leftover, "");
    }
    fold_white_space(&prose)
}

/// How many words say something: stop words do not, and of a script without blanks two pairs of
/// characters count as a word.
fn content_words(text: &str) -> usize {
    let terms = Question::new(text).terms;
    let count = |kind| terms.iter().filter(|term| term.kind == kind).count();
    count(TokenKind::Word) + count(TokenKind::Bigram) / 2
}
