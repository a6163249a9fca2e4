//! Approvals through real sockets: a running bridge, agents with tokens over HTTP, and the command
//! line that approves them and takes approvals away while it runs.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]
#![expect(
    clippy::disallowed_types,
    reason = "the test starts programs and asks a bridge"
)]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use lorewell_capabilities::{Access, Entry, table};
use lorewell_testkit::TempVault;
use serde_json::{Value, json};

const NOTES: &str = "
=== Kiln.md ===
The kiln fires slowly, cone 6. See [[Diary]].
=== Glazes.md ===
The celadon glaze needs a reduction firing in the [[Kiln]].
=== Home/Diary.md ===
The quokkazorn kiln at home, and its celadon glaze.
";

/// A home with a vault, and a bridge that runs in it.
struct World {
    vault: TempVault,
    home: PathBuf,
    bridge: Child,
    address: SocketAddr,
}

/// An answer over HTTP.
struct Reply {
    status: u16,
    body: Value,
}

impl World {
    /// With the settings that `config` holds.
    fn new(config: &str) -> World {
        let vault = TempVault::new(NOTES);
        let home = vault.beside("home");
        let other = vault.beside("Other");
        fs::create_dir_all(home.join(".config/lorewell")).unwrap();
        fs::create_dir(&other).unwrap();
        fs::write(other.join("Secret.md"), "Other notes of the kiln.\n").unwrap();
        let listed = format!(
            "{config}\n[vaults.Notes]\npath = {:?}\n[vaults.Other]\npath = {other:?}\n",
            vault.root()
        );
        fs::write(home.join(".config/lorewell/config.toml"), listed).unwrap();
        let mut bridge = command(&home, &["serve", "--port", "0", "--json"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(bridge.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let said: Value = serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line}"));
        let address = said["addresses"][0].as_str().unwrap().parse().unwrap();
        World {
            vault,
            home,
            bridge,
            address,
        }
    }

    /// What a command of the same user prints with `--json`.
    fn lorewell(&self, words: &[&str]) -> Value {
        let output = command(&self.home, words).arg("--json").output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        serde_json::from_str(&text).unwrap_or_else(|e| panic!("{words:?}: {e}: {text}"))
    }

    /// Approves an agent; its token.
    fn approve(&self, words: &[&str]) -> String {
        let approved = self.lorewell(&[&["agent", "approve"], words].concat());
        approved["token"]
            .as_str()
            .unwrap_or_else(|| panic!("{approved}"))
            .to_owned()
    }

    fn post(&self, path: &str, token: Option<&str>, body: &Value) -> Reply {
        let authorization = token.map(|token| format!("Authorization: Bearer {token}\r\n"));
        self.send(path, &authorization.unwrap_or_default(), body)
    }

    fn send(&self, path: &str, headers: &str, body: &Value) -> Reply {
        let body = body.to_string();
        let mut stream = TcpStream::connect(self.address).unwrap();
        write!(
            stream,
            "POST {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{headers}\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        )
        .unwrap();
        let mut said = String::new();
        stream.read_to_string(&mut said).unwrap();
        let (head, body) = said
            .split_once("\r\n\r\n")
            .unwrap_or_else(|| panic!("{said}"));
        Reply {
            status: head.split(' ').nth(1).unwrap().parse().unwrap(),
            body: serde_json::from_str(body).unwrap_or_else(|e| panic!("{e}: {said}")),
        }
    }

    fn ask(&self, token: &str, entry: &Entry, body: &Value) -> Reply {
        self.post(&format!("/v1/{}", entry.name()), Some(token), body)
    }

    /// A question that the vault Notes answers.
    fn search(&self, token: &str) -> Reply {
        let body = json!({"vault": "Notes", "query": "celadon glaze kiln"});
        self.post("/v1/search", Some(token), &body)
    }

    fn data(&self, path: &str) -> PathBuf {
        self.home.join(".local/share/lorewell").join(path)
    }

    /// Every file below the home, with its bytes.
    fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut folders = vec![self.home.clone()];
        let mut files = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let entry = entry.unwrap();
                let kind = entry.file_type().unwrap();
                if kind.is_dir() {
                    folders.push(entry.path());
                } else if kind.is_file() {
                    files.push((entry.path(), fs::read(entry.path()).unwrap()));
                }
            }
        }
        files
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = self.bridge.kill();
        let _ = self.bridge.wait();
    }
}

impl Reply {
    fn code(&self) -> (u16, &str) {
        (
            self.status,
            self.body["error"]["code"].as_str().unwrap_or("answered"),
        )
    }

    fn notes(&self) -> Vec<&str> {
        let passages = self.body["passages"]
            .as_array()
            .unwrap_or_else(|| panic!("{}", self.body));
        passages
            .iter()
            .map(|p| p["note"].as_str().unwrap())
            .collect()
    }
}

