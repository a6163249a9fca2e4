//! How much of a text a model of English words knows, and how much is enough.
//!
//! Coverage is the share of a text's letters that stand in words which are one token of the
//! vocabulary. A word cut into pieces counts as unknown, although its pieces have vectors: such
//! vectors tell spellings apart but hardly meanings, and for other languages in Latin script they
//! made results worse than words alone at every weight (measured on XQuAD; the model card has the
//! table). For the same reason the commonest small words of such languages, which a vocabulary
//! learned from real English texts contains, count as unknown.

/// Passages below it are not embedded. Of passages of English notes it keeps 99 %, of German,
/// Spanish, Romanian, Turkish and Vietnamese ones 1 %, of other scripts none.
pub(crate) const PASSAGE_THRESHOLD: f32 = 0.55;

/// Questions below it are not embedded. It is lower, for a question is short: one rare name can be
/// most of it, and a kept question does no harm where the passages are not embedded.
pub(crate) const QUESTION_THRESHOLD: f32 = 0.35;

/// The letters of a word or text, and how many of them the model knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Letters {
    pub(crate) all: u32,
    pub(crate) known: u32,
}

impl Letters {
    /// Of a word that the vocabulary cuts into `pieces` (none when it is unknown). A single ASCII
    /// letter is a variable or an initial more often than a word: it says nothing either way.
    pub(crate) fn of_word(word: &str, pieces: Option<usize>) -> Self {
        if word.len() <= 1 {
            return Self::default();
        }
        let all = word.chars().filter(|c| c.is_alphabetic()).count();
        let all = u32::try_from(all).unwrap_or(u32::MAX);
        let is_known = pieces == Some(1) && all > 1 && !is_foreign(word);
        Self {
            all,
            known: if is_known { all } else { 0 },
        }
    }

    /// The same letters in a word with accents: without them it looks like another word, perhaps an
    /// English one.
    pub(crate) fn unknown(self) -> Self {
        Self { known: 0, ..self }
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.all = self.all.saturating_add(other.all);
        self.known = self.known.saturating_add(other.known);
    }

    /// The known share, 0 to 1; 1 for a text without letters.
    pub(crate) fn coverage(self) -> f32 {
        if self.all == 0 {
            1.0
        } else {
            (f64::from(self.known) / f64::from(self.all)) as f32
        }
    }
}

fn is_foreign(word: &str) -> bool {
    word.len() <= LONGEST_FOREIGN && FOREIGN.binary_search(&word).is_ok()
}

/// Bytes of the longest word in [`FOREIGN`].
const LONGEST_FOREIGN: usize = 8;

/// Small words of European languages (without accents), sorted. Words that are English too, or that
/// notes in English use as names or abbreviations (`care`, `mit`, `per`, `plus`), are left out.
const FOREIGN: &[&str] = &[
    "al", "alla", "als", "att", "auch", "auf", "aus", "av", "avec", "bei", "bir", "cette", "che",
    "como", "con", "cual", "cuando", "da", "dans", "dat", "de", "dei", "del", "della", "dem",
    "der", "des", "det", "deze", "di", "din", "donde", "du", "durch", "een", "ein", "eine",
    "einen", "einer", "eines", "el", "em", "en", "est", "este", "et", "ett", "foi", "fost", "fue",
    "gli", "het", "icin", "il", "ile", "ist", "jest", "kann", "la", "las", "le", "les", "lo",
    "los", "lui", "naar", "nach", "nao", "nel", "nicht", "nie", "niet", "nos", "nous", "och",
    "olarak", "ook", "ou", "para", "por", "quale", "que", "quel", "quelle", "qui", "se", "sich",
    "sind", "som", "sono", "sont", "sur", "um", "uma", "un", "una", "und", "une", "van", "voor",
    "votre", "vous", "welche", "welcher", "wenn", "werden", "wie", "wird", "worden", "wurde",
    "zijn", "zu",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_as_the_search_needs_it() {
        assert!(FOREIGN.is_sorted());
        assert!(FOREIGN.iter().all(|word| word.len() <= LONGEST_FOREIGN));
    }

    #[test]
    fn letters_count_as_known_in_whole_words_only() {
        let of = |word, pieces| {
            let letters = Letters::of_word(word, pieces);
            (letters.all, letters.known)
        };
        assert_eq!(of("kiln", Some(1)), (4, 4));
        assert_eq!(of("kiln7", Some(1)), (4, 4), "digits are not letters");
        assert_eq!(of("reglaze", Some(2)), (7, 0));
        assert_eq!(of("глина", None), (5, 0));
        assert_eq!(of("陶", Some(1)), (1, 0), "a lone character is no word");
        assert_eq!(of("x", Some(1)), (0, 0));
        assert_eq!(of("nicht", Some(1)), (5, 0));
        assert_eq!(Letters::default().coverage(), 1.0);
    }
}
