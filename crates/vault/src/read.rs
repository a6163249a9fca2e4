//! Reading one note: inside the vault, whole, and decoded.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use lorewell_text::{NotePath, path_key};

use crate::decode::{Decoded, Encoding, NotText, decode};
use crate::leftovers::{icloud_stub, is_note};
use crate::metadata::{Allocation, Facts, is_loop, on_disk, real_path, relative};
use crate::{Reason, Rules};

/// How often a file that changes while it is read is read again.
const ATTEMPTS: usize = 3;

/// A note's text and what it was read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteFile {
    /// The decoded text. Of UTF-8 files its bytes are the file's, a byte order mark included.
    pub text: String,
    /// BLAKE3 of the bytes on disk.
    pub content_hash: [u8; 32],
    /// How the bytes were read as text.
    pub encoding: Encoding,
    /// What was odd about the bytes, for people.
    pub warnings: Vec<String>,
    /// Bytes on disk.
    pub size: u64,
    /// Time of the last write before it was read, in nanoseconds since 1970-01-01 UTC.
    pub modified_ns: i64,
    /// Time of the last change of content or attributes; 0 where the system does not keep one.
    pub changed_ns: i64,
    /// The file's number in its file system; 0 where there is none.
    pub inode: u64,
}

/// A note cannot be read. Only [`ReadError::NotFound`] says that it is gone.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The path is absolute, goes up, or leads out of the vault through a link.
    #[error("“{path}” is not a path inside the vault")]
    OutsideVault {
        /// The path asked for.
        path: String,
    },
    /// The path leads through a link to a note that has its own path.
    #[error("“{path}” is a link to “{target}”")]
    Link {
        /// The path asked for.
        path: String,
        /// The real one.
        target: String,
    },
    /// The name does not end in `.md` or `.markdown`.
    #[error("“{path}” is not a note")]
    NotANote {
        /// The path asked for.
        path: String,
    },
    /// There is no such file, and the vault is there.
    #[error("there is no note “{path}”")]
    NotFound {
        /// The path asked for.
        path: String,
    },
    /// The vault itself is not there.
    #[error("the vault's folder {} is missing", .root.display())]
    VaultMissing {
        /// The vault's root.
        root: PathBuf,
    },
    /// A folder, pipe, socket or device.
    #[error("“{path}” is not a file")]
    NotAFile {
        /// The path asked for.
        path: String,
    },
    /// The user who runs this may not read it.
    #[error("no permission to read “{path}”")]
    NoPermission {
        /// The path asked for.
        path: String,
    },
    /// The content is in the cloud.
    #[error("“{path}” is in the cloud and not on this machine")]
    Placeholder {
        /// The path asked for.
        path: String,
    },
    /// Larger than the limit.
    #[error("“{path}” is too large: {size} of at most {limit} bytes")]
    TooLarge {
        /// The path asked for.
        path: String,
        /// Bytes.
        size: u64,
        /// Bytes allowed.
        limit: u64,
    },
    /// The content is not text.
    #[error("“{path}” is {source}")]
    Binary {
        /// The path asked for.
        path: String,
        /// Why not.
        source: NotText,
    },
    /// It changed each time while it was read.
    #[error("“{path}” keeps changing while it is read")]
    Changing {
        /// The path asked for.
        path: String,
    },
    /// The system failed otherwise.
    #[error("“{path}” cannot be read: {source}")]
    Io {
        /// The path asked for.
        path: String,
        /// What the system said.
        source: io::Error,
    },
}

