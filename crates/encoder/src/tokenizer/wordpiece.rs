//! WordPiece: a word as the longest pieces of the vocabulary, from the left (Wu et al. 2016,
//! section 4.1, as BERT does it).

use rustc_hash::FxHashMap;

use super::bert::is_chinese;

/// Han characters of a vocabulary that was made for Chinese; English ones have a few hundred.
const CHINESE: usize = 3000;

/// A vocabulary.
#[derive(Debug)]
pub(super) struct WordPiece {
    /// Pieces that begin a word.
    first: FxHashMap<Box<str>, u32>,
    /// Pieces that continue one, without their mark.
    further: FxHashMap<Box<str>, u32>,
    /// Bytes of the longest piece.
    longest: usize,
    unknown: u32,
    most_chars: usize,
    chinese: bool,
}

/// Letters of a text, and those that the model knows something of.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Letters {
    pub(super) all: usize,
    pub(super) known: usize,
}

impl WordPiece {
    pub(super) fn new(
        vocabulary: Vec<(Box<str>, u32)>,
        mark: &str,
        unknown: u32,
        most_chars: usize,
    ) -> Self {
        let mut pieces = Self {
            first: FxHashMap::default(),
            further: FxHashMap::default(),
            longest: 0,
            unknown,
            most_chars,
            chinese: false,
        };
        pieces.first.reserve(vocabulary.len());
        let mut han = 0;
        for (piece, id) in vocabulary {
            pieces.longest = pieces.longest.max(piece.len());
            han += usize::from(piece.chars().all(is_chinese));
            match piece.strip_prefix(mark) {
                Some(further) if !further.is_empty() && !mark.is_empty() => {
                    pieces.further.insert(further.into(), id);
                }
                _ => {
                    pieces.first.insert(piece, id);
                }
            }
        }
        pieces.chinese = han >= CHINESE;
        pieces
    }

    /// Adds the pieces of a word, or the token for unknown words if some part of it is in none.
    pub(super) fn add(&self, word: &str, ids: &mut Vec<u32>, letters: &mut Letters) {
        let start = ids.len();
        let known = self.pieces(word, ids).is_some();
        if !known {
            ids.truncate(start);
            ids.push(self.unknown);
        }
        let count = word.chars().filter(|c| c.is_alphanumeric()).count();
        // A single letter or digit says nothing either way.
        if count == 0 || (count == 1 && word.is_ascii()) {
            return;
        }
        letters.all += count;
        let whole = self.chinese && word.chars().all(is_chinese);
        // Cut into letters, a word of another language is known by nothing but its spelling.
        if known && (whole || count >= 2 * (ids.len() - start)) {
            letters.known += count;
        }
    }

    fn pieces(&self, word: &str, ids: &mut Vec<u32>) -> Option<()> {
        if word.len() > self.most_chars && word.chars().count() > self.most_chars {
            return None;
        }
        let mut start = 0;
        while start < word.len() {
            let pieces = if start == 0 {
                &self.first
            } else {
                &self.further
            };
            let furthest = word.len().min(start + self.longest);
            let (id, end) = (start + 1..=furthest)
                .rev()
                .find_map(|end| Some((*pieces.get(word.get(start..end)?)?, end)))?;
            ids.push(id);
            start = end;
        }
        Some(())
    }
}
