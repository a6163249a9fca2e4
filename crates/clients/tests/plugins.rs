//! The manifests that make a plugin of the folder `skill/`, for Claude Code and for Codex: they name
//! this version, places that are there, and the command that serves an agent.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> Value {
    let text = std::fs::read_to_string(root().join(path)).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{path}: {e}"))
}

#[test]
fn both_manifests_say_the_same_and_lead_to_the_skill() {
    let (claude, codex) = (
        read("skill/.claude-plugin/plugin.json"),
        read("skill/.codex-plugin/plugin.json"),
    );
    for field in ["name", "version", "description", "license", "keywords"] {
        assert_eq!(claude[field], codex[field], "{field}");
    }
    assert_eq!(claude["name"], "lorewell");
    assert_eq!(claude["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(
        (&claude["skills"], &codex["skills"]),
        (&json!(["./"]), &json!("./"))
    );
    assert!(root().join("skill/lorewell/SKILL.md").is_file());
}

#[test]
fn the_server_of_the_plugin_is_ours() {
    let codex = read("skill/.codex-plugin/plugin.json");
    let file = codex["mcpServers"].as_str().unwrap();
    assert_eq!(file, "./.mcp.json", "where Claude Code looks by itself");
    let servers = read(&format!("skill/{file}"));
    let server = json!({"command": "lorewell", "args": ["mcp"]});
    assert_eq!(servers, json!({"mcpServers": {"lorewell": server}}));
}

#[test]
fn both_catalogues_lead_to_the_plugin() {
    let claude = read(".claude-plugin/marketplace.json");
    let codex = read(".agents/plugins/marketplace.json");
    let folders = [
        &claude["plugins"][0]["source"],
        &codex["plugins"][0]["source"]["path"],
    ];
    for folder in folders {
        let folder = root().join(folder.as_str().unwrap());
        for manifest in [".claude-plugin/plugin.json", ".codex-plugin/plugin.json"] {
            assert!(folder.join(manifest).is_file(), "{}", folder.display());
        }
    }
    for catalogue in [&claude, &codex] {
        assert_eq!(catalogue["plugins"][0]["name"], "lorewell");
    }
}
