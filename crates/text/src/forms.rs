//! The forms of words with other letters than those of ASCII, remembered: words repeat, and
//! normalizing is much dearer than looking up.

use rustc_hash::FxHashMap;

use crate::normal::{fold_into, spelling_into};
use crate::stem::stem_by_script;

/// So many words are remembered; a text with more different ones begins anew.
const REMEMBERED: usize = 1 << 14;

/// Folded form and spelling of words.
#[derive(Debug, Default)]
pub(crate) struct WordForms {
    known: FxHashMap<Box<str>, (Box<str>, Box<str>)>,
}

impl WordForms {
    /// Puts the folded form and the spelling (lower case, diacritics kept) of a word into the
    /// buffers. Of a script with a stemmer of its own it is the folded form of the stem: stemmers
    /// need the diacritics that folding takes.
    pub(crate) fn of(&mut self, word: &str, folded: &mut String, spelling: &mut String) {
        if let Some((known_folded, known_spelling)) = self.known.get(word) {
            folded.clear();
            folded.push_str(known_folded);
            spelling.clear();
            spelling.push_str(known_spelling);
            return;
        }
        spelling_into(word, spelling);
        match stem_by_script(spelling) {
            Some(stem) => fold_into(&stem, folded),
            None => fold_into(word, folded),
        }
        if self.known.len() == REMEMBERED {
            self.known.clear();
        }
        self.known.insert(
            word.into(),
            (folded.as_str().into(), spelling.as_str().into()),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remembered_forms_are_the_forms() {
        let mut forms = WordForms::default();
        let (mut folded, mut spelling) = (String::new(), String::new());
        for word in ["Résumé", "ΣΑΣ", "Résumé", "шлём", "Ｋｉｌｎ", "ΣΑΣ"] {
            forms.of(word, &mut folded, &mut spelling);
            if stem_by_script(&spelling).is_none() {
                assert_eq!(folded, crate::fold(word));
            }
            let mut expected = String::new();
            spelling_into(word, &mut expected);
            assert_eq!(spelling, expected);
        }
        for n in 0..REMEMBERED + 10 {
            forms.of(&format!("é{n}"), &mut folded, &mut spelling);
        }
        assert!(forms.known.len() <= REMEMBERED);
    }
}
