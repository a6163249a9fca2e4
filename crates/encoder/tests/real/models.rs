//! Vectors of real models against the reference, on every kernel that this machine has.

use std::path::Path;

use lorewell_encoder::{Encoder, Kernel, Options, Pooling, Precision};

use crate::reference::{Reference, cosine};
use crate::weights::model;

/// Texts of different lengths and kinds; the last is longer than a tile of any kernel.
const TEXTS: &[&str] = &[
    "kiln",
    "How do I keep a wood stove clean?",
    "The glaze crawled because the bisque was dusty; wipe each pot with a damp sponge first.",
    "Überraschung: naïve café, ÉCOLE — 東京 and Kubernetes' kubectl v1.29 (rc2)!",
    "A zettelkasten is a box of slips. Each slip holds one thought, has a number of its own and \
     names the numbers of others. What one reads is written down in one's own words, and a slip \
     that is never linked is never found again. Luhmann kept some ninety thousand of them.",
];

fn open(folder: &Path, precision: Precision, kernel: Kernel) -> Encoder {
    let options = Options {
        precision: Some(precision),
        kernel: Some(kernel),
        ..Options::default()
    };
    Encoder::open(folder, &options).unwrap()
}

/// Least and mean cosine of all texts, for one precision and kernel.
fn likeness(
    folder: &Path,
    precision: Precision,
    kernel: Kernel,
    expected: &[Vec<f64>],
) -> (f64, f64) {
    let encodings = open(folder, precision, kernel).encode(TEXTS);
    let cosines: Vec<f64> = encodings
        .iter()
        .zip(expected)
        .map(|(encoding, expected)| cosine(&encoding.vector, expected))
        .collect();
    let mean = cosines.iter().sum::<f64>() / cosines.len() as f64;
    (cosines.into_iter().fold(1.0, f64::min), mean)
}

/// Bytes are summed exactly, and all that stands between is rounded the same way: in q8 every kernel
/// gives the very same vectors.
fn assert_same_bytes(folder: &Path) {
    let vectors = |kernel| -> Vec<Vec<f32>> {
        let encodings = open(folder, Precision::Q8, kernel).encode(TEXTS);
        encodings.into_iter().map(|one| one.vector).collect()
    };
    let plain = vectors(Kernel::Plain);
    for kernel in Kernel::available() {
        assert!(vectors(kernel) == plain, "{kernel} differs from plain code");
    }
}

fn check(name: &str, pooling: Pooling) {
    let Some(folder) = model(name) else { return };
    let reference = Reference::open(&folder);
    let expected: Vec<Vec<f64>> = TEXTS
        .iter()
        .map(|text| reference.vector(&reference.tokens(text, 512), pooling == Pooling::Mean))
        .collect();
    assert_same_bytes(&folder);
    for kernel in Kernel::available() {
        for (precision, least, mean) in [
            (Precision::F32, 0.9999, 0.9999),
            (Precision::F16, 0.9999, 0.9999),
            (Precision::Q8, 0.98, 0.99),
        ] {
            let found = likeness(&folder, precision, kernel, &expected);
            println!(
                "{name} {precision} {kernel}: least {:.6}, mean {:.6}",
                found.0, found.1
            );
            assert!(
                found.0 >= least && found.1 >= mean,
                "{name} {precision} {kernel}: {found:?}"
            );
        }
    }
}

#[test]
fn minilm_gives_the_vectors_of_the_reference() {
    check("all-MiniLM-L6-v2", Pooling::Mean);
}

#[test]
fn bge_small_gives_the_vectors_of_the_reference() {
    check("bge-small-en-v1.5", Pooling::Cls);
}
