//! Programs from the Python package index that the gate uses, each set in an environment of its own
//! under the build folder.

use std::path::PathBuf;
use std::process::Command;

use crate::cargo::{root, works};

/// An environment of Python with packages in it.
pub(crate) struct Packages(PathBuf);

/// The environment `name`, with exactly these packages (`name==version`), made where it is missing.
///
/// # Errors
/// Why there is none, in words.
pub(crate) fn packages(name: &str, wanted: &[&str]) -> Result<Packages, String> {
    let folder = root().join("target/tools").join(format!("python-{name}"));
    let packages = Packages(folder.clone());
    let stamp = folder.join("packages.txt");
    let list = wanted.join("\n");
    if std::fs::read_to_string(&stamp).is_ok_and(|made| made == list) {
        return Ok(packages);
    }
    eprintln!(
        "    fetching {} into target/tools/python-{name}",
        wanted.join(", ")
    );
    let mut environment = Command::new("python3");
    environment.args(["-m", "venv", "--clear"]).arg(&folder);
    if !works(environment) {
        return Err("python3 is not here, or cannot make an environment (its venv)".to_owned());
    }
    let mut pip = packages.program("pip");
    pip.args(["install", "--quiet", "--disable-pip-version-check"])
        .args(["--timeout", "20", "--retries", "1"])
        .args(wanted);
    if !works(pip) {
        return Err(format!("pip could not fetch {}", wanted.join(", ")));
    }
    std::fs::write(&stamp, list).map_err(|error| format!("{}: {error}", stamp.display()))?;
    Ok(packages)
}

impl Packages {
    /// A call of a program of the environment, from the repository's root.
    pub(crate) fn program(&self, name: &str) -> Command {
        let bin = if cfg!(windows) { "Scripts" } else { "bin" };
        let mut command = Command::new(self.0.join(bin).join(name));
        command.current_dir(root());
        command
    }
}
