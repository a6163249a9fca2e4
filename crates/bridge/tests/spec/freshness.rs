//! How fresh answers are: no request looks at the folder, and none misses what was told.

use std::fs;

use lorewell_testkit::TempVault;
use lorewell_watch::{WatchLock, WatchLockAttempt};
use serde_json::{Value, json};

use crate::house::{House, NOTES};

fn notes(answer: &Value) -> Vec<&str> {
    let passages = answer["passages"].as_array().unwrap();
    passages
        .iter()
        .filter_map(|passage| passage["note"].as_str())
        .collect()
}

#[test]
fn what_is_saved_is_found_and_what_is_removed_is_not() {
    let house = House::new(NOTES);
    let question = json!({"query": "zeolite", "lanes": ["text"]});
    let nothing = house.ask("search", question.clone()).unwrap();
    assert_eq!(notes(&nothing), Vec::<&str>::new());
    assert_eq!(nothing["index"]["pending"], 0);
    for number in 0..5 {
        house
            .vault
            .write("Zeolite.md", format!("Zeolite, take {number}."));
        house.ask_until("search", &question, |answer| {
            answer["passages"][0]["text"] == format!("Zeolite, take {number}.")
        });
        house.vault.remove("Zeolite.md");
        house.ask_until("search", &question, |answer| notes(answer).is_empty());
    }
}

#[test]
fn an_answer_without_waiting_says_so() {
    let house = House::new(NOTES);
    house.ask("search", json!({"query": "kiln"})).unwrap();
    let token = house.approve("scribe", |_| {});
    let answer = house.post(
        &token,
        "/v1/search",
        &json!({"query": "kiln", "refresh": false}),
    );
    let answer = answer.json();
    assert!(answer["index"].get("pending").is_none(), "{answer}");
    let degraded = answer["degraded"].to_string();
    assert!(degraded.contains("not looked at for changes"), "{degraded}");
}

#[test]
fn exclusions_hold_from_the_next_request_on() {
    let house = House::new(NOTES);
    let question = json!({"query": "celadon", "lanes": ["text"]});
    let found = house.ask("search", question.clone()).unwrap();
    assert_eq!(notes(&found), ["Glazes/Celadon.md"]);
    house.set("exclude_folders = [\"Glazes\"]");
    // At once: the settings are looked at by the request itself.
    let gone = house.ask("search", question.clone()).unwrap();
    assert_eq!(notes(&gone), Vec::<&str>::new());
    house.set("");
    house.ask_until("search", &question, |answer| {
        notes(answer) == ["Glazes/Celadon.md"]
    });

    fs::create_dir_all(house.vault.path(".lorewell")).unwrap();
    house
        .vault
        .write(".lorewell/config.toml", "exclude_folders = [\"Glazes\"]\n");
    let gone = house.ask("search", question).unwrap();
    assert_eq!(notes(&gone), Vec::<&str>::new());
}

#[test]
fn settings_that_make_no_sense_are_told_and_not_answered_around() {
    let house = House::new(NOTES);
    house.ask("search", json!({"query": "kiln"})).unwrap();
    house.set("exclude_folders = 7");
    let error = house.ask("search", json!({"query": "kiln"})).unwrap_err();
    assert_eq!(error.code, "wrong_value");
    house.set("");
    assert!(house.ask("search", json!({"query": "kiln"})).is_ok());
}

#[test]
fn beside_another_watcher_each_request_looks_itself() {
    let vault = TempVault::new(NOTES);
    let house = House::around(vault, "", |_| {}).unwrap();
    let status = house.ask("status", json!({})).unwrap();
    let folder = status["index"]["folder"].as_str().unwrap().to_string();
    house.stop();
    let (outcome, _, vault) = house.ended();
    outcome.unwrap();
    let held = WatchLock::attempt(folder.as_ref()).unwrap();
    assert!(matches!(held, WatchLockAttempt::Taken(_)));

    let house = House::around(vault, "", |_| {}).unwrap();
    house.ask("search", json!({"query": "kiln"})).unwrap();
    house.vault.write("Zeolite.md", "Zeolite.");
    // The very next request: nothing has to be told first.
    let found = house
        .ask("search", json!({"query": "zeolite", "lanes": ["text"]}))
        .unwrap();
    assert_eq!(notes(&found), ["Zeolite.md"]);
}

#[test]
fn a_folder_that_is_away_is_told_and_comes_back() {
    let house = House::new(NOTES);
    house.ask("search", json!({"query": "kiln"})).unwrap();
    let (root, aside) = (
        house.vault.root().to_path_buf(),
        house.vault.beside("aside"),
    );
    fs::rename(&root, &aside).unwrap();
    // The system may tell of it a moment later.
    let error = loop {
        if let Err(error) = house.ask("search", json!({"query": "kiln"})) {
            break error;
        }
    };
    assert_eq!(error.code, "vault_missing");
    fs::rename(&aside, &root).unwrap();
    let found = loop {
        let request = json!({"query": "celadon", "lanes": ["text"]});
        if let Ok(found) = house.ask("search", request) {
            break found;
        }
    };
    assert_eq!(notes(&found), ["Glazes/Celadon.md"]);
}

#[test]
fn a_rebuild_over_the_bridge_is_seen_by_the_next_request() {
    let house = House::new(NOTES);
    let before = house.ask("search", json!({"query": "kiln"})).unwrap();
    let rebuilt = house.ask("rebuild", json!({})).unwrap();
    let after = house.ask("search", json!({"query": "kiln"})).unwrap();
    assert!(rebuilt["generation"].as_u64() > before["index"]["generation"].as_u64());
    assert_eq!(after["index"]["generation"], rebuilt["generation"]);
    assert_eq!(after["passages"], before["passages"]);
}
