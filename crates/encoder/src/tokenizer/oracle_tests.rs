//! Our tokens against those of the `tokenizers` library, for made-up tokenizers of both kinds.

use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::Tokenizer;

/// Ours and the library's for the same file.
struct Pair {
    ours: Tokenizer,
    library: tokenizers::Tokenizer,
}

impl Pair {
    fn of(value: &Value) -> Pair {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), value.to_string()).unwrap();
        Pair {
            ours: Tokenizer::read(file.path()).unwrap(),
            library: tokenizers::Tokenizer::from_file(file.path()).unwrap(),
        }
    }

    fn check(&self, text: &str) {
        let expected = self.library.encode_fast(text, true).unwrap();
        assert_eq!(
            self.ours.tokens(text, usize::MAX).ids,
            expected.get_ids(),
            "{text:?}"
        );
    }
}

fn template(before: &str, after: &str, ids: [u32; 2]) -> Value {
    let special = |name: &str, id: u32| json!({ "id": name, "ids": [id], "tokens": [name] });
    json!({
        "type": "TemplateProcessing",
        "single": [
            { "SpecialToken": { "id": before, "type_id": 0 } },
            { "Sequence": { "id": "A", "type_id": 0 } },
            { "SpecialToken": { "id": after, "type_id": 0 } }
        ],
        "pair": [{ "Sequence": { "id": "A", "type_id": 0 } }, { "Sequence": { "id": "B", "type_id": 1 } }],
        "special_tokens": { before: special(before, ids[0]), after: special(after, ids[1]) }
    })
}

