//! The name of a device: 16 random bytes, made once.

use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use crate::PortableError;
use crate::failpoint::failpoint;

/// Names the device that wrote a file. It says nothing of the machine or its user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceId(pub(crate) [u8; 16]);

impl DeviceId {
    /// The name kept in a file; nothing where there is none yet.
    ///
    /// # Errors
    /// The file cannot be read, or holds something else.
    pub fn read(file: &Path) -> Result<Option<DeviceId>, PortableError> {
        match fs::read_to_string(file) {
            Ok(text) => DeviceId::parse(text.trim())
                .map(Some)
                .ok_or_else(|| PortableError::NoDevice(file.to_path_buf())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                Err(PortableError::NoDevice(file.to_path_buf()))
            }
            Err(error) => Err(PortableError::io("read", file)(error)),
        }
    }

    /// The name kept in a file, which is made with a new one where there is none. Of two processes
    /// that make it at once both get the same.
    ///
    /// # Errors
    /// As [`read`](Self::read); and the file cannot be made.
    pub fn read_or_make(file: &Path) -> Result<DeviceId, PortableError> {
        if let Some(known) = DeviceId::read(file)? {
            return Ok(known);
        }
        let made = DeviceId::random().map_err(PortableError::io("make", file))?;
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder).map_err(PortableError::io("make", folder))?;
        }
        let draft = file.with_extension(format!("{made}.tmp"));
        let whole = || -> io::Result<()> {
            let mut new = fs::File::create_new(&draft)?;
            failpoint("device-draft-made")?;
            writeln!(new, "{made}")?;
            new.sync_all()?;
            failpoint("device-draft-synced")?;
            // A link fails where another process was first; some file systems know no links.
            match fs::hard_link(&draft, file) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    fs::rename(&draft, file)?;
                }
                _ => {}
            }
            failpoint("device-named")
        };
        let outcome = whole();
        // It is gone after a rename.
        let _ = fs::remove_file(&draft);
        outcome.map_err(PortableError::io("make", file))?;
        DeviceId::read(file)?.ok_or_else(|| PortableError::NoDevice(file.to_path_buf()))
    }

    fn random() -> io::Result<DeviceId> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
        Ok(DeviceId(bytes))
    }

    fn parse(text: &str) -> Option<DeviceId> {
        let mut bytes = [0; 16];
        if text.len() != 32 || !text.is_ascii() {
            return None;
        }
        for (place, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(text.get(2 * place..2 * place + 2)?, 16).ok()?;
        }
        Some(DeviceId(bytes))
    }
}

impl fmt::Display for DeviceId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .iter()
            .try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_named_once_whoever_asks_first() {
        let holder = tempfile::tempdir().unwrap();
        let file = holder.path().join("lorewell").join("device");
        assert_eq!(DeviceId::read(&file).unwrap(), None);
        let names: Vec<DeviceId> = std::thread::scope(|scope| {
            let ask = || DeviceId::read_or_make(&file).unwrap();
            let asked: Vec<_> = (0..4).map(|_| scope.spawn(ask)).collect();
            asked.into_iter().map(|one| one.join().unwrap()).collect()
        });
        assert!(names.iter().all(|name| *name == names[0]), "{names:?}");
        assert_eq!(DeviceId::read(&file).unwrap(), Some(names[0]));
        let left = fs::read_dir(file.parent().unwrap()).unwrap().count();
        assert_eq!(left, 1, "no draft stays");
        let other = DeviceId::read_or_make(&holder.path().join("other")).unwrap();
        assert_ne!(other, names[0]);
    }

    #[test]
    fn a_damaged_name_is_no_name() {
        let holder = tempfile::tempdir().unwrap();
        let file = holder.path().join("device");
        for damaged in [
            &b""[..],
            b"x",
            b"zz",
            &[0xFF; 40],
            "é".repeat(16).as_bytes(),
        ] {
            fs::write(&file, damaged).unwrap();
            let read = DeviceId::read_or_make(&file);
            assert!(matches!(read, Err(PortableError::NoDevice(_))), "{read:?}");
        }
    }
}
