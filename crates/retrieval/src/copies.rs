//! Copies: passages that say the same in the same or nearly the same words are shown once, the
//! others named.
//!
//! Two passages are copies if they have the same words in the same order (letter case, diacritics,
//! punctuation and white space aside), or if they are *near*: the sets of their pairs of
//! neighbouring words have a Jaccard index of at least [`NEAR`] (the resemblance of A. Broder, "On
//! the resemblance and containment of documents", 1997), and nothing in which they differ tells
//! two events apart (see [`difference`]). Most passages are told from each other by a signature: a
//! bit for every pair. A bit that only one of two signatures has stands for a pair that only one
//! passage has, so that too many of them rule a near copy out.

mod difference;
mod versions;

use std::cell::OnceCell;
use std::cmp::Ordering;
use std::hash::{BuildHasher, RandomState};
use std::sync::{LazyLock, OnceLock};

use lorewell_text::fold;

pub(crate) use difference::{Origin, Telling, tells_apart};
pub(crate) use versions::are_versions;

/// The least Jaccard index of near copies.
const NEAR: f64 = 0.8;

/// A signature has 64 bits a word: some more than a passage has pairs.
const SIGNATURE_WORDS: usize = 16;

/// So many near passages are looked at more closely: of many in one form of words, all but the
/// most alike are sure to differ in what tells them apart.
const MOST_NEAR: usize = 8;

/// Shorter passages are never copies of each other: short lines repeat for good reasons.
const LEAST_CHARS: usize = 40;

/// How much of a passage two notes have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Likeness {
    /// All its words.
    Same,
    /// Nearly all; what differs decides.
    Near,
}

/// The shapes of the passages that are shown, each under a number of the caller's.
#[derive(Default)]
pub(crate) struct Shapes {
    shapes: Vec<(usize, Shape)>,
}

/// The words of a passage, as hashes.
#[derive(Clone)]
pub(crate) struct Shape {
    /// All words in order.
    whole: u64,
    /// Pairs of neighbouring words, in order.
    pairs: Vec<u64>,
    /// A bit for each pair.
    signature: [u64; SIGNATURE_WORDS],
    /// All pairs sorted, each once; made when first compared.
    set: OnceCell<Vec<u64>>,
}

impl Shape {
    /// Nothing for a passage that is too short to be a copy.
    pub(crate) fn of(text: &str) -> Option<Shape> {
        if text.len() < LEAST_CHARS || text.chars().take(LEAST_CHARS).count() < LEAST_CHARS {
            return None;
        }
        let key = key();
        let mut pairs = Vec::with_capacity(text.len() / 5);
        let mut signature = [0; SIGNATURE_WORDS];
        let (mut whole, mut last) = (key, None);
        words(text, |word| {
            let hash = hash(word, key);
            whole = joined(whole, hash, key);
            if let Some(last) = last.replace(hash) {
                let pair = joined(last, hash, key);
                signature[pair as usize >> 6 & (SIGNATURE_WORDS - 1)] |= 1 << (pair & 63);
                pairs.push(pair);
            }
        });
        Some(Shape {
            whole,
            pairs,
            signature,
            set: OnceCell::new(),
        })
    }

    /// Whether the signatures leave it possible that the Jaccard index is at least [`NEAR`].
    ///
    /// Of two sets with an index of at least t, the union has at most (|A| + |B|) / (1 + t)
    /// elements, and at most 1 - t of these are in one alone. Pairs that occur twice only make
    /// the bound wider.
    fn may_be_near(&self, other: &Shape) -> bool {
        let pairs = (self.pairs.len() + other.pairs.len()) as f64;
        let most = ((1.0 - NEAR) / (1.0 + NEAR) * pairs) as u32 + 1;
        let mut different = 0;
        let words = self.signature.iter().zip(&other.signature);
        for (one, two) in words {
            different += (one ^ two).count_ones();
            if different > most {
                return false;
            }
        }
        true
    }

    fn set(&self) -> &[u64] {
        self.set.get_or_init(|| sorted(self.pairs.clone()))
    }

