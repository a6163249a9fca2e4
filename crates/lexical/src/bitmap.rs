//! A growing set of passage numbers of one segment: those that are dead.

/// A set of `u32`, one bit each. Used for the dead passages (tombstones) of a segment, by document
/// number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bitmap {
    words: Vec<u64>,
    count: u32,
}

impl Bitmap {
    /// The empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads what [`Bitmap::to_bytes`] wrote; `None` if the length is not a multiple of 8.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (chunks, rest) = bytes.as_chunks::<8>();
        if !rest.is_empty() {
            return None;
        }
        let mut words: Vec<u64> = chunks
            .iter()
            .map(|chunk| u64::from_le_bytes(*chunk))
            .collect();
        words.truncate(
            words
                .iter()
                .rposition(|word| *word != 0)
                .map_or(0, |last| last + 1),
        );
        let count = words.iter().map(|word| word.count_ones()).sum();
        Some(Self { words, count })
    }

    /// The set as little-endian 64-bit words.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.words
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect()
    }

    /// Adds a number; true if it is new.
    pub fn insert(&mut self, doc: u32) -> bool {
        let (word, bit) = (doc as usize / 64, 1_u64 << (doc % 64));
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        let new = self.words[word] & bit == 0;
        self.words[word] |= bit;
        self.count += u32::from(new);
        new
    }

    /// Whether a number is in the set.
    #[inline]
    pub fn contains(&self, doc: u32) -> bool {
        self.words
            .get(doc as usize / 64)
            .is_some_and(|word| word >> (doc % 64) & 1 == 1)
    }

    /// How many numbers are in the set.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The numbers, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.words.iter().enumerate().flat_map(|(index, word)| {
            let mut rest = *word;
            std::iter::from_fn(move || {
                (rest != 0).then(|| {
                    let bit = rest.trailing_zeros();
                    rest &= rest - 1;
                    index as u32 * 64 + bit
                })
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Bitmap;

    #[test]
    fn a_bitmap_is_a_set_that_survives_its_bytes() {
        let mut set = Bitmap::new();
        for number in [0, 63, 64, 1_000, 63] {
            set.insert(number);
        }
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 63, 64, 1_000]);
        assert_eq!(
            (
                set.count(),
                set.contains(63),
                set.contains(62),
                set.contains(u32::MAX)
            ),
            (4, true, false, false)
        );
        assert_eq!(Bitmap::from_bytes(&set.to_bytes()), Some(set.clone()));
        let padded = [set.to_bytes(), vec![0; 16]].concat();
        assert_eq!(Bitmap::from_bytes(&padded), Some(set));
        assert_eq!(Bitmap::from_bytes(&[1, 2, 3]), None);
    }
}
