//! The tokenizer that the setting `tokenizer_file` names: read when it is first needed.

use std::path::PathBuf;
use std::sync::OnceLock;

use lorewell_engine::{Tokens, TokensError};
use tokenizers::Tokenizer;

/// A Hugging Face `tokenizer.json`.
pub(crate) struct TokenizerFile {
    path: PathBuf,
    /// The tokenizer, or why it cannot be read.
    read: OnceLock<Result<Box<Tokenizer>, String>>,
}

impl TokenizerFile {
    /// The tokenizer in a file, which is not looked at yet.
    pub(crate) fn at(path: PathBuf) -> TokenizerFile {
        TokenizerFile {
            path,
            read: OnceLock::new(),
        }
    }

    fn failed(&self, what: String) -> TokensError {
        TokensError {
            path: self.path.clone(),
            what,
        }
    }
}

impl Tokens for TokenizerFile {
    fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or(self.path.as_os_str());
        name.to_string_lossy().into_owned()
    }

    fn count(&self, text: &str) -> Result<usize, TokensError> {
        let read = self.read.get_or_init(|| {
            let bytes = std::fs::read(&self.path).map_err(|error| error.to_string())?;
            let mut tokenizer = Tokenizer::from_bytes(bytes).map_err(|error| error.to_string())?;
            // A file may say that texts are cut, or filled up, for its model.
            tokenizer
                .with_truncation(None)
                .map_err(|error| error.to_string())?;
            tokenizer.with_padding(None);
            Ok(Box::new(tokenizer))
        });
        let tokenizer = read.as_ref().map_err(|what| self.failed(what.clone()))?;
        let encoding = tokenizer.encode_fast(text, false);
        let encoding = encoding.map_err(|error| self.failed(error.to_string()))?;
        Ok(encoding.len())
    }
}

impl std::fmt::Debug for TokenizerFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TokenizerFile")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tokenizer of whole words, as small as one can be.
    const WORDS: &str = r#"{"version":"1.0","truncation":{"direction":"Right","max_length":2,"strategy":"LongestFirst","stride":0},
        "padding":null,"added_tokens":[],"normalizer":null,"pre_tokenizer":{"type":"Whitespace"},"post_processor":null,
        "decoder":null,"model":{"type":"WordLevel","vocab":{"[UNK]":0,"the":1,"kiln":2},"unk_token":"[UNK]"}}"#;

    #[test]
    fn a_tokenizer_counts_and_a_wrong_file_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).expect("written");
            TokenizerFile::at(path)
        };
        let words = file("words.json", WORDS);
        assert_eq!(words.name(), "words.json");
        assert_eq!(
            words.count("the kiln, the pot").map_err(|e| e.to_string()),
            Ok(5)
        );
        assert_eq!(words.count("").map_err(|e| e.to_string()), Ok(0));
        for (name, text) in [
            ("list.json", "[]"),
            ("text.txt", "words"),
            ("empty.json", ""),
        ] {
            let error = file(name, text).count("x").expect_err(name).to_string();
            assert!(
                error.contains(name) && error.contains("cannot be used: "),
                "{error}"
            );
        }
        let nowhere = TokenizerFile::at(folder.path().join("nowhere.json"));
        let error = nowhere.count("x").expect_err("no file").to_string();
        assert!(error.contains("nowhere.json"), "{error}");
    }
}
