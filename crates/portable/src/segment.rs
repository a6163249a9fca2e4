//! One carried segment, checked as a whole when it is opened.

use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use crate::format::{
    CHECKSUM_BYTES, ENTRY_BYTES, EXTENSION, FIXED_BYTES, Fixed, Header, folder_of, is_hex,
    row_checksum,
};
use crate::local::is_away;
use crate::{DeviceId, Fault, Key};

/// Bytes that are read at once.
const BUFFER_BYTES: usize = 256 * 1024;

/// A whole and sound file. Its rows stay on disk, and are checked one by one when they are read: a
/// sync program may write into a file that was sound a moment ago, so that it is never mapped.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(crate) path: PathBuf,
    pub(crate) header: Header,
    /// Ascending.
    pub(crate) keys: Vec<Key>,
    checksums: Vec<u32>,
    rows_at: u64,
    file: File,
}

/// Why a file is passed over, and whose it is where that is known.
#[derive(Debug)]
pub(crate) struct Unusable {
    pub(crate) fault: Fault,
    pub(crate) header: Option<Header>,
}

impl Segment {
    /// Opens a file of a fingerprint's folder and reads it through once.
    pub(crate) fn open(path: &Path) -> Result<Segment, Unusable> {
        let without_header = |fault| Unusable {
            fault,
            header: None,
        };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let named = fault_of_name(&name);
        if let Some(fault @ (Fault::Foreign | Fault::Unfinished | Fault::NotLocal)) = named {
            return Err(without_header(fault));
        }
        let file = open_plain(path).map_err(without_header)?;
        let mut reader = Checked::new(&file);
        let header = match (read_header(&mut reader), named) {
            (Ok(header), None) => header,
            (header, Some(fault)) => {
                let header = header.ok();
                return Err(Unusable { fault, header });
            }
            (Err(fault), None) => return Err(without_header(fault)),
        };
        match read_rest(&mut reader, &header, &file, &name) {
            Ok((keys, checksums)) if is_at_home(path, &header) => Ok(Segment {
                rows_at: header.file_bytes()
                    - CHECKSUM_BYTES as u64
                    - u64::from(header.rows) * header.dimension as u64,
                path: path.to_path_buf(),
                header,
                keys,
                checksums,
                file,
            }),
            outcome => Err(Unusable {
                fault: outcome.err().unwrap_or(Fault::Misplaced),
                header: Some(header),
            }),
        }
    }

    /// The device that a file says it is of, whole or not; nothing for files of no such kind.
    pub(crate) fn device_of(path: &Path) -> Option<DeviceId> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if !matches!(fault_of_name(&name), None | Some(Fault::ConflictCopy)) {
            return None;
        }
        let file = open_plain(path).ok()?;
        let header = read_header(&mut Checked::new(&file)).ok()?;
        Some(header.device)
    }

    /// Bytes of the file.
    pub(crate) fn bytes(&self) -> u64 {
        self.header.file_bytes()
    }

    /// Which row a key has.
    pub(crate) fn find(&self, key: &Key) -> Option<usize> {
        self.keys.binary_search(key).ok()
    }

    /// The bytes of a row; nothing where the file is no longer what it was.
    pub(crate) fn row(&self, row: usize) -> Option<Vec<u8>> {
        let (key, checksum) = (self.keys.get(row)?, self.checksums.get(row)?);
        let mut bytes = vec![0; self.header.dimension];
        let at = self.rows_at + (row * self.header.dimension) as u64;
        read_at(&self.file, &mut bytes, at).ok()?;
        (row_checksum(key, &bytes) == *checksum).then_some(bytes)
    }
}

/// Reads and hashes.
struct Checked<'f> {
    reader: BufReader<&'f File>,
    hasher: blake3::Hasher,
}

impl<'f> Checked<'f> {
    fn new(file: &'f File) -> Self {
        Checked {
            reader: BufReader::with_capacity(BUFFER_BYTES, file),
            hasher: blake3::Hasher::new(),
        }
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), Fault> {
        self.reader.read_exact(bytes).map_err(fault_of)?;
        self.hasher.update(bytes);
        Ok(())
    }

