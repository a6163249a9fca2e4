//! The smoke run: the first `lorewell` command of README.md, as a newcomer types it, on a
//! machine that knows no configuration and no index. What it prints must be what README.md
//! shows below it.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::cargo::{cargo, root, shown};

/// A command of README.md and what the page says that it prints.
#[derive(Debug, PartialEq, Eq)]
struct Transcript {
    /// Arguments after `lorewell`.
    words: Vec<String>,
    /// Where in the page the output stands: the lines below the command, up to the next
    /// command or the block's end.
    output: Range<usize>,
}

/// Runs the command with the release build; its standard output must be README.md's, exactly.
pub(crate) fn run() -> Result<()> {
    let (readme, transcript) = page()?;
    let printed = printed(&transcript.words, &["--release"])?;
    let promised = &readme[transcript.output];
    if printed != promised {
        bail!(
            "README.md does not show what its first command prints (`cargo xtask docs` corrects \
             it):\n{}",
            difference(promised, &printed)
        );
    }
    for line in printed.lines().take(6) {
        eprintln!("    | {line}");
    }
    Ok(())
}

/// Writes into README.md what its first command prints now (debug build).
pub(crate) fn write_transcript() -> Result<()> {
    let (mut readme, transcript) = page()?;
    let printed = printed(&transcript.words, &[])?;
    readme.replace_range(transcript.output, &printed);
    fs::write(root().join("README.md"), readme).context("README.md")
}

fn page() -> Result<(String, Transcript)> {
    let readme = fs::read_to_string(root().join("README.md")).context("README.md")?;
    let transcript = first_transcript(&readme)
        .context("README.md: no code block has a line that begins with `lorewell `")?;
    let words = &transcript.words;
    if !words.iter().any(|word| word.contains("sample-vault")) {
        bail!("README.md: the first command does not ask sample-vault: {words:?}");
    }
    Ok((readme, transcript))
}

/// What the command prints on standard output. It must succeed and print something.
fn printed(words: &[String], profile: &[&str]) -> Result<String> {
    let scratch = Scratch::new()?;
    let mut command = cargo(&["run", "--quiet", "-p", "lorewell"]);
    command.args(profile).arg("--").args(words);
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
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
    let called = format!("lorewell {}", words.join(" "));
    if !output.status.success() {
        bail!("`{called}` failed ({})", output.status);
    }
    let printed = String::from_utf8(output.stdout)
        .with_context(|| format!("`{called}` printed what is not UTF-8"))?;
    if printed.trim().is_empty() {
        bail!("`{called}` said nothing");
    }
    Ok(printed)
}

/// The first line in a fenced block that calls `lorewell`, a leading `$ ` allowed, and what
/// stands below it.
fn first_transcript(page: &str) -> Option<Transcript> {
    let mut fenced = false;
    let mut found: Option<Transcript> = None;
    let mut end = 0;
    for line in page.split_inclusive('\n') {
        end += line.len();
        let fence = line.starts_with("```");
        if let Some(transcript) = &mut found {
            if fence || line.starts_with("$ ") {
                break;
            }
            transcript.output.end = end;
        } else if fence {
            fenced = !fenced;
        } else if fenced {
            let line = line.trim();
            let line = line.strip_prefix("$ ").unwrap_or(line);
            found = line.strip_prefix("lorewell ").map(|args| Transcript {
                words: shell_words(args),
                output: end..end,
            });
        }
    }
    found
}

/// The lines in which two texts differ: common ones at the beginning and end are left out.
fn difference(promised: &str, printed: &str) -> String {
    let (mut old, mut new): (Vec<&str>, Vec<&str>) =
        (promised.lines().collect(), printed.lines().collect());
    let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    old.drain(..same);
    new.drain(..same);
    while old.last().is_some_and(|line| new.last() == Some(line)) {
        old.pop();
        new.pop();
    }
    let old = old.iter().map(|line| format!("- {line}"));
    let new = new.iter().map(|line| format!("+ {line}"));
    let lines: Vec<String> = old.chain(new).collect();
    format!(
        "{same} equal lines, then (- README.md, + now)\n{}",
        lines.join("\n")
    )
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
    fn the_first_command_and_its_output_are_found() {
        let page = "lorewell not in a block\n```sh\ncargo install x\n$ lorewell search \
                    \"when do I 'fire'\" --limit 3 # a note\n1. Kiln\n\n  `x`\n$ lorewell status\nfine\n```\n";
        let found = first_transcript(page).unwrap();
        assert_eq!(found.words, ["search", "when do I 'fire'", "--limit", "3"]);
        assert_eq!(&page[found.output], "1. Kiln\n\n  `x`\n");

        let page = "```\nlorewell x\n```\nafter\n";
        let found = first_transcript(page).unwrap();
        assert_eq!(&page[found.output.clone()], "");
        let mut page = page.to_owned();
        page.replace_range(found.output, "y\n");
        assert_eq!(page, "```\nlorewell x\ny\n```\nafter\n");

        assert_eq!(first_transcript("```\nnothing\n```\nlorewell x"), None);
        assert_eq!(shell_words("a '' \"b c\"d"), ["a", "", "b cd"]);
    }

    #[test]
    fn a_difference_shows_the_lines_between_the_equal_ones() {
        let shown = difference("a\nb\nc\nd\n", "a\nx\nd\n");
        assert_eq!(
            shown,
            "1 equal lines, then (- README.md, + now)\n- b\n- c\n+ x"
        );
    }
}
