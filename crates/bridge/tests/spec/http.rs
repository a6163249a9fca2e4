//! The HTTP interface.

use std::io::{BufRead, BufReader, Write};

use lorewell_agents::{Change, VaultScope};
use lorewell_capabilities::table;
use serde_json::{Value, json};

use crate::house::{House, NOTES};

#[test]
fn every_ability_has_a_route_and_answers_as_the_socket_does() {
    let house = House::new(NOTES);
    let token = house.approve("scribe", |approval| approval.manage = true);
    let requests = [
        ("search", json!({"query": "how slow is the firing"})),
        ("search", json!({"query": "celadon", "limit": 0})),
        ("context", json!({"query": "celadon reduction"})),
        ("related", json!({"note": "Oven"})),
        (
            "read",
            json!({"note": "Kiln", "heading": ["Kiln", "Cooling"]}),
        ),
        ("read", json!({"note": "Nowhere"})),
        ("links", json!({"note": "Celadon"})),
        ("verify", json!({"quotes": [{"quote": "cone 6"}]})),
        ("status", json!({"why_not": "Kiln.md"})),
        ("rebuild", json!({"update": true})),
    ];
    for entry in table() {
        let mut of_entry = requests.iter().filter(|(name, _)| *name == entry.name());
        let (_, input) = of_entry
            .next()
            .unwrap_or_else(|| panic!("{} is asked nothing", entry.id));
        for input in std::iter::once(input).chain(of_entry.map(|(_, input)| input)) {
            // The first answer tells of the build; the others are compared.
            let over_socket = house.ask(entry.id, input.clone());
            let answer = house.post(&token, &format!("/v1/{}", entry.name()), input);
            match over_socket {
                Ok(output) => {
                    assert_eq!(answer.status, 200, "{answer:?}");
                    assert_eq!(answer.body, output.to_string(), "{} {input}", entry.id);
                }
                Err(error) => {
                    assert!((400..500).contains(&answer.status), "{answer:?}");
                    assert_eq!(answer.body, json!({ "error": error }).to_string());
                }
            }
            assert_eq!(answer.header("content-type"), Some("application/json"));
        }
    }
}

#[test]
fn the_description_is_the_tables_and_names_every_status() {
    let house = House::new(NOTES);
    let served = house.get("/v1/openapi.json");
    assert_eq!(served.status, 200);
    assert_eq!(served.json(), lorewell_bridge::openapi(table()));
}

#[test]
fn a_vault_is_named_in_the_body() {
    let house = House::new(NOTES);
    let token = house.approve("scribe", |_| {});
    let named = house.post(
        &token,
        "/v1/search",
        &json!({"query": "kiln", "vault": "notes"}),
    );
    assert_eq!(named.status, 200, "{named:?}");
    let listed = house.http(
        "GET",
        "/v1/vaults",
        &[("Authorization", &format!("Bearer {token}"))],
        "",
    );
    assert_eq!(
        listed.json(),
        json!({"contract": 1, "vaults": [{"name": "Notes"}]})
    );

    // A folder is no name for an agent, and of what does not exist it hears the same as of what
    // it may not ask.
    let folder = house.vault.root().display().to_string();
    let by_folder = house.post(
        &token,
        "/v1/search",
        &json!({"query": "kiln", "vault": "/etc"}),
    );
    assert_eq!(
        (by_folder.status, by_folder.code().as_str()),
        (403, "out_of_scope")
    );
    let elsewhere = [lorewell_agents::ScopedVault {
        name: "Other".to_string(),
        path: house.vault.beside("other"),
    }];
    let stranger = house.approve("stranger", |approval| {
        approval.vaults = VaultScope::These(elsewhere.to_vec());
    });
    let ask = |vault: &str| {
        let body = json!({"query": "kiln", "vault": vault});
        let answer = house.post(&stranger, "/v1/search", &body);
        (answer.status, answer.body.replace(vault, "VAULT"))
    };
    assert_eq!(ask("Notes"), ask("Nowhere"));
    assert_eq!(ask(&folder), ask("Nowhere"));
    let wrong = house.post(&token, "/v1/search", &json!({"query": "kiln", "vault": 7}));
    assert_eq!((wrong.status, wrong.code().as_str()), (400, "wrong_use"));
}

