//! A file of named tensors, mapped: safetensors (<https://huggingface.co/docs/safetensors>): 8 bytes
//! of header length, a JSON header, then the tensors' bytes. Numbers are little endian.

use std::collections::HashMap;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::EncoderError;
use crate::machine::map;

/// Headers of real models are far smaller.
const LONGEST_HEADER: usize = 64 << 20;

/// A mapped file.
#[derive(Debug)]
pub(crate) struct Container {
    path: PathBuf,
    bytes: memmap2::Mmap,
    tensors: HashMap<String, Entry>,
    notes: HashMap<String, String>,
}

#[derive(Debug)]
struct Entry {
    numbers: Numbers,
    shape: Vec<usize>,
    place: Range<usize>,
}

/// How numbers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Numbers {
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary16.
    F16,
    /// The upper half of a binary32.
    Bf16,
    /// Signed bytes.
    I8,
    /// Signed 32-bit integers.
    I32,
    /// Anything else, which nothing here reads.
    Other,
}

#[derive(Deserialize)]
struct RawEntry {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: [usize; 2],
}

/// One tensor.
#[derive(Debug, Clone)]
pub(crate) struct Tensor<'a> {
    pub(crate) numbers: Numbers,
    pub(crate) shape: &'a [usize],
    pub(crate) bytes: &'a [u8],
    pub(crate) place: Range<usize>,
}

impl Container {
    /// Maps a file.
    ///
    /// # Errors
    /// The file cannot be read, or is no such container.
    pub(crate) fn open(path: &Path) -> Result<Self, EncoderError> {
        let file = File::open(path).map_err(|source| unreadable(path, source))?;
        Self::of_file(&file, path)
    }

    /// Maps an open file; `path` is its name in messages.
    ///
    /// # Errors
    /// As [`Container::open`].
    pub(crate) fn of_file(file: &File, path: &Path) -> Result<Self, EncoderError> {
        let length = file
            .metadata()
            .map_err(|source| unreadable(path, source))?
            .len();
        if length < 8 {
            return Err(malformed(path, "not a safetensors file: it is too short"));
        }
        let bytes = map(file).map_err(|source| unreadable(path, source))?;
        let (tensors, notes) = read_header(&bytes).map_err(|reason| malformed(path, &reason))?;
        Ok(Self {
            path: path.to_path_buf(),
            bytes,
            tensors,
            notes,
        })
    }

    /// The file's name in messages.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The whole file.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// A text of the header's `__metadata__`.
    pub(crate) fn note(&self, key: &str) -> Option<&str> {
        self.notes.get(key).map(String::as_str)
    }

    /// A tensor, if it is there.
    pub(crate) fn find(&self, name: &str) -> Option<Tensor<'_>> {
        let entry = self.tensors.get(name)?;
        Some(Tensor {
            numbers: entry.numbers,
            shape: &entry.shape,
            bytes: self.bytes.get(entry.place.clone())?,
            place: entry.place.clone(),
        })
    }

    /// A tensor that must be there in this shape.
    ///
    /// # Errors
    /// It is missing or has another shape.
    pub(crate) fn get(&self, name: &str, shape: &[usize]) -> Result<Tensor<'_>, EncoderError> {
        let tensor = self.find(name).ok_or_else(|| EncoderError::MissingTensor {
            path: self.path.clone(),
            tensor: name.to_string(),
        })?;
        if tensor.shape != shape {
            let reason = format!(
                "the tensor `{name}` has the shape {:?}; the configuration asks for {shape:?}",
                tensor.shape
            );
            return Err(malformed(&self.path, &reason));
        }
        Ok(tensor)
    }

    /// A tensor of floats as floats.
    ///
    /// # Errors
    /// As [`Container::get`]; it holds no floats, or one that is not finite.
    pub(crate) fn floats(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, EncoderError> {
        let tensor = self.get(name, shape)?;
        let mut floats = Vec::new();
        tensor
            .floats_into(0..shape.iter().product(), &mut floats)
            .ok_or_else(|| {
                let reason =
                    format!("the tensor `{name}` is no tensor of finite F32, F16 or BF16 numbers");
                malformed(&self.path, &reason)
            })?;
        Ok(floats)
    }

    /// A tensor of 32-bit integers.
    ///
    /// # Errors
    /// As [`Container::get`]; it holds other numbers.
    pub(crate) fn integers(&self, name: &str, shape: &[usize]) -> Result<Vec<i32>, EncoderError> {
        let tensor = self.get(name, shape)?;
        if tensor.numbers != Numbers::I32 {
            return Err(malformed(
                &self.path,
                &format!("the tensor `{name}` is not I32"),
            ));
        }
        let numbers = tensor.bytes.as_chunks::<4>().0;
        Ok(numbers
            .iter()
            .map(|bytes| i32::from_le_bytes(*bytes))
            .collect())
    }
}

impl Tensor<'_> {
    /// Puts a range of its numbers into `floats`; nothing if they are no finite floats.
    pub(crate) fn floats_into(&self, range: Range<usize>, floats: &mut Vec<f32>) -> Option<()> {
        floats.clear();
        let bytes = |size: usize| self.bytes.get(range.start * size..range.end * size);
        match self.numbers {
            Numbers::F32 => {
                let numbers = bytes(4)?.as_chunks::<4>().0;
                floats.extend(numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)));
            }
            Numbers::Bf16 => {
                let numbers = bytes(2)?.as_chunks::<2>().0.iter();
                floats.extend(
                    numbers
                        .map(|bytes| f32::from_bits(u32::from(u16::from_le_bytes(*bytes)) << 16)),
                );
            }
            Numbers::F16 => {
                let numbers = bytes(2)?.as_chunks::<2>().0.iter();
                floats.extend(numbers.map(|bytes| half(u16::from_le_bytes(*bytes))));
            }
            Numbers::I8 | Numbers::I32 | Numbers::Other => return None,
        }
        floats.iter().all(|value| value.is_finite()).then_some(())
    }
}

