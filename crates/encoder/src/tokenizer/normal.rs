//! Normal forms of texts before a Unigram model, step by step as its `tokenizer.json` lists them,
//! and the cut into words.

use serde_json::Value;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::charsmap::Charsmap;

/// One step.
#[derive(Debug)]
pub(super) enum Step {
    Charsmap(Charsmap),
    Form(Form),
    Lowercase,
    StripAccents,
    Strip {
        left: bool,
        right: bool,
    },
    /// Two spaces or more become this.
    Spaces(String),
    Replace {
        from: String,
        to: String,
    },
}

/// A normal form of Unicode (Unicode Standard Annex 15).
#[derive(Debug, Clone, Copy)]
pub(super) enum Form {
    Nfc,
    Nfd,
    Nfkc,
    Nfkd,
}

impl Step {
    /// The steps of a normalizer; its type, if it is not supported.
    pub(super) fn read(value: &Value, steps: &mut Vec<Self>) -> Result<(), String> {
        let kind = value["type"].as_str().unwrap_or("none");
        let flag = |key: &str| value[key].as_bool().unwrap_or(false);
        steps.push(match kind {
            "none" => return Ok(()),
            "Sequence" => {
                for step in value["normalizers"].as_array().into_iter().flatten() {
                    Self::read(step, steps)?;
                }
                return Ok(());
            }
            "Precompiled" => {
                let text = value["precompiled_charsmap"].as_str().unwrap_or_default();
                Self::Charsmap(Charsmap::read(text)?)
            }
            "NFC" => Self::Form(Form::Nfc),
            "NFD" => Self::Form(Form::Nfd),
            "NFKC" => Self::Form(Form::Nfkc),
            "NFKD" => Self::Form(Form::Nfkd),
            "Lowercase" => Self::Lowercase,
            "StripAccents" => Self::StripAccents,
            "Strip" => Self::Strip {
                left: flag("strip_left"),
                right: flag("strip_right"),
            },
            "Replace" => {
                let to = value["content"].as_str().unwrap_or_default().to_string();
                let pattern = &value["pattern"];
                match (pattern["Regex"].as_str(), pattern["String"].as_str()) {
                    (Some(" {2,}"), _) => Self::Spaces(to),
                    (_, Some(from)) if !from.is_empty() => Self::Replace {
                        from: from.to_string(),
                        to,
                    },
                    _ => return Err(format!("Replace of {pattern}")),
                }
            }
            other => return Err(other.to_string()),
        });
        Ok(())
    }

    /// The text after the step.
    pub(super) fn apply(&self, text: &str) -> String {
        match self {
            Self::Charsmap(map) => map.apply(text),
            Self::Form(Form::Nfc) => text.nfc().collect(),
            Self::Form(Form::Nfd) => text.nfd().collect(),
            Self::Form(Form::Nfkc) => text.nfkc().collect(),
            Self::Form(Form::Nfkd) => text.nfkd().collect(),
            Self::Lowercase => text.chars().flat_map(char::to_lowercase).collect(),
            Self::StripAccents => text.chars().filter(|c| !is_combining_mark(*c)).collect(),
            Self::Strip { left, right } => {
                let text = if *left { text.trim_start() } else { text };
                if *right { text.trim_end() } else { text }.to_string()
            }
            Self::Spaces(to) => {
                let mut result = String::with_capacity(text.len());
                let mut spaces = 0;
                for c in text.chars().map(Some).chain([None]) {
                    if c == Some(' ') {
                        spaces += 1;
                        continue;
                    }
                    match spaces {
                        0 => {}
                        1 => result.push(' '),
                        _ => result.push_str(to),
                    }
                    spaces = 0;
                    result.extend(c);
                }
                result
            }
            Self::Replace { from, to } => text.replace(from, to),
        }
    }
}

/// How a text is cut into words before pieces are looked for.
#[derive(Debug, Default)]
pub(super) struct Cut {
    white_space: bool,
    mark: Option<Mark>,
}

/// A sign that stands for the space before a word.
#[derive(Debug)]
struct Mark {
    sign: char,
    /// Put before the first word, or before each part that white space was cut into.
    prepend: Prepend,
    split: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Prepend {
    Always,
    First,
    Never,
}

impl Cut {
    /// The cut of a pre-tokenizer; its type, if it is not supported.
    pub(super) fn read(value: &Value) -> Result<Self, String> {
        let mut cut = Self::default();
        cut.take(value)?;
        Ok(cut)
    }

    fn take(&mut self, value: &Value) -> Result<(), String> {
        match value["type"].as_str().unwrap_or("none") {
            "none" => {}
            "Sequence" => {
                for part in value["pretokenizers"].as_array().into_iter().flatten() {
                    self.take(part)?;
                }
            }
            "WhitespaceSplit" if self.mark.is_none() => self.white_space = true,
            "Metaspace" if self.mark.is_none() => {
                let sign = value["replacement"]
                    .as_str()
                    .and_then(|text| text.chars().next());
                let prepend = match value["prepend_scheme"].as_str() {
                    Some("first") => Prepend::First,
                    Some("never") => Prepend::Never,
                    Some(_) => Prepend::Always,
                    None if value["add_prefix_space"].as_bool() == Some(false) => Prepend::Never,
                    None => Prepend::Always,
                };
                self.mark = Some(Mark {
                    sign: sign.unwrap_or('\u{2581}'),
                    prepend,
                    split: value["split"].as_bool().unwrap_or(true),
                });
            }
            other => return Err(other.to_string()),
        }
        Ok(())
    }

    /// Calls `visit` with each word.
    pub(super) fn each_word(&self, text: &str, mut visit: impl FnMut(&str)) {
        if self.white_space {
            for part in text
                .split(char::is_whitespace)
                .filter(|part| !part.is_empty())
            {
                let first = part.as_ptr() == text.as_ptr();
                self.marked(part, first, &mut visit);
            }
        } else if !text.is_empty() {
            self.marked(text, true, &mut visit);
        }
    }

    fn marked(&self, part: &str, first: bool, visit: &mut impl FnMut(&str)) {
        let Some(mark) = &self.mark else {
            visit(part);
            return;
        };
        let mut text = String::with_capacity(part.len() + 16);
        let prepends = match mark.prepend {
            Prepend::Always => true,
            Prepend::First => first,
            Prepend::Never => false,
        };
        if prepends && !part.starts_with([' ', mark.sign]) {
            text.push(mark.sign);
        }
        text.extend(part.chars().map(|c| if c == ' ' { mark.sign } else { c }));
        if !mark.split {
            visit(&text);
            return;
        }
        let mut start = 0;
        for (at, c) in text.char_indices() {
            if c == mark.sign && at > start {
                visit(&text[start..at]);
                start = at;
            }
        }
        visit(&text[start..]);
    }
}
