//! Properties of ranking: an answer is what a naive BM25F computes, however the passages are spread
//! over segments.
#![expect(clippy::unwrap_used, reason = "the helpers are parts of tests")]

use std::collections::{BTreeMap, BTreeSet};

use lorewell_lexical::{
    Bitmap, Field, Hit, Live, Neighbour, Params, QueryTerm, Sample, Segment, SegmentBuilder,
    Wanted, document_frequency, explain, explain_with, merge, neighbours, search, search_with,
    statistics,
};
use proptest::prelude::*;

/// A passage of the model: title words (weight 3) and body words (weight 1), as numbers.
#[derive(Clone, Debug)]
struct Passage {
    id: u32,
    tie: u64,
    title: Vec<u8>,
    body: Vec<u8>,
}

/// Words that every tokenizer keeps as they are.
fn word(number: u8) -> String {
    format!("q{}z", (b'a' + number % 26) as char)
}

fn text(words: &[u8]) -> String {
    words
        .iter()
        .map(|number| word(*number))
        .collect::<Vec<_>>()
        .join(" ")
}

fn add(builder: &mut SegmentBuilder, passage: &Passage) {
    let (title, body) = (text(&passage.title), text(&passage.body));
    builder.add(
        passage.id,
        passage.tie,
        &[
            Field {
                weight: 3,
                text: &title,
            },
            Field {
                weight: 1,
                text: &body,
            },
        ],
    );
}

fn segment(passages: &[Passage]) -> Segment {
    let mut builder = SegmentBuilder::new();
    passages
        .iter()
        .for_each(|passage| add(&mut builder, passage));
    Segment::from_bytes(builder.finish()).unwrap()
}

/// Segments with dead passages, and what lives in them.
struct Spread {
    parts: Vec<(Segment, Bitmap)>,
}

impl Spread {
    /// Puts passage `i` into segment `at[i]`, together with an older text of it, dead, in another
    /// segment.
    fn new(passages: &[Passage], at: &[usize], parts: usize, old: &[Passage]) -> Self {
        let mut contents = vec![Vec::new(); parts];
        let mut dead = vec![Vec::new(); parts];
        for (passage, at) in passages.iter().zip(at) {
            contents[at % parts].push(passage.clone());
        }
        for (number, passage) in old.iter().enumerate() {
            let part = at.get(number).map_or(0, |at| (at + 1) % parts);
            if contents[part].iter().all(|other| other.id != passage.id) {
                contents[part].push(passage.clone());
                dead[part].push(passage.id);
            }
        }
        let parts = contents.iter().zip(dead).map(|(passages, dead)| {
            let segment = segment(passages);
            let mut bitmap = Bitmap::new();
            for id in dead {
                bitmap.insert(segment.doc_of(id).unwrap().unwrap());
            }
            (segment, bitmap)
        });
        Self {
            parts: parts.collect(),
        }
    }

    fn live(&self) -> Vec<Live<'_>> {
        self.parts
            .iter()
            .map(|(segment, dead)| Live {
                segment,
                dead: (dead.count() > 0).then_some(dead),
            })
            .collect()
    }
}

/// A length as one byte of a segment keeps it, computed with floats.
fn kept_length(length: u32) -> u32 {
    if length < 32 {
        return length;
    }
    let step = 2_f64.powi(f64::from(length).log2().floor() as i32 - 4);
    ((f64::from(length) / step).floor() * step) as u32
}

