//! The socket, for programs of the same user.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicUsize, Ordering};

use lorewell_agents::Reader;
use lorewell_bridge::{As, Client, Offer, Request};
use lorewell_engine::Observer;
use lorewell_testkit::TempVault;
use serde_json::{Value, json};

use crate::house::{House, NOTES, endless_table, request};

/// Counts what it hears, and has enough after so much.
struct Counter {
    heard: AtomicUsize,
    enough: usize,
}

impl Observer for Counter {
    fn note_done(&self, _: &str) {
        self.heard.fetch_add(1, Ordering::SeqCst);
    }

    fn stopped(&self) -> bool {
        self.heard.load(Ordering::SeqCst) >= self.enough
    }
}

fn many_notes(count: usize) -> TempVault {
    let vault = TempVault::new(NOTES);
    for number in 0..count {
        let text = format!("# Note {number}\n\n{}", "the kiln was slow; ".repeat(60));
        vault.write(&format!("{:02}/{number}.md", number % 40), text);
    }
    vault
}

fn search_with_progress() -> Request {
    let mut search = request(As::Owner, "knowledge.search", json!({"query": "kiln"}));
    if let Request::Ask { progress, .. } = &mut search {
        *progress = true;
    }
    search
}

#[test]
fn a_first_build_tells_how_far_it_is() {
    let house = House::around(many_notes(600), "", |_| {}).unwrap();
    let counter = Counter {
        heard: AtomicUsize::new(0),
        enough: usize::MAX,
    };
    let answer = house
        .client()
        .send(&search_with_progress(), &counter)
        .unwrap();
    let answer: Value = serde_json::from_str(answer.get()).unwrap();
    assert_eq!(answer["index"]["notes"], 602);
    assert_eq!(answer["index"]["pending"], 0);
    assert!(counter.heard.load(Ordering::SeqCst) > 0);
}

#[test]
fn a_request_is_called_off_and_the_bridge_goes_on() {
    let house = House::with(NOTES, |options| options.table = endless_table());
    let impatient = Counter {
        heard: AtomicUsize::new(0),
        enough: 0,
    };
    let endless = request(As::Owner, "test.endless", json!({}));
    let outcome = house.client().send(&endless, &impatient);
    assert_eq!(outcome.unwrap_err().code, "interrupted");
    // It ends only where the bridge is told that nobody waits.
    house.wait_until_idle();
    assert!(house.ask("search", json!({"query": "kiln"})).is_ok());
}

#[test]
fn one_connection_asks_many_times() {
    let house = House::new(NOTES);
    let mut client = house.client();
    let first: Value = client
        .get(&request(As::Owner, "search", json!({"query": "kiln"})))
        .unwrap();
    assert_eq!(first["passages"][0]["note"], "Kiln.md");
    let wrong = client.get::<Value>(&request(As::Owner, "search", json!({"quary": "x"})));
    assert_eq!(wrong.unwrap_err().code, "wrong_use");
    let unknown = client.get::<Value>(&request(As::Owner, "fly", json!({})));
    assert_eq!(unknown.unwrap_err().code, "no_such_ability");
    let again: Value = client
        .get(&request(As::Owner, "search", json!({"query": "kiln"})))
        .unwrap();
    assert_eq!(first, again);
}

#[test]
fn a_program_may_ask_in_the_name_of_another() {
    let house = House::new(NOTES);
    house.approve("scribe", |approval| {
        approval.off = vec!["related".to_string()];
        approval.reader = Reader::Remote;
    });
    let as_scribe = || As::Agent("scribe".to_string());
    assert!(
        house
            .ask_as(as_scribe(), "search", json!({"query": "kiln"}))
            .is_ok()
    );
    let off = house.ask_as(as_scribe(), "links", json!({})).unwrap_err();
    assert_eq!(off.code, "tool_off");
    let unknown = house.ask_as(As::Agent("nobody".to_string()), "search", json!({}));
    assert_eq!(unknown.unwrap_err().code, "no_such_agent");
    // A client without an approval reads and changes nothing.
    let manage = house.ask_as(As::LocalClient, "rebuild", json!({"update": true}));
    assert_eq!(manage.unwrap_err().code, "out_of_scope");

    let offer = |caller| -> Offer { house.client().get(&Request::Offered { caller }).unwrap() };
    let offered = offer(as_scribe());
    assert_eq!(offered.vaults, ["Notes"]);
    assert!(
        !offered
            .capabilities
            .contains(&"knowledge.links".to_string())
    );
    assert!(
        !offered
            .capabilities
            .contains(&"knowledge.rebuild".to_string())
    );
    assert!(
        offer(As::Owner)
            .capabilities
            .contains(&"knowledge.rebuild".to_string())
    );
}