fn command(home: &PathBuf, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lorewell"));
    command
        .args(words)
        .env_clear()
        .env("HOME", home)
        .current_dir(home);
    command
}

fn holds(bytes: &[u8], word: &str) -> bool {
    bytes
        .windows(word.len())
        .any(|part| part == word.as_bytes())
}

/// A request that each capability can answer.
fn request(entry: &Entry) -> Value {
    let mut body = match entry.name() {
        "search" | "context" => json!({"query": "celadon glaze kiln quokkazorn"}),
        "related" | "read" | "links" => json!({"note": "Kiln"}),
        "verify" => json!({"quotes": [{"quote": "The quokkazorn kiln at home", "note": "Diary"}]}),
        _ => json!({}),
    };
    body["vault"] = "Notes".into();
    body
}

#[test]
fn without_the_token_of_an_approved_agent_nothing_is_told() {
    let world = World::new("");
    let token = world.approve(&["one", "--vault", "Notes"]);
    assert_eq!(world.search(&token).code(), (200, "answered"));
    for entry in table() {
        let path = format!("/v1/{}", entry.name());
        let body = request(entry);
        let missing = world.post(&path, None, &body);
        assert_eq!(missing.code(), (401, "not_approved"), "{path}");
        let wrong = world.ask(&token.replace('a', "b"), entry, &body);
        assert_eq!(wrong.code(), (401, "not_approved"), "{path}");
        // Which of both it was is not told.
        assert_eq!(missing.body, wrong.body);
    }
    // A token anywhere but in its header is none.
    let body = json!({"vault": "Notes", "query": "kiln"});
    for path in [
        format!("/v1/search?token={token}"),
        format!("/v1/search?access_token={token}"),
    ] {
        assert_eq!(world.post(&path, None, &body).code(), (401, "not_approved"));
    }
    for header in ["X-Token", "Cookie", "Authorization"] {
        let header = format!("{header}: {token}\r\n");
        assert_eq!(
            world.send("/v1/search", &header, &body).code(),
            (401, "not_approved")
        );
    }
    let mut inside = body.clone();
    inside["token"] = token.as_str().into();
    assert_eq!(
        world.post("/v1/search", None, &inside).code(),
        (401, "not_approved")
    );
}

#[test]
fn what_the_owner_decides_holds_from_the_next_request_on() {
    let world = World::new("");
    let token = world.approve(&["one", "--vault", "Notes"]);
    assert_eq!(world.search(&token).code(), (200, "answered"));
    world.lorewell(&["agent", "tools", "one", "--off", "search"]);
    assert_eq!(world.search(&token).code(), (403, "tool_off"));
    world.lorewell(&["agent", "tools", "one", "--on", "search"]);
    let renewed = world.lorewell(&["agent", "renew", "one", "--new-token"]);
    assert_eq!(world.search(&token).code(), (401, "not_approved"));
    let token = renewed["token"].as_str().unwrap();
    assert_eq!(world.search(token).code(), (200, "answered"));
    // As if its time had passed.
    world.lorewell(&["agent", "renew", "one", "--expires", "1h"]);
    let register = world.data("agents/agents.json");
    let mut told: Value = serde_json::from_slice(&fs::read(&register).unwrap()).unwrap();
    told["agents"][0]["expires_at"] = "2020-01-01T00:00:00Z".into();
    fs::write(&register, told.to_string()).unwrap();
    assert_eq!(world.search(token).code(), (401, "expired"));
    world.lorewell(&["agent", "renew", "one", "--expires", "never"]);
    assert_eq!(world.search(token).code(), (200, "answered"));
    world.lorewell(&["agent", "revoke", "one"]);
    assert_eq!(world.search(token).code(), (401, "not_approved"));
}

#[test]
fn an_agent_keeps_to_its_scope_in_every_capability() {
    let world = World::new("");
    let reads = world.approve(&["reads", "--vault", "Notes"]);
    let manages = world.approve(&["manages", "--all-vaults", "--manage"]);
    for entry in table() {
        let body = request(entry);
        let expected = match entry.access {
            Access::Read => (200, "answered"),
            Access::Manage => (403, "out_of_scope"),
        };
        assert_eq!(
            world.ask(&reads, entry, &body).code(),
            expected,
            "{}",
            entry.id
        );
        assert_eq!(
            world.ask(&manages, entry, &body).code(),
            (200, "answered"),
            "{}",
            entry.id
        );
        // A vault that it may not ask looks like one that there is not, also by its folder.
        let mut seen = Vec::new();
        let folder = world.vault.beside("Other").display().to_string();
        for vault in ["Other", "Nowhere", &folder] {
            let mut body = body.clone();
            body["vault"] = vault.into();
            let reply = world.ask(&reads, entry, &body);
            assert_eq!(reply.code(), (403, "out_of_scope"), "{} {vault}", entry.id);
            seen.push(reply.body.to_string().replace(vault, "…"));
        }
        assert!(seen.iter().all(|body| *body == seen[0]), "{seen:?}");
    }
}

