//! What a class of evidence counts: templates, clippings and generated text stand behind the
//! person's own words unless they are asked for.

use lorewell_index::{IndexError, Snapshot};

use crate::fusion::Fused;
use crate::request::Standing;

/// Multiplies the value of every passage by what its class counts, and sorts again; equal values
/// stay in their order.
pub(crate) fn apply(
    snapshot: &Snapshot,
    standing: Standing,
    fused: &mut [Fused],
) -> Result<(), IndexError> {
    if standing == Standing::EQUAL {
        return Ok(());
    }
    let mut moved = false;
    for fused in &mut *fused {
        if let Some(class) = snapshot.lesser_evidence_of(fused.passage)? {
            fused.standing = standing.of(class);
            fused.value *= fused.standing;
            moved |= fused.standing != 1.0;
        }
    }
    if moved {
        fused.sort_by(|a, b| b.value.total_cmp(&a.value));
    }
    Ok(())
}
