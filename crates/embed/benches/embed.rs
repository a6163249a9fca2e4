//! How fast the built-in model embeds: `cargo bench -p lorewell-embed`.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use lorewell_embed::{Embedder, PassageInput, StaticModel};

const PASSAGES: usize = 2_000;

/// Passages of about 850 characters from the words of the model's own card, common ones often.
fn passages() -> Vec<String> {
    let card = include_str!("../models/static-en-256/MODEL_CARD.md");
    let words: Vec<&str> = card.split_whitespace().collect();
    let mut state = 7u64;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as usize
    };
    let passage = |_| {
        let mut text = String::new();
        while text.len() < 850 {
            let place = next() % words.len();
            text.push_str(words[place * place / words.len()]);
            text.push(' ');
        }
        text
    };
    (0..PASSAGES).map(passage).collect()
}

fn embed(criterion: &mut Criterion) {
    let model = StaticModel::built_in();
    let prose = passages();
    let headings = ["Firing".to_owned(), "The second firing".to_owned()];
    let tags = ["ceramics".to_owned()];
    let inputs: Vec<PassageInput<'_>> = prose
        .iter()
        .map(|prose| PassageInput {
            title: "A log of the kiln",
            headings: &headings,
            aliases: &[],
            tags: &tags,
            prose,
        })
        .collect();
    let mut group = criterion.benchmark_group("embed");
    group.throughput(Throughput::Elements(PASSAGES as u64));
    group.bench_function("passages", |bench| {
        bench.iter(|| model.embed_passages(black_box(&inputs)));
    });
    group.throughput(Throughput::Elements(1));
    group.bench_function("question", |bench| {
        bench.iter(|| model.embed_question(black_box("how long does the second firing take?")));
    });
    group.finish();
}

criterion_group!(benches, embed);
criterion_main!(benches);