#[test]
fn other_settings_are_for_the_program_itself() {
    let house = House::new(NOTES);
    let mut ask = request(As::Owner, "search", json!({"query": "kiln"}));
    if let Request::Ask { print, .. } = &mut ask {
        *print = Some("another".to_string());
    }
    let refused = house.client().get::<Value>(&ask).unwrap_err();
    assert_eq!(refused.code, "other_settings");
}

#[test]
fn lines_that_are_no_requests_are_answered_and_too_long_ones_end_the_talk() {
    let house = House::with(NOTES, |options| options.limits.line = 1000);
    let stream = UnixStream::connect(house.places.socket()).unwrap();
    let mut writing = stream.try_clone().unwrap();
    let mut lines = BufReader::new(stream).lines();
    let greeting: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    assert_eq!(greeting["instance"], house.state.instance);
    for rubbish in [
        "",
        "{",
        "{\"do\":\"fly\"}",
        "{\"do\":\"ask\",\"x\":1}",
        "\u{ff}",
        "[]",
    ] {
        writeln!(writing, "{rubbish}").unwrap();
        let reply: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        assert_eq!(reply["error"]["code"], "not_json", "{rubbish}");
    }
    // It may have closed before the whole was sent.
    let _ = writing.write_all("x".repeat(2000).as_bytes());
    let reply: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    assert_eq!(reply["error"]["code"], "request_too_large");
    assert!(lines.next().is_none());
    assert!(Client::connect(&house.places).is_ok());
}

/// A bridge of another version, as far as a client can see: it greets, and knows only to end.
#[test]
fn a_bridge_of_another_version_is_not_asked_and_can_be_ended() {
    let house = House::new(NOTES);
    let (places, state) = (house.places.clone(), house.places.state());
    let text = std::fs::read_to_string(&state).unwrap();
    house.stop();
    let (outcome, _, _vault) = house.ended();
    outcome.unwrap();
    let private = |path: &std::path::Path| {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(path, mode).unwrap();
    };
    let instance: Value = serde_json::from_str(&text).unwrap();
    let instance = instance["instance"].as_str().unwrap().to_string();
    for (version, protocol) in [
        ("0.0.9", lorewell_bridge::PROTOCOL),
        (lorewell_bridge::VERSION, 99),
    ] {
        let said = text.replace(lorewell_bridge::VERSION, version);
        std::fs::write(&state, said).unwrap();
        private(&state);
        let _ = std::fs::remove_file(places.socket());
        let listener = std::os::unix::net::UnixListener::bind(places.socket()).unwrap();
        private(places.socket());
        let greeting = json!({"protocol": protocol, "version": version, "instance": instance});
        let serving = std::thread::spawn(move || {
            let mut asked = Vec::new();
            for stream in listener.incoming().take(2) {
                let mut stream = stream.unwrap();
                writeln!(stream, "{greeting}").unwrap();
                let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
                if let Some(Ok(line)) = lines.next() {
                    asked.push(line);
                    let _ = writeln!(stream, "{}", json!({"output": {}}));
                }
            }
            asked
        });
        let error = Client::connect(&places).err().unwrap();
        assert_eq!(error.code(), "bridge_other_version", "{error}");
        assert!(error.hint().contains("--stop"), "{error}");
        match Client::of_any_version(&places) {
            // Of another program, of the same protocol: it may be asked to end.
            Ok(mut client) => drop(client.get::<Value>(&Request::Stop).unwrap()),
            Err(error) => assert_eq!(error.code(), "bridge_other_version", "{error}"),
        }
        let asked = serving.join().unwrap();
        let wanted: &[&str] = match protocol {
            99 => &[],
            _ => &["{\"do\":\"stop\"}"],
        };
        assert_eq!(asked, wanted, "nothing was asked of it but to end");
    }
}