impl ReadError {
    /// A stable name for programs.
    pub fn code(&self) -> &'static str {
        match self {
            ReadError::OutsideVault { .. } => "outside_vault",
            ReadError::Link { .. } => "link",
            ReadError::NotANote { .. } => "not_a_note",
            ReadError::NotFound { .. } => "not_found",
            ReadError::VaultMissing { .. } => "vault_missing",
            ReadError::NotAFile { .. } => "not_a_file",
            ReadError::NoPermission { .. } => "no_permission",
            ReadError::Placeholder { .. } => "placeholder",
            ReadError::TooLarge { .. } => "too_large",
            ReadError::Binary { .. } => "binary",
            ReadError::Changing { .. } => "changing",
            ReadError::Io { .. } => "unreadable",
        }
    }

    /// What to try.
    pub fn hint(&self) -> &'static str {
        match self {
            ReadError::OutsideVault { .. } => {
                "Give a path from the vault's root, such as “Folder/Note.md”."
            }
            ReadError::Link { .. } => "Read the note under its own path.",
            ReadError::NotANote { .. } => "Notes end in .md or .markdown.",
            ReadError::NotFound { .. } => "Check the spelling, or search for the note's title.",
            ReadError::VaultMissing { .. } => "Connect the drive that holds it.",
            ReadError::NotAFile { .. } => "Name a note, not a folder.",
            ReadError::NoPermission { .. } => "Give yourself permission to read the file.",
            ReadError::Placeholder { .. } => "Open it once, or keep the folder on this machine.",
            ReadError::TooLarge { .. } => "Split the note, or raise the limit.",
            ReadError::Binary { .. } => "If it is a note, save it as UTF-8.",
            ReadError::Changing { .. } | ReadError::Io { .. } => "Try again.",
        }
    }

    /// Why the note is left out of the index, if the error is about the note and not about this
    /// attempt to read it.
    pub fn reason(&self) -> Option<Reason> {
        match self {
            ReadError::Binary { .. } => Some(Reason::Binary),
            ReadError::TooLarge { size, limit, .. } => Some(Reason::TooLarge {
                size: *size,
                limit: *limit,
            }),
            ReadError::NotAFile { .. } => Some(Reason::NotAFile),
            ReadError::OutsideVault { .. } => Some(Reason::LinkLeavesVault),
            ReadError::Link { target, .. } => Some(Reason::LinkToListed(target.clone())),
            _ => None,
        }
    }

    fn from_io(root: &Path, path: &str, source: io::Error) -> ReadError {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => not_found(root, path),
            io::ErrorKind::PermissionDenied => ReadError::NoPermission { path },
            _ if is_loop(&source) => ReadError::NotAFile { path },
            _ => ReadError::Io { path, source },
        }
    }
}

/// Reads the note at `path`. `trusts_blocks` says that a file without blocks is a placeholder.
pub(crate) fn read_note(
    root: &Path,
    path: &NotePath,
    max_bytes: u64,
    trusts_blocks: bool,
) -> Result<NoteFile, ReadError> {
    let path = path.as_str();
    if !is_inside(path) {
        return Err(ReadError::OutsideVault {
            path: path.to_owned(),
        });
    }
    if !is_note(path.rsplit('/').next().unwrap_or(path)) {
        return Err(ReadError::NotANote {
            path: path.to_owned(),
        });
    }
    let (bytes, facts) = read_whole(root, path, max_bytes, trusts_blocks)?;
    let content_hash = *blake3::hash(&bytes).as_bytes();
    let Decoded {
        text,
        encoding,
        warnings,
    } = decode(bytes).map_err(|source| ReadError::Binary {
        path: path.to_owned(),
        source,
    })?;
    Ok(NoteFile {
        text,
        content_hash,
        encoding,
        warnings,
        size: facts.size,
        modified_ns: facts.modified_ns,
        changed_ns: facts.changed_ns,
        inode: facts.inode,
    })
}

/// The note's real place and what the file system says of it, before it is opened: opening a pipe
/// waits, opening a placeholder downloads.
fn look(root: &Path, path: &str) -> Result<(PathBuf, Metadata), ReadError> {
    let at = on_disk(root, path);
    if let Some(metadata) = metadata_without_links(&at) {
        return Ok((at, metadata));
    }
    let real = real_note(root, path, &at)?;
    let metadata = fs::symlink_metadata(&real).map_err(|e| ReadError::from_io(root, path, e))?;
    Ok((real, metadata))
}

/// The metadata if no link is on the way, so that the path is real; it takes one look of the
/// kernel's where resolving the path takes one for each folder. Nothing if there is a link, or if
/// the system cannot tell (`openat2` came with Linux 5.6).
#[cfg(target_os = "linux")]
fn metadata_without_links(at: &Path) -> Option<Metadata> {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};

    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let place = openat2(CWD, at, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS).ok()?;
    File::from(place).metadata().ok()
}

