//! Which small segments of a device are joined, so that there are never many files and none is
//! written anew often.

/// So many segments of one tier are joined into one of a higher tier.
const WIDTH: usize = 8;

/// The first tier holds segments of fewer rows than this; each further one `WIDTH` times as many.
const FIRST_TIER: usize = 256;

/// Which of the segments (by their rows) are to be written anew together with `pending` rows that
/// are written in any case. Segments of `full` rows or more stay as they are.
pub(crate) fn to_join(sizes: &[usize], pending: usize, full: usize) -> Vec<bool> {
    let mut joined = vec![false; sizes.len()];
    let mut pending = pending;
    loop {
        let is_free = |place: usize, tier: usize| {
            !joined[place] && sizes[place] < full && tier_of(sizes[place]) == tier
        };
        let crowded = (0..=tier_of(full)).find(|&tier| {
            let free = (0..sizes.len()).filter(|&place| is_free(place, tier));
            let with_pending = usize::from(pending > 0 && tier_of(pending) == tier);
            free.count() + with_pending >= WIDTH
        });
        let Some(tier) = crowded else {
            return joined;
        };
        let members: Vec<usize> = (0..sizes.len())
            .filter(|&place| is_free(place, tier))
            .collect();
        for place in members {
            joined[place] = true;
            pending += sizes[place];
        }
    }
}

fn tier_of(rows: usize) -> usize {
    let mut limit = FIRST_TIER;
    let mut tier = 0;
    while rows >= limit && limit < usize::MAX / WIDTH {
        limit *= WIDTH;
        tier += 1;
    }
    tier
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_of_a_tier_are_joined() {
        let none = vec![false; 7];
        assert_eq!(to_join(&[1; 7], 0, 10_000), none);
        assert_eq!(to_join(&[1; 7], 300, 10_000), none);
        assert_eq!(to_join(&[1; 7], 1, 10_000), vec![true; 7]);
        assert_eq!(to_join(&[1; 8], 0, 10_000), vec![true; 8]);
        assert_eq!(to_join(&[], 5, 10_000), Vec::<bool>::new());
    }

    #[test]
    fn joining_may_fill_the_next_tier() {
        let mut sizes = vec![250; 7];
        sizes.extend([300; 7]);
        assert_eq!(to_join(&sizes, 250, 100_000), vec![true; 14]);
    }

    #[test]
    fn full_segments_stay() {
        let mut sizes = vec![5_000; 9];
        sizes.push(3);
        assert_eq!(to_join(&sizes, 1, 5_000), vec![false; 10]);
    }

    #[test]
    fn files_stay_few_and_rows_are_seldom_written_anew() {
        let (mut sizes, mut written) = (Vec::<usize>::new(), 0);
        let saves = 20_000;
        for _ in 0..saves {
            let joined = to_join(&sizes, 1, 1_000_000);
            let mut kept = Vec::new();
            let mut new = 1;
            for (size, joined) in sizes.iter().zip(joined) {
                match joined {
                    true => new += size,
                    false => kept.push(*size),
                }
            }
            kept.push(new);
            written += new;
            sizes = kept;
            assert!(sizes.len() <= 7 * 4, "{sizes:?}");
        }
        assert_eq!(sizes.iter().sum::<usize>(), saves);
        // The first tier is the dearest: a row of it is written anew each eighth save.
        assert!(written < saves * 40, "{written}");
    }
}
