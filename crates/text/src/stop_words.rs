//! Words that ask or connect and say nothing of the subject.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::language::is_foreign;

/// The stop words that count in one text: those of English, and of other languages where the text
/// is in one.
///
/// Stop words are dropped from questions only, and only while other words remain; the index
/// keeps them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StopWords {
    foreign: bool,
}

impl StopWords {
    /// Those that count in `text`.
    pub fn of(text: &str) -> StopWords {
        StopWords {
            foreign: is_foreign(text),
        }
    }

    /// Whether a folded, unstemmed word is one.
    pub fn holds(self, word: &str) -> bool {
        match tells(word) {
            Some(Tells::English) => true,
            Some(Tells::Other) => self.foreign,
            None => self.foreign && DOUBLE.contains(&word),
        }
    }
}

/// What a folded word tells, if it is a stop word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tells {
    /// It is English.
    English,
    /// It is a word of another language, and none of English.
    Other,
}

/// Which language a stop word tells; `None` for other words.
pub(crate) fn tells(word: &str) -> Option<Tells> {
    static WORDS: LazyLock<FxHashMap<&str, Tells>> = LazyLock::new(|| {
        let english = ENGLISH.iter().map(|word| (*word, Tells::English));
        english
            .chain(OTHERS.iter().map(|word| (*word, Tells::Other)))
            .collect()
    });
    WORDS.get(word).copied()
}

#[rustfmt::skip]
const ENGLISH: &[&str] = &[
    "a", "about", "after", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "been", "being",
    "both", "but", "by", "can", "could", "did", "do", "does", "doing", "don", "done", "each", "either", "else",
    "ever", "every", "for", "from", "get", "gets", "getting", "got", "had", "has", "have", "having", "he", "her",
    "here", "hers", "him", "his", "how", "i", "if", "in", "into", "is", "it", "its", "just", "let", "ll", "may",
    "me", "might", "mine", "more", "most", "much", "must", "my", "no", "nor", "not", "of", "off", "on", "one",
    "only", "or", "other", "our", "ours", "out", "over", "please", "re", "s", "same", "shall", "she", "should",
    "so", "some", "such", "t", "than", "that", "the", "their", "theirs", "them", "then", "there", "these", "they",
    "this", "those", "to", "too", "up", "us", "ve", "very", "was", "we", "were", "what", "when", "where",
    "whether", "which", "while", "who", "whom", "whose", "why", "will", "with", "would", "you", "your", "yours",
];

/// Words of German, French, Spanish, Romanian, Turkish, Italian, Dutch and Portuguese that tell
/// the language and are not English words. Folded.
#[rustfmt::skip]
const OTHERS: &[&str] = &[
    "aan", "aber", "aceasta", "acest", "al", "als", "antes", "ao", "aos", "au", "auch", "auf",
    "aus", "aux", "avec", "bei", "bij", "bir", "bu", "bunun", "cand", "ce", "cea", "cel", "cele",
    "ces", "cette", "che", "cok", "comme", "como", "cu", "cual",
    "cuales", "cuando", "cuanto", "cuantos", "daha", "dalla", "dann", "dans", "das", "dass",
    "dat", "de", "dei", "del", "della", "delle", "dem", "den", "depuis", "der", "des", "desde", "deux", "deze",
    "diese", "dieser", "dintre", "donde", "dont", "du", "dupa", 
    "durch", "een", "ein", "eine", "einem", "einen", "einer", "el", "ella", "elle", "elles", "ellos",
    "em", "en", "entre", "eran", "es", "esta", "este", "esto", "et", "etait", "ete",
    "etre", "eux", "fait", "foram", "fost", "fue", "fueron", "fur", "gibi", "gli", "hangi",
    "hasta", "hatte", "het", "ich", "icin", "ihr", "ik", "il", "ile", "ils", "im", "ise", "ist", "je",
    "kac", "kadar", "kann", "kein", "la", "las", "le", "les", "leur", "lo", "los", "lui", "mais",
    "midir", "mit", "muy", "naar", "nach", "neden", "nedir", "nel",
    "nella", "nerede", "nicht", "niet", "noch", "nos", "nous", "nur", "oder", "olan", "olarak",
    "oldu", "oldugu", "olmustur", "onde", "ook", "ou", "par", "para", "pas", "pela",
    "pelo", "pentru", "perche", "pero", "peut", "piu", "por", "porque", "pourquoi", "prin", "quais",
    "qual", "quale", "quali", "quand", "quando", "quanto", "que", "quel", "quelle", "quelles", "quels", "quem",
    "qui", "quien", "quienes", "quoi", "sans", "sau", "se", "sein", "seine", "sem", "ses", "seu",
    "si", "sich", "sie", "sind", "sobre", "sono", "sonra", "sont", "sous", "sua", "sunt", "sur",
    "tambien", "tarafindan", "tiene", "tot", "tout", "uber", "uit", "um", "uma", "un", "una",
    "und", "unde", "une", "uno", "unos", "unter", "veya", "vom", "von", "voor", "vor", "vous", "waar",
    "waarom", "wann", "wanneer", "waren", "warum", "wat", "welche", "welcher", "welke", "wenn", "wer", "werd",
    "werden", "wie", "wird", "wo", "wordt", "wurde", "wurden", "zaman", "zijn", "zu", "zum", "zur",
    "zwischen",
];

/// Stop words of those languages that are English words too: they tell nothing.
const DOUBLE: &[&str] = &[
    "ale", "care", "cat", "come", "comment", "con", "cum", "die", "door", "dove", "durante", "hat",
    "mine", "non", "plus", "pour", "son", "van", "war",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_counts_depends_on_the_language() {
        let both: Vec<_> = OTHERS
            .iter()
            .filter(|word| ENGLISH.contains(word))
            .collect();
        assert!(both.is_empty(), "{both:?}");
        let (english, german) = (
            StopWords::of("what is the kiln"),
            StopWords::of("wie war die Farbe"),
        );
        assert!(english.holds("what") && !english.holds("war") && !english.holds("kiln"));
        assert!(german.holds("wie") && german.holds("war") && !german.holds("farbe"));
    }
}
