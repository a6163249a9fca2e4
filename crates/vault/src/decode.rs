//! From bytes to text: which encoding a note is in.
//!
//! Most notes are UTF-8 and pass through untouched. The others are told apart by what their
//! bytes can mean, never by their name.

use std::fmt;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};

/// Of a text without byte order mark, how many leading bytes are looked at for UTF-16.
const UTF16_SAMPLE: usize = 4096;

/// How a file's bytes were read as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// UTF-8: the text's bytes are the file's.
    Utf8,
    /// UTF-8 with a byte order mark, which stays in the text as U+FEFF: the text's bytes are the
    /// file's.
    Utf8Bom,
    /// UTF-8 with some broken sequences, each now U+FFFD.
    Utf8Lossy,
    /// UTF-16, little-endian, without its byte order mark.
    Utf16Le,
    /// UTF-16, big-endian, without its byte order mark.
    Utf16Be,
    /// An encoding from before Unicode, by its WHATWG name (`windows-1252`, `GBK`, …): a guess.
    Legacy(&'static str),
}

/// A file's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// The text.
    pub text: String,
    /// How the bytes were read.
    pub encoding: Encoding,
    /// What a reader of the note should know, for people.
    pub warnings: Vec<String>,
}

/// The bytes are not text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not text: {0}")]
pub struct NotText(&'static str);

impl Encoding {
    /// A stable name for programs and people.
    pub fn label(self) -> &'static str {
        match self {
            Encoding::Utf8 => "utf-8",
            Encoding::Utf8Bom => "utf-8-bom",
            Encoding::Utf8Lossy => "utf-8-lossy",
            Encoding::Utf16Le => "utf-16le",
            Encoding::Utf16Be => "utf-16be",
            Encoding::Legacy(name) => name,
        }
    }

    /// Whether byte ranges of the text are byte ranges of the file; otherwise they are ranges of
    /// its decoding.
    pub fn keeps_bytes(self) -> bool {
        matches!(self, Encoding::Utf8 | Encoding::Utf8Bom)
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.label())
    }
}

/// Reads bytes as text.
///
/// In this order: UTF-16 with a byte order mark; bytes with NULs are UTF-16 if that reads as text
/// throughout, else no text; valid UTF-8; UTF-8 with broken places, if sound multi-byte sequences
/// outnumber them; otherwise an encoding from before Unicode, guessed as web browsers do.
///
/// # Errors
/// The bytes are not text in any of these.
pub fn decode(bytes: Vec<u8>) -> Result<Decoded, NotText> {
    match bytes.as_slice() {
        [0xFF, 0xFE, rest @ ..] => return with_mark(rest, Encoding::Utf16Le),
        [0xFE, 0xFF, rest @ ..] => return with_mark(rest, Encoding::Utf16Be),
        _ => {}
    }
    if bytes.contains(&0) {
        return unmarked_utf16(&bytes).ok_or(NotText("it holds NUL bytes"));
    }
    match String::from_utf8(bytes) {
        Ok(text) => {
            let encoding = if text.starts_with('\u{feff}') {
                Encoding::Utf8Bom
            } else {
                Encoding::Utf8
            };
            Ok(Decoded {
                text,
                encoding,
                warnings: Vec::new(),
            })
        }
        Err(e) => {
            let at = e.utf8_error().valid_up_to();
            broken_utf8(e.as_bytes(), at)
        }
    }
}

fn with_mark(bytes: &[u8], encoding: Encoding) -> Result<Decoded, NotText> {
    let (text, broken) = utf16(bytes, encoding);
    if text.contains('\0') {
        return Err(NotText("it holds NUL characters"));
    }
    let warnings = match broken {
        0 => Vec::new(),
        n => vec![format!(
            "{n} broken places in {encoding} text are shown as U+FFFD"
        )],
    };
    Ok(Decoded {
        text,
        encoding,
        warnings,
    })
}

