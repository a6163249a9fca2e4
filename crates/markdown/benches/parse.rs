//! How fast notes are read: generated notes of the length that notes have.

use std::fmt::Write;
use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use lorewell_markdown::{Settings, parse};

const WORDS: [&str; 16] = [
    "kiln", "glaze", "the", "firing", "of", "a", "second", "cone", "and", "water", "in", "pottery",
    "with", "slow", "cooling", "notes",
];

/// Pseudo-random numbers that are the same on every machine (Knuth's MMIX generator).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 40).unwrap_or(0) % limit
    }

    fn sentence(&mut self, text: &mut String) {
        for _ in 0..8 + self.below(12) {
            text.push_str(WORDS[self.below(WORDS.len())]);
            text.push(' ');
        }
        text.pop();
        text.push_str(". ");
    }
}

/// A note of about `length` bytes: properties, sections, paragraphs, a list, links, tags, a fence.
fn note(seed: u64, length: usize) -> String {
    let mut numbers = Numbers(seed);
    let mut text =
        format!("---\ntitle: Note {seed}\ntags: [kiln, log]\ncreated: 2024-05-01\n---\n");
    while text.len() < length {
        let _ = write!(text, "\n## Section {}\n\n", numbers.below(100));
        for _ in 0..3 {
            (0..4).for_each(|_| numbers.sentence(&mut text));
            let _ = write!(
                text,
                "See [[Note {}|that]], [a page](Other%20note.md) and **bold** words. #tag{}\n\n",
                numbers.below(100),
                numbers.below(9)
            );
        }
        for _ in 0..5 {
            text.push_str("- ");
            numbers.sentence(&mut text);
            text.push('\n');
        }
        text.push_str("\n```rust\nlet cone = 6; // not a heading\n```\n");
    }
    text
}

fn benches(criterion: &mut Criterion) {
    let notes: Vec<String> = (0..200).map(|seed| note(seed, 4_100)).collect();
    let bytes: usize = notes.iter().map(String::len).sum();
    let mut group = criterion.benchmark_group("parse");
    group.throughput(Throughput::Bytes(bytes as u64));
    group.bench_function("200 notes of 4,100 characters", |bencher| {
        let settings = Settings::default();
        bencher.iter(|| {
            notes
                .iter()
                .map(|note| parse(black_box(note), &settings).note.passages.len())
                .sum::<usize>()
        });
    });
    group.finish();
}

criterion_group!(group, benches);
criterion_main!(group);
