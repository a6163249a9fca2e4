//! Many clients at once while notes change. A short while in the gate; `LOREWELL_LOAD_SECONDS`
//! for longer:
//!
//! ```sh
//! LOREWELL_LOAD_SECONDS=60 cargo test --release -p lorewell-bridge --test spec load -- --nocapture
//! ```
//!
//! (`cargo xtask bench-load`.) It prints the rows of docs/evals/load.md.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use lorewell_bridge::As;
use lorewell_engine::Quiet;
use lorewell_testkit::TempVault;
use serde_json::json;

use crate::house::{House, request};

const CLIENTS: usize = 50;
const NOTES: usize = 1000;

/// How long, in seconds.
fn seconds() -> u64 {
    let asked = std::env::var("LOREWELL_LOAD_SECONDS").ok();
    asked.and_then(|text| text.parse().ok()).unwrap_or(2)
}

#[test]
fn fifty_clients_ask_while_notes_change_and_none_hears_an_error() {
    let vault = TempVault::empty();
    for number in 0..NOTES {
        vault.write(&format!("{:02}/{number}.md", number % 50), text(number, 0));
    }
    let house = House::around(vault, "", |options| options.limits.of_agent = 64).unwrap();
    house.ask("search", json!({"query": "kiln"})).unwrap();
    let token = house.approve("scribe", |_| {});
    let (stop, edits) = (AtomicBool::new(false), AtomicUsize::new(0));
    println!(
        "| build | road | time | clients | requests | edits of both | errors | p50, ms | p99, ms | worst, ms |"
    );
    let times: Vec<(&str, Duration)> = thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| {
                let (house, token, stop) = (&house, &token, &stop);
                scope.spawn(move || ask_until(house, token, client, stop))
            })
            .collect();
        let until = Instant::now() + Duration::from_secs(seconds());
        let (house, stop, edits) = (&house, &stop, &edits);
        scope.spawn(move || {
            // As fast as a person who saves all the time, and faster.
            while Instant::now() < until {
                let edit = edits.fetch_add(1, Ordering::SeqCst);
                let number = edit * 7 % NOTES;
                let name = format!("{:02}/{number}.md", number % 50);
                house.vault.write(".saving.tmp", text(number, edit));
                house.vault.rename(".saving.tmp", &name);
                thread::park_timeout(Duration::from_millis(100));
            }
            stop.store(true, Ordering::SeqCst);
        });
        clients
            .into_iter()
            .flat_map(|client| client.join().unwrap())
            .collect()
    });
    let (socket, http): (Vec<_>, Vec<_>) =
        times.into_iter().partition(|(road, _)| *road == "socket");
    let edits = edits.load(Ordering::SeqCst);
    // A row of a table for each road, to be copied into docs/evals/load.md.
    for (road, mut times) in [("socket", socket), ("HTTP", http)] {
        times.sort_by_key(|(_, time)| *time);
        assert!(times.len() >= CLIENTS / 2, "{road}");
        let at = |share: f64| {
            times[((times.len() - 1) as f64 * share) as usize]
                .1
                .as_secs_f64()
                * 1e3
        };
        println!(
            "| {} | {road} | {} s | {} | {} | {edits} | 0 | {:.1} | {:.1} | {:.1} |",
            if cfg!(debug_assertions) {
                "debug"
            } else {
                "release"
            },
            seconds(),
            CLIENTS / 2,
            times.len(),
            at(0.5),
            at(0.99),
            at(1.0)
        );
    }
}

fn text(number: usize, edit: usize) -> String {
    format!(
        "# Note {number}\n\nTake {edit}. {}",
        "the kiln was slow; ".repeat(40)
    )
}

/// Asks over one road or the other until it is to stop; how long each took.
fn ask_until(
    house: &House,
    token: &str,
    client: usize,
    stop: &AtomicBool,
) -> Vec<(&'static str, Duration)> {
    let mut times = Vec::new();
    let mut connection = house.client();
    while !stop.load(Ordering::SeqCst) {
        let question = format!("how slow was the kiln in note {}", times.len() * 31 % NOTES);
        let began = Instant::now();
        let road = if client.is_multiple_of(2) {
            let ask = request(As::Owner, "search", json!({"query": question}));
            connection.send(&ask, &Quiet).unwrap();
            "socket"
        } else {
            let answer = house.post(token, "/v1/search", &json!({"query": question}));
            assert_eq!(answer.status, 200, "{answer:?}");
            "HTTP"
        };
        times.push((road, began.elapsed()));
    }
    times
}
