//! Vectors that were made before, wherever they are kept.

use crate::Key;

/// A place that may have a vector already, so that a text need not be embedded twice.
///
/// Asked from several threads. A place that cannot be read knows nothing; that is no error.
pub trait KnownVectors: Send + Sync {
    /// The vector that the model of `fingerprint` made of the text behind `key`, of unit length and
    /// of the model's dimension; none where it is not known.
    fn vector(&self, fingerprint: &str, key: &Key) -> Option<Vec<f32>>;
}
