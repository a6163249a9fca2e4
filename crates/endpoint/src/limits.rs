//! What a server takes at once: learnt from what it took and what it refused.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The first batch is small: one sees soon whether anything comes, and a server that loads its
/// model is not flooded. Each that is taken doubles the next.
const FIRST: usize = 8;
const MOST_BYTES: usize = 2 << 20;

/// Shared by all calls of one endpoint.
pub(crate) struct Limits(Mutex<Learnt>);

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Learnt {
    /// Texts in the next batch, at most.
    pub(crate) texts: usize,
    /// More than these were never taken, or are not wanted.
    most_texts: usize,
    /// So many texts were taken at once.
    took: usize,
    /// Bytes of text in a batch, at most.
    pub(crate) bytes: usize,
    /// Tokens, by estimate, of the shortest text that was too long.
    pub(crate) too_long: Option<usize>,
}

impl Limits {
    pub(crate) fn new(most_texts: usize) -> Limits {
        let most_texts = most_texts.max(1);
        Limits(Mutex::new(Learnt {
            texts: FIRST.min(most_texts),
            most_texts,
            took: 0,
            bytes: MOST_BYTES,
            too_long: None,
        }))
    }

    fn lock(&self) -> MutexGuard<'_, Learnt> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn now(&self) -> Learnt {
        *self.lock()
    }

    /// A batch was taken.
    pub(crate) fn took(&self, texts: usize) {
        let mut learnt = self.lock();
        learnt.took = learnt.took.max(texts);
        if texts >= learnt.texts {
            learnt.texts = (learnt.texts * 2).min(learnt.most_texts);
        }
    }

    /// A batch was too much. Where as many texts were taken before, it was the bytes.
    pub(crate) fn too_many(&self, texts: usize, bytes: usize) {
        let mut learnt = self.lock();
        if texts <= learnt.took {
            learnt.bytes = learnt.bytes.min((bytes / 2).max(1));
            return;
        }
        learnt.most_texts = learnt.most_texts.min((texts / 2).max(1));
        learnt.texts = learnt.texts.min(learnt.most_texts);
    }

    /// The server was overrun: smaller batches for a while.
    pub(crate) fn overrun(&self, texts: usize) {
        let mut learnt = self.lock();
        learnt.texts = (texts / 2).max(1);
    }

    /// Only one text at a time can be told apart.
    pub(crate) fn one_by_one(&self) {
        let mut learnt = self.lock();
        learnt.most_texts = 1;
        learnt.texts = 1;
    }

    /// A text of so many tokens was too long.
    pub(crate) fn too_long(&self, tokens: usize) {
        let mut learnt = self.lock();
        learnt.too_long = Some(learnt.too_long.map_or(tokens, |known| known.min(tokens)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_grow_and_stop_at_what_was_refused() {
        let limits = Limits::new(64);
        let mut sent = Vec::new();
        for _ in 0..5 {
            let texts = limits.now().texts;
            sent.push(texts);
            match texts > 32 {
                true => limits.too_many(texts, 100),
                false => limits.took(texts),
            }
        }
        assert_eq!(sent, [8, 16, 32, 64, 32]);
        limits.too_many(32, 1000);
        assert_eq!((limits.now().texts, limits.now().bytes), (32, 500));
        limits.overrun(32);
        assert_eq!(limits.now().texts, 16);
        limits.took(16);
        assert_eq!(limits.now().texts, 32);
    }
}
