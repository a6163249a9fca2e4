//! What the file system says of a file, in one form on every system.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

/// From this size on, a file without allocated blocks is taken to be a placeholder. Smaller ones
/// may legitimately have none: some file systems keep tiny files inside the inode.
#[cfg(all(unix, not(target_os = "macos")))]
const SMALLEST_PLACEHOLDER: u64 = 4096;

/// Size, times and identity of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) size: u64,
    pub(crate) modified_ns: i64,
    pub(crate) changed_ns: i64,
    pub(crate) inode: u64,
    pub(crate) allocation: Allocation,
}

/// Whether a file's content is on this machine.
#[expect(dead_code, reason = "each system makes only some of these")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Allocation {
    /// It is.
    #[default]
    Present,
    /// It is empty or so small that nothing follows from its having no blocks.
    Unknown,
    /// It has a size and no blocks: away, if the file system counts blocks at all.
    NoBlocks,
    /// The system says that it is away.
    Away,
}

impl Facts {
    #[cfg(unix)]
    pub(crate) fn of(metadata: &Metadata) -> Facts {
        use std::os::unix::fs::MetadataExt;

        let nanoseconds = |s: i64, ns: i64| s.saturating_mul(1_000_000_000).saturating_add(ns);
        Facts {
            size: metadata.size(),
            modified_ns: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
            changed_ns: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
            inode: metadata.ino(),
            allocation: allocation(metadata),
        }
    }

    #[cfg(not(unix))]
    pub(crate) fn of(metadata: &Metadata) -> Facts {
        let since_1970 = metadata.modified().ok().and_then(|time| {
            let since = time.duration_since(std::time::UNIX_EPOCH).ok()?;
            i64::try_from(since.as_nanos()).ok()
        });
        Facts {
            size: metadata.len(),
            modified_ns: since_1970.unwrap_or_default(),
            changed_ns: 0,
            inode: 0,
            allocation: allocation(metadata),
        }
    }
}

/// macOS marks a file whose content is in the cloud (`SF_DATALESS` of `sys/stat.h`).
#[cfg(target_os = "macos")]
fn allocation(metadata: &Metadata) -> Allocation {
    use std::os::macos::fs::MetadataExt;

    const SF_DATALESS: u32 = 0x4000_0000;
    if metadata.st_flags() & SF_DATALESS != 0 {
        Allocation::Away
    } else {
        Allocation::Present
    }
}

#[cfg(all(unix, not(target_os = "macos")))]
fn allocation(metadata: &Metadata) -> Allocation {
    use std::os::unix::fs::MetadataExt;

    match (metadata.blocks(), metadata.size()) {
        (0, SMALLEST_PLACEHOLDER..) => Allocation::NoBlocks,
        (0, _) => Allocation::Unknown,
        _ => Allocation::Present,
    }
}

/// Windows marks such files `OFFLINE`, `RECALL_ON_OPEN` or `RECALL_ON_DATA_ACCESS`
/// (`FILE_ATTRIBUTE_*` of `winnt.h`).
#[cfg(windows)]
fn allocation(metadata: &Metadata) -> Allocation {
    use std::os::windows::fs::MetadataExt;

    const AWAY: u32 = 0x1000 | 0x4_0000 | 0x40_0000;
    if metadata.file_attributes() & AWAY != 0 {
        Allocation::Away
    } else {
        Allocation::Present
    }
}

#[cfg(not(any(unix, windows)))]
fn allocation(_: &Metadata) -> Allocation {
    Allocation::Present
}

/// The path without links, `.` and `..`; on Windows without the `\\?\` in front of a drive.
pub(crate) fn real_path(path: &Path) -> io::Result<PathBuf> {
    let real = fs::canonicalize(path)?;
    #[cfg(windows)]
    if let Some(plain) = real.to_str().and_then(|p| p.strip_prefix(r"\\?\"))
        && plain.as_bytes().get(1) == Some(&b':')
    {
        return Ok(PathBuf::from(plain));
    }
    Ok(real)
}

/// A path below `root` as segments joined by `/`; nothing if it lies elsewhere or is not Unicode.
pub(crate) fn relative(root: &Path, path: &Path) -> Option<String> {
    let segments: Option<Vec<&str>> = path
        .strip_prefix(root)
        .ok()?
        .iter()
        .map(|segment| segment.to_str())
        .collect();
    Some(segments?.join("/"))
}

/// The place of a path of segments joined by `/` on disk.
pub(crate) fn on_disk(root: &Path, path: &str) -> PathBuf {
    let mut full = root.to_owned();
    full.extend(path.split('/'));
    full
}

/// Whether a path runs into links that lead to each other.
#[cfg(unix)]
pub(crate) fn is_loop(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::ELOOP)
}

#[cfg(not(unix))]
pub(crate) fn is_loop(_: &io::Error) -> bool {
    false
}