#[test]
fn approvals_hold_from_the_next_request_on() {
    let house = House::new(NOTES);
    let token = house.approve("scribe", |_| {});
    let ask = |path| {
        let answer = house.post(&token, path, &json!({}));
        (answer.status, answer.code())
    };
    let ok = house.post(&token, "/v1/search", &json!({"query": "kiln"}));
    assert_eq!(ok.status, 200, "{ok:?}");
    assert_eq!(ask("/v1/rebuild"), (403, "out_of_scope".to_string()));

    let off = Change {
        off: vec!["search".to_string()],
        ..Change::default()
    };
    house.register().change("scribe", &off).unwrap();
    assert_eq!(ask("/v1/search"), (403, "tool_off".to_string()));
    house.register().revoke("scribe").unwrap();
    assert_eq!(ask("/v1/status"), (401, "not_approved".to_string()));
    let wrong = house.post("lw_wrong", "/v1/status", &json!({}));
    let none = house.http(
        "POST",
        "/v1/status",
        &[("Content-Type", "application/json")],
        "{}",
    );
    // Who shows a wrong token learns no more than who shows none.
    assert_eq!((wrong.status, wrong.body), (none.status, none.body));
    assert_eq!(
        none.headers
            .iter()
            .find(|(name, _)| name == "www-authenticate")
            .unwrap()
            .1,
        "Bearer"
    );
}

#[test]
fn what_left_is_in_the_log_of_what_agents_received() {
    let house = House::new(NOTES);
    let token = house.approve("scribe", |_| {});
    let asked = "how slow is the firing";
    house.post(&token, "/v1/search", &json!({"query": asked}));
    house
        .ask("knowledge.search", json!({"query": "celadon"}))
        .unwrap();
    let path = lorewell_setup::audit_dir(&house.environment).join("audit.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(
        lines.len(),
        1,
        "the owner's own requests are not logged: {text}"
    );
    assert_eq!(lines[0]["agent"], "scribe");
    assert_eq!(lines[0]["capability"], "knowledge.search");
    assert_eq!(lines[0]["passages"][0]["note"], "Kiln.md");
    assert!(!text.contains("slow") && !text.contains("Cone"), "{text}");
}

#[test]
fn a_remote_reader_gets_nothing_from_behind_a_fence() {
    let notes = format!("{NOTES}=== Private/Diary.md ===\nA zeolite secret.\n");
    let house = House::new(&notes);
    house.set("fence_folders = [\"Private\"]");
    let local = house.approve("local", |_| {});
    let remote = house.approve("remote", |approval| {
        approval.reader = lorewell_agents::Reader::Remote;
    });
    let search = |token: &str| house.post(token, "/v1/search", &json!({"query": "zeolite secret"}));
    assert!(search(&local).body.contains("Diary"));
    assert!(!search(&remote).body.contains("Diary"));
    let read = |note: &str| {
        let answer = house.post(&remote, "/v1/read", &json!({"note": note}));
        (answer.status, answer.body.replace(note, "NOTE"))
    };
    assert_eq!(read("Private/Diary.md"), read("Private/Other.md"));

    // A fence that is set while the bridge runs holds from the next request on.
    house.set("fence_folders = [\"Private\", \"Glazes\"]");
    let answer = house.post(&remote, "/v1/search", &json!({"query": "celadon glaze"}));
    assert!(!answer.body.contains("Celadon"), "{answer:?}");
}

#[test]
fn news_tell_of_changes_and_name_no_note() {
    let house = House::new(NOTES);
    let token = house.approve("scribe", |_| {});
    house
        .ask("knowledge.search", json!({"query": "kiln"}))
        .unwrap();
    let bearer = format!("Bearer {token}");
    let mut stream = house.connect();
    let head = house.head(("GET", "/v1/events"), &[("Authorization", &bearer)]);
    stream.write_all(head.as_bytes()).unwrap();
    let mut lines = BufReader::new(stream).lines().map(Result::unwrap);
    let first = lines.find(|line| line.starts_with(':')).unwrap();
    assert_eq!(first, ": listening");
    house.vault.write("Zircon.md", "Zircon opacifies.");
    let event = lines.find(|line| line.starts_with("event: ")).unwrap();
    assert_eq!(event, "event: updated");
    let data = lines.find(|line| line.starts_with("data: ")).unwrap();
    let data: Value = serde_json::from_str(data.trim_start_matches("data: ")).unwrap();
    assert_eq!(
        (&data["vault"], &data["taken_in"]),
        (&json!("Notes"), &json!(1))
    );
    assert!(!data.to_string().contains("Zircon"), "{data}");

    let refused = house.get("/v1/events");
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (401, "not_approved")
    );
}

#[test]
fn the_process_at_the_port_can_prove_that_it_is_the_one_of_the_state_file() {
    let house = House::new(NOTES);
    let challenge = "abcdefghijklmnop1234";
    let answer = house
        .get(&format!("/v1/health?challenge={challenge}"))
        .json();
    assert_eq!(answer["instance"], house.state.instance);
    let proof = answer["proof"].as_str().unwrap();
    let port = house.state.port;
    assert!(house.state.is_proven(port, challenge, proof));
    // What was said at one port proves nothing at another, nor to another challenge.
    assert!(!house.state.is_proven(port + 1, challenge, proof));
    assert!(!house.state.is_proven(port, "another-challenge", proof));
    for wrong in [
        "/v1/health?challenge=short",
        "/v1/health?x=abcdefghijklmnop1234",
    ] {
        assert_eq!(house.get(wrong).status, 400, "{wrong}");
    }
}
