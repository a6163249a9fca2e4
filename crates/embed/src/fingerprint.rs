//! The fingerprint of a model: everything that decides what a vector holds.

use std::fmt;

/// A stable text over the model, its revision, precision, pooling, prefix and the version of the
/// rules that choose the embedded text. Two vectors may be compared only when it is equal.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint(String);

/// The parts of a [`Fingerprint`].
#[derive(Debug, Clone, Copy)]
pub struct FingerprintParts<'a> {
    /// The model's name.
    pub model: &'a str,
    /// Which weights: a hash or a published revision.
    pub revision: &'a str,
    /// The number format that the weights are computed in: `int8`, `f32`.
    pub precision: &'a str,
    /// How token vectors become one vector.
    pub pooling: &'a str,
    /// Texts put before a question and a passage, or `none`.
    pub prefix: &'a str,
    /// The version of the rules that make the embedded text of a passage.
    pub text_rules: &'a str,
}

impl Fingerprint {
    /// Joins the parts into one line of `key=value` pairs, divided by `;`.
    pub fn new(parts: &FingerprintParts<'_>) -> Self {
        let pairs = [
            ("model", parts.model),
            ("revision", parts.revision),
            ("precision", parts.precision),
            ("pooling", parts.pooling),
            ("prefix", parts.prefix),
            ("text", parts.text_rules),
        ];
        let line: Vec<String> = pairs
            .iter()
            .map(|(key, value)| format!("{key}={}", escape(value)))
            .collect();
        Self(line.join(";"))
    }

    /// The line itself, to be stored and compared.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A short name for a folder or file: 32 hexadecimal digits of the line's BLAKE3 hash.
    pub fn id(&self) -> String {
        blake3::hash(self.0.as_bytes()).to_hex()[..32].to_owned()
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Keeps a part from looking like two: `%`, `;` and `=` are written as in a URL.
fn escape(value: &str) -> String {
    value
        .replace('%', "%25")
        .replace(';', "%3B")
        .replace('=', "%3D")
}