/// One half as a float; infinite and undefined ones too.
fn half(half: u16) -> f32 {
    let (sign, size) = (u32::from(half & 0x8000) << 16, u32::from(half & 0x7FFF));
    if size >= 0x7C00 {
        return f32::from_bits(sign | 0x7F80_0000 | (size & 0x3FF) << 13);
    }
    let lifted = f32::from_bits(size << 13) * f32::from_bits((127 + 112) << 23);
    f32::from_bits(lifted.to_bits() | sign)
}

type Header = (HashMap<String, Entry>, HashMap<String, String>);

fn read_header(bytes: &[u8]) -> Result<Header, String> {
    let cut = || "not a safetensors file: it is cut off within its header".to_string();
    let (length, rest) = bytes.split_first_chunk::<8>().ok_or_else(cut)?;
    let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
    if length > LONGEST_HEADER {
        return Err("not a safetensors file: its header would be too long".into());
    }
    let (header, data) = rest.split_at_checked(length).ok_or_else(cut)?;
    let raw: HashMap<String, serde_json::Value> = serde_json::from_slice(header)
        .map_err(|error| format!("not a safetensors file: its header is not JSON: {error}"))?;
    let (mut tensors, mut notes) = (HashMap::new(), HashMap::new());
    for (name, value) in raw {
        if name == "__metadata__" {
            notes = serde_json::from_value(value).map_err(|error| error.to_string())?;
            continue;
        }
        let entry: RawEntry = serde_json::from_value(value)
            .map_err(|error| format!("the entry of the tensor `{name}`: {error}"))?;
        let (numbers, size) = match entry.dtype.as_str() {
            "F32" => (Numbers::F32, 4),
            "F16" => (Numbers::F16, 2),
            "BF16" => (Numbers::Bf16, 2),
            "I8" => (Numbers::I8, 1),
            "I32" => (Numbers::I32, 4),
            _ => (Numbers::Other, 0),
        };
        let [start, end] = entry.data_offsets;
        if start > end || end > data.len() {
            return Err(format!("the tensor `{name}` lies outside the file"));
        }
        let needed = entry
            .shape
            .iter()
            .try_fold(size, |all: usize, one| all.checked_mul(*one));
        if numbers != Numbers::Other && needed != Some(end - start) {
            return Err(format!(
                "the shape and the bytes of the tensor `{name}` disagree"
            ));
        }
        let place = 8 + length + start..8 + length + end;
        tensors.insert(
            name,
            Entry {
                numbers,
                shape: entry.shape,
                place,
            },
        );
    }
    Ok((tensors, notes))
}

pub(crate) fn malformed(path: &Path, reason: &str) -> EncoderError {
    EncoderError::Malformed {
        path: path.to_path_buf(),
        reason: reason.to_string(),
    }
}

pub(crate) fn unreadable(path: &Path, source: std::io::Error) -> EncoderError {
    EncoderError::Unreadable {
        path: path.to_path_buf(),
        source,
    }
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

    fn open(bytes: &[u8]) -> Result<Container, EncoderError> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        Container::open(file.path())
    }

    const HEADER: &str = r#"{"a":{"dtype":"F16","shape":[2],"data_offsets":[0,4]},"b":{"dtype":"BF16","shape":[1,1],"data_offsets":[4,6]},"__metadata__":{"k":"v"}}"#;

    #[test]
    fn tensors_are_read_in_each_format() {
        let data = [0x00, 0x3C, 0x00, 0xC0, 0x80, 0x3F];
        let container = open(&file(HEADER, &data)).unwrap();
        assert_eq!(container.floats("a", &[2]).unwrap(), [1.0, -2.0]);
        assert_eq!(container.floats("b", &[1, 1]).unwrap(), [1.0]);
        assert_eq!(container.note("k"), Some("v"));
        let missing = container.floats("c", &[2]).unwrap_err();
        assert_eq!(missing.code(), "model_incomplete");
        assert!(missing.to_string().contains("`c`"));
        let shape = container.floats("a", &[3]).unwrap_err();
        assert!(shape.to_string().contains("[2]") && shape.to_string().contains("[3]"));
    }

    #[test]
    fn numbers_that_are_not_finite_are_refused() {
        let container = open(&file(HEADER, &[0x00, 0x7C, 0, 0, 0xC0, 0x7F])).unwrap();
        assert!(container.floats("a", &[2]).is_err());
        assert!(container.floats("b", &[1, 1]).is_err());
    }

    #[test]
    fn a_damaged_file_is_an_error_wherever_it_is_cut_or_changed() {
        let good = file(HEADER, &[0; 6]);
        for length in 0..good.len() {
            let error = open(&good[..length]).unwrap_err();
            assert_eq!(error.code(), "model_malformed", "cut at {length}");
        }
        for (from, to) in [
            ("[0,4]", "[4,0]"),
            ("[0,4]", "[0,9]"),
            ("[0,4]", "[-1,4]"),
            ("[2]", "[18446744073709551615]"),
            ("[2]", "[3]"),
            ("\"dtype\"", "\"kind\""),
            ("\"v\"", "7"),
        ] {
            assert!(
                open(&file(&HEADER.replacen(from, to, 1), &[0; 6])).is_err(),
                "{from} {to}"
            );
        }
        assert!(open(&[0xFF; 64]).is_err());
        assert!(Container::open(Path::new("/nowhere/model.safetensors")).is_err());
    }
}
