//! A user's home in the temporary folder, with a bridge over the sample vault: for checks from
//! outside.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, bail};

use crate::cargo::root;

fn after(text: &str, mark: &str) -> Option<String> {
    let rest = &text[text.find(mark)? + mark.len()..];
    Some(rest[..rest.find('"')?].to_owned())
}

/// A home that goes when it is dropped.
pub(crate) struct Home {
    pub(crate) folder: PathBuf,
}

/// A bridge that ends when it is dropped.
pub(crate) struct Serving {
    child: Child,
    pub(crate) url: String,
}

impl Home {
    /// A new one, in which the sample vault is listed. `name` tells it from others.
    pub(crate) fn new(name: &str) -> Result<Home> {
        let name = format!("lorewell-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        let home = Home { folder };
        let vault = root().join("sample-vault").display().to_string();
        home.done(&["vault", "add", &vault])?;
        Ok(home)
    }

    /// Approves an agent; its token.
    pub(crate) fn approve(&self, name: &str) -> Result<String> {
        let approved = self.done(&["agent", "approve", name, "--local", "--json"])?;
        after(&approved, "\"token\":\"").context("no token was shown")
    }

    fn lorewell(&self, words: &[&str]) -> Command {
        let program = root().join("target/debug/lorewell");
        let program = program.with_extension(std::env::consts::EXE_EXTENSION);
        let mut command = Command::new(program);
        command.args(words);
        for (name, _) in std::env::vars_os() {
            let name_shown = name.to_string_lossy();
            if name_shown.starts_with("LOREWELL_") || name_shown.starts_with("XDG_") {
                command.env_remove(name);
            }
        }
        command.env("HOME", &self.folder).current_dir(&self.folder);
        command
    }

    fn done(&self, words: &[&str]) -> Result<String> {
        let output = self
            .lorewell(words)
            .output()
            .context("cannot start lorewell")?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            bail!("`lorewell {}` failed: {said}", words.join(" "));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    pub(crate) fn serve(&self) -> Result<Serving> {
        let mut child = self
            .lorewell(&["serve", "--port", "0", "--json"])
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start lorewell serve")?;
        let out = child.stdout.take().context("no output")?;
        let mut line = String::new();
        BufReader::new(out).read_line(&mut line)?;
        match after(&line, "\"addresses\":[\"") {
            Some(address) => Ok(Serving {
                child,
                url: format!("http://{address}"),
            }),
            None => {
                let _ = child.kill();
                bail!("`lorewell serve` did not say where it listens: {line}")
            }
        }
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        // A leftover in the temporary folder harms nobody.
        let _ = fs::remove_dir_all::<&Path>(&self.folder);
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
