//! What can go wrong with other programs' files.

use std::io;
use std::path::{Path, PathBuf};

/// Why a registration, or a skill, could not be read or written. No file was changed.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// A file cannot be read.
    #[error("{} cannot be read: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file is not what its program could read.
    #[error("{}:{line}:{column}: {what}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// From 1, in characters.
        column: usize,
        /// What is wrong there.
        what: String,
    },
    /// A file can be read and is built in another way than expected.
    #[error("{}:{line}: {what}", path.display())]
    Unexpected {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// What is there.
        what: String,
    },
    /// A file cannot be written.
    #[error("{} cannot be written: {source}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file changed between the look at it and the writing.
    #[error("{} was changed by another program just now", path.display())]
    Changing {
        /// The file.
        path: PathBuf,
    },
    /// The program has no such place here.
    #[error("{0}")]
    NoPlace(String),
    /// Files of the skill were changed by hand.
    #[error("{}: changed by hand: {}", folder.display(), files.join(", "))]
    SkillChanged {
        /// The folder of the skill.
        folder: PathBuf,
        /// Paths in it.
        files: Vec<String>,
    },
    /// A folder of that name is there and is not this skill.
    #[error("{} is there and is not the skill of this program", folder.display())]
    NotOurSkill {
        /// The folder.
        folder: PathBuf,
    },
}

impl ClientError {
    pub(crate) fn unreadable(path: &Path, source: io::Error) -> ClientError {
        ClientError::Unreadable {
            path: path.to_path_buf(),
            source,
        }
    }

    pub(crate) fn unwritable(path: &Path, source: io::Error) -> ClientError {
        ClientError::Unwritable {
            path: path.to_path_buf(),
            source,
        }
    }

    /// A stable word for programs.
    pub fn code(&self) -> &'static str {
        match self {
            ClientError::Unreadable { .. } => "client_config_unreadable",
            ClientError::Syntax { .. } => "client_config_syntax",
            ClientError::Unexpected { .. } => "client_config_unexpected",
            ClientError::Unwritable { .. } => "client_config_unwritable",
            ClientError::Changing { .. } => "client_config_changing",
            ClientError::NoPlace(_) => "client_without_place",
            ClientError::SkillChanged { .. } => "skill_changed",
            ClientError::NotOurSkill { .. } => "not_our_skill",
        }
    }

    /// What to try.
    pub fn hint(&self) -> &'static str {
        match self {
            ClientError::Unreadable { .. } => "Check its permissions.",
            ClientError::Syntax { .. } => {
                "The file was left as it is. Correct that place, or see whether the program itself can read the file."
            }
            ClientError::Unexpected { .. } => {
                "The file was left as it is. Correct that place, or register by hand: docs/clients.md shows how."
            }
            ClientError::Unwritable { .. } => {
                "Check the permissions of the file and its folder, and the disk."
            }
            ClientError::Changing { .. } => "Nothing was written; run the command again.",
            ClientError::NoPlace(_) => {
                "docs/clients.md says where each program keeps its registrations."
            }
            ClientError::SkillChanged { .. } => {
                "Nothing was written. `--force` puts the program's own in their place and keeps yours in a backup."
            }
            ClientError::NotOurSkill { .. } => "Move it away, or give it another name.",
        }
    }
}
