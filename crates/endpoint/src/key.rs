//! The key of an endpoint. It is sent in one header and shown nowhere.

use std::fmt;
use std::fs;
use std::path::Path;

use crate::EndpointError;

/// More than any key has.
const MOST_BYTES: u64 = 8 << 10;
/// So much of a key's beginning tells it from other words.
const TELLING: usize = 6;
/// Beginnings of the keys of known servers.
const BEGINNINGS: &[&str] = &[
    "sk-", "sk_", "gsk_", "hf_", "AIza", "jina_", "pa-", "nvapi-",
];

/// A secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// A key, without the white space around it.
    ///
    /// # Errors
    /// It is empty, or cannot stand in a header.
    pub fn new(text: &str) -> Result<Key, EndpointError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(EndpointError::Key("it is empty".to_string()));
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            let why = "it holds characters that no key has, or several lines";
            return Err(EndpointError::Key(why.to_string()));
        }
        Ok(Key(text.to_string()))
    }

    /// The key that a file holds, which nobody but its owner may read.
    ///
    /// # Errors
    /// The file cannot be read, others may read it, or it holds no key.
    pub fn from_file(path: &Path) -> Result<Key, EndpointError> {
        let failed = |why: String| EndpointError::Key(format!("{}: {why}", path.display()));
        let metadata = fs::metadata(path).map_err(|e| failed(e.to_string()))?;
        if !metadata.is_file() || metadata.len() > MOST_BYTES {
            return Err(failed("it is not a small file".to_string()));
        }
        if is_open_to_others(&metadata) {
            let shown = path.display();
            return Err(failed(format!("others may read it; `chmod 600 {shown}`")));
        }
        let text = fs::read_to_string(path).map_err(|e| failed(e.to_string()))?;
        Key::new(&text).map_err(|error| failed(error.to_string()))
    }

    /// What is sent.
    pub(crate) fn header(&self) -> String {
        format!("Bearer {}", self.0)
    }
}

#[cfg(unix)]
fn is_open_to_others(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    metadata.mode() & 0o077 != 0
}

#[cfg(not(unix))]
fn is_open_to_others(_: &fs::Metadata) -> bool {
    false
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(***)")
    }
}

/// What a server said, with every word masked that is the key, begins as it does, or looks like
/// one. Servers quote the key that they do not like.
pub(crate) fn masked(text: &str, key: Option<&Key>) -> String {
    let mut text = text.to_string();
    let mut beginning = None;
    if let Some(Key(key)) = key {
        text = text.replace(key.as_str(), "***");
        beginning = (key.len() >= 2 * TELLING).then(|| &key[..TELLING]);
    }
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-_*.".contains(c);
    let mut shown = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let known = BEGINNINGS.iter().any(|known| word.starts_with(known)) && word.len() > 8;
        let own = beginning.is_some_and(|beginning| word.starts_with(beginning));
        shown.push_str(if known || own { "***" } else { word });
        let next = after.chars().next().map_or(0, char::len_utf8);
        shown.push_str(&after[..next]);
        rest = &after[next..];
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_masked_whole_and_in_part_and_so_is_what_looks_like_one() {
        let key = Key::new(" plum-4711-orchard \n").expect("a key");
        for (said, shown) in [
            ("wrong key plum-4711-orchard!", "wrong key ***!"),
            ("wrong key: plum-4*****hard.", "wrong key: ***"),
            (
                "Incorrect API key provided: sk-abcd****wxyz",
                "Incorrect API key provided: ***",
            ),
            ("“sk-1234567890” — 不", "“***” — 不"),
            (
                "the model ‘plum’ is not here",
                "the model ‘plum’ is not here",
            ),
        ] {
            assert_eq!(masked(said, Some(&key)), shown);
        }
        assert_eq!(format!("{key:?}"), "Key(***)");
    }

    #[test]
    fn what_cannot_be_a_key_is_refused() {
        for text in ["", "  \n", "two\nlines", "schlüssel"] {
            assert!(Key::new(text).is_err(), "{text:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_others_may_read_is_refused() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("key");
        fs::write(&path, "abc\n").expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("set");
        let error = Key::from_file(&path).expect_err("refused").to_string();
        assert!(
            error.contains("chmod 600") && !error.contains("abc"),
            "{error}"
        );
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("set");
        assert_eq!(
            Key::from_file(&path).expect("read"),
            Key::new("abc").expect("a key")
        );
    }
}