#[test]
fn a_note_behind_a_fence_reaches_local_agents_alone() {
    let world = World::new("fence_folders = [\"Home\"]");
    let local = world.approve(&["local", "--vault", "Notes", "--local", "--manage"]);
    let remote = world.approve(&["remote", "--vault", "Notes", "--manage"]);
    assert!(world.search(&local).notes().contains(&"Home/Diary.md"));
    let mut seen = world.search(&remote);
    assert_eq!(seen.status, 200);
    seen.body["query"].take();
    assert!(!seen.body.to_string().contains("Diary.md"), "{}", seen.body);
    for entry in table() {
        let body = request(entry);
        let told = world.ask(&remote, entry, &body);
        assert_eq!(told.status, 200, "{}: {}", entry.id, told.body);
        // What it was asked comes back, and what another note says of it.
        let quoted = [
            "celadon glaze kiln quokkazorn",
            "The quokkazorn kiln at home",
            "[[Diary]]",
            "\"Diary\"",
        ];
        let rest = quoted
            .iter()
            .fold(told.body.to_string(), |rest, it| rest.replace(it, ""));
        for word in ["quokkazorn", "Diary", "Home"] {
            assert!(!rest.contains(word), "{} tells {word}: {rest}", entry.id);
        }
    }
    let read = |token: &str, note: &str| {
        let body = json!({"vault": "Notes", "note": note});
        let reply = world.post("/v1/read", Some(token), &body);
        (reply.status, reply.body.to_string().replace(note, "…"))
    };
    assert_eq!(read(&local, "Home/Diary.md").0, 200);
    assert_eq!(
        read(&remote, "Home/Diary.md"),
        read(&remote, "Home/Qzzzz.md")
    );
    // A fence that is set while the bridge runs holds from the next request on.
    assert!(world.search(&remote).notes().contains(&"Glazes.md"));
    world.vault.write(
        ".lorewell/config.toml",
        "fence_folders = [\"Glazes.md\"]\nfence_tags = [\"kept\"]\n",
    );
    world.vault.write("Glazes.md", "The celadon glaze. #kept\n");
    assert!(!world.search(&remote).notes().contains(&"Glazes.md"));
    assert!(world.search(&local).notes().contains(&"Glazes.md"));
}

#[test]
fn the_log_tells_what_left_and_holds_neither_question_nor_text_nor_token() {
    let world = World::new("");
    let token = world.approve(&["one", "--vault", "Notes"]);
    let reply = world.search(&token);
    let told = world.lorewell(&["audit", "--agent", "one"]);
    let entry = &told["entries"][0];
    assert_eq!(entry["capability"], "knowledge.search");
    assert_eq!(entry["reader"], "remote");
    let kept: Vec<_> = entry["passages"].as_array().unwrap().iter().collect();
    let left = reply.body["passages"].as_array().unwrap();
    assert!(!left.is_empty());
    assert_eq!(kept.len(), left.len());
    for (kept, left) in kept.into_iter().zip(left) {
        for field in ["note", "byte_range", "content_hash"] {
            assert_eq!(kept[field], left[field]);
        }
    }
    // Of every capability something is there.
    for entry in table().iter().filter(|entry| entry.access == Access::Read) {
        world.ask(&token, entry, &request(entry));
        let told = world.lorewell(&["audit", "--limit", "1"]);
        assert_eq!(told["entries"][0]["capability"], entry.id);
    }
    for (path, bytes) in world.files() {
        assert!(
            !holds(&bytes, &token["lorewell_".len()..]),
            "{}",
            path.display()
        );
        let in_log =
            path.starts_with(world.data("audit")) || path.starts_with(world.data("bridge"));
        for word in ["celadon", "reduction", "quokkazorn"] {
            assert!(
                !in_log || !holds(&bytes, word),
                "{word} in {}",
                path.display()
            );
        }
    }
}

#[test]
fn what_cannot_be_logged_does_not_leave() {
    let world = World::new("");
    let token = world.approve(&["one", "--vault", "Notes"]);
    assert_eq!(world.search(&token).code(), (200, "answered"));
    let folder = world.data("audit");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(world.search(&token).code(), (500, "agents_not_private"));
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(world.search(&token).code(), (200, "answered"));
}

#[test]
fn a_register_that_is_damaged_or_open_to_others_lets_nobody_in() {
    let world = World::new("");
    let token = world.approve(&["one", "--vault", "Notes"]);
    let register = world.data("agents/agents.json");
    let good = fs::read(&register).unwrap();
    fs::write(&register, &good[..good.len() / 2]).unwrap();
    assert_eq!(world.search(&token).code(), (500, "agents_damaged"));
    fs::write(&register, &good).unwrap();
    fs::set_permissions(&register, fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(world.search(&token).code(), (500, "agents_not_private"));
    fs::set_permissions(&register, fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(world.search(&token).code(), (200, "answered"));
}
