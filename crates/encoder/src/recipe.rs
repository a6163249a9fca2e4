//! How a model is used: pooling, prefixes, the most tokens. Known models are in a table; others say
//! it in the files that sentence-transformers writes.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::EncoderError;
use crate::container::{malformed, unreadable};

/// How the vectors of the tokens become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pooling {
    /// The first token's.
    Cls,
    /// The mean of all.
    Mean,
}

impl Pooling {
    /// Its name: `cls` or `mean`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cls => "cls",
            Self::Mean => "mean",
        }
    }
}

/// How a model is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipe {
    /// The model's name in answers.
    pub name: String,
    /// How the vectors of the tokens become one.
    pub pooling: Pooling,
    /// What is put before a question.
    pub question_prefix: String,
    /// What is put before a passage.
    pub passage_prefix: String,
    /// Longer texts are cut, in tokens, special ones included; the model may allow fewer.
    pub longest: usize,
}

struct Known {
    name: &'static str,
    pooling: Pooling,
    question: &'static str,
    passage: &'static str,
    longest: usize,
}

const BGE: &str = "Represent this sentence for searching relevant passages: ";

const KNOWN: &[Known] = &[
    Known {
        name: "bge-small-en-v1.5",
        pooling: Pooling::Cls,
        question: BGE,
        passage: "",
        longest: 512,
    },
    Known {
        name: "bge-base-en-v1.5",
        pooling: Pooling::Cls,
        question: BGE,
        passage: "",
        longest: 512,
    },
    Known {
        name: "bge-large-en-v1.5",
        pooling: Pooling::Cls,
        question: BGE,
        passage: "",
        longest: 512,
    },
    Known {
        name: "all-MiniLM-L6-v2",
        pooling: Pooling::Mean,
        question: "",
        passage: "",
        longest: 256,
    },
    Known {
        name: "gte-small",
        pooling: Pooling::Mean,
        question: "",
        passage: "",
        longest: 512,
    },
    Known {
        name: "multilingual-e5-small",
        pooling: Pooling::Mean,
        question: "query: ",
        passage: "passage: ",
        longest: 512,
    },
    Known {
        name: "multilingual-e5-base",
        pooling: Pooling::Mean,
        question: "query: ",
        passage: "passage: ",
        longest: 512,
    },
];

impl Recipe {
    /// The recipe of a known model.
    pub fn known(name: &str) -> Option<Self> {
        let known = KNOWN
            .iter()
            .find(|known| known.name.eq_ignore_ascii_case(name))?;
        Some(Self {
            name: known.name.into(),
            pooling: known.pooling,
            question_prefix: known.question.into(),
            passage_prefix: known.passage.into(),
            longest: known.longest,
        })
    }

    /// The recipe of a folder: by its name, else by what sentence-transformers wrote into it.
    ///
    /// # Errors
    /// The folder has another name and does not say how the tokens' vectors become one; it asks
    /// for a way or a further layer that is not there; a file that is no JSON.
    pub fn of_folder(folder: &Path) -> Result<Self, EncoderError> {
        let name = folder
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if let Some(known) = Self::known(&name) {
            return Ok(known);
        }
        let modules_path = folder.join("modules.json");
        let modules = json(&modules_path)?.ok_or_else(|| EncoderError::Unsupported {
            path: folder.to_path_buf(),
            reason: "nothing says how the tokens' vectors become one: `modules.json` is missing, \
                     and the folder does not have the name of a known model"
                .into(),
        })?;
        let mut pooling = None;
        for module in modules.as_array().into_iter().flatten() {
            let kind = module["type"].as_str().unwrap_or_default();
            match kind.rsplit('.').next().unwrap_or_default() {
                "Transformer" | "Normalize" => {}
                "Pooling" => {
                    let place = folder.join(module["path"].as_str().unwrap_or("1_Pooling"));
                    pooling = Some(read_pooling(&place.join("config.json"))?);
                }
                other => {
                    return Err(EncoderError::Unsupported {
                        path: modules_path,
                        reason: format!("a further layer of the type `{other}` is not supported"),
                    });
                }
            }
        }
        let pooling = pooling
            .ok_or_else(|| malformed(&modules_path, "it names no module of the type `Pooling`"))?;
        let sentences = json(&folder.join("sentence_bert_config.json"))?.unwrap_or_default();
        let longest = sentences["max_seq_length"].as_u64().unwrap_or(512);
        let prompts = json(&folder.join("config_sentence_transformers.json"))?.unwrap_or_default();
        let prompt = |names: &[&str]| {
            let found = names
                .iter()
                .find_map(|name| prompts["prompts"][name].as_str());
            found.unwrap_or_default().to_string()
        };
        Ok(Self {
            name,
            pooling,
            question_prefix: prompt(&["query"]),
            passage_prefix: prompt(&["document", "passage"]),
            longest: usize::try_from(longest).unwrap_or(512).max(3),
        })
    }
}

