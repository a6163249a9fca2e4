//! Words that ask or connect and say nothing of the subject.

/// Whether a folded, unstemmed word is a stop word of English or of another language whose
/// list cannot be mistaken for content in English.
///
/// Stop words are dropped from questions only, and only while other words remain; the index
/// keeps them.
pub fn is_stop_word(word: &str) -> bool {
    ENGLISH.binary_search(&word).is_ok() || OTHERS.binary_search(&word).is_ok()
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

/// German, French and Spanish words, and Chinese and Japanese question pairs, that are not
/// English content words.
#[rustfmt::skip]
const OTHERS: &[&str] = &[
    "aber", "auch", "auf", "aus", "avec", "bei", "comment", "como", "con", "cual", "cuando", "dans", "das", "dass",
    "de", "dem", "den", "der", "des", "donde", "du", "ein", "eine", "einem", "einen", "einer", "el", "en", "es",
    "est", "et", "fur", "hat", "ich", "il", "im", "ist", "je", "la", "las", "le", "les", "lo", "los", "mais",
    "mit", "nach", "nicht", "nous", "oder", "ou", "par", "para", "pas", "por", "pour", "que", "quel", "quelle",
    "qui", "sich", "sind", "sur", "un", "una", "und", "une", "von", "vous", "wann", "war", "warum", "wie", "wird",
    "wo", "zu", "zum", "zur",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted_for_the_search() {
        for list in [ENGLISH, OTHERS] {
            let unsorted: Vec<_> = list.windows(2).filter(|w| w[0] >= w[1]).collect();
            assert!(unsorted.is_empty(), "{unsorted:?}");
        }
        assert!(is_stop_word("what") && is_stop_word("wie") && !is_stop_word("kiln"));
    }
}
