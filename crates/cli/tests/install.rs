//! Registrations in files as people have them: whatever stands there, nothing but the registration
//! comes and goes. What a user sees stands in `spec/20-install.md`.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]
#![expect(clippy::disallowed_types, reason = "the test starts programs")]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// A home of its own.
struct Home(TempDir);

impl Home {
    fn new() -> Home {
        Home(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        String::from_utf8(fs::read(self.path(name)).unwrap()).unwrap()
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lorewell"));
        command
            .args(words)
            .env_clear()
            .env("HOME", self.0.path())
            .current_dir(self.0.path());
        command
    }

    fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    /// Runs with `--yes --json`; the one change it made, which must have worked.
    fn done(&self, words: &[&str]) -> Value {
        let output = self.run(&[words, &["--yes", "--json"]].concat());
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(0), "{json:#}");
        json["changes"][0].clone()
    }

    /// The code of the error that it ends with.
    fn refused(&self, words: &[&str]) -> String {
        let output = self.run(&[words, &["--yes", "--json"]].concat());
        assert_eq!(output.status.code(), Some(2));
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        json["failed"][0]["error"]["code"]
            .as_str()
            .unwrap()
            .to_string()
    }
}

/// Where each program keeps its servers.
const FILES: [(&str, &str); 6] = [
    ("claude-code", ".claude.json"),
    (
        "claude-desktop",
        ".config/Claude/claude_desktop_config.json",
    ),
    ("codex", ".codex/config.toml"),
    ("cursor", ".cursor/mcp.json"),
    ("vscode", ".config/Code/User/mcp.json"),
    ("zed", ".config/zed/settings.json"),
];

/// The member that holds a program's servers.
fn holder(client: &str) -> &'static str {
    match client {
        "codex" => "mcp_servers",
        "vscode" => "servers",
        "zed" => "context_servers",
        _ => "mcpServers",
    }
}

/// Files of a program that keeps JSON, as they are found.
fn json_files(holder: &str) -> Vec<String> {
    let plain = format!(
        "{{\n  \"numStartups\": 412,\n  \"{holder}\": {{\n    \"github\": {{\n      \"command\": \"npx\",\n      \"args\": [\n        \"-y\",\n        \"server\"\n      ],\n      \"env\": {{ \"TOKEN\": \"ghp_x\" }}\n    }}\n  }},\n  \"tipsHistory\": {{ \"a\": 1 }}\n}}\n"
    );
    let commented = format!(
        "// Settings\n// see https://example.org/a,b\n{{\n\t\"theme\": \"One\", // , dark }}\n\t/* servers */\n\t\"{holder}\": {{\n\t\t// the other\n\t\t\"other\": {{ \"command\": \"x\", }}, // last\n\t\t// \"gone\": {{}}\n\t}},\n\t\"vim_mode\": true,\n}}\n"
    );
    vec![
        plain.replace('\n', "\r\n"),
        format!("\u{feff}{plain}"),
        plain.trim_end().to_string(),
        plain.split_whitespace().collect::<String>(),
        plain,
        commented.replace('\n', "\r\n"),
        commented,
        format!("{{\"{holder}\":{{}}}}"),
        format!("{{ \"{holder}\": {{}}, \"inputs\": [] }}"),
        "{}".to_string(),
        "{\n}\n".to_string(),
        String::new(),
        "\n".to_string(),
        "// nothing yet\n".to_string(),
    ]
}

/// Files of Codex.
fn toml_files() -> Vec<String> {
    let plain = "# Mine\nmodel = \"gpt-5.2-codex\"\n\n[mcp_servers.docs]\nurl = \"https://example.org/mcp\"\n[mcp_servers.docs.http_headers]\nx = 'y' # z\n\n# trusted\n[projects.\"/srv/x\"]\ntrust_level = \"trusted\"\n\n[[skills.config]]\npath = \"\"\"\n[mcp_servers.lorewell]\n\"\"\"\n";
    vec![
        plain.replace('\n', "\r\n"),
        format!("\u{feff}{plain}"),
        plain.trim_end().to_string(),
        plain.to_string(),
        "mcp_servers = { a = { command = \"b\" } }\n".to_string(),
        "mcp_servers.a.command = \"b\"\n# end".to_string(),
        String::new(),
        "# only this\n".to_string(),
    ]
}

