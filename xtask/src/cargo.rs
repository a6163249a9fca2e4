//! Calls to cargo from the repository's root.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

/// The repository's root: the folder above this crate's.
pub(crate) fn root() -> PathBuf {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    here.parent().map_or(here.clone(), PathBuf::from)
}

/// A cargo call that is not started yet.
pub(crate) fn cargo(args: &[&str]) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.args(args).current_dir(root());
    // What cargo told this program about itself must not steer the next build.
    for variable in ["CARGO_MANIFEST_DIR", "CARGO_PKG_NAME", "CARGO_PKG_VERSION"] {
        command.env_remove(variable);
    }
    command
}

/// Runs a command that talks to the terminal itself.
pub(crate) fn succeed(mut command: Command) -> Result<()> {
    let line = shown(&command);
    let status = command
        .status()
        .with_context(|| format!("cannot start `{line}`"))?;
    if !status.success() {
        bail!("`{line}` failed ({status})");
    }
    Ok(())
}

/// Whether a command can be run and succeeds; it says nothing.
pub(crate) fn works(mut command: Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// The command as one would type it, the program by its name alone.
pub(crate) fn shown(command: &Command) -> String {
    let set = command.get_envs().filter_map(|(name, value)| {
        let value = value?.to_string_lossy();
        Some(format!("{}='{value}'", name.to_string_lossy()))
    });
    let program = Path::new(command.get_program()).file_name();
    let program = program.unwrap_or_default().to_string_lossy().into_owned();
    let args = command.get_args().map(|arg| quoted(&arg.to_string_lossy()));
    let words: Vec<String> = set.chain([program]).chain(args).collect();
    words.join(" ")
}

/// Runs the evaluation program, release build, with `first` and then `rest` as its arguments.
pub(crate) fn evals(first: &[&str], rest: &[String]) -> Result<()> {
    let mut command = cargo(&["run", "--quiet", "--release", "-p", "lorewell-evals", "--"]);
    command.args(first).args(rest);
    succeed(command)
}

fn quoted(arg: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "-_./=:,@+".contains(letter);
    if !arg.is_empty() && arg.chars().all(plain) {
        arg.to_owned()
    } else {
        format!("'{arg}'")
    }
}
