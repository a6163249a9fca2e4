//! Why a file or folder is left out.

use std::fmt;

/// Why a file or folder of the vault is not searched. Shows itself as a clause for people
/// ("is in a hidden folder"); [`Reason::code`] is for programs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// A folder whose name begins with a dot.
    DotFolder,
    /// A file whose name begins with a dot.
    DotFile,
    /// A folder for deleted files.
    Trash,
    /// Git's own folder.
    Git,
    /// A folder of downloaded packages.
    DependencyFolder,
    /// A backup, lock or half-written file of an editor.
    EditorLeftover,
    /// A conflict copy or temporary file of a synchronization program.
    SyncLeftover,
    /// One of the "Excluded files" of Obsidian's settings; the filter as written there.
    ObsidianIgnore(String),
    /// A folder that the user excluded.
    ExcludedFolder(String),
    /// A pattern that the user excluded.
    ExcludedGlob(String),
    /// A tag that the user excluded.
    ExcludedTag(String),
    /// A property (`key` or `key=value`) that the user excluded.
    ExcludedProperty(String),
    /// Kept from the reader; never told to one.
    Fenced,
    /// The content is not text.
    Binary,
    /// Larger than the limit: bytes of the file, bytes allowed.
    TooLarge {
        /// Size of the file in bytes.
        size: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// A link to something outside the vault.
    LinkLeavesVault,
    /// A link to a folder that holds the link.
    LinkLoop,
    /// A link to a file or folder that the vault holds under its own name: that path.
    LinkToListed(String),
    /// A link to nothing.
    DeadLink,
    /// Kept in the cloud; the content is not on this machine.
    Placeholder,
    /// The name is not valid Unicode.
    NotUnicodeName,
    /// A pipe, socket or device with the name of a note.
    NotAFile,
}

impl Reason {
    /// A stable name for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Reason::DotFolder => "dot_folder",
            Reason::DotFile => "dot_file",
            Reason::Trash => "trash",
            Reason::Git => "git",
            Reason::DependencyFolder => "dependency_folder",
            Reason::EditorLeftover => "editor_leftover",
            Reason::SyncLeftover => "sync_leftover",
            Reason::ObsidianIgnore(_) => "obsidian_ignore",
            Reason::ExcludedFolder(_) => "excluded_folder",
            Reason::ExcludedGlob(_) => "excluded_glob",
            Reason::ExcludedTag(_) => "excluded_tag",
            Reason::ExcludedProperty(_) => "excluded_property",
            Reason::Fenced => "excluded_fence",
            Reason::Binary => "binary",
            Reason::TooLarge { .. } => "too_large",
            Reason::LinkLeavesVault => "link_leaves_vault",
            Reason::LinkLoop => "link_loop",
            Reason::LinkToListed(_) => "link_to_listed",
            Reason::DeadLink => "dead_link",
            Reason::Placeholder => "placeholder",
            Reason::NotUnicodeName => "not_unicode_name",
            Reason::NotAFile => "not_a_file",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::DotFolder => f.write_str("is in a hidden folder (its name begins with a dot)"),
            Reason::DotFile => f.write_str("is a hidden file (its name begins with a dot)"),
            Reason::Trash => f.write_str("is in the trash"),
            Reason::Git => f.write_str("belongs to Git"),
            Reason::DependencyFolder => f.write_str("is in a folder of downloaded packages"),
            Reason::EditorLeftover => f.write_str("is a backup or temporary file of an editor"),
            Reason::SyncLeftover => {
                f.write_str("is a conflict copy or temporary file of a synchronization program")
            }
            Reason::ObsidianIgnore(filter) => {
                write!(
                    f,
                    "matches “{filter}” of the excluded files in Obsidian's settings"
                )
            }
            Reason::ExcludedFolder(folder) => write!(f, "is in the excluded folder “{folder}”"),
            Reason::ExcludedGlob(glob) => write!(f, "matches the excluded pattern “{glob}”"),
            Reason::ExcludedTag(tag) => write!(f, "has the excluded tag “#{tag}”"),
            Reason::ExcludedProperty(rule) => write!(f, "has the excluded property “{rule}”"),
            Reason::Fenced => f.write_str("is behind a fence"),
            Reason::Binary => f.write_str("is not text"),
            Reason::TooLarge { size, limit } => {
                write!(
                    f,
                    "is larger than the limit ({size} of at most {limit} bytes)"
                )
            }
            Reason::LinkLeavesVault => f.write_str("is a link that leads out of the vault"),
            Reason::LinkLoop => f.write_str("is a link to a folder that holds it"),
            Reason::LinkToListed(path) => {
                write!(f, "is a link to “{path}”, which is listed itself")
            }
            Reason::DeadLink => f.write_str("is a link to nothing"),
            Reason::Placeholder => f.write_str("is kept in the cloud and not on this machine"),
            Reason::NotUnicodeName => f.write_str("has a name that is not valid Unicode"),
            Reason::NotAFile => f.write_str("is a pipe, socket or device, not a file"),
        }
    }
}
