//! Tokens: what an agent shows, and what of it is kept.

use std::fmt;

use subtle::{Choice, ConstantTimeEq};

use crate::AgentsError;

/// What a token begins with, so that people and scanners of secrets know it for one.
const PREFIX: &str = "lorewell_";
/// Bytes of randomness in a token.
const BYTES: usize = 32;

/// A token: 256 bits from the system's randomness, in hex after a fixed beginning. It is shown
/// once and never written.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// A new one.
    ///
    /// # Errors
    /// The system gives no randomness.
    pub(crate) fn new() -> Result<Token, AgentsError> {
        Ok(Token(format!("{PREFIX}{}", hex(&random::<BYTES>()?))))
    }

    /// The token itself, to be shown to the person who approves.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// What of it is kept.
    pub fn hash(&self) -> TokenHash {
        TokenHash::of(&self.0)
    }
}

/// A token does not show itself, so that no log holds it by mistake.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// The BLAKE3 hash of a token.
///
/// A fast hash is right here: slow ones protect secrets that can be guessed, and nobody guesses
/// 256 random bits.
#[derive(Clone, Copy)]
pub struct TokenHash([u8; 32]);

impl TokenHash {
    /// The hash of what somebody shows as a token.
    pub fn of(shown: &str) -> TokenHash {
        TokenHash(*blake3::hash(shown.as_bytes()).as_bytes())
    }

    /// Whether they are the same, in a time that does not tell where they differ.
    pub(crate) fn is(&self, other: &TokenHash) -> Choice {
        self.0.ct_eq(&other.0)
    }

    /// As it stands in the register.
    pub(crate) fn to_hex(self) -> String {
        hex(&self.0)
    }

    /// Reads [`TokenHash::to_hex`].
    pub(crate) fn from_hex(text: &str) -> Option<TokenHash> {
        let mut bytes = [0; 32];
        let is_hex = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_hex {
            return None;
        }
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
        }
        Some(TokenHash(bytes))
    }
}

impl PartialEq for TokenHash {
    fn eq(&self, other: &TokenHash) -> bool {
        self.is(other).into()
    }
}

impl Eq for TokenHash {}

impl fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenHash(…)")
    }
}

/// A number that no other agent has.
pub(crate) fn new_id() -> Result<String, AgentsError> {
    Ok(hex(&random::<8>()?))
}

fn random<const N: usize>() -> Result<[u8; N], AgentsError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| AgentsError::NoRandomness(error.to_string()))?;
    Ok(bytes)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_256_random_bits_and_shows_itself_nowhere() {
        let (one, other) = (Token::new().unwrap(), Token::new().unwrap());
        assert_ne!(one.reveal(), other.reveal());
        assert_eq!(one.reveal().len(), PREFIX.len() + 64);
        assert_eq!(format!("{one:?} {:?}", one.hash()), "Token(…) TokenHash(…)");
    }

    #[test]
    fn a_hash_is_read_as_it_was_written_and_nothing_else_is_one() {
        let hash = Token::new().unwrap().hash();
        assert_eq!(TokenHash::from_hex(&hash.to_hex()), Some(hash));
        for wrong in ["", "00", &"g".repeat(64), &"é".repeat(32), &"0".repeat(65)] {
            assert_eq!(TokenHash::from_hex(wrong), None, "{wrong}");
        }
        assert_ne!(hash, Token::new().unwrap().hash());
    }
}
