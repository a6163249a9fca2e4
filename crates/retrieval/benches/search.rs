//! Speed of a search: every lane, and each lane alone, over a made-up vault of 300 notes.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use lorewell_embed::{Embedder, StaticModel};
use lorewell_index::{IndexSettings, Layout, Lock, Quiet, Snapshot, Writer};
use lorewell_retrieval::{Lane, Request, search};
use lorewell_testkit::TempVault;
use lorewell_vault::{Rules, Vault};

const WORDS: [&str; 24] = [
    "kiln", "glaze", "the", "firing", "of", "a", "second", "cone", "and", "water", "in", "pottery",
    "with", "slow", "cooling", "notes", "ash", "clay", "wheel", "is", "dry", "before", "thin",
    "wall",
];
const QUESTION: &str = "How slow is the cooling of a thin wall before the second firing?";

/// A note of four sections; the number decides every word.
fn note(number: usize) -> String {
    let mut state = number as u64 + 1;
    let mut word = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        WORDS[(state >> 33) as usize % WORDS.len()]
    };
    let mut text = String::new();
    for section in 1..=4 {
        text += &format!("\n## Section {section}\n\n");
        for index in 1..=150 {
            text += word();
            text += if index % 15 == 0 { ".\n" } else { " " };
        }
    }
    text
}

fn index(notes: &TempVault) -> Layout {
    for number in 0..300 {
        notes.write(
            &format!("Folder {}/Note {number}.md", number % 7),
            note(number),
        );
    }
    let (vault, rules) = (
        Vault::open(notes.root()).expect("the vault"),
        Rules::default(),
    );
    let listing = vault.list(&rules).expect("the listing");
    let layout = Layout::new(notes.beside("index"));
    let embedder = StaticModel::built_in();
    let lock = Lock::wait(&layout).expect("the lock");
    let mut writer = Writer::open(&layout, lock, embedder).expect("the index");
    let settings = IndexSettings::default();
    writer
        .update(&vault, &listing, &settings, embedder, &Quiet)
        .expect("the build");
    layout
}

fn searches(c: &mut Criterion) {
    let notes = TempVault::empty();
    let layout = index(&notes);
    let embedder = StaticModel::built_in();
    let open = || Snapshot::open(&layout, embedder.fingerprint().as_str()).expect("the index");
    let snapshot = open();
    let mut group = c.benchmark_group("300 notes");
    let usual = Request::new(QUESTION);
    let mut run = |name: &str, request: &Request| {
        group.bench_function(name, |b| {
            b.iter(|| search(&snapshot, embedder, black_box(request)).expect("an answer"));
        });
    };
    run("every lane", &usual);
    for lane in Lane::ALL {
        run(
            lane.name(),
            &Request {
                lanes: vec![lane],
                ..usual.clone()
            },
        );
    }
    run("a name", &Request::new("Note 17"));
    group.bench_function("open and search", |b| {
        b.iter(|| search(&open(), embedder, &usual).expect("an answer"));
    });
    group.finish();
}

criterion_group!(benches, searches);
criterion_main!(benches);
