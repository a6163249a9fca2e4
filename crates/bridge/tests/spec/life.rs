//! From a start to an end: faults, rest, graceful stops.

use std::fs;
use std::io::Read;
use std::sync::mpsc;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use lorewell_bridge::{As, Doing, Request, is_running};
use lorewell_capabilities::{Desk, Entry, Failure, table};
use serde_json::{Value, json};

use crate::house::{House, NOTES, endless_table, request};

/// Holds requests up until the test lets them go.
static GATE: (Mutex<(usize, bool)>, Condvar) = (Mutex::new((0, false)), Condvar::new());

/// The usual abilities, one that panics in the words of a note, and one that takes its time.
fn strange_table() -> &'static [Entry] {
    let mut entries = table().to_vec();
    let mut strange = entries[0];
    strange.id = "test.panic";
    strange.run = |_: &Desk<'_>, _: Value| panic!("Cone 6, slow, eleven hours");
    entries.push(strange);
    strange.id = "test.slow";
    strange.run = |_: &Desk<'_>, _: Value| -> Result<Value, Failure> {
        let (state, bell) = &GATE;
        let mut state = state.lock().unwrap();
        state.0 += 1;
        bell.notify_all();
        while !state.1 {
            state = bell.wait(state).unwrap();
        }
        Ok(json!({"done": true}))
    };
    entries.push(strange);
    entries.leak()
}

#[test]
fn a_fault_in_one_request_harms_no_other() {
    let house = House::with(NOTES, |options| options.table = strange_table());
    for _ in 0..20 {
        let error = house.ask("test.panic", json!({})).unwrap_err();
        assert_eq!(error.code, "internal");
        assert!(!error.message.contains("Cone"), "{error}");
        assert!(house.ask("search", json!({"query": "kiln"})).is_ok());
    }
    let token = house.approve("scribe", |_| {});
    let answer = house.post(&token, "/v1/panic", &json!({}));
    assert_eq!((answer.status, answer.code().as_str()), (500, "internal"));
    assert!(!house.files().contains("Cone"));
    let doing: Doing = house.client().get(&Request::State).unwrap();
    assert_eq!(doing.running, 0);
}

#[test]
fn a_stop_lets_requests_end_and_leaves_nothing_behind() {
    let house = House::with(NOTES, |options| options.table = strange_table());
    let house = Arc::new(house);
    let (send, answers) = mpsc::channel();
    let token = house.approve("scribe", |_| {});
    let (over_socket, over_http) = (Arc::clone(&house), Arc::clone(&house));
    let of_http = send.clone();
    let asking = [
        thread::spawn(move || {
            let answer = over_socket.ask("test.slow", json!({})).map_err(|e| e.code);
            drop(over_socket);
            send.send(answer).unwrap();
        }),
        thread::spawn(move || {
            let answer = over_http.post(&token, "/v1/slow", &json!({}));
            drop(over_http);
            of_http.send(Ok(answer.json())).unwrap();
        }),
    ];
    let (state, bell) = &GATE;
    let mut both = state.lock().unwrap();
    while both.0 < 2 {
        both = bell.wait(both).unwrap();
    }
    house.stop();
    assert!(is_running(&house.places), "two requests are being answered");
    both.1 = true;
    bell.notify_all();
    drop(both);
    for _ in 0..2 {
        assert_eq!(answers.recv().unwrap(), Ok(json!({"done": true})));
    }
    asking.into_iter().for_each(|thread| thread.join().unwrap());
    let house = Arc::into_inner(house).unwrap();
    let (outcome, places, _vault) = house.ended();
    outcome.unwrap();
    assert!(!places.socket().exists() && !places.state().exists());
    assert!(!is_running(&places));
}

#[test]
fn a_request_over_the_socket_has_its_time_and_the_talk_goes_on() {
    let house = House::with(NOTES, |options| {
        options.table = endless_table();
        options.limits.time = Duration::from_millis(300);
        options.limits.build_time = Duration::from_millis(300);
    });
    for caller in [As::Owner, As::RemoteClient] {
        let mut client = house.client();
        let endless = request(caller.clone(), "test.endless", json!({}));
        let error = client.get::<Value>(&endless).unwrap_err();
        assert_eq!(error.code, "took_too_long");
        // The work was called off, and the same client may ask again.
        let again = client.get::<Value>(&request(caller, "test.fly", json!({})));
        assert_eq!(again.unwrap_err().code, "no_such_ability");
    }
    house.wait_until_idle();
}

#[test]
fn a_bridge_that_nobody_asks_ends_when_it_should() {
    let house = House::with(NOTES, |options| {
        options.exit_after = Some(Duration::from_millis(300));
    });
    house.ask("search", json!({"query": "kiln"})).unwrap();
    let (outcome, places, _vault) = house.ended();
    outcome.unwrap();
    assert!(!is_running(&places));
}

/// Whether this process, in which the bridge runs, has a catalogue of the house's open.
#[cfg(target_os = "linux")]
fn has_open_catalogue(house: &House) -> bool {
    let files = fs::read_dir("/proc/self/fd").unwrap().flatten();
    let mut targets = files.filter_map(|file| fs::read_link(file.path()).ok());
    targets
        .any(|path| path.starts_with(&house.environment.home) && path.ends_with("catalogue.sqlite"))
}

#[cfg(target_os = "linux")]
fn wait_until_catalogues_are_closed(house: &House) {
    let until = std::time::Instant::now() + crate::house::DEADLINE;
    while has_open_catalogue(house) {
        assert!(std::time::Instant::now() < until, "it does not rest");
        thread::yield_now();
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_view_stays_open_between_questions_until_it_rests() {
    let house = House::new(NOTES);
    for _ in 0..2 {
        house.ask("search", json!({"query": "kiln"})).unwrap();
    }
    assert!(has_open_catalogue(&house));
}

#[test]
fn it_answers_after_a_rest_as_before() {
    let house = House::with(NOTES, |options| options.rest_after = Duration::ZERO);
    let first = house.ask("search", json!({"query": "kiln"})).unwrap();
    for _ in 0..20 {
        #[cfg(target_os = "linux")]
        wait_until_catalogues_are_closed(&house);
        assert_eq!(
            house.ask("search", json!({"query": "kiln"})).unwrap(),
            first
        );
    }
}

#[test]
fn listeners_to_news_are_let_go_at_a_stop() {
    use std::io::Write;
    let house = House::new(NOTES);
    let token = house.approve("scribe", |_| {});
    let bearer = format!("Bearer {token}");
    let mut stream = house.connect();
    let head = house.head(("GET", "/v1/events"), &[("Authorization", &bearer)]);
    stream.write_all(head.as_bytes()).unwrap();
    let mut begun = [0; 16];
    stream.read_exact(&mut begun).unwrap();
    house.stop();
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest);
    house.ended().0.unwrap();
}

#[test]
fn a_vault_that_is_not_listed_is_opened_by_its_owner_alone() {
    let house = House::new(NOTES);
    let other = house.vault.beside("Other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("Boat.md"), "The boat is surveyed in May.").unwrap();
    let mut ask = request(As::Owner, "search", json!({"query": "boat"}));
    if let Request::Ask { vault, .. } = &mut ask {
        *vault = Some(other.display().to_string());
    }
    let found: Value = house.client().get(&ask).unwrap();
    assert_eq!(
        (&found["vault"], &found["passages"][0]["note"]),
        (&json!("Other"), &json!("Boat.md"))
    );
    let doing: Doing = house.client().get(&Request::State).unwrap();
    assert_eq!(doing.open, [other]);
}
