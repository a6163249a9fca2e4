//! Hashes of files: SHA-256, and the SHA-1 by which git names what a file holds.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use ring::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY, SHA256};

/// Both hashes of a file, in hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Digests {
    pub(crate) bytes: u64,
    pub(crate) sha256: String,
    /// Of `blob SIZE\0` and the content.
    pub(crate) git: String,
}

impl Digests {
    /// Reads a file through.
    pub(crate) fn of(path: &Path) -> io::Result<Digests> {
        let mut file = File::open(path)?;
        let size = file.metadata()?.len();
        let (mut sha256, mut git) = (
            Context::new(&SHA256),
            Context::new(&SHA1_FOR_LEGACY_USE_ONLY),
        );
        git.update(format!("blob {size}\0").as_bytes());
        let (mut buffer, mut bytes) = (vec![0; 1 << 16], 0);
        loop {
            let read = file.read(&mut buffer)?;
            if read == 0 {
                break;
            }
            bytes += read as u64;
            sha256.update(&buffer[..read]);
            git.update(&buffer[..read]);
        }
        Ok(Digests {
            bytes,
            sha256: hex(sha256.finish().as_ref()),
            git: hex(git.finish().as_ref()),
        })
    }

    /// Whether one of the hashes is this, as a hub tells it; nothing if it is neither in form.
    pub(crate) fn are(&self, told: &str) -> Option<bool> {
        match told.len() {
            64 => Some(self.sha256.eq_ignore_ascii_case(told)),
            40 => Some(self.git.eq_ignore_ascii_case(told)),
            _ => None,
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_as_git_and_hubs_name_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, "hello\n").unwrap();
        let digests = Digests::of(&path).unwrap();
        // What `git hash-object` and `sha256sum` say.
        assert_eq!(digests.git, "ce013625030ba8dba906f756967f9e9ca394464a");
        assert_eq!(
            digests.sha256,
            "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"
        );
        assert_eq!(digests.are(&digests.git), Some(true));
        assert_eq!(digests.are(&"0".repeat(64)), Some(false));
        assert_eq!(digests.are("W/1"), None);
    }
}
