//! A model of the family that is small enough to be written down by a test: one layer, made-up
//! weights.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};

const HIDDEN: usize = 64;
const WORDS: [&str; 8] = [
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", "kiln", "glaze", "cone", "ash",
];
const POSITIONS: usize = 16;

/// The files of the model, by path.
pub(crate) fn files() -> BTreeMap<String, Vec<u8>> {
    let text = |value: &Value| value.to_string().into_bytes();
    BTreeMap::from([
        ("config.json".to_string(), text(&config("bert"))),
        ("tokenizer.json".to_string(), text(&tokenizer())),
        ("model.safetensors".to_string(), weights(network())),
        ("modules.json".to_string(), text(&modules())),
        (
            "1_Pooling/config.json".to_string(),
            text(&json!({ "pooling_mode_cls_token": false, "pooling_mode_mean_tokens": true })),
        ),
        ("README.md".to_string(), b"A card.".to_vec()),
    ])
}

/// What makes a reranker of it: another configuration, with so many outputs, and other weights.
pub(crate) fn reranker(outputs: usize) -> [(&'static str, Vec<u8>); 2] {
    let mut config = config("bert");
    config["architectures"] = json!(["BertForSequenceClassification"]);
    let labels = (0..outputs).map(|label| (label.to_string(), json!(format!("LABEL_{label}"))));
    config["id2label"] = Value::Object(labels.collect());
    let mut shapes: Vec<Shape> = network()
        .into_iter()
        .map(|(name, shape)| (format!("bert.{name}"), shape))
        .collect();
    shapes.extend([
        ("bert.pooler.dense.weight".into(), vec![HIDDEN, HIDDEN]),
        ("bert.pooler.dense.bias".into(), vec![HIDDEN]),
        ("classifier.weight".into(), vec![outputs, HIDDEN]),
        ("classifier.bias".into(), vec![outputs]),
    ]);
    [
        ("config.json", config.to_string().into_bytes()),
        ("model.safetensors", weights(shapes)),
    ]
}

/// The same in a folder.
pub(crate) fn write(folder: &Path) {
    for (path, content) in files() {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
}

pub(crate) fn config(kind: &str) -> Value {
    json!({
        "architectures": ["BertModel"], "model_type": kind, "hidden_act": "gelu",
        "hidden_size": HIDDEN, "num_hidden_layers": 1, "num_attention_heads": 2,
        "intermediate_size": HIDDEN, "vocab_size": WORDS.len(),
        "max_position_embeddings": POSITIONS, "type_vocab_size": 2, "pad_token_id": 0
    })
}

fn modules() -> Value {
    json!([
        { "path": "", "type": "sentence_transformers.models.Transformer" },
        { "path": "1_Pooling", "type": "sentence_transformers.models.Pooling" }
    ])
}

fn tokenizer() -> Value {
    let vocab: Map<String, Value> = WORDS
        .iter()
        .enumerate()
        .map(|(id, word)| ((*word).to_string(), json!(id)))
        .collect();
    let special = |word: &str| json!({ "SpecialToken": { "id": word, "type_id": 0 } });
    json!({
        "added_tokens": [{ "id": 2, "content": "[CLS]" }, { "id": 3, "content": "[SEP]" }],
        "normalizer": { "type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
            "strip_accents": null, "lowercase": true },
        "pre_tokenizer": { "type": "BertPreTokenizer" },
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [special("[CLS]"), { "Sequence": { "id": "A", "type_id": 0 } }, special("[SEP]")],
            "pair": [],
            "special_tokens": {
                "[CLS]": { "id": "[CLS]", "ids": [2], "tokens": ["[CLS]"] },
                "[SEP]": { "id": "[SEP]", "ids": [3], "tokens": ["[SEP]"] }
            }
        },
        "model": { "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100, "vocab": vocab }
    })
}

/// A tensor's name and sizes.
type Shape = (String, Vec<usize>);

/// The tensors of the network.
fn network() -> Vec<Shape> {
    let mut shapes: Vec<Shape> = vec![
        (
            "embeddings.word_embeddings.weight".into(),
            vec![WORDS.len(), HIDDEN],
        ),
        (
            "embeddings.position_embeddings.weight".into(),
            vec![POSITIONS, HIDDEN],
        ),
        (
            "embeddings.token_type_embeddings.weight".into(),
            vec![2, HIDDEN],
        ),
        ("embeddings.LayerNorm.weight".into(), vec![HIDDEN]),
        ("embeddings.LayerNorm.bias".into(), vec![HIDDEN]),
    ];
    let layer = "encoder.layer.0";
    for part in [
        "attention.self.query",
        "attention.self.key",
        "attention.self.value",
        "attention.output.dense",
        "intermediate.dense",
        "output.dense",
    ] {
        shapes.push((format!("{layer}.{part}.weight"), vec![HIDDEN, HIDDEN]));
        shapes.push((format!("{layer}.{part}.bias"), vec![HIDDEN]));
    }
    for part in ["attention.output.LayerNorm", "output.LayerNorm"] {
        shapes.push((format!("{layer}.{part}.weight"), vec![HIDDEN]));
        shapes.push((format!("{layer}.{part}.bias"), vec![HIDDEN]));
    }
    shapes
}

/// Weights in the safetensors format: a header in JSON behind its length, then the numbers.
fn weights(shapes: Vec<Shape>) -> Vec<u8> {
    let (mut header, mut data) = (Map::new(), Vec::new());
    for (name, shape) in shapes {
        let (begin, count) = (data.len(), shape.iter().product::<usize>());
        for index in 0..count {
            let wave = ((index * 37 + name.len() * 11) % 101) as f32 / 101.0 - 0.5;
            let number = if name.contains("LayerNorm.weight") {
                1.0
            } else {
                wave * 0.4
            };
            data.extend(number.to_le_bytes());
        }
        let entry = json!({ "dtype": "F32", "shape": shape, "data_offsets": [begin, data.len()] });
        header.insert(name, entry);
    }
    let mut header = Value::Object(header).to_string().into_bytes();
    while !header.len().is_multiple_of(8) {
        header.push(b' ');
    }
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header);
    file.extend(data);
    file
}
