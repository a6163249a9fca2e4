//! A model at a server, given to a vault by the real program: what is tried, sent, said and kept.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]
#![expect(clippy::disallowed_types, reason = "the test starts programs")]

use std::fs;
use std::process::{Command, Output};

use lorewell_testkit::{StubEndpoint, TempVault};
use serde_json::{Value, json};

const NOTES: &str = "
=== Kiln.md ===
The kiln is fired with ash, slowly, up to cone six.
=== Boat.md ===
A boat of larch, caulked with oakum.
=== Private/Diary.md ===
Nobody else may read zyxomma.
";

struct World {
    vault: TempVault,
    stub: StubEndpoint,
}

impl World {
    fn new() -> World {
        let world = World {
            vault: TempVault::new(NOTES),
            stub: StubEndpoint::start(""),
        };
        let root = world.vault.root().display().to_string();
        fs::create_dir_all(world.vault.beside("home")).unwrap();
        world.ok(&["vault", "add", &root, "--name", "v"]);
        world.ok(&["config", "set", "exclude_folders", "Private"]);
        world
    }

    fn run(&self, words: &[&str], variables: &[(&str, &str)]) -> Output {
        let home = self.vault.beside("home");
        Command::new(env!("CARGO_BIN_EXE_lorewell"))
            .args(words)
            .env_clear()
            .env("HOME", &home)
            .envs(variables.iter().copied())
            .current_dir(&home)
            .output()
            .unwrap()
    }

    fn ok(&self, words: &[&str]) -> String {
        let output = self.run(words, &[]);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words:?}: {said}{errors}");
        said
    }

    fn json(&self, words: &[&str]) -> Value {
        serde_json::from_str(&self.ok(words)).unwrap()
    }

    /// The code and the message of a failure.
    fn fails(&self, words: &[&str], variables: &[(&str, &str)]) -> (String, String) {
        let output = self.run(words, variables);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        let text = |key: &str| json["error"][key].as_str().unwrap_or_default().to_string();
        (text("code"), text("message") + " " + &text("hint"))
    }

    fn config(&self) -> String {
        let file = self
            .vault
            .beside("home")
            .join(".config/lorewell/config.toml");
        fs::read_to_string(file).unwrap()
    }

    fn use_it(&self, more: &[&'static str]) -> Vec<String> {
        let url = format!("127.0.0.1:{}", self.stub.port());
        let words = [
            "models",
            "use",
            "--vault",
            "v",
            "--json",
            "--endpoint-model",
            "plum",
            "--endpoint",
        ];
        let words = words.iter().map(|word| (*word).to_string()).chain([url]);
        words
            .chain(more.iter().map(|word| (*word).to_string()))
            .collect()
    }
}

fn refs(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}

#[test]
fn a_vault_is_embedded_by_a_server_and_says_where_its_text_goes() {
    let world = World::new();
    let used = world.json(&refs(&world.use_it(&["--wait"])));
    let target = format!("http://127.0.0.1:{} (this machine)", world.stub.port());
    assert_eq!(used["model"], "plum");
    assert_eq!(used["network_target"], json!(target));
    let status = world.json(&["status", "--vault", "v", "--json"]);
    assert_eq!(status["network_targets"], json!([target]));
    assert_eq!(status["models"][0]["embedded"], 2, "{}", status["models"]);
    let answer = world.json(&[
        "search", "oakum", "--vault", "v", "--lanes", "dense", "--json",
    ]);
    assert_eq!(answer["passages"][0]["note"], "Boat.md");
    assert_eq!(answer["lanes"]["dense"]["model"], "plum");
    let sent: Vec<String> = world
        .stub
        .calls()
        .into_iter()
        .flat_map(|c| c.inputs)
        .collect();
    assert!(
        sent.iter().all(|text| !text.contains("zyxomma")),
        "{sent:?}"
    );

    world.stub.set(&json!({ "refuse": true }));
    let (code, said) = world.fails(
        &[
            "search", "oakum", "--vault", "v", "--lanes", "dense", "--json",
        ],
        &[],
    );
    assert_eq!(code, "lanes_unavailable");
    assert!(said.contains("127.0.0.1"), "{said}");
    let answer = world.json(&["search", "oakum", "--vault", "v", "--json"]);
    assert_eq!(answer["passages"][0]["note"], "Boat.md");
    assert_eq!(answer["lanes"]["dense"]["state"], "unavailable");
}

