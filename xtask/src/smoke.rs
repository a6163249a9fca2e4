//! The smoke run: the first `lorewell` command of README.md, as a newcomer types it,
//! with the release build, on a machine that knows no configuration and no index.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::cargo::{cargo, root, shown};

/// Runs the command and asks for success and an answer on standard output.
pub(crate) fn run() -> Result<()> {
    let readme = fs::read_to_string(root().join("README.md")).context("README.md")?;
    let words = first_command(&readme)
        .context("README.md: no code block has a line that begins with `lorewell `")?;
    if !words.iter().any(|word| word.contains("sample-vault")) {
        bail!("README.md: the first command does not ask sample-vault: {words:?}");
    }
    let scratch = Scratch::new()?;
    let mut command = cargo(&["run", "--quiet", "--release", "-p", "lorewell", "--"]);
    command.args(&words);
    eprintln!("    {}", shown(&command));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("LOREWELL_") {
            command.env_remove(name);
        }
    }
    command
        .env("XDG_CONFIG_HOME", scratch.0.join("config"))
        .env("XDG_DATA_HOME", scratch.0.join("data"))
        .env("LOREWELL_INDEX_DIR", scratch.0.join("indexes"));
    let output = command.output().context("cannot start cargo")?;
    let answer = String::from_utf8_lossy(&output.stdout);
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
    if !output.status.success() {
        bail!("`lorewell {}` failed ({})", words.join(" "), output.status);
    }
    if answer.trim().is_empty() {
        bail!("`lorewell {}` said nothing", words.join(" "));
    }
    for line in answer.lines().take(6) {
        eprintln!("    | {line}");
    }
    Ok(())
}

/// Arguments of the first line in a fenced block that calls `lorewell`, a leading
/// `$ ` allowed.
fn first_command(readme: &str) -> Option<Vec<String>> {
    let mut fenced = false;
    for line in readme.lines() {
        let line = line.trim();
        if line.starts_with("```") {
            fenced = !fenced;
        } else if fenced {
            let line = line.strip_prefix("$ ").unwrap_or(line);
            if let Some(args) = line.strip_prefix("lorewell ") {
                return Some(shell_words(args));
            }
        }
    }
    None
}

/// Words of a simple command line: blanks part, quotes keep together, `#` begins a comment.
fn shell_words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    for letter in line.chars() {
        match quote {
            Some(open) if letter == open => quote = None,
            Some(_) => word.get_or_insert_default().push(letter),
            None if letter == '"' || letter == '\'' => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            None if letter.is_whitespace() => words.extend(word.take()),
            None if letter == '#' && word.is_none() => break,
            None => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

/// A folder of our own that goes when the run ends.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Self> {
        let name = format!("lorewell-smoke-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).with_context(|| display(&path))?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A leftover in the temporary folder harms nobody.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn display(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_command_is_found_and_parted_as_a_shell_would() {
        let readme = "lorewell not in a block\n```sh\ncargo install x\n$ lorewell search --vault sample-vault \
                      \"when do I 'fire'\" --limit 3 # a note\nlorewell status\n```\n";
        let expected = [
            "search",
            "--vault",
            "sample-vault",
            "when do I 'fire'",
            "--limit",
            "3",
        ];
        assert_eq!(first_command(readme).unwrap(), expected);
        assert_eq!(shell_words("a '' \"b c\"d"), ["a", "", "b cd"]);
        assert_eq!(first_command("```\nnothing\n```\nlorewell x"), None);
    }
}
