//! What kind of place the vault's folder is: there or away, here or on another machine.

use std::fs;
use std::path::Path;

/// Whether a folder is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    There,
    /// There is nothing in it.
    Bare,
    Missing,
}

pub(crate) fn presence(root: &Path) -> Presence {
    let first = fs::read_dir(root).map(|mut entries| entries.next());
    match first {
        Ok(Some(_)) => Presence::There,
        Ok(None) => Presence::Bare,
        // Shut, but there: that is another trouble.
        Err(_) if root.is_dir() => Presence::There,
        Err(_) => Presence::Missing,
    }
}

/// What tells a folder from another one of the same path: its device and number.
#[cfg(unix)]
pub(crate) fn identity(root: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let metadata = fs::metadata(root).ok()?;
    Some((metadata.dev(), metadata.ino()))
}

/// Not known here: the slow timer finds a folder that was put in another's place.
#[cfg(not(unix))]
pub(crate) fn identity(root: &Path) -> Option<(u64, u64)> {
    fs::metadata(root).ok().map(|_| (0, 0))
}

/// Whether changes may be made behind this machine's back, so that no event tells of them: network
/// drives, folders of a virtual machine's host, and file systems of programs (FUSE), which may be
/// either. The name of the kind.
#[cfg(target_os = "linux")]
pub(crate) fn remote_drive(root: &Path) -> Option<&'static str> {
    let kind = rustix::fs::statfs(root).ok()?.f_type as u32;
    remote_kind(kind)
}

/// Not known here; events are trusted.
#[cfg(not(target_os = "linux"))]
pub(crate) fn remote_drive(_root: &Path) -> Option<&'static str> {
    None
}

/// By the magic number of statfs(2), as linux/magic.h and the file systems' own sources have it.
#[cfg(target_os = "linux")]
fn remote_kind(magic: u32) -> Option<&'static str> {
    Some(match magic {
        0x6969 => "NFS",
        0x517B | 0xFF53_4D42 | 0xFE53_4D42 => "SMB",
        0x0102_1997 => "9P",
        0x6573_5546 => "FUSE",
        0x5346_414F | 0x6B41_4653 => "AFS",
        0x7375_7245 => "Coda",
        0x00C3_6400 => "Ceph",
        0x0BD0_0BD0 => "Lustre",
        0x786F_4256 => "VirtualBox",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use lorewell_testkit::TempVault;

    #[test]
    fn a_folder_is_there_bare_or_missing() {
        let vault = TempVault::empty();
        assert_eq!(presence(vault.root()), Presence::Bare);
        vault.write("a.md", "x");
        assert_eq!(presence(vault.root()), Presence::There);
        assert_eq!(presence(&vault.path("a.md")), Presence::Missing);
        assert_eq!(presence(&vault.path("b")), Presence::Missing);
        assert_eq!(identity(&vault.path("b")), None);
        assert_eq!(identity(vault.root()), identity(vault.root()));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn drives_of_other_machines_are_known() {
        assert_eq!(remote_drive(Path::new("/proc")), None);
        assert_eq!(remote_kind(0x6969), Some("NFS"));
        // ext4
        assert_eq!(remote_kind(0xEF53), None);
    }
}
