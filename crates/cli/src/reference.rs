//! The pages of `docs/` about the command line, held to the code.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;

use clap::{Arg, Command};
use regex::Regex;

const HEAD: &str = "\
# Commands

<!-- Made from the command line itself by `cargo xtask docs`; edit it there. -->

Exit codes: 0 done, 1 nothing found or (`verify`) something does not hold, 2 wrong
use or failure. Standard output is data, talk goes to standard error; with `--json`
both answers and errors are one object on standard output. Errors: [errors.md](errors.md). Settings, and the
variables that set them: [settings.md](settings.md).
";

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn source(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// `LOREWELL_WRITE_DOCS=1` writes the page instead; `cargo xtask docs` does so.
#[test]
fn the_committed_pages_are_up_to_date() {
    let mut command = crate::arguments::command();
    command.build();
    let mut made = HEAD.to_string();
    section(&mut made, &command, "lorewell");
    let page = root().join("docs/commands.md");
    if std::env::var_os("LOREWELL_WRITE_DOCS").is_some() {
        std::fs::write(&page, &made).unwrap();
    }
    let committed = std::fs::read_to_string(&page).unwrap_or_default();
    assert!(
        committed.replace("\r\n", "\n") == made,
        "docs/commands.md is not what the command line says: run `cargo xtask docs`"
    );
}

/// One command, then those below it.
fn section(page: &mut String, command: &Command, name: &str) {
    let about = command.get_long_about().or(command.get_about());
    let mut command_line = command.clone();
    let usage = command_line.render_usage().to_string();
    if !command.is_subcommand_required_set() {
        let usage = usage.trim_start_matches("Usage: ");
        let about = about.map(ToString::to_string).unwrap_or_default();
        let _ = write!(
            page,
            "\n## `{name}`\n\n{}.\n\n",
            about.trim_end_matches('.')
        );
        let _ = write!(page, "```\n{usage}\n```\n\n");
        let shown = |arg: &&Arg| !arg.is_hide_set() && arg.get_id() != "help";
        for argument in command.get_arguments().filter(shown) {
            let help = argument.get_help().map(ToString::to_string);
            let _ = writeln!(page, "- `{argument}`: {}.", help.unwrap_or_default());
        }
    }
    for below in command.get_subcommands().filter(|c| c.get_name() != "help") {
        section(page, below, &format!("{name} {}", below.get_name()));
    }
}

/// The words that the code gives as codes, where codes are given.
fn codes(files: &[&str]) -> BTreeSet<String> {
    let pattern =
        Regex::new(r#"(?:=> |code: |=> \{\s*|=> \(\s*|\n\s*\(\s*|Some\()"([a-z]+(?:_[a-z]+)*)""#)
            .unwrap();
    let code_of = Regex::new(r"(?s)fn (?:\w*code|wrong_use|internal|interrupted|of_state)\(.*?\n    ?\}|fn index_code\(.*?\n\}").unwrap();
    let mut found = BTreeSet::new();
    for file in files {
        let text = source(file);
        let bodies: String = code_of.find_iter(&text).map(|body| body.as_str()).collect();
        assert!(!bodies.is_empty(), "{file} gives no codes any more");
        found.extend(pattern.captures_iter(&bodies).map(|c| c[1].to_string()));
    }
    found
}

/// The words in code marks that open the rows of the tables in a text.
fn documented(text: &str) -> BTreeSet<String> {
    let word = Regex::new("`([a-z_]+)`").unwrap();
    let rows = text.lines().filter(|line| line.starts_with("| `"));
    let cells = rows.filter_map(|row| row.split('|').nth(1).map(str::to_string));
    cells
        .flat_map(|cell| {
            let words = word.captures_iter(&cell);
            words.map(|c| c[1].to_string()).collect::<Vec<_>>()
        })
        .collect()
}

#[test]
fn every_code_is_documented_and_none_besides() {
    let page = source("docs/errors.md");
    let (errors, files) = page.split_once("# Why a file is not searched").unwrap();
    let mut given = codes(&[
        "crates/vault/src/vault.rs",
        "crates/vault/src/read.rs",
        "crates/engine/src/error.rs",
        "crates/setup/src/error.rs",
        "crates/capabilities/src/failure.rs",
        "crates/evaluation/src/error.rs",
        "crates/watch/src/session.rs",
        "crates/bridge/src/error.rs",
        "crates/clients/src/error.rs",
        "crates/agents/src/error.rs",
        "crates/encoder/src/error.rs",
        "crates/models/src/error.rs",
        "crates/setup/src/endpoint.rs",
    ]);
    // Of a search none of whose lanes could run.
    given.insert("lanes_unavailable".to_string());
    given.insert(crate::vault_command::INDEX_NOT_DELETED.to_string());
    given.insert(crate::watch_command::ALREADY_WATCHED.to_string());
    given.insert(crate::mcp_command::MCP_FAILED.to_string());
    given.insert(crate::models_command::MODEL_IN_USE.to_string());
    given.insert(crate::models_command::NOT_EMBEDDED.to_string());
    assert_eq!(documented(errors), given);
    let given = codes(&[
        "crates/vault/src/reason.rs",
        "crates/capabilities/src/status.rs",
    ]);
    assert_eq!(documented(files), given);
}
