//! The transformer model that takes the static one's place in a measurement.

use std::path::Path;
use std::sync::OnceLock;

use anyhow::{Context as _, Result};
use lorewell_encoder::{CrossEncoder, Encoder, Options};

static CHOSEN: OnceLock<Encoder> = OnceLock::new();

/// Opens the model in a folder; every vault that is indexed from now on is embedded by it.
///
/// # Errors
/// There is no such precision, or the folder holds no model that can be computed.
pub fn choose(folder: &Path, precision: &str) -> Result<()> {
    let options = Options {
        precision: Some(precision.parse()?),
        ..Options::default()
    };
    let encoder = Encoder::open(folder, &options).with_context(|| folder.display().to_string())?;
    eprintln!(
        "embedded by {} ({precision}, {})",
        folder.display(),
        encoder.kernel()
    );
    // The command line is read once.
    let _ = CHOSEN.set(encoder);
    Ok(())
}

/// The model that was chosen, if any was.
pub fn chosen() -> Option<&'static Encoder> {
    CHOSEN.get()
}

static RERANKER: OnceLock<CrossEncoder> = OnceLock::new();

/// Opens the reranker in a folder; it looks again at every answer from now on.
///
/// # Errors
/// The folder holds no reranker that can be computed.
pub fn choose_reranker(folder: &Path) -> Result<()> {
    let reranker = CrossEncoder::open(folder, &Options::default())
        .with_context(|| folder.display().to_string())?;
    eprintln!("reranked by {}", folder.display());
    let _ = RERANKER.set(reranker);
    Ok(())
}

/// The reranker that was chosen, if any was.
pub fn chosen_reranker() -> Option<&'static CrossEncoder> {
    RERANKER.get()
}
