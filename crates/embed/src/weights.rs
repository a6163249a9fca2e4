//! The weights of a static model, read in place from a safetensors file.

use crate::accumulate::add_scaled;

/// One row of 4-bit numbers, two a byte, and one scale for each token.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Weights<'a> {
    scales: &'a [u8],
    rows: &'a [u8],
    row_bytes: usize,
}

/// Why bytes are not the weights of a static model.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum WeightsError {
    /// Not a safetensors file at all.
    #[error("the weights are not a safetensors file: {0}")]
    Container(&'static str),
    /// A tensor is absent or not as expected.
    #[error("tensor `{tensor}` of the weights: {reason}")]
    Tensor {
        /// Its name in the file.
        tensor: &'static str,
        /// What is wrong with it.
        reason: &'static str,
    },
}

impl<'a> Weights<'a> {
    /// Reads `embeddings` (U8, tokens × half the dimension) and `scales` (F32, tokens). How a byte
    /// holds two numbers is said at [`add_scaled`].
    ///
    /// Format: 8 bytes of header length, a JSON header, then the tensors' bytes
    /// (<https://huggingface.co/docs/safetensors>). Numbers are little endian.
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Self, WeightsError> {
        let container = WeightsError::Container;
        let (length, rest) = bytes
            .split_first_chunk::<8>()
            .ok_or(container("shorter than its first number"))?;
        let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
        let (header, data) = rest
            .split_at_checked(length)
            .ok_or(container("shorter than its header"))?;
        let header: serde_json::Value =
            serde_json::from_slice(header).map_err(|_| container("its header is not JSON"))?;
        let (rows, shape) = tensor(&header, data, "embeddings", "U8", 1)?;
        let &[tokens, row_bytes] = shape.as_slice() else {
            return Err(wrong("embeddings", "not two-dimensional"));
        };
        let (scales, shape) = tensor(&header, data, "scales", "F32", 4)?;
        if shape != [tokens] {
            return Err(wrong("scales", "not one for each token"));
        }
        Ok(Self {
            scales,
            rows,
            row_bytes,
        })
    }

    /// Numbers in a row.
    pub(crate) fn dimension(&self) -> usize {
        2 * self.row_bytes
    }

    /// How many tokens there are.
    pub(crate) fn tokens(&self) -> usize {
        self.scales.len() / 4
    }

    /// Adds `times × scale × row` of a token to a sum; a token without a row adds nothing.
    pub(crate) fn add(&self, token: u16, times: f32, sum: &mut [f32]) {
        let token = usize::from(token);
        let start = token * self.row_bytes;
        let row = self.rows.get(start..start + self.row_bytes);
        if let (Some(row), Some(scale)) = (row, self.scales.as_chunks::<4>().0.get(token)) {
            let factor = times * f32::from_le_bytes(*scale);
            add_scaled(factor, row, sum);
        }
    }
}

/// A tensor's bytes and shape, checked against each other.
fn tensor<'a>(
    header: &serde_json::Value,
    data: &'a [u8],
    name: &'static str,
    number: &str,
    number_bytes: usize,
) -> Result<(&'a [u8], Vec<usize>), WeightsError> {
    let entry = header.get(name).ok_or(wrong(name, "absent"))?;
    if entry.get("dtype").and_then(|kind| kind.as_str()) != Some(number) {
        return Err(wrong(name, "of another number format"));
    }
    let sizes = |key| -> Option<Vec<usize>> {
        let list = entry.get(key)?.as_array()?;
        list.iter()
            .map(|size| usize::try_from(size.as_u64()?).ok())
            .collect()
    };
    let shape = sizes("shape").ok_or(wrong(name, "without a shape"))?;
    let bytes = match sizes("data_offsets").as_deref() {
        Some(&[start, end]) => data.get(start..end),
        _ => None,
    }
    .ok_or(wrong(name, "outside the file"))?;
    let needed = shape
        .iter()
        .try_fold(number_bytes, |bytes, size| bytes.checked_mul(*size));
    if shape.contains(&0) || needed != Some(bytes.len()) {
        return Err(wrong(name, "its shape and its bytes disagree"));
    }
    Ok((bytes, shape))
}

fn wrong(tensor: &'static str, reason: &'static str) -> WeightsError {
    WeightsError::Tensor { tensor, reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend_from_slice(header.as_bytes());
        bytes.extend_from_slice(data);
        bytes
    }

    #[test]
    fn rows_are_scaled_and_everything_else_is_an_error() {
        let header = r#"{"embeddings":{"dtype":"U8","shape":[2,3],"data_offsets":[8,14]},"scales":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#;
        let mut data = Vec::new();
        data.extend_from_slice(&2f32.to_le_bytes());
        data.extend_from_slice(&0.5f32.to_le_bytes());
        data.extend_from_slice(&[0x99, 0x88, 0x88, 0x3C, 0x86, 0xF1]);
        let good = file(header, &data);
        let weights = Weights::parse(&good).unwrap();
        assert_eq!((weights.tokens(), weights.dimension()), (2, 6));
        let mut sum = vec![1.0; 6];
        weights.add(1, 2.0, &mut sum);
        weights.add(9, 1.0, &mut sum);
        assert_eq!(sum, [5.0, -1.0, -6.0, -4.0, 1.0, 8.0]);

        for length in 0..good.len() {
            assert!(Weights::parse(&good[..length]).is_err(), "cut at {length}");
        }
        for (from, to) in [
            ("U8", "F8"),
            ("[2,3]", "[3,3]"),
            ("[2,3]", "[6]"),
            ("[2,3]", "[0,3]"),
            ("[2]", "[18446744073709551615]"),
            ("[8,14]", "[14,8]"),
            ("[0,8]", "[-1,8]"),
            ("scales", "skales"),
            ("{", "}"),
        ] {
            let bad = file(&header.replace(from, to), &data);
            assert!(Weights::parse(&bad).is_err(), "{from} as {to}");
        }
        assert!(Weights::parse(&u64::MAX.to_le_bytes()).is_err());
    }
}