fn files(client: &str) -> Vec<String> {
    match client {
        "codex" => toml_files(),
        "claude-code" | "zed" => json_files(holder(client)),
        // The others' files are read and written by the same code.
        _ => json_files(holder(client)).split_off(9),
    }
}

#[test]
fn nothing_but_the_registration_comes_and_goes() {
    for (client, file) in FILES {
        for text in files(client) {
            let home = Home::new();
            home.write(file, &text);
            let change = home.done(&["install", client]);
            assert_eq!(change["action"], "added", "{client}: {text}");
            let with = home.read(file);
            assert!(with.contains("\"mcp\""), "{with}");
            // Lines of others are all there, in order; only a comma may have come behind one.
            let mut lines = with.lines().map(|line| line.trim().trim_end_matches(','));
            let others = text.lines().map(|line| line.trim().trim_end_matches(','));
            if text.contains('\n') {
                let whole = |line: &&str| !line.is_empty() && !line.contains(['{', '}']);
                for other in others.filter(whole) {
                    assert!(lines.any(|line| line == other), "{client}: {other}: {with}");
                }
            }
            // Line ends are those of the file.
            if text.contains("\r\n") {
                assert_eq!(with.matches('\n').count(), with.matches("\r\n").count());
            }
            // What was there is kept beside.
            let backup = change["backup"].as_str().unwrap();
            assert_eq!(fs::read_to_string(backup).unwrap(), text);
            let mode = fs::metadata(backup).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);

            assert_eq!(home.done(&["install", client])["action"], "unchanged");
            assert_eq!(home.read(file), with);
            assert_eq!(home.done(&["uninstall", client])["action"], "removed");
            assert_eq!(home.read(file), text, "{client}");
        }
    }
}

#[test]
fn edits_made_meanwhile_stay() {
    for (client, file) in FILES {
        for text in files(client)
            .into_iter()
            .filter(|text| text.contains("github") || text.contains("docs"))
        {
            let home = Home::new();
            home.write(file, &text);
            home.done(&["install", client]);
            let edit = |text: &str| text.replace("412", "413").replace("# Mine", "# Yours");
            home.write(file, &edit(&home.read(file)));
            home.done(&["install", client, "--vault", "."]);
            let with = home.read(file);
            home.done(&["uninstall", client]);
            // A file of TOML that had no line end has one now.
            let (left, wanted) = (home.read(file), edit(&text));
            assert_eq!(left.trim_end(), wanted.trim_end(), "{client}: {with}");
        }
    }
}

