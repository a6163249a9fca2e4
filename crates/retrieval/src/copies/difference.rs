//! What two near passages differ in, and whether that tells two events apart.
//!
//! The same form of words is used for many events; only what fills it tells them apart. Passages
//! are taken for different if
//!
//! - their numbers, signs (`%`, `✅`), names (words with a capital that are no stop words) or
//!   negations differ. Where
//!   one of the notes is a backup of older words, what was only added may hold such words;
//! - one has other content words where the other has its own, unless the notes are of one name (an
//!   older or a newer version). Forms of one word do not count.

use lorewell_text::{StopWords, fold};

use super::words;

/// So many letters are what the forms of a word have in common.
const STEM_CHARS: usize = 4;

/// What is known of the notes that two passages stand in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Origin {
    /// The notes are versions of one: by their names, or because one is a backup.
    pub(crate) one_note: bool,
    /// One of them is a backup.
    pub(crate) backup: bool,
    /// Both are daily notes, of different days.
    pub(crate) different_days: bool,
}

/// Whether two near passages say different things.
pub(crate) fn tells_apart(one: &Telling, two: &Telling, origin: Origin) -> bool {
    if origin.different_days {
        return true;
    }
    let is_added =
        || is_within(&one.telling, &two.telling) || is_within(&two.telling, &one.telling);
    if one.telling != two.telling && !(origin.backup && is_added()) {
        return true;
    }
    let (only_one, only_two) = one.content_differences(two);
    !origin.one_note && !only_one.is_empty() && !only_two.is_empty()
}

/// The words of a passage that can tell it from others, folded.
pub(crate) struct Telling {
    /// Numbers, signs, names and negations, in order.
    telling: Vec<String>,
    /// The beginnings of other words that are no stop words, sorted.
    content: Vec<String>,
}

impl Telling {
    pub(crate) fn of(text: &str) -> Telling {
        let stop_words = StopWords::of(text);
        let mut found = Telling {
            telling: Vec::new(),
            content: Vec::new(),
        };
        words(text, |word| {
            let folded = fold(word);
            let is_number = word.chars().any(char::is_numeric);
            let is_sign = !word.chars().any(char::is_alphanumeric);
            let is_name = || word.chars().next().is_some_and(char::is_uppercase);
            let is_stop = stop_words.holds(&folded);
            if is_number || is_sign || is_negation(&folded) || !is_stop && is_name() {
                found.telling.push(folded);
            } else if !is_stop {
                found
                    .content
                    .push(folded.chars().take(STEM_CHARS).collect());
            }
        });
        found.content.sort_unstable();
        found
    }

    /// The content words that only one of two has.
    fn content_differences<'a>(&'a self, other: &'a Telling) -> (Vec<&'a str>, Vec<&'a str>) {
        let (mut one, mut two) = (Vec::new(), Vec::new());
        let (mut a, mut b) = (
            self.content.iter().peekable(),
            other.content.iter().peekable(),
        );
        loop {
            match (a.peek(), b.peek()) {
                (Some(x), Some(y)) if x == y => {
                    a.next();
                    b.next();
                }
                (Some(x), Some(y)) if x < y => one.extend(a.next().map(String::as_str)),
                (_, Some(_)) => two.extend(b.next().map(String::as_str)),
                (Some(_), None) => one.extend(a.next().map(String::as_str)),
                (None, None) => return (one, two),
            }
        }
    }
}

/// Whether a sequence is the other with something left out.
fn is_within(short: &[String], long: &[String]) -> bool {
    let mut rest = long.iter();
    short.iter().all(|word| rest.any(|other| other == word))
}

/// Words that turn a sentence round, in English, German, French, Spanish and Chinese.
fn is_negation(word: &str) -> bool {
    matches!(
        word,
        "not"
            | "no"
            | "never"
            | "none"
            | "cannot"
            | "without"
            | "nor"
            | "neither"
            | "don"
            | "didn"
            | "isn"
            | "wasn"
            | "won"
            | "aren"
            | "doesn"
            | "nicht"
            | "kein"
            | "keine"
            | "keinen"
            | "nie"
            | "ohne"
            | "pas"
            | "jamais"
            | "sans"
            | "aucun"
            | "aucune"
            | "nunca"
            | "sin"
            | "ningun"
            | "不"
            | "没"
            | "無"
            | "无"
            | "未"
            | "非"
    )
}
