//! The vocabulary lane: words that go together with the question's words in this vault.
//!
//! What goes together is counted in the passages of a word, from the forward index that every
//! segment carries, so that it is always that of the generation: a note that is taken in, changed
//! or excluded counts at once, and no table can be out of date. A neighbour `n` of a word `w` is
//! worth `p · ln(p / q) · idf(w)`, where `p` is the share of the passages of `w` that have `n` and
//! `q` its share of all passages: the part of `w` in their mutual information.

use lorewell_lexical::{QueryTerm, Wanted, neighbours};
use lorewell_text::StopWords;
use rustc_hash::FxHashMap;

use super::Ground;
use super::text::Terms;
use crate::error::RetrievalError;
use crate::lane::{Lane, LaneHit, LaneResult, LaneState, Reason};

/// So many passages of a word are looked at, its best by BM25.
const SAMPLE: usize = 50;
/// Words in fewer passages teach nothing; words in a larger share of all say too little.
const RAREST: u32 = 2;
const COMMONEST: f32 = 0.02;
/// A neighbour stands beside the word so many times as often as elsewhere.
const LIFT: f32 = 2.0;
/// In a small vault, words in so few passages are not common, whatever their share.
const FEW: u32 = 8;
/// A neighbour stands in so many of the passages, and in at most this share of all.
const TOGETHER: u32 = 2;
const NEIGHBOUR_COMMONEST: f32 = 0.05;
/// So many neighbours of a word are looked at.
const NEIGHBOURS: usize = 25;
/// So many words are added at most.
const ADDED: usize = 25;
/// An answer names so many of them.
const NAMED: usize = 5;
/// So many words of a question are asked for their neighbours at most: the rarest.
const ASKED: usize = 4;

/// Runs the lane.
pub(crate) fn run(
    ground: &Ground<'_>,
    terms: &Terms,
    question: &str,
    depth: usize,
) -> Result<LaneResult, RetrievalError> {
    let added = expansion(ground, terms, &StopWords::of(question))?;
    let hits = ground.find(&added, depth)?;
    let mut result = LaneResult::new(Lane::Vocab, LaneState::Ok, Vec::with_capacity(hits.len()));
    for hit in hits {
        let has = added
            .iter()
            .enumerate()
            .filter(|(place, _)| hit.matched >> place & 1 == 1)
            .map(|(_, term)| term.term.clone());
        result
            .reasons
            .insert(hit.passage, Reason::Added(has.take(NAMED).collect()));
        result.hits.push(LaneHit::new(hit.passage, hit.score));
    }
    Ok(result)
}

/// The words to add, the best first, each with a weight of at most 1.
fn expansion(
    ground: &Ground<'_>,
    terms: &Terms,
    stop_words: &StopWords,
) -> Result<Vec<QueryTerm>, RetrievalError> {
    let segments = &ground.segments;
    let passages = lorewell_lexical::statistics(segments)?.passages as f32;
    let wanted = Wanted {
        passages: SAMPLE,
        together: TOGETHER,
        common: ((passages * NEIGHBOUR_COMMONEST) as u32).max(FEW),
        neighbours: NEIGHBOURS,
    };
    let mut worth: FxHashMap<String, f32> = FxHashMap::default();
    for (term, idf) in rarest(terms, passages) {
        let of_pair = |together: u32, looked_at: u32, frequency: u32| {
            let p = together as f32 / looked_at as f32;
            let q = frequency as f32 / passages;
            if p < LIFT * q {
                return 0.0;
            }
            p * (p / q).ln() * idf
        };
        for found in neighbours(segments, term, wanted, of_pair)?.neighbours {
            let empty = says_nothing(&found.term) || stop_words.holds(&found.term);
            if empty || terms.query.iter().any(|known| known.term == found.term) {
                continue;
            }
            *worth.entry(found.term).or_default() += found.worth;
        }
    }
    let mut ranked: Vec<(String, f32)> = worth.into_iter().filter(|(_, w)| *w > 0.0).collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    ranked.truncate(ADDED);
    let best = ranked.first().map_or(1.0, |(_, worth)| *worth);
    let weighted = |(term, worth): (String, f32)| QueryTerm {
        term,
        weight: worth / best,
    };
    Ok(ranked.into_iter().map(weighted).collect())
}

/// A single sign, or a pair of a script without blanks of which one is a particle: no word.
fn says_nothing(term: &str) -> bool {
    term.chars().nth(1).is_none() || term.contains(PARTICLES)
}

/// Chinese and Japanese signs that bind words and are none.
const PARTICLES: &[char] = &[
    '的', '了', '是', '在', '和', '与', '這', '这', '那', '个', '個', '们', '們', '就', '也', '都',
    '而', '及', '或', '把', '被', '给', '于', '之', '其', '如', '何', '吗', '呢', '吧', '着', '过',
    'の', 'は', 'が', 'を', 'に', 'へ', 'と', 'も', 'で', 'や', 'か', 'な', 'て', 'た',
];

/// The words of a question that have something to teach, with their inverse document frequency.
fn rarest(terms: &Terms, passages: f32) -> Vec<(&str, f32)> {
    let most = ((passages * COMMONEST) as u32).max(FEW);
    let mut rare: Vec<(&str, f32)> = terms
        .found
        .iter()
        .filter(|found| (RAREST..=most).contains(&found.document_frequency))
        .map(|found| (found.term.as_str(), found.idf))
        .collect();
    rare.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    rare.truncate(ASKED);
    rare
}
