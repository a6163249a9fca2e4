//! Whether a text in Latin letters is English, told by its small words.

use crate::stop_words::{Tells, tells};

/// So many words tell enough.
const WORDS: usize = 48;

/// Whether a text in Latin letters is in another language than English.
///
/// Counts stop words among the first words. Where none speaks for another language the text
/// counts as English, for most text without small words is names and code.
pub(crate) fn is_foreign(text: &str) -> bool {
    let (mut english, mut other) = (0, 0);
    let mut word = String::new();
    for piece in text
        .split(|c: char| !c.is_alphabetic())
        .filter(|p| !p.is_empty())
        .take(WORDS)
    {
        if piece.len() > 8 {
            continue;
        }
        word.clear();
        word.push_str(piece);
        if piece.is_ascii() {
            word.make_ascii_lowercase();
        } else {
            crate::normal::fold_into(piece, &mut word);
        }
        match tells(&word) {
            Some(Tells::English) => english += 1,
            Some(Tells::Other) => other += 1,
            None => {}
        }
        // So far ahead, the rest cannot change it for any text that a person wrote.
        if english > other + 4 {
            return false;
        }
    }
    other > english
}

#[cfg(test)]
mod tests {
    use super::is_foreign;

    #[test]
    fn small_words_tell_the_language() {
        for foreign in [
            "Wie lange dauert der zweite Brand?",
            "¿Cuándo fue la última reunión de la asociación?",
            "Où est la clé de la cave ?",
            "Care este capitala României?",
            "Bu kitap hangi yılda yazıldı?",
            "Wanneer is het huis gebouwd en door wie?",
        ] {
            assert!(is_foreign(foreign), "{foreign}");
        }
        for english in [
            "How long does the second firing take?",
            "the Champs-Élysées in Paris",
            "fn main() { let des = un + la; } // the des of it",
            "kiln glaze cone",
            "",
        ] {
            assert!(!is_foreign(english), "{english}");
        }
    }
}
