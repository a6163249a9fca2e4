//! Passage lengths in one byte: a small float with 16 steps an octave, so the error is below 6 %.
//!
//! Lengths below 32 are exact. The length that counts everywhere (in the score and in the average)
//! is the decoded one, because that is what a merged or partly dead segment still knows.

/// The byte for a length in weighted words; lengths above about half a million share the last one.
pub(crate) fn encode(length: u32) -> u8 {
    if length < 32 {
        return length as u8;
    }
    let exponent = 27 - length.leading_zeros(); // length >> exponent is in 16..32
    let mantissa = (length >> exponent) - 16;
    (16 + exponent * 16 + mantissa).min(255) as u8
}

/// The length that a byte stands for: the smallest one that is encoded so.
pub(crate) fn decode(byte: u8) -> u32 {
    let byte = u32::from(byte);
    if byte < 32 {
        return byte;
    }
    let exponent = byte / 16 - 1;
    (16 + byte % 16) << exponent
}

#[cfg(test)]
mod tests {
    use super::{decode, encode};

    #[test]
    fn a_byte_is_the_largest_code_that_does_not_exceed_the_length() {
        for byte in 0..=255_u8 {
            assert_eq!(encode(decode(byte)), byte);
            assert!(byte == 0 || decode(byte) > decode(byte - 1));
            if byte > 0 {
                assert_eq!(encode(decode(byte) - 1), byte - 1);
            }
        }
        for length in [0, 1, 31, 32, 33, 100, 1_000, 4_095, 100_000] {
            let kept = decode(encode(length));
            assert!(
                kept <= length && f64::from(kept) > f64::from(length) * 0.94 - 0.5,
                "{length} became {kept}"
            );
        }
        assert_eq!(encode(u32::MAX), 255);
    }
}