fn bert(lowercase: bool) -> Pair {
    let mut vocabulary = vec![
        "[PAD]".to_string(),
        "[UNK]".into(),
        "[CLS]".into(),
        "[SEP]".into(),
    ];
    for c in ('a'..='z')
        .chain('A'..='Z')
        .chain('0'..='9')
        .chain("é東京ж.,-가".chars())
    {
        vocabulary.push(c.to_string());
        vocabulary.push(format!("##{c}"));
    }
    for piece in ["kiln", "##ing", "fir", "##s", "the", "glaze", "##aze"] {
        vocabulary.push(piece.into());
    }
    let numbers: Value = vocabulary
        .iter()
        .zip(0..)
        .map(|(piece, id)| (piece.clone(), json!(id)))
        .collect();
    Pair::of(&json!({
        "version": "1.0", "added_tokens": [],
        "normalizer": { "type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
            "strip_accents": null, "lowercase": lowercase },
        "pre_tokenizer": { "type": "BertPreTokenizer" },
        "post_processor": template("[CLS]", "[SEP]", [2, 3]),
        "decoder": null,
        "model": { "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 20, "vocab": numbers }
    }))
}

fn unigram(normalizer: Value, pre_tokenizer: Value) -> Pair {
    let mut pieces = vec![
        json!(["<s>", 0.0]),
        json!(["</s>", 0.0]),
        json!(["<unk>", 0.0]),
    ];
    for (piece, score) in [
        ("▁", -3.0),
        ("▁kiln", -5.0),
        ("ing", -4.0),
        ("▁fir", -5.5),
        ("s", -3.5),
        ("▁the", -2.5),
        ("gl", -6.0),
        ("aze", -6.5),
        ("▁glaze", -7.0),
        ("東京", -8.0),
        ("東", -7.5),
        ("é", -8.0),
    ] {
        pieces.push(json!([piece, score]));
    }
    for c in 'a'..='p' {
        pieces.push(json!([
            c.to_string(),
            -9.0 - f64::from(c as u32 % 7) / 10.0
        ]));
    }
    Pair::of(&json!({
        "version": "1.0", "added_tokens": [], "normalizer": normalizer,
        "pre_tokenizer": pre_tokenizer, "post_processor": template("<s>", "</s>", [0, 1]),
        "decoder": null,
        "model": { "type": "Unigram", "unk_id": 2, "vocab": pieces, "byte_fallback": false }
    }))
}

fn metaspace() -> Value {
    json!({ "type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true })
}

fn pairs() -> Vec<Pair> {
    let spaces = json!({ "type": "Sequence", "normalizers": [
        { "type": "NFKC" }, { "type": "Strip", "strip_left": false, "strip_right": true },
        { "type": "Replace", "pattern": { "Regex": " {2,}" }, "content": "▁" }
    ] });
    let split = json!({ "type": "Sequence", "pretokenizers": [{ "type": "WhitespaceSplit" }, metaspace()] });
    vec![
        bert(true),
        bert(false),
        unigram(json!({ "type": "NFKC" }), split),
        unigram(spaces, metaspace()),
        unigram(Value::Null, metaspace()),
    ]
}

const TEXTS: &[&str] = &[
    "",
    " ",
    "the kilns, firing glazes",
    "The KILN  fires\tthe\nglaze\u{a0}twice ",
    "Café e\u{301}clair 東京 한 ﬁne ½ ж",
    "▁the▁▁kiln ▁",
    "zzzqqq the zq kilnzq",
    "a\u{0}b\u{200b}c\u{fffd}d\u{7f}e",
    "abcdefghijklmnopqrstuvwxyz",
    "x.y-z,,,the!",
];

#[test]
fn texts_become_the_tokens_of_the_library() {
    for pair in pairs() {
        for text in TEXTS {
            pair.check(text);
        }
    }
}

#[test]
fn a_real_vocabulary_gives_the_tokens_of_the_library() {
    let weights = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/weights");
    let file = weights.join("bge-small-en-v1.5/tokenizer.json");
    if !file.is_file() {
        eprintln!(
            "SKIPPED: without {}, which tests/real fetches",
            file.display()
        );
        return;
    }
    let pair = Pair {
        ours: Tokenizer::read(&file).unwrap(),
        library: tokenizers::Tokenizer::from_file(&file).unwrap(),
    };
    for text in TEXTS {
        pair.check(text);
    }
    let documents = std::fs::read_to_string(weights.join("../../ARCHITECTURE.md")).unwrap();
    documents.lines().for_each(|line| pair.check(line));
    assert!(pair.ours.tokens(&documents, usize::MAX).coverage > 0.9);
    let russian = "Дровяную печь чистят раз в неделю, а золу выносят в сад.";
    assert!(pair.ours.tokens(russian, usize::MAX).coverage < 0.3);
    let special = pair.ours.tokens("see [SEP] and [MASK]", usize::MAX).ids;
    assert_eq!(
        special
            .iter()
            .filter(|id| **id == 102 || **id == 103)
            .count(),
        1
    );
}

#[test]
fn long_texts_are_cut_and_told() {
    let pair = bert(true);
    let whole = pair.ours.tokens("the kiln firing", usize::MAX);
    assert!(!whole.truncated);
    let cut = pair.ours.tokens("the kiln firing", 4);
    assert_eq!((cut.ids.len(), cut.truncated), (4, true));
    assert_eq!(cut.ids[..3], whole.ids[..3]);
    assert_eq!(cut.ids.last(), whole.ids.last());
    assert!(!pair.ours.tokens("the kiln", 4).truncated);
}

#[test]
fn tokenizers_of_other_kinds_are_refused_by_name() {
    for (value, said) in [
        (
            json!({ "model": { "type": "BPE", "vocab": {} }, "post_processor": template("a", "b", [0, 1]) }),
            "BPE",
        ),
        (
            json!({ "model": { "type": "WordPiece", "vocab": { "[UNK]": 0 } }, "post_processor": template("a", "b", [0, 1]) }),
            "normalizer none",
        ),
        (
            json!({ "model": { "type": "Unigram", "vocab": [["a", 0.0]], "unk_id": 0, "byte_fallback": true }, "post_processor": template("a", "b", [0, 1]) }),
            "byte_fallback",
        ),
        (
            json!({ "model": { "type": "Unigram", "vocab": [["a", 0.0]], "unk_id": 0 }, "normalizer": { "type": "ByteLevel" }, "post_processor": template("a", "b", [0, 1]) }),
            "ByteLevel",
        ),
        (
            json!({ "model": { "type": "WordPiece", "vocab": {} } }),
            "post-processor none",
        ),
        (json!({ "model": 7 }), "no tokenizer"),
    ] {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), value.to_string()).unwrap();
        let error = Tokenizer::read(file.path()).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_text_becomes_the_tokens_of_the_library(
        text in "[a-p ▁東京éЖ.\\t\\n\u{301}-\u{303}A-Cﬁ]{0,40}"
    ) {
        thread_local! {
            static PAIRS: Vec<Pair> = pairs();
        }
        PAIRS.with(|pairs| pairs.iter().for_each(|pair| pair.check(&text)));
    }
}
