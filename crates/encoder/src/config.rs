//! What a model is: the shape of the network, from `config.json`, and nothing that this encoder
//! would compute wrongly.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::EncoderError;
use crate::container::{malformed, unreadable};

/// The sizes of a network.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Shape {
    pub(crate) hidden: usize,
    pub(crate) layers: usize,
    pub(crate) heads: usize,
    pub(crate) intermediate: usize,
    pub(crate) vocabulary: usize,
    /// Rows of the table of positions.
    pub(crate) positions: usize,
    /// Rows of the table of token types.
    pub(crate) types: usize,
    /// The row of the first token's position: XLM-RoBERTa counts from behind the padding.
    pub(crate) first_position: usize,
    /// Added to a variance before its root is taken.
    pub(crate) epsilon: f32,
}

/// Looks whether a configuration is that of a network which this encoder computes.
///
/// # Errors
/// The file cannot be read, is no configuration, or is that of another network; the message names
/// the entry.
pub fn check_config(path: &Path) -> Result<(), EncoderError> {
    Shape::read(path).map(drop)
}

/// Larger numbers are no model of the family, and would let sizes overflow.
const LARGEST: usize = 1 << 20;

impl Shape {
    /// Reads a configuration.
    ///
    /// # Errors
    /// The file cannot be read, is no configuration, or is that of another network; the message
    /// names the entry.
    pub(crate) fn read(path: &Path) -> Result<Self, EncoderError> {
        let text = fs::read(path).map_err(|source| unreadable(path, source))?;
        let config: Value = serde_json::from_slice(&text)
            .map_err(|error| malformed(path, &format!("not JSON: {error}")))?;
        Reading {
            path,
            config: &config,
        }
        .shape()
    }

    /// Numbers of a head.
    pub(crate) fn head(&self) -> usize {
        self.hidden / self.heads
    }

    /// The most tokens that a text may have.
    pub(crate) fn longest(&self) -> usize {
        self.positions - self.first_position
    }
}

struct Reading<'a> {
    path: &'a Path,
    config: &'a Value,
}

