//! Numbers the distinct terms of a segment that is being built.

use rustc_hash::FxHashMap;

/// Longest term that fits a key.
const SHORT: usize = 15;

/// Terms and their numbers, in the order of their first occurrence.
///
/// Nearly all terms are short. Those are their own key, so that looking one up touches one cache
/// line and compares two integers; with boxed strings, half of the time of a build is spent on
/// following and comparing them.
#[derive(Default)]
pub(crate) struct Vocabulary {
    short: FxHashMap<Key, u32>,
    long: FxHashMap<Box<[u8]>, u32>,
}

/// The bytes of a short term, padded with zeros, and its length in the last byte.
type Key = (u64, u64);

impl Vocabulary {
    /// How many terms there are; their numbers are below.
    pub(crate) fn len(&self) -> usize {
        self.short.len() + self.long.len()
    }

    /// The number of a term, which may be new.
    #[inline]
    pub(crate) fn id(&mut self, term: &[u8]) -> u32 {
        let next = self.len() as u32;
        match key(term) {
            Some(key) => *self.short.entry(key).or_insert(next),
            None => match self.long.get(term) {
                Some(id) => *id,
                None => *self.long.entry(term.into()).or_insert(next),
            },
        }
    }

    /// Takes in all terms of another vocabulary; returns the new number for each old one.
    pub(crate) fn absorb(&mut self, other: Self) -> Vec<u32> {
        let mut renumbered = vec![0; other.len()];
        for (key, old) in other.short {
            let next = self.len() as u32;
            renumbered[old as usize] = *self.short.entry(key).or_insert(next);
        }
        for (term, old) in other.long {
            let next = self.len() as u32;
            renumbered[old as usize] = *self.long.entry(term).or_insert(next);
        }
        renumbered
    }

    /// Calls `each` with every term and its number, in byte order.
    pub(crate) fn each_sorted(&self, mut each: impl FnMut(&[u8], u32)) {
        let padded: Vec<([u8; 16], u32)> = self
            .short
            .iter()
            .map(|(key, id)| (bytes(*key), *id))
            .collect();
        let short = padded
            .iter()
            .map(|(bytes, id)| (&bytes[..usize::from(bytes[SHORT])], *id));
        let mut terms: Vec<(&[u8], u32)> = short
            .chain(self.long.iter().map(|(term, id)| (&**term, *id)))
            .collect();
        terms.sort_unstable();
        for (term, id) in terms {
            each(term, id);
        }
    }
}

#[inline]
fn key(term: &[u8]) -> Option<Key> {
    let mut bytes = [0; 16];
    bytes
        .get_mut(..term.len())
        .filter(|bytes| bytes.len() <= SHORT)?
        .copy_from_slice(term);
    bytes[SHORT] = term.len() as u8;
    let (key, _) = bytes.as_chunks::<8>();
    Some((u64::from_le_bytes(key[0]), u64::from_le_bytes(key[1])))
}

fn bytes(key: Key) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&key.0.to_le_bytes());
    bytes[8..].copy_from_slice(&key.1.to_le_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::Vocabulary;

    #[test]
    fn terms_of_every_length_keep_their_number_and_come_back_sorted() {
        let mut terms: Vec<String> = (0..40)
            .map(|length| "ab".repeat(20)[..length].to_owned())
            .collect();
        terms.extend(["a\0", "a\0\0", "日本", "日本語日本", "日本語日本語"].map(str::to_owned));
        let mut vocabulary = Vocabulary::default();
        let mut other = Vocabulary::default();
        for round in 0..2 {
            for (number, term) in terms.iter().enumerate() {
                assert_eq!(
                    vocabulary.id(term.as_bytes()) as usize,
                    number,
                    "{term:?} in round {round}"
                );
            }
        }
        for term in terms.iter().rev() {
            other.id(term.as_bytes());
        }
        other.id(b"new");
        let renumbered = vocabulary.absorb(other);
        assert_eq!(renumbered[0] as usize, terms.len() - 1);
        assert_eq!(renumbered[terms.len()] as usize, terms.len());
        let mut sorted = Vec::new();
        vocabulary
            .each_sorted(|term, id| sorted.push((String::from_utf8(term.to_vec()).unwrap(), id)));
        terms.push("new".to_owned());
        let mut expected: Vec<(String, u32)> = terms.into_iter().zip(0..).collect();
        expected.sort();
        assert_eq!(sorted, expected);
    }
}