/// BM25F by its definition.
fn naive(
    params: Params,
    passages: &[Passage],
    terms: &[QueryTerm],
    k: usize,
    allow: &dyn Fn(u32) -> bool,
) -> Vec<Hit> {
    let counted: Vec<(BTreeMap<String, u32>, u32)> = passages
        .iter()
        .map(|passage| {
            let mut counts = BTreeMap::new();
            for (words, weight) in [(&passage.title, 3), (&passage.body, 1)] {
                words
                    .iter()
                    .for_each(|number| *counts.entry(word(*number)).or_insert(0) += weight);
            }
            (
                counts,
                kept_length(3 * passage.title.len() as u32 + passage.body.len() as u32),
            )
        })
        .collect();
    let n = passages.len() as f64;
    let average = (counted
        .iter()
        .map(|(_, length)| f64::from(*length))
        .sum::<f64>()
        / n) as f32;
    let average = if average > 0.0 { average } else { 1.0 };
    let having = |term: &QueryTerm| {
        counted
            .iter()
            .filter(|(counts, _)| counts.contains_key(&term.term))
            .count() as f64
    };
    let frequencies: Vec<f64> = terms.iter().map(having).collect();
    let mut hits = Vec::new();
    for (passage, (counts, length)) in passages.iter().zip(&counted) {
        let norm = params.k1 * (1.0 - params.b + params.b * *length as f32 / average);
        let (mut score, mut matched) = (0.0, 0);
        for (bit, term) in terms.iter().enumerate() {
            let Some(tf) = counts.get(&term.term) else {
                continue;
            };
            matched |= 1 << bit;
            let df = frequencies[bit];
            let idf = (1.0 + (n - df + 0.5) / (df + 0.5)).ln() as f32;
            let tf = (*tf).min(255) as f32;
            score += term.weight * idf * (params.k1 + 1.0) * (tf / (tf + norm));
        }
        if score > 0.0 && allow(passage.id) {
            hits.push(Hit {
                passage: passage.id,
                score,
                tie: passage.tie,
                matched,
            });
        }
    }
    hits.sort_by(|a, b| {
        b.score
            .total_cmp(&a.score)
            .then(a.tie.cmp(&b.tie))
            .then(a.passage.cmp(&b.passage))
    });
    hits.truncate(k);
    hits
}

/// What a neighbour is worth in these tests.
fn worth(together: u32, passages: u32, frequency: u32) -> f32 {
    together as f32 / passages as f32 - frequency as f32 / 100.0
}

/// What goes together with a word, by counting.
fn naive_neighbours(passages: &[Passage], asked: &str, wanted: Wanted) -> Sample {
    let terms = [QueryTerm {
        term: asked.to_owned(),
        weight: 1.0,
    }];
    let best = naive(
        Params::default(),
        passages,
        &terms,
        wanted.passages,
        &|_| true,
    );
    let words = |passage: &Passage| {
        let all = passage.title.iter().chain(&passage.body);
        all.map(|number| word(*number)).collect::<BTreeSet<_>>()
    };
    let having = |term: &String, ids: Option<&[u32]>| {
        let within = |passage: &&Passage| ids.is_none_or(|ids| ids.contains(&passage.id));
        let counted = passages
            .iter()
            .filter(within)
            .filter(|passage| words(passage).contains(term));
        counted.count() as u32
    };
    let ids: Vec<u32> = best.iter().map(|hit| hit.passage).collect();
    let looked_at = ids.len() as u32;
    let all: BTreeSet<String> = passages.iter().flat_map(words).collect();
    let neighbours = all.into_iter().filter(|term| term != asked).map(|term| {
        let (together, document_frequency) = (having(&term, Some(&ids)), having(&term, None));
        Neighbour {
            term,
            together,
            document_frequency,
            worth: worth(together, looked_at, document_frequency),
        }
    });
    let mut neighbours: Vec<Neighbour> = neighbours
        .filter(|found| {
            found.together >= wanted.together
                && found.document_frequency <= wanted.common
                && found.worth > 0.0
        })
        .collect();
    neighbours.sort_by(|a, b| {
        b.worth
            .total_cmp(&a.worth)
            .then_with(|| a.term.cmp(&b.term))
    });
    neighbours.truncate(wanted.neighbours);
    Sample {
        passages: looked_at,
        neighbours,
    }
}

/// Passages with few words and small ties, so that equal scores and equal ties happen.
fn passages(most: usize) -> impl Strategy<Value = Vec<Passage>> {
    let words = || prop::collection::vec(prop_oneof![4 => 0..4_u8, 1 => 0..26_u8], 0..12);
    let body = prop_oneof![8 => words(), 1 => (0..26_u8, 30..400_usize).prop_map(|(word, times)| vec![word; times])];
    prop::collection::vec((0..3_u64, words(), body, 1..4_u32), 1..most).prop_map(|passages| {
        let mut id = 0;
        let passage = |(tie, title, body, gap)| {
            id += gap;
            Passage {
                id,
                tie,
                title,
                body,
            }
        };
        passages.into_iter().map(passage).collect()
    })
}