    /// The Jaccard index of the sets of pairs.
    fn resemblance(&self, other: &Shape) -> f64 {
        let (mut one, mut two) = (self.set().iter().peekable(), other.set().iter().peekable());
        let mut common = 0;
        while let (Some(a), Some(b)) = (one.peek(), two.peek()) {
            match a.cmp(b) {
                Ordering::Less => drop(one.next()),
                Ordering::Greater => drop(two.next()),
                Ordering::Equal => {
                    common += 1;
                    one.next();
                    two.next();
                }
            }
        }
        let all = self.set().len() + other.set().len() - common;
        if all == 0 {
            0.0
        } else {
            common as f64 / all as f64
        }
    }
}

fn sorted(mut pairs: Vec<u64>) -> Vec<u64> {
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

impl Shapes {
    /// Files a shape under a number.
    pub(crate) fn insert(&mut self, number: usize, shape: Shape) {
        self.shapes.push((number, shape));
    }

    /// The numbers of shapes that are like this one: one that is the same alone, else those that
    /// are near, the most alike first and no more than [`MOST_NEAR`].
    pub(crate) fn like(&self, shape: &Shape) -> Vec<(usize, Likeness)> {
        let same = self.shapes.iter().find(|(_, s)| s.whole == shape.whole);
        if let Some((number, _)) = same {
            return vec![(*number, Likeness::Same)];
        }
        let alike = self.shapes.iter().filter(|(_, s)| s.may_be_near(shape));
        let mut near: Vec<(f64, usize)> = alike
            .map(|(number, known)| (known.resemblance(shape), *number))
            .filter(|(resemblance, _)| *resemblance >= NEAR)
            .collect();
        near.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        near.truncate(MOST_NEAR);
        near.into_iter()
            .map(|(_, number)| (number, Likeness::Near))
            .collect()
    }
}

/// What passages with the same words in the same order have in common; nothing of a passage that
/// is too short to be a copy. Holds within one run of the program.
pub(crate) fn fingerprint(text: &str) -> Option<u64> {
    Shape::of(text).map(|shape| shape.whole)
}

/// The words of a text as written: runs of letters and digits; in scripts without blanks between
/// words, single characters; and the signs that say something (`%`, `$`, `✅`).
fn words<'t>(text: &'t str, mut word: impl FnMut(&'t str)) {
    let mut start: Option<usize> = None;
    let mut at = 0;
    let bytes = text.as_bytes();
    while let Some((kind, length)) = kind_at(text, at) {
        let mut next = at + length;
        match kind {
            Kind::Letter => {
                start.get_or_insert(at);
                while bytes.get(next).is_some_and(u8::is_ascii_alphanumeric) {
                    next += 1;
                }
            }
            Kind::Invisible => {}
            Kind::Single | Kind::Between => {
                if let Some(from) = start.take() {
                    word(&text[from..at]);
                }
                if kind == Kind::Single {
                    word(&text[at..next]);
                }
            }
        }
        at = next;
    }
    if let Some(from) = start {
        word(&text[from..]);
    }
}

/// What a character is to [`words`].
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Part of a word.
    Letter,
    /// A word by itself.
    Single,
    /// Does not end a word.
    Invisible,
    Between,
}