/// UTF-16 without a mark: the bytes hold NULs, all on one side of the pairs, and every unit reads
/// as text. Where the bytes are also text in UTF-8 but for the NULs, nearly every unit must have
/// one; elsewhere (Cyrillic, Chinese) only the blanks do.
fn unmarked_utf16(bytes: &[u8]) -> Option<Decoded> {
    let sample = &bytes[..bytes.len().min(UTF16_SAMPLE)];
    let (mut even, mut odd) = (0, 0);
    for pair in sample.chunks_exact(2) {
        even += usize::from(pair[0] == 0);
        odd += usize::from(pair[1] == 0);
    }
    let encoding = match (even, odd) {
        (0, 1..) => Encoding::Utf16Le,
        (1.., 0) => Encoding::Utf16Be,
        _ => return None,
    };
    let units = sample.len() / 2;
    let is_marred_text =
        std::str::from_utf8(bytes).is_ok_and(|text| !text.contains(|c| c != '\0' && is_no_text(c)));
    let is_enough = if is_marred_text {
        (even + odd) * 4 >= units * 3
    } else {
        (even + odd) * 50 >= units
    };
    if !is_enough || !bytes.len().is_multiple_of(2) {
        return None;
    }
    let (text, broken) = utf16(bytes, encoding);
    let is_text = broken == 0 && !text.contains(is_no_text);
    is_text.then(|| Decoded {
        text,
        encoding,
        warnings: vec![format!("taken for {encoding}: it has no byte order mark")],
    })
}

/// The text, and how many places could not be read.
fn utf16(bytes: &[u8], encoding: Encoding) -> (String, usize) {
    let unit = |pair: &[u8]| match (pair, encoding) {
        (&[high, low], Encoding::Utf16Be) => u16::from_be_bytes([high, low]),
        (&[low, high], _) => u16::from_le_bytes([low, high]),
        // Half a unit at the end: a lone surrogate, so that it is shown as broken.
        _ => 0xD800,
    };
    let mut broken = 0;
    let text = char::decode_utf16(bytes.chunks(2).map(unit))
        .map(|c| {
            c.unwrap_or_else(|_| {
                broken += 1;
                char::REPLACEMENT_CHARACTER
            })
        })
        .collect();
    (text, broken)
}

/// Neither UTF-16 nor clean UTF-8; the first broken place is at byte `at`.
fn broken_utf8(bytes: &[u8], at: usize) -> Result<Decoded, NotText> {
    if bytes.iter().filter(|b| is_no_text(char::from(**b))).count() > bytes.len() / 20 {
        return Err(NotText("it holds many control characters"));
    }
    let line = 1 + bytes[..at].iter().filter(|b| **b == b'\n').count();
    let (mut sound, mut broken) = (0, 0);
    for chunk in bytes.utf8_chunks() {
        sound += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        broken += usize::from(!chunk.invalid().is_empty());
    }
    if sound > broken {
        let warning = format!(
            "not valid UTF-8 from byte {at} (line {line}): {broken} broken places are shown as U+FFFD"
        );
        let text = String::from_utf8_lossy(bytes).into_owned();
        return Ok(Decoded {
            text,
            encoding: Encoding::Utf8Lossy,
            warnings: vec![warning],
        });
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes, true);
    let guess: &'static encoding_rs::Encoding = detector.guess(None, Utf8Detection::Deny);
    let (text, _) = guess.decode_without_bom_handling(bytes);
    let warning = format!(
        "not valid UTF-8 from byte {at} (line {line}): read as {}",
        guess.name()
    );
    let encoding = Encoding::Legacy(guess.name());
    Ok(Decoded {
        text: text.into_owned(),
        encoding,
        warnings: vec![warning],
    })
}

/// C0 controls that no text editor writes. Tab, line feed, form feed, carriage return and escape
/// do occur in notes.
fn is_no_text(c: char) -> bool {
    matches!(c, '\0'..='\u{8}' | '\u{b}' | '\u{e}'..='\u{1a}' | '\u{1c}'..='\u{1f}' | '\u{7f}')
}
