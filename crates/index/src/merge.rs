//! Which segments are joined, and when: few segments make searches fast, rare joins make saves
//! cheap.

use lorewell_lexical::Live;
use rusqlite::params;

use crate::failpoint::failpoint;
use crate::state::OpenSegment;
use crate::writer::{Writer, begin, insert_segment};
use crate::{IndexError, catalogue};

/// A segment with so many dead passages is written anew when they are a quarter of it; one with
/// fewer, when they are half.
const MANY_DEAD: u32 = 256;

/// So many segments of one size tier are joined into one of the next.
const PER_TIER: usize = 4;

impl Writer {
    /// Joins segments until no tier is full; a segment with much dead in it is written anew by itself.
    pub(crate) fn merge_segments(&mut self) -> Result<(), IndexError> {
        while let Some(chosen) = choose(&self.state.segments) {
            self.join(&chosen)?;
        }
        Ok(())
    }

    fn join(&mut self, chosen: &[usize]) -> Result<(), IndexError> {
        let folder = self.layout.folder().to_path_buf();
        let fail = |source| IndexError::sqlite(&folder, source);
        let chosen_segments = || chosen.iter().map(|i| &self.state.segments[*i]);
        let live: Vec<Live<'_>> = chosen_segments().map(OpenSegment::live).collect();
        let any_alive = chosen_segments().any(|s| s.alive() > 0);
        let image = lorewell_lexical::merge(&live).map_err(|e| IndexError::segment(&folder, e))?;
        let joined = if any_alive {
            Some(self.write_segment(&image)?)
        } else {
            None
        };
        failpoint("after-merge-write")?;

        let transaction = begin(&mut self.connection).map_err(fail)?;
        let generation = catalogue::next_generation(&transaction).map_err(fail)?;
        for i in chosen {
            let id = self.state.segments[*i].id;
            transaction
                .execute("DELETE FROM segments WHERE id = ?1", [id])
                .map_err(fail)?;
            transaction
                .execute(
                    "INSERT OR REPLACE INTO retired VALUES (?1, ?2)",
                    params![format!("{id}.lex"), generation as i64],
                )
                .map_err(fail)?;
        }
        if let Some(joined) = &joined {
            insert_segment(&transaction, joined).map_err(fail)?;
        }
        failpoint("before-merge-commit")?;
        transaction.commit().map_err(fail)?;
        failpoint("after-merge-commit")?;

        let mut index = 0;
        self.state.segments.retain(|_| {
            index += 1;
            !chosen.contains(&(index - 1))
        });
        self.state.segments.extend(joined);
        Ok(())
    }
}

/// The segments to join next, by index.
fn choose(segments: &[OpenSegment]) -> Option<Vec<usize>> {
    let sizes: Vec<(u32, u32)> = segments
        .iter()
        .map(|s| (s.alive(), s.dead.count()))
        .collect();
    choose_by_size(&sizes)
}

/// `sizes`: live and dead passages of each segment.
fn choose_by_size(sizes: &[(u32, u32)]) -> Option<Vec<usize>> {
    if let Some(mostly_dead) = sizes.iter().position(|(alive, dead)| {
        *dead > 0 && (dead >= alive || *dead >= MANY_DEAD && dead * 3 >= *alive)
    }) {
        return Some(vec![mostly_dead]);
    }
    let tier = |alive: u32| alive.max(64).ilog2() / 2;
    let mut tiers: Vec<u32> = sizes.iter().map(|(alive, _)| tier(*alive)).collect();
    tiers.sort_unstable();
    tiers.dedup();
    let full = tiers
        .into_iter()
        .find(|t| sizes.iter().filter(|(a, _)| tier(*a) == *t).count() >= PER_TIER)?;
    // Smaller ones come along: they would only be joined again soon.
    Some(
        (0..sizes.len())
            .filter(|i| tier(sizes[*i].0) <= full)
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::choose_by_size;

    #[test]
    fn tiers() {
        assert_eq!(choose_by_size(&[(5, 0), (5, 0), (5, 0)]), None);
        assert_eq!(
            choose_by_size(&[(50_000, 10), (5, 0), (5, 0), (5, 0), (5, 0)]),
            Some(vec![1, 2, 3, 4])
        );
        assert_eq!(choose_by_size(&[(500, 500), (9, 0)]), Some(vec![0]));
        assert_eq!(choose_by_size(&[(3_000, 999), (9, 0)]), None);
        assert_eq!(choose_by_size(&[(3_000, 1_000), (9, 0)]), Some(vec![0]));
        assert_eq!(choose_by_size(&[(0, 0)]), None);
        let joined_until_quiet = |mut sizes: Vec<(u32, u32)>| {
            let mut rounds = 0;
            while let Some(chosen) = choose_by_size(&sizes) {
                let sum = chosen.iter().map(|i| sizes[*i].0).sum();
                let mut i = 0;
                sizes.retain(|_| {
                    i += 1;
                    !chosen.contains(&(i - 1))
                });
                if sum > 0 {
                    sizes.push((sum, 0));
                }
                rounds += 1;
            }
            (sizes.len(), rounds)
        };
        let (segments, rounds) = joined_until_quiet(vec![(7, 1); 1_000]);
        assert!(
            segments < 4 && rounds < 5,
            "{segments} segments after {rounds} rounds"
        );
    }
}
