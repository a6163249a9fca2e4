//! From text to words as BERT has them (Devlin et al. 2019; normalization and word splitting of the
//! `tokenizers` library): control characters vanish, white space divides, punctuation and Chinese
//! characters stand alone; accents and capitals as the model wants it.

use unicode_normalization::char::decompose_canonical;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

/// Which rules a model has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    pub(super) clean: bool,
    pub(super) chinese_alone: bool,
    pub(super) strip_accents: bool,
    pub(super) lowercase: bool,
}

/// The word at hand, and what is done with a finished one.
struct Words<'a, F> {
    word: &'a mut String,
    visit: F,
}

impl<F: FnMut(&str)> Words<'_, F> {
    fn finish(&mut self) {
        if !self.word.is_empty() {
            (self.visit)(self.word);
            self.word.clear();
        }
    }

    /// A character in its final form.
    fn take(&mut self, c: char) {
        if c.is_whitespace() {
            self.finish();
        } else if is_punctuation(c) {
            self.finish();
            self.word.push(c);
            self.finish();
        } else {
            self.word.push(c);
        }
    }
}

impl Rules {
    /// Calls `visit` with each word in order.
    pub(super) fn each_word(self, text: &str, visit: impl FnMut(&str)) {
        let mut word = String::new();
        let mut words = Words {
            word: &mut word,
            visit,
        };
        for c in text.chars() {
            if c.is_ascii() {
                if !self.clean || !c.is_ascii_control() || matches!(c, '\t' | '\n' | '\r') {
                    words.take(if self.lowercase {
                        c.to_ascii_lowercase()
                    } else {
                        c
                    });
                }
                continue;
            }
            if self.clean && is_dropped(c) {
                continue;
            }
            let alone = self.chinese_alone && is_chinese(c);
            if alone {
                words.finish();
            }
            if self.strip_accents {
                decompose_canonical(c, |part| {
                    if part.general_category() != GeneralCategory::NonspacingMark {
                        self.lower(part, &mut words);
                    }
                });
            } else {
                self.lower(c, &mut words);
            }
            if alone {
                words.finish();
            }
        }
        words.finish();
    }

    fn lower<F: FnMut(&str)>(self, c: char, words: &mut Words<'_, F>) {
        if self.lowercase {
            c.to_lowercase().for_each(|part| words.take(part));
        } else {
            words.take(c);
        }
    }
}

/// Control (but white space), format and private use characters, and the mark of a failed decoding.
fn is_dropped(c: char) -> bool {
    c == '\u{FFFD}'
        || matches!(
            c.general_category(),
            GeneralCategory::Control | GeneralCategory::Format | GeneralCategory::PrivateUse
        )
}

/// Every ASCII character that is neither letter, digit, space nor control counts.
fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation()
        || !c.is_ascii() && c.general_category_group() == GeneralCategoryGroup::Punctuation
}

/// The blocks of Han characters that BERT sets apart.
pub(super) fn is_chinese(c: char) -> bool {
    matches!(
        u32::from(c),
        0x4E00..=0x9FFF
            | 0x3400..=0x4DBF
            | 0x20000..=0x2A6DF
            | 0x2A700..=0x2B73F
            | 0x2B740..=0x2B81F
            | 0x2B920..=0x2CEAF
            | 0xF900..=0xFAFF
            | 0x2F800..=0x2FA1F
    )
}