    fn take(&mut self, count: usize) -> Result<Vec<u8>, Fault> {
        let mut bytes = vec![0; count];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    /// Reads on without keeping anything.
    fn pass(&mut self, mut count: u64) -> Result<(), Fault> {
        let mut buffer = vec![0; BUFFER_BYTES];
        while count > 0 {
            let now = count.min(BUFFER_BYTES as u64) as usize;
            self.fill(&mut buffer[..now])?;
            count -= now as u64;
        }
        Ok(())
    }
}

/// Opens what is a plain file, and here.
fn open_plain(path: &Path) -> Result<File, Fault> {
    let metadata = fs::symlink_metadata(path).map_err(fault_of)?;
    if !metadata.is_file() {
        return Err(Fault::NotAFile);
    }
    if is_away(&metadata) {
        return Err(Fault::NotLocal);
    }
    File::open(path).map_err(fault_of)
}

/// What is wrong with a name: only the one that the content gives is right.
fn fault_of_name(name: &str) -> Option<Fault> {
    let stem = name.strip_suffix(EXTENSION);
    if stem.is_some_and(|stem| is_hex(stem, 2 * CHECKSUM_BYTES)) {
        return None;
    }
    let begins_like_one = |name: &str| {
        name.get(..2 * CHECKSUM_BYTES)
            .is_some_and(|stem| is_hex(stem, 2 * CHECKSUM_BYTES))
    };
    let plain = name.trim_start_matches(['.', '~']);
    let is_draft = name.ends_with(".tmp") || name.ends_with(".partial");
    Some(match () {
        () if is_draft => Fault::Unfinished,
        () if name.ends_with(".icloud") && begins_like_one(plain) => Fault::NotLocal,
        () if begins_like_one(name) => Fault::ConflictCopy,
        () => Fault::Foreign,
    })
}

fn read_header(reader: &mut Checked<'_>) -> Result<Header, Fault> {
    let mut fixed = [0; FIXED_BYTES];
    reader.fill(&mut fixed)?;
    let fixed = Fixed::read(fixed)?;
    let names = reader.take(fixed.names_bytes())?;
    fixed.with_names(&names)
}

/// The keys and checksums of the rows, if all of the file is as it was written. Nothing is
/// reserved before the file is known to be as long as its header says.
fn read_rest(
    reader: &mut Checked<'_>,
    header: &Header,
    file: &File,
    name: &str,
) -> Result<(Vec<Key>, Vec<u32>), Fault> {
    let bytes = file.metadata().map_err(fault_of)?.len();
    match bytes.cmp(&header.file_bytes()) {
        std::cmp::Ordering::Less => return Err(Fault::Short),
        std::cmp::Ordering::Greater => return Err(Fault::Damaged),
        std::cmp::Ordering::Equal => {}
    }
    let rows = header.rows as usize;
    let keys = reader.take(rows * size_of::<Key>())?;
    let checksums = reader.take(rows * (ENTRY_BYTES - size_of::<Key>()))?;
    reader.pass(rows as u64 * header.dimension as u64)?;
    let hash = reader.hasher.finalize();
    let mut checksum = [0; CHECKSUM_BYTES];
    reader.reader.read_exact(&mut checksum).map_err(fault_of)?;
    if hash != checksum || !name.starts_with(hash.to_hex().as_str()) {
        return Err(Fault::Damaged);
    }
    let (keys, _) = keys.as_chunks::<16>();
    let (checksums, _) = checksums.as_chunks::<4>();
    if !keys.is_sorted_by(|a, b| a < b) {
        return Err(Fault::Damaged);
    }
    let checksums = checksums.iter().map(|bytes| u32::from_le_bytes(*bytes));
    Ok((keys.to_vec(), checksums.collect()))
}

/// Whether the file lies in the folder of its fingerprint.
fn is_at_home(path: &Path, header: &Header) -> bool {
    let folder = path.parent().and_then(Path::file_name);
    folder.is_some_and(|folder| folder == folder_of(&header.fingerprint).as_str())
}

/// A file that ends too early is told apart from other trouble.
fn fault_of(error: io::Error) -> Fault {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => Fault::Short,
        io::ErrorKind::NotFound => Fault::Gone,
        _ => Fault::Unreadable(error.to_string()),
    }
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

#[cfg(windows)]
fn read_at(file: &File, mut bytes: &mut [u8], mut at: u64) -> io::Result<()> {
    use std::os::windows::fs::FileExt;

    while !bytes.is_empty() {
        let read = file.seek_read(bytes, at)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        bytes = &mut bytes[read..];
        at += read as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_what_left_a_file() {
        let hash = "0123456789abcdef".repeat(4);
        for (name, fault) in [
            (format!("{hash}.seg"), None),
            (
                format!("{hash} (Anna's conflicted copy 2026-11-30).seg"),
                Some(Fault::ConflictCopy),
            ),
            (
                format!("{hash}.sync-conflict-20261130-081500-ABCDEFG.seg"),
                Some(Fault::ConflictCopy),
            ),
            (format!("{hash} 2.seg"), Some(Fault::ConflictCopy)),
            (format!("{hash}.seg.orig"), Some(Fault::ConflictCopy)),
            (format!(".{hash}.seg.icloud"), Some(Fault::NotLocal)),
            (format!(".~{hash}.tmp"), Some(Fault::Unfinished)),
            (
                format!(".syncthing.{hash}.seg.tmp"),
                Some(Fault::Unfinished),
            ),
            (
                format!("~syncthing~{hash}.seg.tmp"),
                Some(Fault::Unfinished),
            ),
            (format!("{hash}.seg.partial"), Some(Fault::Unfinished)),
            (format!("{}.seg", hash.to_uppercase()), Some(Fault::Foreign)),
            (".DS_Store".to_string(), Some(Fault::Foreign)),
            ("é".repeat(70), Some(Fault::Foreign)),
            (String::new(), Some(Fault::Foreign)),
        ] {
            assert_eq!(fault_of_name(&name), fault, "{name}");
        }
    }
}
