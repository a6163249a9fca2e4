//! Words and pieces together, against what the reference tokenizer gives for the same texts.

use proptest::prelude::*;

use crate::{
    vocabulary::{TokenId, Vocabulary},
    words::WordSplitter,
};

const TOKENIZER: &str = include_str!("../models/static-en-256/tokenizer.json");
const VOCABULARY: &str = include_str!("../models/static-en-256/vocab.txt");
const GOLDEN: &str = include_str!("../tests/golden/tokens.json");

/// What the reference gives for a word that is in no token.
const UNKNOWN: TokenId = 1;

fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    WordSplitter::default().each(text, |word, _| words.push(word.to_owned()));
    words
}

fn tokens(vocabulary: &Vocabulary, text: &str) -> Vec<TokenId> {
    let (mut ids, mut pieces) = (Vec::new(), Vec::new());
    WordSplitter::default().each(text, |word, _| match vocabulary.pieces(word, &mut pieces) {
        Some(()) => ids.extend_from_slice(&pieces),
        None => ids.push(UNKNOWN),
    });
    ids
}

#[test]
fn the_vocabulary_is_the_tokenizers_own() {
    let tokenizer: serde_json::Value = serde_json::from_str(TOKENIZER).unwrap();
    let listed = tokenizer["model"]["vocab"].as_object().unwrap();
    let lines: Vec<&str> = VOCABULARY.lines().collect();
    assert_eq!(lines.len(), listed.len());
    for (id, line) in lines.iter().enumerate() {
        assert_eq!(listed[*line].as_u64(), Some(id as u64), "{line}");
    }
    assert_eq!(Vocabulary::new(VOCABULARY).len(), lines.len());
}

#[test]
fn texts_become_the_tokens_of_the_reference() {
    let vocabulary = Vocabulary::new(VOCABULARY);
    let golden: Vec<serde_json::Value> = serde_json::from_str(GOLDEN).unwrap();
    assert!(golden.len() > 20);
    for case in golden {
        let text = case["text"].as_str().unwrap();
        let text = text.repeat(case["times"].as_u64().unwrap_or(1) as usize);
        let expected: Vec<TokenId> = serde_json::from_value(case["ids"].clone()).unwrap();
        assert_eq!(tokens(&vocabulary, &text), expected, "{text:?}");
    }
}

#[test]
fn accents_are_taken_off_and_told() {
    let mut told = Vec::new();
    let text = "Café cafe e\u{301}clair ÉCOLE straße no\u{308}";
    WordSplitter::default().each(text, |word, accented| {
        told.push((word.to_owned(), accented))
    });
    let expected = [
        ("cafe", true),
        ("cafe", false),
        ("eclair", true),
        ("ecole", true),
        ("straße", false),
        ("no", true),
    ];
    assert_eq!(
        told,
        expected.map(|(word, accented)| (word.to_owned(), accented))
    );
}

#[test]
fn special_tokens_in_a_note_are_words_like_others() {
    let vocabulary = Vocabulary::new(VOCABULARY);
    assert_eq!(words("see [MASK]"), ["see", "[", "mask", "]"]);
    assert!(tokens(&vocabulary, "[PAD][CLS]").iter().all(|id| *id > 4));
}

#[test]
fn every_token_is_found_by_its_text() {
    let vocabulary = Vocabulary::new(VOCABULARY);
    for (id, token) in VOCABULARY.lines().enumerate().skip(5) {
        if !token.starts_with("##") || token == "##" {
            let mut pieces = Vec::new();
            assert_eq!(vocabulary.pieces(token, &mut pieces), Some(()), "{token}");
            assert_eq!(pieces, [id as TokenId], "{token}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn the_fast_path_for_ascii_equals_the_general_one(text in "[ -~\\t\\n]{0,60}") {
        // A zero-width space vanishes, but sends its chunk the general way.
        let general: String = text
            .split_inclusive([' ', '\t', '\n'])
            .map(|chunk| format!("\u{200B}{chunk}"))
            .collect();
        prop_assert_eq!(words(&text), words(&general));
    }

    #[test]
    fn no_text_panics_and_words_hold_no_space(text in any::<String>()) {
        for word in words(&text) {
            prop_assert!(!word.is_empty() && !word.contains(char::is_whitespace));
        }
    }
}
