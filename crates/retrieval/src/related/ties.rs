//! Ties in the graph of notes: links, notes that are linked with both, tags that both have.

use lorewell_index::{Edge, IndexError, Snapshot};
use rustc_hash::{FxHashMap, FxHashSet};

/// A note with more links says little about what two others have in common, and is dear to read.
const HUB: u32 = 100;

/// Of a note with more neighbours only so many are followed, those of the fewest links first.
const FOLLOWED: usize = 32;

/// A note that links to fewer than this many means each of them.
const FEW: f32 = 8.0;

/// A tag that is worth less (one of 36 of 120 notes, or of 1,000 of 10,000) is no reason.
const COMMON_TAG: f32 = 0.25;

/// Notes are not gathered by a tag that more have.
const LARGEST_TAG: u32 = 2000;

/// How a note is linked with the one that was asked about.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Tie {
    /// The asked note links to it.
    pub(crate) out: bool,
    /// It links to the asked note.
    pub(crate) back: bool,
    /// 0 to 1.
    pub(crate) strength: f32,
}

/// The neighbours that a note shares with the one that was asked about.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Shared {
    /// The neighbours, each with what it says.
    pub(crate) via: Vec<(f32, u32)>,
    /// 0 to 1.
    pub(crate) strength: f32,
}

/// What ties notes to the asked one, by note.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Ties {
    pub(crate) links: FxHashMap<u32, Tie>,
    pub(crate) shared: FxHashMap<u32, Shared>,
}

/// The ties of `note`. Links between it and `apart` count as if they were not there.
pub(crate) fn ties(snapshot: &Snapshot, note: u32, apart: Option<u32>) -> Result<Ties, IndexError> {
    let hidden = |edge: &Edge| {
        apart.is_some_and(|apart| {
            (edge.from == note && edge.to == apart) || (edge.from == apart && edge.to == note)
        })
    };
    let mut edges = snapshot.link_neighbours(&[note])?;
    edges.retain(|edge| !hidden(edge));
    let mut neighbours: FxHashSet<u32> = FxHashSet::default();
    for edge in &edges {
        neighbours.insert(if edge.from == note {
            edge.to
        } else {
            edge.from
        });
    }
    let mut counts: FxHashMap<u32, u32> = FxHashMap::default();
    for neighbour in &neighbours {
        counts.insert(*neighbour, snapshot.link_count(*neighbour)?);
    }
    let mut followed: Vec<(u32, String)> = Vec::new();
    for neighbour in neighbours {
        if counts.get(&neighbour).is_some_and(|count| *count <= HUB) {
            followed.push((neighbour, snapshot.path_of(neighbour)?));
        }
    }
    followed.sort_by(|(a, a_path), (b, b_path)| {
        counts.get(a).cmp(&counts.get(b)).then(a_path.cmp(b_path))
    });
    let followed: Vec<u32> = followed.iter().map(|(id, _)| *id).take(FOLLOWED).collect();
    let mut beyond = snapshot.link_neighbours(&followed)?;
    beyond.retain(|edge| !hidden(edge));
    Ok(Ties {
        links: direct(note, &edges, &counts),
        shared: shared(note, &followed, &beyond),
    })
}

/// A link is worth less where the linking note links to very many, and half where it could mean
/// another note. One in each direction is worth more than one.
fn direct(note: u32, edges: &[Edge], counts: &FxHashMap<u32, u32>) -> FxHashMap<u32, Tie> {
    let links_out = edges.iter().filter(|edge| edge.from == note).count() as f32;
    let mut links: FxHashMap<u32, Tie> = FxHashMap::default();
    for edge in edges {
        let (other, links_of_linking) = if edge.from == note {
            (edge.to, links_out)
        } else {
            let count = counts.get(&edge.from).copied().unwrap_or(0);
            (edge.from, count as f32)
        };
        let tie = links.entry(other).or_default();
        let sure = if edge.ambiguous { 0.5 } else { 1.0 };
        let worth = 0.8 * sure / (1.0 + (links_of_linking / FEW).max(1.0).ln());
        tie.strength = if tie.strength > 0.0 {
            1.0 - (1.0 - tie.strength) * (1.0 - worth)
        } else {
            worth
        };
        tie.out |= edge.from == note;
        tie.back |= edge.to == note;
    }
    links
}