#[test]
fn a_file_that_was_not_there_goes_again() {
    for (client, file) in FILES {
        let home = Home::new();
        let change = home.done(&["install", client]);
        assert_eq!(
            (&change["action"], &change["makes_file"]),
            (&"added".into(), &true.into())
        );
        let mode = fs::metadata(home.path(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
        assert_eq!(home.done(&["uninstall", client])["removes_file"], true);
        // The folders that were made for it too.
        let left: Vec<_> = fs::read_dir(home.0.path()).unwrap().collect();
        assert_eq!(left.len(), 1, "{client}: {left:?}");
    }
}

#[test]
fn what_others_wrote_into_the_entry_stays() {
    let home = Home::new();
    let text = "{\n  \"mcpServers\": {\n    \"lorewell\": {\n      \"command\": \"/old\", // here\n      \"env\": { \"LOREWELL_LIMIT\": \"9\" },\n      \"args\": []\n    }\n  }\n}\n";
    home.write(".cursor/mcp.json", text);
    assert_eq!(home.done(&["install", "cursor"])["action"], "updated");
    let program = env!("CARGO_BIN_EXE_lorewell");
    let wanted = text.replace("/old", program).replace("[]", "[\"mcp\"]");
    assert_eq!(home.read(".cursor/mcp.json"), wanted);
}

#[test]
fn links_and_permissions_stay() {
    let home = Home::new();
    home.write("dotfiles/zed.json", "{\n  \"a\": 1\n}\n");
    fs::set_permissions(
        home.path("dotfiles/zed.json"),
        fs::Permissions::from_mode(0o644),
    )
    .unwrap();
    fs::create_dir_all(home.path(".config/zed")).unwrap();
    symlink(
        "../../dotfiles/zed.json",
        home.path(".config/zed/settings.json"),
    )
    .unwrap();
    home.done(&["install", "zed"]);
    assert!(home.path(".config/zed/settings.json").is_symlink());
    assert!(home.read("dotfiles/zed.json").contains("lorewell"));
    let mode = fs::metadata(home.path("dotfiles/zed.json"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o644);
    home.done(&["uninstall", "zed"]);
    assert_eq!(home.read("dotfiles/zed.json"), "{\n  \"a\": 1\n}\n");

    // A link to a file that is not there yet.
    fs::remove_file(home.path("dotfiles/zed.json")).unwrap();
    home.done(&["install", "zed"]);
    assert!(home.path(".config/zed/settings.json").is_symlink());
    assert!(home.read("dotfiles/zed.json").contains("lorewell"));
}

#[test]
fn programs_that_keep_their_files_elsewhere_are_followed() {
    let home = Home::new();
    let moved = [
        ("claude-code", "CLAUDE_CONFIG_DIR", "c", "c/.claude.json"),
        ("codex", "CODEX_HOME", "o", "o/config.toml"),
        ("zed", "XDG_CONFIG_HOME", "x", "x/zed/settings.json"),
    ];
    for (client, variable, folder, file) in moved {
        let mut command = home.command(&["install", client, "--yes"]);
        let output = command.env(variable, home.path(folder)).output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        assert!(home.read(file).contains("lorewell"), "{client}");
    }
}

#[test]
fn what_cannot_be_written_or_understood_is_left_alone() {
    let home = Home::new();
    for (text, code) in [
        ("{ \"mcpServers\": {", "client_config_syntax"),
        ("[]", "client_config_unexpected"),
        ("{ \"mcpServers\": 3 }", "client_config_unexpected"),
    ] {
        home.write(".cursor/mcp.json", text);
        assert_eq!(home.refused(&["install", "cursor"]), code);
        assert_eq!(home.read(".cursor/mcp.json"), text);
    }
    fs::write(home.path(".cursor/mcp.json"), b"{ \"a\": \"\xff\" }").unwrap();
    assert_eq!(home.refused(&["install", "cursor"]), "client_config_syntax");
    home.write(".codex/config.toml", "mcp_servers = 3\n");
    assert_eq!(
        home.refused(&["install", "codex"]),
        "client_config_unexpected"
    );

    // A file that its user protected.
    home.write(".claude.json", "{}");
    fs::set_permissions(home.path(".claude.json"), fs::Permissions::from_mode(0o444)).unwrap();
    assert_eq!(
        home.refused(&["install", "claude-code"]),
        "client_config_unwritable"
    );
    assert_eq!(home.read(".claude.json"), "{}");

    // No place for the backup: nothing is touched.
    let home = Home::new();
    home.write(".cursor/mcp.json", "{}");
    home.write(".local/share/lorewell/clients", "in the way");
    assert_eq!(
        home.refused(&["install", "cursor"]),
        "client_config_unwritable"
    );
    assert_eq!(home.read(".cursor/mcp.json"), "{}");
}

#[test]
fn hooks_of_others_stay_beside_ours() {
    let others = "{\n  \"model\": \"opus\",\n  \"hooks\": {\n    \"UserPromptSubmit\": [\n      { \"hooks\": [{ \"type\": \"command\", \"command\": \"date\" }] }\n    ],\n    \"Stop\": []\n  }\n}\n";
    for text in [
        others,
        "{\n  \"permissions\": { \"allow\": [] }\n}\n",
        "{}\n",
    ] {
        let home = Home::new();
        home.write(".claude/settings.json", text);
        let words = ["install", "claude-code", "--hook", "--yes"];
        assert_eq!(home.run(&words).status.code(), Some(0));
        let with = home.read(".claude/settings.json");
        let json: Value = serde_json::from_str(&with).unwrap();
        let hooks = json["hooks"]["UserPromptSubmit"].as_array().unwrap();
        let line = hooks.last().unwrap()["hooks"][0]["command"]
            .as_str()
            .unwrap();
        assert!(line.ends_with("hook prompt --client claude-code"), "{line}");
        home.run(&words);
        assert_eq!(home.read(".claude/settings.json"), with);
        // Edited since, so that it is taken out and not put back.
        home.write(".claude/settings.json", &with.replace("opus", "sonnet"));
        home.done(&["uninstall", "claude-code", "--hook"]);
        let left: Value = serde_json::from_str(&home.read(".claude/settings.json")).unwrap();
        let before: Value = serde_json::from_str(&text.replace("opus", "sonnet")).unwrap();
        assert_eq!(left, before);
    }
}

#[test]
fn a_path_with_blanks_and_quotes_is_started_as_it_is() {
    let home = Home::new();
    let folder = home.path("My 'own' programs");
    fs::create_dir_all(&folder).unwrap();
    let program = folder.join("lorewell");
    symlink(env!("CARGO_BIN_EXE_lorewell"), &program).unwrap();
    let install = |words: &[&str]| {
        let mut command = Command::new(&program);
        let command = command.args(words).env_clear().env("HOME", home.0.path());
        let command = command.env("PATH", &folder);
        assert!(command.output().unwrap().status.success());
    };
    install(&["install", "claude-code", "codex", "--hook", "--yes"]);
    install(&["install", "claude-code", "codex", "--hook", "--yes"]);
    let json: Value = serde_json::from_str(&home.read(".claude/settings.json")).unwrap();
    let hooks = json["hooks"]["UserPromptSubmit"].as_array().unwrap();
    assert_eq!(hooks.len(), 1);
    let line = hooks[0]["hooks"][0]["command"].as_str().unwrap();
    // The shell starts it, and the prompt goes on.
    let output = Command::new("sh")
        .args(["-c", line])
        .env("HOME", home.0.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no event of an agent"));
    let claude: Value = serde_json::from_str(&home.read(".claude.json")).unwrap();
    let command = claude["mcpServers"]["lorewell"]["command"]
        .as_str()
        .unwrap();
    assert_eq!(Path::new(command), program);
    install(&["uninstall", "claude-code", "codex", "--yes"]);
    assert!(!home.path(".claude/settings.json").exists());
}

#[test]
fn a_name_on_the_path_is_registered_in_place_of_where_it_leads() {
    let home = Home::new();
    fs::create_dir_all(home.path("bin")).unwrap();
    symlink(env!("CARGO_BIN_EXE_lorewell"), home.path("bin/lorewell")).unwrap();
    let mut command = home.command(&["install", "cursor", "--yes"]);
    command.env("PATH", home.path("bin"));
    assert!(command.output().unwrap().status.success());
    let json: Value = serde_json::from_str(&home.read(".cursor/mcp.json")).unwrap();
    let command = json["mcpServers"]["lorewell"]["command"].as_str().unwrap();
    assert_eq!(Path::new(command), home.path("bin/lorewell"));
}
