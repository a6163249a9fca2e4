//! Words that ask or connect and say nothing of the subject.

/// Whether a folded, unstemmed word is a stop word of English or of another language whose
/// list cannot be mistaken for content in English.
///
/// Stop words are dropped from questions only, and only while other words remain; the index
/// keeps them.
pub fn is_stop_word(word: &str) -> bool {
    is_english_stop_word(word) || (is_other_stop_word(word) && KEPT.binary_search(&word).is_err())
}

pub(crate) fn is_english_stop_word(word: &str) -> bool {
    ENGLISH.binary_search(&word).is_ok()
}

pub(crate) fn is_other_stop_word(word: &str) -> bool {
    OTHERS.binary_search(&word).is_ok()
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
    "aan", "aber", "aceasta", "acest", "al", "algo", "als", "ante", "antes", "ao", "aos", "au", "auch", "auf",
    "aus", "aux", "avec", "bei", "bij", "bir", "bis", "bu", "bunun", "ca", "cand", "ce", "cea", "cel", "cele",
    "ces", "cette", "che", "chi", "ci", "cine", "cok", "com", "comme", "comment", "como", "cosa", "cu", "cual",
    "cuales", "cuando", "cuanto", "cuantos", "da", "daha", "dal", "dalla", "dann", "dans", "das", "dass",
    "dat", "de", "dei", "del", "della", "delle", "dem", "den", "depuis", "der", "des", "desde", "deux", "deze",
    "di", "dies", "diese", "dieser", "din", "dintre", "dit", "donde", "dont", "dos", "du", "dupa", "durante",
    "durch", "een", "ein", "eine", "einem", "einen", "einer", "el", "ella", "elle", "elles", "ellos",
    "em", "en", "entre", "er", "era", "eran", "es", "est", "esta", "este", "esto", "et", "etait", "ete",
    "etre", "eux", "fait", "foi", "foram", "fost", "fue", "fueron", "fur", "gibi", "gli", "ha", "hangi",
    "hasta", "hatte", "het", "hoe", "ich", "icin", "ihr", "ik", "il", "ile", "ils", "im", "ise", "ist", "je",
    "kac", "kadar", "kann", "kein", "kim", "la", "las", "le", "les", "leur", "lo", "los", "lui", "mai", "mais",
    "mas", "met", "mi", "midir", "mit", "muy", "na", "naar", "nach", "nas", "ne", "neden", "nedir", "nel",
    "nella", "nerede", "nicht", "niet", "noch", "non", "nos", "nous", "nur", "oder", "olan", "olarak",
    "oldu", "oldugu", "olmustur", "om", "onde", "ook", "op", "os", "ou", "par", "para", "pas", "pe", "pela",
    "pelo", "pentru", "per", "perche", "pero", "peut", "piu", "por", "porque", "pourquoi", "prin", "quais",
    "qual", "quale", "quali", "quand", "quando", "quanto", "que", "quel", "quelle", "quelles", "quels", "quem",
    "qui", "quien", "quienes", "quoi", "sa", "sans", "sau", "se", "sein", "seine", "sem", "ser", "ses", "seu",
    "si", "sich", "sie", "sin", "sind", "sobre", "sono", "sonra", "sont", "sous", "su", "sua", "sunt", "sur",
    "sus", "tambien", "tarafindan", "te", "tiene", "tot", "tout", "uber", "uit", "um", "uma", "un", "una",
    "und", "unde", "une", "uno", "unos", "uns", "unter", "veya", "vom", "von", "voor", "vor", "vous", "waar",
    "waarom", "wann", "wanneer", "waren", "warum", "wat", "welche", "welcher", "welke", "wenn", "wer", "werd",
    "werden", "wie", "wird", "wo", "wordt", "wurde", "wurden", "ya", "zaman", "zijn", "zu", "zum", "zur",
    "zwischen",
];

/// Those of [`OTHERS`] that are words with a content in another language, or in names: they tell
/// the language, and stay in a question.
#[rustfmt::skip]
const KEPT: &[&str] = &[
    "algo", "als", "ante", "bis", "cand", "chi", "dal", "del", "den", "dies", "dit", "era", "fost", "hoe",
    "kim", "mas", "met", "mit", "ou", "pas", "per", "sin", "sur", "tiene", "tout", "zaman",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted_for_the_search() {
        for list in [ENGLISH, OTHERS, KEPT] {
            let unsorted: Vec<_> = list.windows(2).filter(|w| w[0] >= w[1]).collect();
            assert!(unsorted.is_empty(), "{unsorted:?}");
        }
        assert!(is_stop_word("what") && is_stop_word("wie") && !is_stop_word("kiln"));
    }
}
