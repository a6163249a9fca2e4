//! What a character is to the tokenizer.

/// The classes that the tokenizer tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// A letter or digit of a script that separates words by blanks.
    Word,
    /// A Hangul syllable: a word character whose parts are searched too, because particles
    /// are written onto the noun.
    Hangul,
    /// A character of a script written without blanks between words.
    Unspaced,
    /// A sign that belongs to the character before it.
    Mark,
    /// Says nothing inside a word: soft hyphen, joiners, bidirectional controls, Arabic tatweel.
    Ignorable,
    /// An emoji or another symbol that people use as a word or in names.
    Symbol,
    /// Everything else: blanks, punctuation, controls.
    Other,
}

/// The class of a character.
pub(crate) fn class(c: char) -> Class {
    let code = c as u32;
    match code {
        0..=0x7F => {
            if c.is_ascii_alphanumeric() {
                Class::Word
            } else {
                Class::Other
            }
        }
        0xAD
        | 0x640
        | 0x200C..=0x200F
        | 0x202A..=0x202E
        | 0x2060..=0x2064
        | 0x2066..=0x2069
        | 0xFEFF => Class::Ignorable,
        0xFE00..=0xFE0F | 0x1F3FB..=0x1F3FF | 0xE0100..=0xE01EF => Class::Ignorable,
        _ if is_mark(code) => Class::Mark,
        _ if is_unspaced(c) => Class::Unspaced,
        0x1100..=0x11FF | 0x3130..=0x318F | 0xAC00..=0xD7AF => Class::Hangul,
        _ if is_symbol(code) => Class::Symbol,
        _ if c.is_alphanumeric() => Class::Word,
        _ => Class::Other,
    }
}

/// Whether a character is of a script that is written without blanks between words: Chinese,
/// Japanese, Thai, Lao, Khmer, Myanmar, Tibetan and their extensions. Their punctuation is not.
pub fn is_unspaced(c: char) -> bool {
    matches!(c as u32,
        0x3005..=0x3007
        | 0x3021..=0x3029
        | 0x3041..=0x3096
        | 0x309D..=0x309F
        | 0x30A1..=0x30FA
        | 0x30FC..=0x30FF
        | 0x31F0..=0x31FF
        | 0x3400..=0x4DBF
        | 0x4E00..=0x9FFF
        | 0xF900..=0xFAFF
        | 0xFF66..=0xFF9F
        | 0x20000..=0x3FFFF
        | 0x0E01..=0x0E5B
        | 0x0E81..=0x0EDF
        | 0x0F00..=0x0FBC
        | 0x1000..=0x109F
        | 0x1780..=0x17E9)
}

/// Combining signs, voiced-sound marks and the vowel signs that never stand alone.
fn is_mark(code: u32) -> bool {
    matches!(code,
        0x0300..=0x036F
        | 0x0483..=0x0489
        | 0x0591..=0x05BD
        | 0x05BF | 0x05C1 | 0x05C2 | 0x05C4 | 0x05C5 | 0x05C7
        | 0x0610..=0x061A
        | 0x064B..=0x065F
        | 0x0670
        | 0x06D6..=0x06DC
        | 0x0900..=0x0903
        | 0x093A..=0x094F
        | 0x0951..=0x0957
        | 0x0962 | 0x0963
        | 0x0E31
        | 0x0E34..=0x0E3A
        | 0x0E47..=0x0E4E
        | 0x0EB1
        | 0x0EB4..=0x0EBC
        | 0x0EC8..=0x0ECD
        | 0x102B..=0x103E
        | 0x17B4..=0x17D3
        | 0x1AB0..=0x1AFF
        | 0x1DC0..=0x1DFF
        | 0x20D0..=0x20F0
        | 0x3099 | 0x309A | 0xFF9E | 0xFF9F
        | 0xFE20..=0xFE2F)
}

fn is_symbol(code: u32) -> bool {
    matches!(code,
        0x2100..=0x214F
        | 0x2190..=0x23FF
        | 0x2460..=0x24FF
        | 0x25A0..=0x27BF
        | 0x2900..=0x297F
        | 0x2B00..=0x2BFF
        | 0x1F000..=0x1F3FA
        | 0x1F400..=0x1FAFF)
}
