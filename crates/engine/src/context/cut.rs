//! The one passage that is too large by itself: where it may be cut.

use unicode_segmentation::UnicodeSegmentation;

/// The places, in order, at which a passage may end before its own end: behind paragraphs and
/// sentences, white space left out.
pub(super) fn places(text: &str) -> Vec<usize> {
    let mut places = Vec::new();
    let mut from = 0;
    for paragraph in text.split_inclusive("\n\n") {
        // A list is cut between its lines; to Unicode's rules every line ends a sentence.
        for (start, sentence) in paragraph.split_sentence_bound_indices() {
            let end = from + start + sentence.trim_end().len();
            let opens = text[end..].trim_start().is_empty();
            let wraps = sentence.ends_with('\n') && !ends_a_line(sentence, &text[end..]);
            if !opens && !wraps && end > 0 && places.last().is_none_or(|last| end > *last) {
                places.push(end);
            }
        }
        from += paragraph.len();
    }
    places
}

/// Whether a line is a whole: it ends a sentence, or the next one begins an item or a row.
fn ends_a_line(line: &str, rest: &str) -> bool {
    let ended = line
        .trim_end()
        .ends_with(['.', '!', '?', '。', '！', '？', ':', '…', '|']);
    let next = rest.trim_start_matches(['\n', '\r', ' ', '\t']);
    let is_blank = rest.trim_start_matches(['\r', ' ']).starts_with("\n\n");
    ended || is_blank || next.starts_with(['-', '*', '+', '|', '>', '#'])
}

#[cfg(test)]
mod tests {
    use super::places;

    #[test]
    fn behind_sentences_and_paragraphs() {
        for (text, pieces) in [
            ("One. Two three. Four", &["One.", "One. Two three."][..]),
            (
                "One\ntwo. Three\n\nFour\n",
                &["One\ntwo.", "One\ntwo. Three"],
            ),
            ("- a\n- b\n- c", &["- a", "- a\n- b"]),
            ("一つ。二つ。三つ", &["一つ。", "一つ。二つ。"]),
            ("3.5 is one sentence", &[]),
            ("", &[]),
        ] {
            let found: Vec<&str> = places(text).into_iter().map(|end| &text[..end]).collect();
            assert_eq!(found, pieces, "{text:?}");
        }
    }
}
