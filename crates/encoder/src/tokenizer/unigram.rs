//! Unigram: of all ways to cut a word into pieces, the most probable one (Kudo 2018, section 3.2),
//! found by dynamic programming from the left.

use rustc_hash::FxHashMap;

use super::wordpiece::Letters;

/// How much less probable than the least probable piece a character is that is in none.
const PENALTY: f64 = 10.0;

/// A vocabulary of pieces with scores.
#[derive(Debug)]
pub(super) struct Unigram {
    pieces: FxHashMap<Box<str>, u32>,
    scores: Vec<f64>,
    /// Bytes of the longest piece.
    longest: usize,
    unknown: u32,
    unknown_score: f64,
}

/// The best way to some place in a word.
#[derive(Clone, Copy)]
struct Way {
    score: f64,
    start: usize,
    /// The last piece; nothing for an unknown character.
    piece: Option<u32>,
}

impl Unigram {
    /// `is_word` says which pieces texts may be cut into: all but special tokens.
    pub(super) fn new(
        vocabulary: Vec<(Box<str>, f64)>,
        unknown: u32,
        is_word: impl Fn(&str) -> bool,
    ) -> Self {
        let scores: Vec<f64> = vocabulary.iter().map(|(_, score)| *score).collect();
        let least = scores.iter().copied().fold(f64::INFINITY, f64::min);
        let mut pieces = FxHashMap::default();
        pieces.reserve(vocabulary.len());
        let mut longest = 0;
        for ((piece, _), id) in vocabulary.into_iter().zip(0..) {
            if id != unknown && !piece.is_empty() && is_word(&piece) {
                longest = longest.max(piece.len());
                pieces.insert(piece, id);
            }
        }
        Self {
            pieces,
            scores,
            longest,
            unknown,
            unknown_score: least - PENALTY,
        }
    }

    /// Adds the pieces of a word; unknown characters beside each other are one token.
    pub(super) fn add(&self, word: &str, ids: &mut Vec<u32>, letters: &mut Letters) {
        let ways = self.ways(word);
        let mut cut = Vec::new();
        let mut end = word.len();
        while let Some(Some(way)) = ways.get(end)
            && end > 0
        {
            cut.push((way.piece, way.start, end));
            end = way.start;
        }
        let mut after_unknown = false;
        for (piece, start, end) in cut.into_iter().rev() {
            let text = word.get(start..end).unwrap_or_default();
            let count = text.chars().filter(|c| c.is_alphanumeric()).count();
            letters.all += count;
            match piece {
                Some(id) => {
                    ids.push(id);
                    letters.known += count;
                }
                None if after_unknown => {}
                None => ids.push(self.unknown),
            }
            after_unknown = piece.is_none();
        }
    }

    /// The best way to each byte of the word at which a character begins, and to its end.
    fn ways(&self, word: &str) -> Vec<Option<Way>> {
        let mut ways: Vec<Option<Way>> = vec![None; word.len() + 1];
        ways[0] = Some(Way {
            score: 0.0,
            start: 0,
            piece: None,
        });
        for (start, c) in word.char_indices() {
            let Some(here) = ways[start].map(|way| way.score) else {
                continue;
            };
            let mut reach = |end: usize, score: f64, piece: Option<u32>| {
                let score = here + score;
                if ways[end].is_none_or(|way| score > way.score) {
                    ways[end] = Some(Way {
                        score,
                        start,
                        piece,
                    });
                }
            };
            let next = start + c.len_utf8();
            let furthest = word.len().min(start + self.longest);
            let mut alone = false;
            for end in next..=furthest {
                let piece = word
                    .get(start..end)
                    .and_then(|piece| self.pieces.get(piece));
                if let Some(id) = piece {
                    reach(end, self.scores[*id as usize], Some(*id));
                    alone |= end == next;
                }
            }
            if !alone {
                reach(next, self.unknown_score, None);
            }
        }
        ways
    }
}