/// Notes that are linked with the same notes (Adamic and Adar, "Friends and neighbors on the Web",
/// 2003): each shared neighbour adds `1/ln(2 + its neighbours)`; the sum `x` as `x/(1 + x)`.
fn shared(note: u32, followed: &[u32], edges: &[Edge]) -> FxHashMap<u32, Shared> {
    let mut around: FxHashMap<u32, FxHashSet<u32>> = FxHashMap::default();
    let followed: FxHashSet<u32> = followed.iter().copied().collect();
    for edge in edges {
        for (one, other) in [(edge.from, edge.to), (edge.to, edge.from)] {
            if followed.contains(&one) {
                around.entry(one).or_default().insert(other);
            }
        }
    }
    let mut worths: FxHashMap<u32, Vec<(f32, u32)>> = FxHashMap::default();
    for (neighbour, others) in &around {
        let worth = 1.0 / (2.0 + others.len() as f32).ln();
        for other in others.iter().filter(|other| **other != note) {
            worths.entry(*other).or_default().push((worth, *neighbour));
        }
    }
    let with_strength = |(other, mut via): (u32, Vec<(f32, u32)>)| {
        via.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let sum: f32 = via.iter().map(|(worth, _)| worth).sum();
        let shared = Shared {
            via,
            strength: sum / (1.0 + sum),
        };
        (other, shared)
    };
    worths.into_iter().map(with_strength).collect()
}

/// The tags that a note shares with the one that was asked about.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SharedTags {
    /// The rarest first; of a tag and its parent only the tag.
    pub(crate) tags: Vec<String>,
    /// 0 to 1.
    pub(crate) strength: f32,
}

/// Notes that share tags with `note`: each tag adds `ln(N/df)/ln(N)`, so that a tag that two of
/// very many notes have adds nearly 1; the sum `x` as `x/(1 + x)`.
pub(crate) fn tags(
    snapshot: &Snapshot,
    note: u32,
) -> Result<FxHashMap<u32, SharedTags>, IndexError> {
    let all = snapshot.totals().notes.max(2) as f32;
    let mut found: FxHashMap<u32, Vec<(f32, String)>> = FxHashMap::default();
    for tag in snapshot.tags_of(&[note])? {
        let count = snapshot.notes_with_tag_count(&tag.key)?;
        let worth = (all / count.max(1) as f32).ln() / all.ln();
        if !(2..=LARGEST_TAG).contains(&count) || worth < COMMON_TAG {
            continue;
        }
        for other in snapshot.notes_with_tag(&tag.key)? {
            if other != note {
                let tags = found.entry(other).or_default();
                tags.push((worth, tag.key.clone()));
            }
        }
    }
    let strongest = |(other, mut tags): (u32, Vec<(f32, String)>)| {
        let keys: Vec<String> = tags.iter().map(|(_, key)| key.clone()).collect();
        let is_parent = |key: &str| {
            let below = |other: &String| {
                other
                    .strip_prefix(key)
                    .is_some_and(|rest| rest.starts_with('/'))
            };
            keys.iter().any(below)
        };
        tags.retain(|(_, key)| !is_parent(key));
        tags.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        let sum: f32 = tags.iter().map(|(worth, _)| worth).sum();
        let shared = SharedTags {
            tags: tags.into_iter().map(|(_, key)| key).collect(),
            strength: sum / (1.0 + sum),
        };
        (other, shared)
    };
    Ok(found.into_iter().map(strongest).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge(from: u32, to: u32) -> Edge {
        Edge {
            from,
            to,
            ambiguous: false,
        }
    }

    #[test]
    fn links_both_ways_are_worth_most_and_those_of_a_long_list_little() {
        let mut edges = vec![edge(1, 2), edge(2, 1), edge(1, 3), edge(4, 1), edge(5, 1)];
        edges.push(Edge {
            ambiguous: true,
            ..edge(1, 6)
        });
        let counts = [(2, 2), (3, 1), (4, 1), (5, 150), (6, 1)];
        let links = direct(1, &edges, &counts.into_iter().collect());
        let strength = |note: u32| links[&note].strength;
        assert!(strength(2) > strength(3), "{links:?}");
        assert_eq!(strength(3), strength(4));
        assert!(strength(5) < strength(4) / 2.0);
        assert_eq!(strength(6), strength(3) / 2.0);
        assert!(links[&2].out && links[&2].back && links[&3].out && !links[&3].back);
    }

    #[test]
    fn a_neighbour_of_few_says_more_than_one_of_many() {
        // 1 is linked with 10 and 20; 10 has only 2 besides, 20 has many.
        let mut edges = vec![edge(1, 10), edge(1, 20), edge(10, 2), edge(3, 20)];
        edges.extend((30..60).map(|note| edge(20, note)));
        let shared = shared(1, &[10, 20], &edges);
        assert!(
            shared[&2].strength > 1.5 * shared[&3].strength,
            "{shared:?}"
        );
        assert_eq!(shared[&3].via.len(), 1);
        assert!(!shared.contains_key(&1));
    }
}
