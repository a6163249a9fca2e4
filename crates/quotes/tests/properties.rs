//! What holds for any text: slices are found as they are, re-wrapped and re-cased ones nearly, and
//! nothing panics.

use lorewell_quotes::{Answer, CHANGED, Original, Quote, Wording};
use proptest::prelude::*;

/// Words of several scripts, and everything that notes put between them.
fn note() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        4 => "[a-z]{1,8}",
        2 => prop::sample::select(vec!["Öl", "re\u{301}sume\u{301}", "ﬁn", "Straße", "釉薬", "がラス", "か\u{3099}", "한국어", "น้ำ", "🏺", "32", "3.5", "d’or", "ПРЁМ"]).prop_map(String::from),
        1 => prop::sample::select(vec!["**bold**", "[[Note|label]]", "`code`", "„so“", "a—b", "x_y", "(n)"]).prop_map(String::from),
    ];
    let gap = prop::sample::select(vec![
        " ", "  ", "\n", "\r\n", ", ", ". ", "\n\n- ", "\n> ", "\t", "\u{a0}", " – ",
    ]);
    prop::collection::vec((word, gap), 1..40)
        .prop_map(|pieces| pieces.into_iter().map(|(word, gap)| word + gap).collect())
}

fn slice(text: &str, from: usize, length: usize) -> &str {
    let start = text.ceil_char_boundary(from % text.len().max(1));
    let end = text.floor_char_boundary((start + length).min(text.len()));
    &text[start..end.max(start)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_slice_stands_as_it_is(text in note(), from in any::<u16>(), length in 1usize..80) {
        let cut = slice(&text, from.into(), length);
        let quote = Quote::new(cut);
        prop_assume!(!quote.is_empty());
        let found = Original::new(text.as_str()).find(&quote, None);
        let found = found.ok_or_else(|| TestCaseError::fail(format!("{cut:?} is not in {text:?}")))?;
        prop_assert_eq!(found.wording, Wording::Exact);
        prop_assert_eq!(&text[found.range], cut.trim());
    }

    #[test]
    fn any_wrapping_and_casing_stands_nearly(text in note(), from in any::<u8>(), count in 1usize..12, wrap in "[ \n]{1,3}|\r\n|\n> ", upper in any::<bool>()) {
        // From the beginning of a word to the end of one, marks of lists left out.
        let words: Vec<&str> = text.split_whitespace().collect();
        let first = usize::from(from) % words.len();
        let is_mark = |word: &&&str| matches!(**word, "-" | ">" | "–");
        let words: Vec<&str> = words[first..].iter().skip_while(is_mark).take(count).copied().collect();
        let words: Vec<&str> = words.iter().take_while(|word| !is_mark(word)).copied().collect();
        let wrapped = words.join(&wrap);
        let quoted = if upper { wrapped.to_uppercase() } else { wrapped };
        let quote = Quote::new(&quoted);
        prop_assume!(!quote.is_empty());
        let original = Original::new(text.as_str());
        let found = original.find(&quote, None);
        let found = found.ok_or_else(|| TestCaseError::fail(format!("{quoted:?} is not in {text:?}")))?;
        // What was found is the same words again.
        let again = Quote::new(&text[found.range.clone()]);
        prop_assert_eq!(Original::new(quoted.as_str()).find(&again, None).map(|f| f.in_region), Some(true), "{:?}", &text[found.range]);
    }

    #[test]
    fn nothing_panics_and_ranges_slice(text in any::<String>(), quote in any::<String>(), from in 0usize..40, to in 0usize..40) {
        let original = Original::new(text.as_str());
        let quote = Quote::new(&quote);
        let region = from.min(to)..from.max(to);
        for region in [None, Some(&region)] {
            if let Some(found) = original.find(&quote, region) {
                prop_assert!(text.get(found.range).is_some());
                prop_assert!(found.pieces.into_iter().all(|piece| text.get(piece).is_some()));
            }
            if let Some(nearest) = original.nearest(&quote, region) {
                prop_assert!(text.get(nearest.range).is_some());
                prop_assert!((CHANGED..=1.0).contains(&nearest.likeness));
            }
        }
    }

    #[test]
    fn the_marks_of_markdown_in_any_order(text in "[-*_~=`>#|<br/>\\[\\]()!^\\\\ \na.“”«…é]{0,60}", quote in "[-*_`>\\[\\]| a.…é\n]{0,12}") {
        let original = Original::new(text.as_str());
        let quote = Quote::new(&quote);
        if let Some(found) = original.find(&quote, None) {
            prop_assert!(text.get(found.range).is_some());
        }
        let _ = original.nearest(&quote, None);
        let _ = Answer::read(&text);
    }

    #[test]
    fn any_answer_is_read(text in "[“”„\"'‘’«»「」a-c .。!?\n>\\[\\]()1-3^#|*`\\-—é]{0,80}", any in any::<String>()) {
        for text in [text, any] {
            for claim in Answer::read(&text).claims {
                prop_assert!(!claim.citations.is_empty() && !claim.text.is_empty());
                prop_assert!(claim.line >= 1);
            }
        }
    }

    #[test]
    fn a_changed_word_is_told(words in prop::collection::vec("[b-y]{2,8}", 8..200), from in any::<u8>()) {
        // Each word once, so that there is one best place.
        let words: Vec<String> = words.iter().enumerate().map(|(n, word)| format!("{word}{n}")).collect();
        let text = words.join(" ");
        let first = usize::from(from) % (words.len() - 7);
        let mut chosen: Vec<&str> = words[first..first + 8].iter().map(String::as_str).collect();
        let meant = std::mem::replace(&mut chosen[4], "zzz");
        let quote = Quote::new(&chosen.join(" "));
        let original = Original::new(text.as_str());
        prop_assert_eq!(original.find(&quote, None), None);
        let nearest = original.nearest(&quote, None);
        let shown = nearest.map(|n| n.difference.to_string()).unwrap_or_default();
        let expected = format!("[-zzz-] {{+{meant}+}}");
        prop_assert!(shown.contains(&expected), "{} in {:?}", shown, text);
    }
}
