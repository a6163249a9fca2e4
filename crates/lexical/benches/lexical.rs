//! Speed of building, merging and searching segments, on a made-up corpus with Zipf-distributed
//! words.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use lorewell_lexical::{Bitmap, Field, Live, QueryTerm, Segment, SegmentBuilder, merge, search};

const PASSAGES: u32 = 50_000;
const WORDS: usize = 140;
const VOCABULARY: usize = 80_000;

/// A small deterministic random number generator (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A rank, with a probability that falls as 1/rank.
    fn rank(&mut self) -> usize {
        let uniform = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        ((VOCABULARY as f64).powf(uniform) as usize).min(VOCABULARY - 1)
    }
}

fn vocabulary(random: &mut Random) -> Vec<String> {
    let letters = |random: &mut Random, rank: usize| {
        let length = 2 + rank.ilog2() as usize / 3 + (random.next() % 4) as usize;
        (0..length)
            .map(|_| (b'a' + (random.next() % 26) as u8) as char)
            .collect()
    };
    (1..=VOCABULARY).map(|rank| letters(random, rank)).collect()
}

fn corpus() -> Vec<String> {
    let mut random = Random(1);
    let vocabulary = vocabulary(&mut random);
    let passage = |_| {
        (0..WORDS)
            .map(|_| vocabulary[random.rank()].as_str())
            .collect::<Vec<_>>()
            .join(" ")
    };
    (0..PASSAGES).map(passage).collect()
}

fn build(corpus: &[String]) -> SegmentBuilder {
    let mut builder = SegmentBuilder::new();
    for (number, body) in (0_u32..).zip(corpus) {
        let title = format!(
            "note {} about {}",
            number / 5,
            &body[..body.floor_char_boundary(20)]
        );
        let fields = [
            Field {
                weight: 3,
                text: &title,
            },
            Field {
                weight: 2,
                text: &title,
            },
            Field {
                weight: 1,
                text: body,
            },
        ];
        builder.add(number, u64::from(number), &fields);
    }
    builder
}

/// Ten words from the middle of a passage: some in nearly every passage, some rare.
fn question(corpus: &[String], number: usize) -> Vec<QueryTerm> {
    let body = &corpus[number * 7_919 % corpus.len()];
    let mut tokenizer = lorewell_text::Tokenizer::new();
    let terms = tokenizer.terms(body).into_iter().skip(10).take(10);
    terms.map(|term| QueryTerm { term, weight: 1.0 }).collect()
}

fn lexical(criterion: &mut Criterion) {
    let corpus = corpus();
    let mut group = criterion.benchmark_group("lexical");
    group.sample_size(10);
    group.bench_function("build 50k passages", |bencher| {
        bencher.iter(|| black_box(build(&corpus).finish().len()))
    });
    let segment = Segment::from_bytes(build(&corpus).finish()).expect("a fresh image");
    let live = [Live {
        segment: &segment,
        dead: None,
    }];
    group.bench_function("merge 50k passages", |bencher| {
        bencher.iter(|| black_box(merge(&live).map(|image| image.len())))
    });
    group.bench_function("verify 50k passages", |bencher| {
        bencher.iter(|| black_box(segment.verify().is_ok()))
    });

    group.sample_size(100);
    let questions: Vec<_> = (0..200).map(|number| question(&corpus, number)).collect();
    let mut dead = Bitmap::new();
    (0..PASSAGES)
        .step_by(500)
        .for_each(|doc| _ = dead.insert(doc));
    for (name, dead, k) in [
        ("search 10 words, top 100", None, 100),
        ("search 10 words, top 10", None, 10),
        ("search 10 words, top 100, 100 dead", Some(&dead), 100),
    ] {
        let live = [Live {
            segment: &segment,
            dead,
        }];
        let mut next = 0;
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                next = (next + 1) % questions.len();
                black_box(search(&live, &questions[next], k, None).map(|hits| hits.len()))
            });
        });
    }
    group.finish();
}

criterion_group!(benches, lexical);
criterion_main!(benches);
