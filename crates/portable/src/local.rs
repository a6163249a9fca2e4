//! Whether a file's content is on this machine. A cloud program may leave only its name; to read it
//! would fetch it, which may take long and is the user's to ask for.

use std::fs::Metadata;

/// macOS marks such a file (`SF_DATALESS` of `sys/stat.h`).
#[cfg(target_os = "macos")]
pub(crate) fn is_away(metadata: &Metadata) -> bool {
    use std::os::macos::fs::MetadataExt;

    const SF_DATALESS: u32 = 0x4000_0000;
    metadata.st_flags() & SF_DATALESS != 0
}

/// Windows marks it `OFFLINE`, `RECALL_ON_OPEN` or `RECALL_ON_DATA_ACCESS`
/// (`FILE_ATTRIBUTE_*` of `winnt.h`).
#[cfg(windows)]
pub(crate) fn is_away(metadata: &Metadata) -> bool {
    use std::os::windows::fs::MetadataExt;

    const AWAY: u32 = 0x1000 | 0x4_0000 | 0x40_0000;
    metadata.file_attributes() & AWAY != 0
}

/// Elsewhere nothing tells for certain.
#[cfg(not(any(target_os = "macos", windows)))]
pub(crate) fn is_away(_: &Metadata) -> bool {
    false
}
