//! The repository as these tests see it: its root and the files that belong to it.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .to_path_buf()
}

/// Paths from the root, with `/`, of every file that is tracked or would be; in a
/// copy without git, of every file outside the build folder.
pub(crate) fn files() -> Vec<String> {
    let git = Command::new("git")
        .args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ])
        .current_dir(root())
        .output();
    let mut files = match git {
        Ok(output) if output.status.success() => {
            let text = String::from_utf8(output.stdout).unwrap();
            let names = text.split('\0').filter(|name| !name.is_empty());
            names.map(str::to_owned).collect()
        }
        _ => walked(&root()),
    };
    // A file that was deleted and not yet committed is still listed.
    files.retain(|file| root().join(file).is_file());
    files
}

/// The text of a file; `None` where it is not text.
pub(crate) fn text(file: &str) -> Option<String> {
    String::from_utf8(fs::read(root().join(file)).unwrap()).ok()
}

/// What cargo says about the packages of the workspace with this manifest (a path from the root).
pub(crate) fn metadata(manifest: &str) -> Value {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--no-deps"])
        .args(["--manifest-path", manifest])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

fn walked(root: &Path) -> Vec<String> {
    let mut files = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                let inside = path.strip_prefix(root).unwrap();
                files.push(inside.to_string_lossy().replace('\\', "/"));
            } else if !path.ends_with("target") && !path.ends_with(".git") {
                folders.push(path);
            }
        }
    }
    files
}
