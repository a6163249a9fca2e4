//! Speed of a full build and of taking in one edited note, on a made-up vault of 300 notes.

use std::cell::Cell;
use std::fs;
use std::path::Path;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use lorewell_embed::StaticModel;
use lorewell_index::{IndexSettings, Layout, Lock, Quiet, UpdateReport, Writer};
use lorewell_testkit::TempVault;
use lorewell_vault::{Rules, Vault};

const NOTES: usize = 300;
const WORDS: [&str; 24] = [
    "kiln", "glaze", "the", "firing", "of", "a", "second", "cone", "and", "water", "in", "pottery",
    "with", "slow", "cooling", "notes", "ash", "clay", "wheel", "is", "dry", "before", "thin",
    "wall",
];

/// A note of four sections; the number decides every word.
fn note(number: usize) -> String {
    let mut state = number as u64 + 1;
    let mut word = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        WORDS[(state >> 33) as usize % WORDS.len()]
    };
    let mut text = format!("---\ntags: [bench]\n---\nSee [[Note {}]].\n", number / 2);
    for section in 1..=4 {
        text += &format!("\n## Section {section}\n\n");
        for index in 1..=150 {
            text += word();
            text += if index % 15 == 0 { ".\n" } else { " " };
        }
    }
    text
}

fn vault() -> TempVault {
    let vault = TempVault::empty();
    for number in 0..NOTES {
        vault.write(
            &format!("Folder {}/Note {number}.md", number % 7),
            note(number),
        );
    }
    vault
}

fn update(notes: &TempVault, index: &Path) -> UpdateReport {
    let embedder = StaticModel::built_in();
    let (vault, rules) = (
        Vault::open(notes.root()).expect("the vault"),
        Rules::default(),
    );
    let listing = vault.list(&rules).expect("the listing");
    let layout = Layout::new(index);
    let lock = Lock::wait(&layout).expect("the lock");
    let mut writer = Writer::open(&layout, lock, embedder).expect("the index");
    let settings = IndexSettings::default();
    let report = writer.update(&vault, &listing, &settings, embedder, &Quiet);
    report.expect("the update")
}

fn build(c: &mut Criterion) {
    let vault = vault();
    let index = vault.beside("index");
    let mut group = c.benchmark_group("300 notes");
    group.sample_size(20);
    group.bench_function("full build", |b| {
        let clear = || {
            if index.exists() {
                fs::remove_dir_all(&index).expect("the index folder");
            }
        };
        b.iter_batched(
            clear,
            |()| assert_eq!(update(&vault, &index).taken_in, NOTES),
            BatchSize::PerIteration,
        );
    });
    update(&vault, &index);
    let edits = Cell::new(0);
    group.bench_function("one edited note", |b| {
        let edit = || {
            edits.set(edits.get() + 1);
            let text = format!("{}\nEdit {}.\n", note(5), edits.get());
            vault.write("Folder 5/Note 5.md", text);
        };
        b.iter_batched(
            edit,
            |()| assert_eq!(update(&vault, &index).taken_in, 1),
            BatchSize::PerIteration,
        );
    });
    group.bench_function("nothing changed", |b| {
        b.iter(|| assert_eq!(update(&vault, &index).taken_in, 0));
    });
    group.finish();
}

criterion_group!(benches, build);
criterion_main!(benches);