fn question() -> impl Strategy<Value = Vec<QueryTerm>> {
    let term = (0..26_u8, prop_oneof![Just(1.0_f32), 0.1..3.0_f32]);
    prop::collection::vec(
        term.prop_map(|(number, weight)| QueryTerm {
            term: word(number % 8),
            weight,
        }),
        1..6,
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn an_answer_is_the_naive_one_for_any_spread_tombstones_merges_and_filter(
        all in passages(60),
        at in prop::collection::vec(0..5_usize, 60),
        old in passages(30),
        parts in 1..5_usize,
        terms in question(),
        k in prop_oneof![1..4_usize, Just(40)],
        modulus in 1..4_u32,
        params in prop_oneof![
            Just(Params::default()),
            (0.2..3.0_f32, 0.0..1.0_f32).prop_map(|(k1, b)| Params { k1, b }),
        ],
    ) {
        let allow = |passage: u32| passage.is_multiple_of(modulus);
        let expected = naive(params, &all, &terms, k, &allow);
        let spread = Spread::new(&all, &at, parts, &old);
        let live = spread.live();
        prop_assert_eq!(&search_with(params, &live, &terms, k, Some(&allow)).unwrap(), &expected);

        let one = segment(&all);
        let rebuilt = [Live { segment: &one, dead: None }];
        prop_assert_eq!(&search_with(params, &rebuilt, &terms, k, Some(&allow)).unwrap(), &expected);
        prop_assert_eq!(statistics(&live).unwrap(), statistics(&rebuilt).unwrap());

        let asked = terms[0].term.as_str();
        let wanted = Wanted {
            passages: k,
            together: 1 + modulus,
            common: 12 * parts as u32,
            neighbours: 1 + k / 2,
        };
        let together = naive_neighbours(&all, asked, wanted);
        prop_assert_eq!(&neighbours(&live, asked, wanted, worth).unwrap(), &together);
        prop_assert_eq!(&neighbours(&rebuilt, asked, wanted, worth).unwrap(), &together);

        let whole = merge(&live).unwrap();
        let half = Segment::from_bytes(merge(&live[..live.len() / 2]).unwrap()).unwrap();
        let mut partly = vec![Live { segment: &half, dead: None }];
        partly.extend(&live[live.len() / 2..]);
        prop_assert_eq!(&search_with(params, &partly, &terms, k, Some(&allow)).unwrap(), &expected);
        let mut rebuilt_bytes = SegmentBuilder::new();
        all.iter().for_each(|passage| add(&mut rebuilt_bytes, passage));
        prop_assert_eq!(&neighbours(&partly, asked, wanted, worth).unwrap(), &together);
        prop_assert!(whole == rebuilt_bytes.finish(), "a merge of everything is the rebuilt file, byte for byte");

        for hit in &expected {
            let why = explain_with(params, &live, &terms, hit.passage).unwrap();
            prop_assert_eq!(why.iter().map(|term| term.contribution).sum::<f32>(), hit.score);
            for (bit, term) in why.iter().enumerate() {
                prop_assert_eq!(term.tf > 0, hit.matched >> bit & 1 == 1);
                prop_assert_eq!(term.document_frequency, document_frequency(&rebuilt, &term.term).unwrap());
                prop_assert_eq!(term.document_frequency, document_frequency(&live, &term.term).unwrap());
            }
        }
    }

    #[test]
    fn builders_that_are_joined_or_fed_in_any_order_make_the_same_file(
        all in passages(40),
        shuffle in prop::collection::vec(any::<u32>(), 40),
        cut in 0..40_usize,
    ) {
        let mut plain = SegmentBuilder::new();
        all.iter().for_each(|passage| add(&mut plain, passage));
        let expected = plain.finish();

        let (mut first, mut second) = (SegmentBuilder::new(), SegmentBuilder::new());
        let mut order: Vec<usize> = (0..all.len()).collect();
        order.sort_by_key(|at| shuffle[*at]);
        for (number, at) in order.iter().enumerate() {
            // The first text of a passage is replaced by the second.
            let builder = if number < cut { &mut first } else { &mut second };
            builder.add(all[*at].id, 9, &[Field { weight: 2, text: "superseded qaz" }]);
            add(builder, &all[*at]);
        }
        let postings = first.postings() + second.postings();
        first.append(second);
        prop_assert_eq!((first.passages(), first.postings()), (2 * all.len(), postings));
        let joined = Segment::from_bytes(first.finish()).unwrap();
        let clean = merge(&[Live { segment: &joined, dead: None }]).unwrap();
        prop_assert!(clean == expected);
    }
}

/// Large enough for many windows and skip entries: every path that small examples do not reach.
#[test]
fn large_segments_answer_exactly_like_small_ones() {
    let mut state = 7_u64;
    let mut next = |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let all: Vec<Passage> = (0..20_000)
        .map(|id| {
            let body = (0..3 + next(4))
                .map(|_| (next(26) * next(26) / 26) as u8)
                .collect();
            Passage {
                id: id * 3,
                tie: next(1 << 40),
                title: Vec::new(),
                body,
            }
        })
        .collect();
    let terms: Vec<QueryTerm> = [0, 3, 9, 25, 25]
        .iter()
        .map(|number| QueryTerm {
            term: word(*number),
            weight: 1.0,
        })
        .collect();
    let (one, dead_one, dead_many) = (segment(&all), 7_777_u32, 5);
    for stride in [0, dead_one, dead_many] {
        let mut dead = Bitmap::new();
        (0..20_000)
            .filter(|doc| stride > 0 && doc % stride == 0)
            .for_each(|doc| _ = dead.insert(doc));
        let alive: Vec<Passage> = all
            .iter()
            .filter(|passage| !dead.contains(passage.id / 3))
            .cloned()
            .collect();
        let live = [Live {
            segment: &one,
            dead: Some(&dead),
        }];
        let expected = naive(Params::default(), &alive, &terms, 150, &|_| true);
        assert_eq!(
            search(&live, &terms, 150, None).unwrap(),
            expected,
            "every {stride}th is dead"
        );
        assert_eq!(expected.len(), 150);
    }
}

#[test]
fn odd_questions_have_plain_answers() {
    let repeated = Passage {
        id: 4,
        tie: 0,
        title: vec![1; 200],
        body: vec![2; 100_000],
    };
    let empty = Passage {
        id: 5,
        tie: 0,
        title: vec![],
        body: vec![],
    };
    let part = segment(&[repeated, empty]);
    let mut dead = Bitmap::new();
    let live = |dead| {
        vec![Live {
            segment: &part,
            dead,
        }]
    };
    let term = |term: &str, weight| QueryTerm {
        term: term.to_owned(),
        weight,
    };

    for (terms, k, found) in [
        (vec![term(&word(1), 1.0)], 10, 1),
        (vec![term(&word(1), 1.0)], usize::MAX, 1),
        (vec![term(&word(1), 1.0)], 0, 0),
        (vec![], 10, 0),
        (
            vec![
                term("", 1.0),
                term("absent", 1.0),
                term(&"x".repeat(5_000), 1.0),
            ],
            10,
            0,
        ),
        (vec![term(&word(1), 0.0)], 10, 0),
        (vec![term(&word(1), -1.0)], 10, 0),
        (vec![term(&word(1), f32::NAN)], 10, 0),
        (
            vec![term(&word(1), f32::INFINITY), term(&word(2), f32::MAX)],
            10,
            1,
        ),
        (vec![term(&word(1), 1.0); 100], 10, 1),
    ] {
        let hits = search(&live(None), &terms, k, None).unwrap();
        assert_eq!(hits.len(), found, "{terms:?}");
        assert!(
            hits.iter()
                .all(|hit| hit.score.is_finite() && hit.score > 0.0)
        );
    }
    let weightless = [term(&word(2), 0.0), term(&word(1), 1.0)];
    assert_eq!(
        search(&live(None), &weightless, 1, None).unwrap()[0].matched,
        0b11
    );
    let why = explain(&live(None), &weightless, 4).unwrap();
    assert_eq!(
        (why[0].tf, why[1].tf),
        (255, 255),
        "weighted frequencies end at 255"
    );
    assert_eq!(explain(&live(None), &weightless, 99).unwrap(), []);

    dead.insert(0);
    dead.insert(1);
    dead.insert(1_000);
    assert_eq!(
        search(&live(Some(&dead)), &weightless, 5, None).unwrap(),
        []
    );
    assert_eq!(statistics(&live(Some(&dead))).unwrap().passages, 0);
    assert_eq!(search(&[], &weightless, 5, None).unwrap(), []);
    let nothing = Segment::from_bytes(merge(&live(Some(&dead))).unwrap()).unwrap();
    assert_eq!((nothing.len(), nothing.terms()), (0, 0));
    assert_eq!(
        search(
            &[Live {
                segment: &nothing,
                dead: None
            }],
            &weightless,
            5,
            None
        )
        .unwrap(),
        []
    );
}
