//! Paths as people write them, made absolute, and folders made canonical.

use std::io;
use std::path::{Path, PathBuf};

/// Expands `~` and `~/…` with `home`; anything relative starts at `base`.
pub(crate) fn absolute(text: &str, home: &Path, base: &Path) -> PathBuf {
    if text == "~" {
        return home.to_path_buf();
    }
    let rest = text
        .strip_prefix("~/")
        .or_else(|| text.strip_prefix("~\\").filter(|_| cfg!(windows)));
    match rest {
        Some(rest) => home.join(rest),
        None => base.join(text),
    }
}

/// The one name of an existing file or folder: symbolic links resolved, and
/// without the `\\?\` that Windows puts before it.
pub(crate) fn canonical(path: &Path) -> io::Result<PathBuf> {
    let real = path.canonicalize()?;
    if cfg!(windows)
        && let Some(text) = real.to_str()
        && let Some(plain) = text.strip_prefix(r"\\?\")
        && !plain.starts_with("UNC\\")
    {
        return Ok(PathBuf::from(plain));
    }
    Ok(real)
}

/// [`canonical`] where the folder is there, else the path as it was given.
pub(crate) fn canonical_or_given(path: &Path) -> PathBuf {
    canonical(path).unwrap_or_else(|_| path.to_path_buf())
}
