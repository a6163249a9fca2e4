//! Percent-encoding of addresses (RFC 3986, section 2.1). Which address is made is not decided here.

use std::fmt::Write as _;

/// Text as one component of an address: every byte but the unreserved ones
/// (RFC 3986, section 2.3: letters and digits of ASCII, `-`, `.`, `_`, `~`) becomes `%XX`.
pub fn percent_encoded(text: &str) -> String {
    encoded(text.as_bytes(), b"")
}

/// The path of an address: like [`percent_encoded`], but `/` stays. It takes bytes, because a
/// file's path need not be UTF-8.
pub fn percent_encoded_path(path: &[u8]) -> String {
    encoded(path, b"/")
}

fn encoded(bytes: &[u8], kept: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for byte in bytes {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(byte) || kept.contains(byte) {
            out.push(char::from(*byte));
        } else {
            // Writing into a string cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// A text with every `%XX` as the byte that it stands for; one that would not be UTF-8 then stays as
/// it is.
pub fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let digits = bytes
            .get(at + 1..at + 3)
            .and_then(|pair| std::str::from_utf8(pair).ok());
        let value = digits
            .filter(|pair| bytes[at] == b'%' && pair.bytes().all(|b| b.is_ascii_hexdigit()))
            .and_then(|pair| u8::from_str_radix(pair, 16).ok());
        out.push(value.unwrap_or(bytes[at]));
        at += if value.is_some() { 3 } else { 1 };
    }
    String::from_utf8(out).unwrap_or_else(|_| text.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_and_what_stays() {
        for (text, component, path) in [
            ("aZ09-._~", "aZ09-._~", "aZ09-._~"),
            ("a/b c", "a%2Fb%20c", "a/b%20c"),
            ("100%?#&=", "100%25%3F%23%26%3D", "100%25%3F%23%26%3D"),
            ("é", "%C3%A9", "%C3%A9"),
            ("\n", "%0A", "%0A"),
            ("", "", ""),
        ] {
            assert_eq!(percent_encoded(text), component, "{text}");
            assert_eq!(percent_decoded(component), text, "{text}");
            assert_eq!(percent_encoded_path(text.as_bytes()), path, "{text}");
        }
        assert_eq!(percent_encoded_path(b"/caf\xE9"), "/caf%E9");
        for (text, decoded) in [("50%", "50%"), ("%zz%4", "%zz%4"), ("caf%E9", "caf%E9")] {
            assert_eq!(percent_decoded(text), decoded);
        }
    }
}
