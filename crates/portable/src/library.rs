//! Looking vectors up in all whole segments of one model, whoever wrote them.

use crate::place::entries;
use crate::segment::Segment;
use crate::{Key, Store};

/// The carried vectors of one fingerprint. Only rows that are asked for by key are read.
#[derive(Debug, Default)]
pub struct Library {
    /// Most rows first.
    segments: Vec<Segment>,
}

impl Store {
    /// What there is for a fingerprint, in vectors of this dimension. Files that are not whole and
    /// sound are passed over.
    pub fn library(&self, fingerprint: &str, dimension: usize) -> Library {
        let Some(folder) = self.folder_of(fingerprint) else {
            return Library::default();
        };
        let all = entries(&folder).into_iter();
        let mut segments: Vec<Segment> = all
            .filter_map(|entry| Segment::open(&entry.path()).ok())
            .filter(|segment| segment.header.dimension == dimension)
            .collect();
        segments.sort_by_key(|segment| std::cmp::Reverse(segment.keys.len()));
        Library { segments }
    }
}

impl Library {
    /// Whether it knows nothing.
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// The vector of a key, of unit length; nothing where no segment has it, where its bytes are
    /// no longer sound, or where it has no direction.
    pub fn get(&self, key: &Key) -> Option<Vec<f32>> {
        let found = self.segments.iter().find_map(|segment| {
            let row = segment.find(key)?;
            segment.row(row)
        });
        unit(&found?)
    }
}

/// A row as a vector of unit length.
fn unit(bytes: &[u8]) -> Option<Vec<f32>> {
    let value = |byte: &u8| f32::from(byte.cast_signed());
    let squares: f64 = bytes
        .iter()
        .map(|byte| f64::from(value(byte)).powi(2))
        .sum();
    let scale = (1.0 / squares.sqrt()) as f32;
    (squares > 0.0).then(|| bytes.iter().map(|byte| value(byte) * scale).collect())
}
