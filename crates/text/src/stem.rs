//! Stemming: one form for `firing`, `fired` and `fires`. English by its plain letters; Russian,
//! Greek and Arabic by their scripts, which tell the language well enough. Other languages share
//! the Latin script with English and are not told apart word by word.

use rust_stemmers::{Algorithm, Stemmer};
use rustc_hash::FxHashMap;

/// So many stems are remembered; a text with more different words begins anew.
const REMEMBERED: usize = 1 << 15;

/// Stems English words by the Snowball algorithm "English" (Porter2), and remembers them: words
/// repeat, and looking one up is much cheaper than stemming it.
pub(crate) struct EnglishStemmer {
    stemmer: Stemmer,
    known: FxHashMap<Box<str>, Box<str>>,
}

impl EnglishStemmer {
    /// Cuts a folded word to its stem, in place. Words of fewer than three letters and words with
    /// anything but plain letters are left alone.
    pub(crate) fn stem(&mut self, word: &mut String) {
        if word.len() < 3 || !word.bytes().all(|b| b.is_ascii_lowercase()) {
            return;
        }
        if let Some(stem) = self.known.get(word.as_str()) {
            word.clear();
            word.push_str(stem);
            return;
        }
        let stem = self.stemmer.stem(word).into_owned();
        if self.known.len() == REMEMBERED {
            self.known.clear();
        }
        let full = std::mem::replace(word, stem.clone());
        self.known
            .insert(full.into_boxed_str(), stem.into_boxed_str());
    }
}

/// Shorter words are left alone.
const LEAST_LETTERS: usize = 4;

/// The stem of a word in lower case, diacritics kept, whose script has a stemmer of its own
/// (Snowball's for Russian, Greek and Arabic); `None` for other scripts and short words.
pub(crate) fn stem_by_script(word: &str) -> Option<String> {
    let algorithm = match u32::from(word.chars().next()?) {
        0x370..=0x3FF | 0x1F00..=0x1FFF => Algorithm::Greek,
        0x400..=0x4FF => Algorithm::Russian,
        0x600..=0x6FF => Algorithm::Arabic,
        _ => return None,
    };
    word.chars().nth(LEAST_LETTERS - 1)?;
    let stem = Stemmer::create(algorithm).stem(word).into_owned();
    (!stem.is_empty()).then_some(stem)
}

impl Default for EnglishStemmer {
    fn default() -> EnglishStemmer {
        EnglishStemmer {
            stemmer: Stemmer::create(Algorithm::English),
            known: FxHashMap::default(),
        }
    }
}

impl std::fmt::Debug for EnglishStemmer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EnglishStemmer")
            .field("known", &self.known.len())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stemmed(word: &str) -> String {
        let mut stemmer = EnglishStemmer::default();
        let (mut first, mut again) = (word.to_string(), word.to_string());
        stemmer.stem(&mut first);
        stemmer.stem(&mut again);
        assert_eq!(first, again, "a remembered stem is the stem");
        first
    }

    #[test]
    fn forms_of_a_word_meet_in_scripts_with_a_stemmer() {
        for group in [
            &["обжиг", "обжига", "обжигом"][..],
            &["глазурь", "глазури", "глазурью"],
            &["κεραμική", "κεραμικής"],
            &["المعلمون", "معلم"],
        ] {
            let first = stem_by_script(group[0]);
            for word in group {
                assert_eq!(stem_by_script(word), first, "{word}");
            }
        }
        for word in ["дом", "firing", "窑窑窑窑", ""] {
            assert_eq!(stem_by_script(word), None, "{word}");
        }
    }

    #[test]
    fn forms_of_one_word_meet() {
        for group in [
            &["make", "makes", "making"][..],
            &["firing", "firings", "fire", "fires", "fired"],
            &["run", "runs", "running"],
            &["reply", "replies", "replied", "replying"],
            &["box", "boxes"],
            &["glaze", "glazes", "glazed", "glazing"],
            &["relate", "relating", "relation", "relational"],
        ] {
            let first = stemmed(group[0]);
            for word in group {
                assert_eq!(stemmed(word), first, "{word}");
            }
        }
    }

    #[test]
    fn other_words_stay_apart() {
        for (a, b) in [
            ("bus", "bu"),
            ("red", "r"),
            ("news", "new"),
            ("glass", "glaze"),
        ] {
            assert_ne!(stemmed(a), stemmed(b), "{a} {b}");
        }
        assert_eq!(stemmed("naïve"), "naïve");
    }

    #[test]
    fn the_memory_is_bounded() {
        let mut stemmer = EnglishStemmer::default();
        for n in 0..(REMEMBERED + 10) {
            let mut word: String = n.to_string().bytes().map(|b| char::from(b + 49)).collect();
            word.push_str("word");
            stemmer.stem(&mut word);
        }
        assert!(stemmer.known.len() <= REMEMBERED);
    }
}