#[cfg(not(target_os = "linux"))]
fn metadata_without_links(_: &Path) -> Option<Metadata> {
    None
}

/// The note's real place, if that is inside the vault and the path is the note's own.
fn real_note(root: &Path, path: &str, at: &Path) -> Result<PathBuf, ReadError> {
    let outside = || ReadError::OutsideVault {
        path: path.to_owned(),
    };
    let real = real_path(at).map_err(|e| ReadError::from_io(root, path, e))?;
    if !real.starts_with(root) {
        return Err(outside());
    }
    let target = relative(root, &real).ok_or_else(outside)?;
    // The same but for case or Unicode form, where the file system ignores those: no link.
    if target == path || path_key(&target) == path_key(path) {
        return Ok(real);
    }
    // As the listing: a link stands only for a file that is no note by its own name, and that
    // does not lie in a hidden folder.
    if is_note(&target) || Rules::default().excludes_path(&target).is_some() {
        return Err(ReadError::Link {
            path: path.to_owned(),
            target,
        });
    }
    Ok(real)
}

/// Whether a path stays inside by its text alone. `\` separates on Windows, so `..` between
/// those goes up as well.
fn is_inside(path: &str) -> bool {
    let goes_up = path
        .split(['/', '\\'])
        .any(|segment| matches!(segment, "." | ".."));
    let has_empty = path.split('/').any(str::is_empty);
    !goes_up
        && !has_empty
        && !path.contains('\0')
        && !Path::new(path).has_root()
        && !has_drive(path)
}

/// `C:` at the beginning means another drive, on Windows.
fn has_drive(path: &str) -> bool {
    cfg!(windows) && path.as_bytes().get(1) == Some(&b':')
}

fn not_found(root: &Path, path: String) -> ReadError {
    if fs::read_dir(root).is_err() {
        return ReadError::VaultMissing {
            root: root.to_owned(),
        };
    }
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", &path));
    let stub = on_disk(root, folder).join(icloud_stub(name));
    if stub.symlink_metadata().is_ok() {
        return ReadError::Placeholder { path };
    }
    ReadError::NotFound { path }
}

/// The bytes of a file that did not change while they were read.
fn read_whole(
    root: &Path,
    path: &str,
    max_bytes: u64,
    trusts_blocks: bool,
) -> Result<(Vec<u8>, Facts), ReadError> {
    let failed = |e| ReadError::from_io(root, path, e);
    let name = || path.to_owned();
    for _ in 0..ATTEMPTS {
        let (real, metadata) = look(root, path)?;
        if !metadata.is_file() {
            return Err(ReadError::NotAFile { path: name() });
        }
        let before = Facts::of(&metadata);
        let is_away = match before.allocation {
            Allocation::Away => true,
            Allocation::NoBlocks => trusts_blocks,
            Allocation::Present | Allocation::Unknown => false,
        };
        if is_away {
            return Err(ReadError::Placeholder { path: name() });
        }
        let too_large = |size| ReadError::TooLarge {
            path: name(),
            size,
            limit: max_bytes,
        };
        if before.size > max_bytes {
            return Err(too_large(before.size));
        }
        let mut file = open(&real).map_err(failed)?;
        let mut bytes = Vec::with_capacity(usize::try_from(before.size).unwrap_or_default() + 1);
        file.by_ref()
            .take(max_bytes.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(failed)?;
        let after = Facts::of(&file.metadata().map_err(failed)?);
        if before != after || bytes.len() as u64 != after.size {
            continue;
        }
        if after.allocation == Allocation::NoBlocks && bytes.iter().all(|b| *b == 0) {
            return Err(ReadError::Placeholder { path: name() });
        }
        return Ok((bytes, after));
    }
    Err(ReadError::Changing { path: name() })
}

/// Opens without waiting, and no link: the path was resolved already.
fn open(real: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;

        options.custom_flags(libc::O_NONBLOCK | libc::O_NOFOLLOW | libc::O_NOCTTY);
    }
    options.open(real)
}