/// What stands at a byte, and its length; nothing behind the end.
fn kind_at(text: &str, at: usize) -> Option<(Kind, usize)> {
    let bytes = text.as_bytes();
    let byte = *bytes.get(at)?;
    if byte.is_ascii() {
        let is_letter = |at: Option<usize>| {
            let byte = at.and_then(|at| bytes.get(at));
            byte.is_some_and(|b| b.is_ascii_alphanumeric() || !b.is_ascii())
        };
        let (before, after) = (at.checked_sub(1), Some(at + 1));
        let kind = match byte {
            b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => Kind::Letter,
            // Markdown's own bullets stand before a blank.
            b'+' | b'%' | b'$' | b'=' if is_letter(before) || is_letter(after) => Kind::Single,
            b'+' if before.is_some_and(|at| bytes.get(at) == Some(&b'+')) => Kind::Single,
            b'-' if !is_letter(before) && bytes.get(at + 1).is_some_and(u8::is_ascii_digit) => {
                Kind::Single
            }
            _ => Kind::Between,
        };
        return Some((kind, 1));
    }
    let c = text.get(at..)?.chars().next()?;
    let kind = match c as u32 {
        0xAD | 0x200B..=0x200F | 0x202A..=0x202E | 0x2060..=0x2064 | 0xFE00..=0xFE0F | 0xFEFF => {
            Kind::Invisible
        }
        // Signs of other scripts that belong to the letter before them.
        0x0300..=0x036F | 0x0900..=0x0DFF => Kind::Letter,
        // Money, degrees, plus or minus.
        0xA2..=0xA5 | 0xB0 | 0xB1 => Kind::Single,
        // Blanks and punctuation.
        0x80..=0xBF | 0x2000..=0x206F | 0x3000..=0x303F | 0xFE30..=0xFE6F
            if !c.is_alphanumeric() =>
        {
            Kind::Between
        }
        0xFF00..=0xFF0F | 0xFF1A..=0xFF20 | 0xFF3B..=0xFF40 | 0xFF5B..=0xFF65 => Kind::Between,
        _ if is_unspaced(c) => Kind::Single,
        _ if c.is_alphanumeric() => Kind::Letter,
        _ => Kind::Single,
    };
    Some((kind, c.len_utf8()))
}

/// Characters of scripts that are written without blanks between words.
fn is_unspaced(c: char) -> bool {
    matches!(c as u32,
        0x0E00..=0x0FFF | 0x1000..=0x109F | 0x1780..=0x17FF | 0x2E80..=0x9FFF | 0xF900..=0xFAFF
        | 0x20000..=0x3FFFF)
}

/// Drawn once a process, so that no text can be written to collide.
fn key() -> u64 {
    static KEY: OnceLock<u64> = OnceLock::new();
    *KEY.get_or_init(|| RandomState::new().hash_one(0_u8))
}

/// A hash of a word, folded.
fn hash(word: &str, key: u64) -> u64 {
    /// Small letters; digits and signs have the bit already.
    const SMALL: u64 = 0x2020_2020_2020_2020;
    if word.is_ascii() {
        return hash_bytes(word.as_bytes(), SMALL, key);
    }
    let is_folded =
        |c: char| matches!(c as u32, 0x3041..=0x3096 | 0x30A1..=0x30FA | 0x4E00..=0x9FFF);
    if word.chars().all(is_folded) {
        return hash_bytes(word.as_bytes(), 0, key);
    }
    let mut folded = String::with_capacity(word.len());
    for c in word.chars() {
        match folded_letters().get(c as usize) {
            Some(letters) => folded.push_str(letters),
            None => return hash_bytes(fold(word).as_bytes(), 0, key),
        }
    }
    hash_bytes(folded.as_bytes(), 0, key)
}

/// The folded forms of Latin, Greek and Cyrillic letters, by code point: in these scripts a word
/// folds letter by letter.
fn folded_letters() -> &'static [String] {
    static LETTERS: LazyLock<Vec<String>> = LazyLock::new(|| {
        let letters = (0..0x0530).map(|code| char::from_u32(code).unwrap_or_default());
        letters.map(|c| fold(c.encode_utf8(&mut [0; 4]))).collect()
    });
    &LETTERS
}

fn hash_bytes(bytes: &[u8], mask: u64, key: u64) -> u64 {
    let mut sum = key ^ bytes.len() as u64;
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        let mask = mask >> (8 * (8 - chunk.len()));
        sum = joined(sum, u64::from_le_bytes(word) | mask, key);
    }
    sum
}

/// One hash of two, in this order: the folded product of wyhash.
fn joined(one: u64, two: u64, key: u64) -> u64 {
    let one = u128::from(one ^ 0x9e37_79b9_7f4a_7c15 ^ key.rotate_left(32));
    let product = one * u128::from(two ^ key);
    (product >> 64) as u64 ^ product as u64
}

#[cfg(test)]
mod tests;