impl Reading<'_> {
    fn shape(&self) -> Result<Shape, EncoderError> {
        let kind = self.text("model_type").unwrap_or("unnamed");
        let after_padding = match kind {
            "bert" => false,
            "xlm-roberta" => true,
            other => {
                let named = self.config["architectures"][0].as_str().unwrap_or(other);
                return Err(self.unsupported(format!(
                    "the architecture {named} (model_type `{other}`) is not supported; `bert` and \
                     `xlm-roberta` are"
                )));
            }
        };
        self.refuse_variants()?;
        let first_position = if after_padding {
            self.count("pad_token_id")? + 1
        } else {
            0
        };
        let shape = Shape {
            hidden: self.count("hidden_size")?,
            layers: self.count("num_hidden_layers")?,
            heads: self.count("num_attention_heads")?,
            intermediate: self.count("intermediate_size")?,
            vocabulary: self.count("vocab_size")?,
            positions: self.count("max_position_embeddings")?,
            types: self.count("type_vocab_size")?,
            first_position,
            epsilon: self.config["layer_norm_eps"].as_f64().unwrap_or(1e-12) as f32,
        };
        self.check(&shape)?;
        Ok(shape)
    }

    /// Variants of the network under the same name.
    fn refuse_variants(&self) -> Result<(), EncoderError> {
        let act = self.text("hidden_act").unwrap_or("gelu");
        if act != "gelu" {
            return Err(self.unsupported(format!(
                "the activation `{act}` (hidden_act) is not supported; `gelu` is"
            )));
        }
        let positions = self.text("position_embedding_type").unwrap_or("absolute");
        if positions != "absolute" {
            return Err(self.unsupported(format!(
                "positions of the type `{positions}` (position_embedding_type) are not \
                 supported; `absolute` is"
            )));
        }
        for flag in ["is_decoder", "add_cross_attention"] {
            if self.config[flag].as_bool() == Some(true) {
                return Err(
                    self.unsupported(format!("`{flag}` is set; only encoders are supported"))
                );
            }
        }
        if self.config["quantization_config"].is_object() {
            return Err(self.unsupported(
                "the weights are quantized already (quantization_config); take those in F32, F16 \
                 or BF16"
                    .into(),
            ));
        }
        Ok(())
    }

    fn check(&self, shape: &Shape) -> Result<(), EncoderError> {
        let blocks = [
            ("hidden_size", shape.hidden),
            ("intermediate_size", shape.intermediate),
        ];
        for (name, size) in blocks {
            if !size.is_multiple_of(64) || size == 0 {
                return Err(self.unsupported(format!(
                    "{name} is {size}; only multiples of 64 are supported"
                )));
            }
        }
        if shape.heads == 0
            || !shape.hidden.is_multiple_of(shape.heads)
            || !shape.head().is_multiple_of(32)
        {
            return Err(self.unsupported(format!(
                "hidden_size {} over num_attention_heads {} is not supported; heads of a \
                 multiple of 32 numbers are",
                shape.hidden, shape.heads
            )));
        }
        for (name, size) in [
            ("num_hidden_layers", shape.layers),
            ("vocab_size", shape.vocabulary),
            ("type_vocab_size", shape.types),
        ] {
            if size == 0 {
                return Err(malformed(self.path, &format!("{name} is 0")));
            }
        }
        // Two special tokens and one of the text.
        if shape.positions < shape.first_position + 3 {
            return Err(malformed(
                self.path,
                &format!(
                    "max_position_embeddings is {}: no text fits",
                    shape.positions
                ),
            ));
        }
        Ok(())
    }

    fn text(&self, key: &str) -> Option<&str> {
        self.config[key].as_str()
    }

    fn count(&self, key: &str) -> Result<usize, EncoderError> {
        let count = self.config[key]
            .as_u64()
            .and_then(|count| usize::try_from(count).ok());
        count.filter(|count| *count <= LARGEST).ok_or_else(|| {
            malformed(
                self.path,
                &format!("`{key}` should be a number, and no larger than {LARGEST}"),
            )
        })
    }

    fn unsupported(&self, reason: String) -> EncoderError {
        EncoderError::Unsupported {
            path: self.path.to_path_buf(),
            reason,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn bert() -> Value {
        json!({
            "architectures": ["BertModel"], "model_type": "bert", "hidden_act": "gelu",
            "hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12,
            "intermediate_size": 1536, "vocab_size": 30522, "max_position_embeddings": 512,
            "type_vocab_size": 2, "layer_norm_eps": 1e-12, "pad_token_id": 0,
            "position_embedding_type": "absolute"
        })
    }

    fn read(config: &Value) -> Result<Shape, EncoderError> {
        Reading {
            path: Path::new("m/config.json"),
            config,
        }
        .shape()
    }

    #[test]
    fn positions_begin_where_the_family_begins_them() {
        let shape = read(&bert()).unwrap();
        assert_eq!(
            (shape.first_position, shape.longest(), shape.head()),
            (0, 512, 32)
        );
        let mut config = bert();
        config["model_type"] = json!("xlm-roberta");
        config["pad_token_id"] = json!(1);
        config["max_position_embeddings"] = json!(514);
        let shape = read(&config).unwrap();
        assert_eq!((shape.first_position, shape.longest()), (2, 512));
    }

    #[test]
    fn what_would_be_computed_wrongly_is_refused_with_the_reason() {
        for (key, value, said) in [
            ("model_type", json!("nomic_bert"), "nomic_bert"),
            ("model_type", json!("roberta"), "`roberta`"),
            ("hidden_act", json!("relu"), "`relu`"),
            (
                "position_embedding_type",
                json!("relative_key"),
                "`relative_key`",
            ),
            ("is_decoder", json!(true), "`is_decoder`"),
            (
                "quantization_config",
                json!({"bits": 4}),
                "quantized already",
            ),
            ("hidden_size", json!(312), "312"),
            ("num_attention_heads", json!(7), "num_attention_heads 7"),
            ("num_attention_heads", json!(0), "num_attention_heads 0"),
            ("intermediate_size", json!(1000), "1000"),
        ] {
            let mut config = bert();
            config[key] = value;
            let error = read(&config).unwrap_err();
            assert_eq!(error.code(), "model_unsupported", "{key}");
            assert!(error.to_string().contains(said), "{error}");
        }
    }

    #[test]
    fn a_configuration_that_lacks_something_is_malformed() {
        for key in ["hidden_size", "vocab_size", "max_position_embeddings"] {
            for value in [Value::Null, json!("x"), json!(-1), json!(1u64 << 40)] {
                let mut config = bert();
                config[key] = value;
                let error = read(&config).unwrap_err();
                assert_eq!(error.code(), "model_malformed");
                assert!(error.to_string().contains(key), "{error}");
            }
        }
        let mut config = bert();
        config["max_position_embeddings"] = json!(2);
        assert!(read(&config).is_err());
    }
}
