//! The vocabulary and WordPiece: a word as the fewest, longest pieces that are in the vocabulary
//! (Wu et al. 2016, section 4.1; greedy from the left, as BERT does it).

/// The number of a token, which is its line and its row in the weights.
pub(crate) type TokenId = u16;

/// Words of more characters are unknown without a look.
const MAX_WORD_CHARS: usize = 100;

/// What pieces that continue a word begin with in the vocabulary.
const CONTINUES: &str = "##";

/// Finds tokens by their text.
#[derive(Debug)]
pub(crate) struct Vocabulary {
    text: &'static str,
    /// Where each token begins in `text`, and the end of all.
    starts: Vec<u32>,
    /// An open-addressing table of token numbers; 0 is an empty place (token 0 is padding, which no
    /// text holds).
    slots: Vec<TokenId>,
    /// Bytes of the longest token.
    longest: usize,
}

impl Vocabulary {
    /// Reads a vocabulary of at most 65,535 tokens, one a line.
    pub(crate) fn new(text: &'static str) -> Self {
        let mut vocabulary = Self {
            text,
            starts: vec![0],
            slots: Vec::new(),
            longest: 0,
        };
        let ends = text.bytes().zip(1u32..).filter(|(byte, _)| *byte == b'\n');
        vocabulary.starts.extend(ends.map(|(_, end)| end));
        vocabulary.starts.truncate(usize::from(TokenId::MAX) + 1);
        let size = (vocabulary.len() * 2).next_power_of_two().max(2);
        vocabulary.slots = vec![0; size];
        for id in 0..vocabulary.len() as TokenId {
            vocabulary.insert(id);
        }
        vocabulary
    }

    /// How many tokens there are.
    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The pieces of a word, as [`WordSplitter`](crate::words::WordSplitter) gives it. None when
    /// some part of it is in no token: the whole word is unknown then.
    pub(crate) fn pieces(&self, word: &str, pieces: &mut Vec<TokenId>) -> Option<()> {
        pieces.clear();
        // The first test is cheap and settles it for long words.
        if word.len() > MAX_WORD_CHARS * 4 || word.chars().count() > MAX_WORD_CHARS {
            return None;
        }
        let mut start = 0;
        while start < word.len() {
            let (id, end) = self.longest_piece(word, start)?;
            pieces.push(id);
            start = end;
        }
        Some(())
    }

    /// The longest token that the word goes on with, and where it ends.
    fn longest_piece(&self, word: &str, start: usize) -> Option<(TokenId, usize)> {
        let furthest = word.len().min(start + self.longest);
        (start + 1..=furthest).rev().find_map(|end| {
            let piece = word.get(start..end)?;
            Some((self.find(piece, start > 0)?, end))
        })
    }

    fn find(&self, piece: &str, continues: bool) -> Option<TokenId> {
        let mask = self.slots.len() - 1;
        let mut slot = hash(piece, continues) & mask;
        loop {
            let id = *self.slots.get(slot)?;
            if id == 0 {
                return None;
            }
            if self.is_token(id, piece, continues) {
                return Some(id);
            }
            slot = (slot + 1) & mask;
        }
    }

    /// Lengths first: they settle most.
    fn is_token(&self, id: TokenId, piece: &str, continues: bool) -> bool {
        let id = usize::from(id);
        let (start, end) = (self.starts[id] as usize, self.starts[id + 1] as usize - 1);
        let mark = if continues { CONTINUES } else { "" };
        end - start == mark.len() + piece.len()
            && self.text[start..end].strip_prefix(mark) == Some(piece)
    }

    fn insert(&mut self, id: TokenId) {
        let (piece, continues) = self.split(id);
        // Special tokens have brackets, which no word has; skipping them keeps place 0 free.
        if piece.starts_with('[') && piece.len() > 1 {
            return;
        }
        let (length, mut slot) = (piece.len(), hash(piece, continues));
        self.longest = self.longest.max(length);
        let mask = self.slots.len() - 1;
        while self.slots[slot & mask] != 0 {
            slot += 1;
        }
        self.slots[slot & mask] = id;
    }

    /// A token's text without the mark, and whether it had the mark.
    fn split(&self, id: TokenId) -> (&'static str, bool) {
        let id = usize::from(id);
        let (start, end) = (self.starts[id] as usize, self.starts[id + 1] as usize);
        let token = self.text.get(start..end - 1).unwrap_or_default();
        match token.strip_prefix(CONTINUES) {
            Some(piece) if !piece.is_empty() => (piece, true),
            _ => (token, false),
        }
    }
}

/// FNV-1a, folded; pieces that continue a word begin elsewhere.
fn hash(piece: &str, continues: bool) -> usize {
    let seed = 0xCBF2_9CE4_8422_2325 ^ u64::from(continues);
    let hash = piece.bytes().fold(seed, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
    });
    (hash ^ hash >> 32) as usize
}
