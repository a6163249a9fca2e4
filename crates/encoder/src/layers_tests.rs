//! Every layer against what `transformers` computes, for members of the family whose weights are
//! made up: xtask/encoder/reference.py writes them, small ones into `tests/reference` and those in
//! full size into `target/encoder-reference`.

use std::path::{Path, PathBuf};

use crate::config::Shape;
use crate::container::{Container, Numbers};
use crate::network::Network;
use crate::prepare::prepared;
use crate::tokenizer::Tokenizer;
use crate::{Kernel, Precision};

/// The small members that are kept beside the tests, and those in full size where the script was
/// run; a line says where they are not.
fn folders() -> Vec<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = within(&here.join("tests/reference"));
    assert!(!folders.is_empty(), "they belong to the project");
    let full = within(&here.join("../../target/encoder-reference"));
    if full.is_empty() {
        eprintln!("SKIPPED: run xtask/encoder/reference.py for members in full size");
    }
    folders.extend(full);
    folders
}

fn within(place: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(place).into_iter().flatten();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    folders
}

fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| -> f64 {
        a.iter()
            .zip(b)
            .map(|(a, b)| f64::from(*a) * f64::from(*b))
            .sum()
    };
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

#[test]
fn layers_are_those_of_transformers() {
    for folder in folders() {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let reference = Container::open(&folder.join("reference.safetensors")).unwrap();
        let texts: Vec<String> = serde_json::from_str(reference.note("texts").unwrap()).unwrap();
        let tokenizer = Tokenizer::read(&folder.join("tokenizer.json")).unwrap();
        let shape = Shape::read(&folder.join("config.json")).unwrap();
        for (precision, least) in [
            (Precision::F32, 0.99999),
            (Precision::F16, 0.9999),
            (Precision::Q8, 0.97),
        ] {
            let container = prepared(&folder, &shape, precision).unwrap();
            let network = Network::load(container, shape, precision).unwrap();
            let (mut worst, mut sum, mut count) = (1.0_f64, 0.0, 0.0);
            for (index, text) in texts.iter().enumerate() {
                let ids = reference.find(&format!("{index}.ids")).unwrap();
                assert_eq!(ids.numbers, Numbers::I32);
                let ids = reference
                    .integers(&format!("{index}.ids"), ids.shape)
                    .unwrap();
                let ids: Vec<u32> = ids.into_iter().map(|id| id as u32).collect();
                assert_eq!(
                    tokenizer.tokens(text, shape.longest()).ids,
                    ids,
                    "{name}: {text}"
                );
                for (layer, state) in network.states(Kernel::best(), &ids).iter().enumerate() {
                    let tensor = format!("{index}.{layer}");
                    let expected = reference
                        .floats(&tensor, &[ids.len(), shape.hidden])
                        .unwrap();
                    let rows = state
                        .chunks(shape.hidden)
                        .zip(expected.chunks(shape.hidden));
                    for (row, expected) in rows {
                        let cosine = cosine(row, expected);
                        worst = worst.min(cosine);
                        sum += cosine;
                        count += 1.0;
                    }
                }
            }
            println!(
                "{name} {precision}: least {worst:.6}, mean {:.6}",
                sum / count
            );
            assert!(worst >= least, "{name} {precision}: {worst}");
        }
    }
}
