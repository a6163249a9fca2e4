//! The surroundings of a run, handed in rather than looked up, so that tests are hermetic.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use etcetera::BaseStrategy;

use crate::error::SetupError;

/// Prefix of every environment variable that the project reads.
pub(crate) const PREFIX: &str = "LOREWELL_";

/// `LOREWELL_` variables that are no settings and are accepted silently:
/// they belong to the evaluations, the tests and the log.
pub const OTHER_VARIABLES: &[&str] = &[
    "LOREWELL_CASES",
    "LOREWELL_EVAL_DATA",
    "LOREWELL_LOG",
    "LOREWELL_WRITE_DOCS",
];

/// What this crate knows of the machine and the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Environment {
    /// The user's home folder; `~/` in a path means it.
    pub home: PathBuf,
    /// Parent of the configuration folder, such as `~/.config`.
    pub config_dir: PathBuf,
    /// Parent of the data folder, such as `~/.local/share`.
    pub data_dir: PathBuf,
    /// The `LOREWELL_` variables.
    pub vars: BTreeMap<String, String>,
    /// The folder that relative paths of variables and flags start from.
    pub current_dir: PathBuf,
}

impl Environment {
    /// Reads the surroundings of this process: XDG folders on every Unix (macOS
    /// too, as command-line tools do), known folders on Windows, variables that
    /// begin with `LOREWELL_`.
    ///
    /// # Errors
    /// No home folder, no current folder, or a `LOREWELL_` variable that is not Unicode.
    pub fn from_process() -> Result<Self, SetupError> {
        let folders = etcetera::choose_base_strategy().map_err(|_| SetupError::NoHome)?;
        let current_dir =
            std::env::current_dir().map_err(|source| SetupError::NoCurrentFolder { source })?;
        Ok(Self {
            home: folders.home_dir().to_path_buf(),
            config_dir: folders.config_dir(),
            data_dir: folders.data_dir(),
            vars: ours(std::env::vars_os())?,
            current_dir,
        })
    }

    /// The configuration file: `<config_dir>/lorewell/config.toml`. It need not exist.
    #[must_use]
    pub fn config_file(&self) -> PathBuf {
        self.config_dir.join("lorewell").join("config.toml")
    }
}

/// The folder for run-time files of this user, where the system has one (`XDG_RUNTIME_DIR`).
#[must_use]
pub fn runtime_dir() -> Option<PathBuf> {
    std::env::var_os("XDG_RUNTIME_DIR")
        .filter(|folder| !folder.is_empty())
        .map(PathBuf::from)
}

/// The variables of these names that are set, such as those by which other programs move their
/// files.
#[must_use]
pub fn variables(names: &[&str]) -> BTreeMap<String, OsString> {
    let value = |name: &&str| Some(((*name).to_owned(), std::env::var_os(name)?));
    names.iter().filter_map(value).collect()
}

/// The path of this program, as others should start it: a name on the PATH that stays when the
/// program is replaced by a newer one (a package manager's link), else where it lies.
///
/// # Errors
/// The system does not tell.
pub fn program() -> std::io::Result<PathBuf> {
    let here = std::env::current_exe()?;
    let real = crate::paths::canonical_or_given(&here);
    let name = here.file_name().unwrap_or_default();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(|file| crate::paths::canonical(file).is_ok_and(|file| file == real));
    Ok(on_path.unwrap_or(real))
}

/// The variables that are ours.
fn ours(
    all: impl Iterator<Item = (OsString, OsString)>,
) -> Result<BTreeMap<String, String>, SetupError> {
    let mut vars = BTreeMap::new();
    for (name, value) in all {
        let Some(name) = name.to_str().filter(|name| name.starts_with(PREFIX)) else {
            continue;
        };
        let value = value
            .into_string()
            .map_err(|_| SetupError::VariableNotUnicode {
                variable: name.to_owned(),
            })?;
        vars.insert(name.to_owned(), value);
    }
    Ok(vars)
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::ffi::OsStringExt as _;

    use super::*;

    #[test]
    fn only_our_variables_are_kept_and_none_is_lost_silently() {
        let broken = || OsString::from_vec(vec![0xFF]);
        let some = [
            ("HOME".into(), broken()),
            (broken(), "x".into()),
            ("LOREWELL_LIMIT".into(), "3".into()),
        ];
        let kept = ours(some.into_iter()).unwrap();
        assert_eq!(kept, [("LOREWELL_LIMIT".to_owned(), "3".to_owned())].into());
        let error = ours([("LOREWELL_INDEX_DIR".into(), broken())].into_iter()).unwrap_err();
        assert_eq!(error.code(), "variable_not_unicode");
    }
}