#[test]
fn nothing_is_written_for_a_server_that_does_not_work_or_may_not_be_used() {
    let world = World::new();
    let before = world.config();
    world
        .stub
        .set(&json!({ "status": 404, "error": { "body": "{\"error\":\"no model plum\"}" } }));
    let (code, said) = world.fails(&refs(&world.use_it(&[])), &[]);
    assert_eq!(code, "endpoint_failed");
    assert!(
        said.contains("404") && said.contains("no model plum"),
        "{said}"
    );
    let with = |url: &str| {
        let words = [
            "models",
            "use",
            "--vault",
            "v",
            "--json",
            "--endpoint-model",
            "m",
            "--endpoint",
            url,
        ];
        world.fails(&words, &[])
    };
    assert_eq!(with("https://api.anthropic.com").0, "endpoint_provider");
    assert_eq!(with("http://192.0.2.7:9/v1").0, "endpoint_not_allowed");
    assert_eq!(with("ftp://x").0, "endpoint_address");
    assert_eq!(world.config(), before);
}

#[test]
fn a_key_is_sent_and_is_in_no_file_and_no_message() {
    let world = World::new();
    let words = world.use_it(&["--key-env", "PLUM_KEY", "--wait"]);
    assert_eq!(world.fails(&refs(&words), &[]).0, "endpoint_key");
    let output = world.run(&refs(&words), &[("PLUM_KEY", "plum-4711-orchard")]);
    assert!(output.status.success());
    let sent = world
        .stub
        .calls()
        .into_iter()
        .filter_map(|call| call.authorization);
    assert!(
        sent.into_iter()
            .all(|sent| sent == "Bearer plum-4711-orchard")
    );
    assert!(!world.config().contains("4711"));
    world
        .stub
        .set(&json!({ "status": 401, "error": { "body": "no such key plum-4711-orchard" } }));
    let (code, said) = world.fails(&refs(&words), &[("PLUM_KEY", "plum-4711-orchard")]);
    assert_eq!(code, "endpoint_failed");
    assert!(said.contains("401") && !said.contains("4711"), "{said}");
    // Another endpoint is not sent the key of this one.
    world.stub.set(&json!({ "ok": true }));
    world.json(&refs(&world.use_it(&["--wait"])));
    assert!(world.stub.calls().last().unwrap().authorization.is_none());
}

#[test]
fn a_key_for_all_vaults_is_not_sent_to_an_endpoint_that_was_given_none() {
    let world = World::new();
    world.ok(&["config", "set", "endpoint_key_env", "PLUM_KEY"]);
    let key = [("PLUM_KEY", "plum-4711-orchard")];
    let output = world.run(&refs(&world.use_it(&["--wait"])), &key);
    assert!(output.status.success(), "{output:?}");
    let output = world.run(&["search", "kiln", "--vault", "v", "--json"], &key);
    assert!(output.status.success(), "{output:?}");
    let calls = world.stub.calls();
    assert!(calls.len() > 2, "{calls:?}");
    assert!(
        calls.iter().all(|call| call.authorization.is_none()),
        "{calls:?}"
    );
    assert!(world.config().contains("endpoint_key_env = \"none\""));
}

#[test]
fn an_endpoint_that_nobody_named_is_not_used() {
    let world = World::new();
    let words = ["models", "use", "endpoint", "--vault", "v", "--json"];
    assert_eq!(world.fails(&words, &[]).0, "endpoint_incomplete");
    assert!(!world.config().contains("endpoint"));
}

#[test]
fn a_file_in_the_vault_names_no_endpoint() {
    let world = World::new();
    let text = format!(
        "model = \"endpoint\"\nendpoint_url = \"{}\"\nendpoint_model = \"m\"\nendpoint_allowed_hosts = [\"x\"]\n",
        world.stub.url()
    );
    world.vault.write(".lorewell/config.toml", &text);
    let output = world.run(&["search", "oakum", "--vault", "v"], &[]);
    assert!(output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("endpoint_url") && said.contains("ignored"),
        "{said}"
    );
    assert_eq!(world.stub.calls().len(), 0);
}