fn read_pooling(path: &Path) -> Result<Pooling, EncoderError> {
    let config = json(path)?.ok_or_else(|| EncoderError::Unreadable {
        path: path.to_path_buf(),
        source: std::io::ErrorKind::NotFound.into(),
    })?;
    let asked: Vec<&str> = config
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(key, value)| key.starts_with("pooling_mode_") && value.as_bool() == Some(true))
        .map(|(key, _)| key.as_str())
        .collect();
    match asked[..] {
        ["pooling_mode_cls_token"] => Ok(Pooling::Cls),
        ["pooling_mode_mean_tokens"] => Ok(Pooling::Mean),
        _ => Err(EncoderError::Unsupported {
            path: path.to_path_buf(),
            reason: format!(
                "the pooling {asked:?} is not supported; either `pooling_mode_cls_token` or \
                 `pooling_mode_mean_tokens` is"
            ),
        }),
    }
}

/// A file's JSON; nothing if there is no such file.
fn json(path: &Path) -> Result<Option<Value>, EncoderError> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(path, error)),
    };
    let value = serde_json::from_slice(&text);
    value
        .map(Some)
        .map_err(|error| malformed(path, &format!("not JSON: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    const MODULES: &str = r#"[{"path":"","type":"sentence_transformers.models.Transformer"},
        {"path":"1_Pooling","type":"sentence_transformers.models.Pooling"},
        {"path":"2_Normalize","type":"sentence_transformers.models.Normalize"}]"#;

    #[test]
    fn a_known_name_is_enough() {
        let place = tempfile::tempdir().unwrap();
        let recipe = Recipe::of_folder(&place.path().join("multilingual-E5-small")).unwrap();
        assert_eq!(recipe.question_prefix, "query: ");
        assert_eq!(recipe.pooling, Pooling::Mean);
    }

    #[test]
    fn other_folders_say_it_themselves() {
        let place = folder(&[
            ("modules.json", MODULES),
            (
                "1_Pooling/config.json",
                r#"{"pooling_mode_cls_token":true,"pooling_mode_mean_tokens":false}"#,
            ),
            ("sentence_bert_config.json", r#"{"max_seq_length":128}"#),
            (
                "config_sentence_transformers.json",
                r#"{"prompts":{"query":"Q: "}}"#,
            ),
        ]);
        let recipe = Recipe::of_folder(place.path()).unwrap();
        assert_eq!((recipe.pooling, recipe.longest), (Pooling::Cls, 128));
        assert_eq!(
            (&*recipe.question_prefix, &*recipe.passage_prefix),
            ("Q: ", "")
        );
    }

    #[test]
    fn what_is_not_said_or_not_there_is_refused() {
        let nothing = folder(&[]);
        assert!(
            Recipe::of_folder(nothing.path())
                .unwrap_err()
                .to_string()
                .contains("modules.json")
        );
        let dense = folder(&[(
            "modules.json",
            r#"[{"type":"sentence_transformers.models.Dense"}]"#,
        )]);
        assert!(
            Recipe::of_folder(dense.path())
                .unwrap_err()
                .to_string()
                .contains("`Dense`")
        );
        let most = folder(&[
            ("modules.json", MODULES),
            (
                "1_Pooling/config.json",
                r#"{"pooling_mode_max_tokens":true}"#,
            ),
        ]);
        let error = Recipe::of_folder(most.path()).unwrap_err();
        assert!(
            error.to_string().contains("pooling_mode_max_tokens"),
            "{error}"
        );
        let broken = folder(&[("modules.json", "[")]);
        assert_eq!(
            Recipe::of_folder(broken.path()).unwrap_err().code(),
            "model_malformed"
        );
    }
}
