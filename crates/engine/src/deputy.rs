//! What an answer says where another model answers than the one that is wanted.

use lorewell_index::{IndexError, ModelState, Snapshot};
use lorewell_retrieval::{Answer, LaneReport, LaneState, WantedModel};

use crate::{Host, View};

/// A model that is wanted and cannot be asked at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unusable {
    pub(crate) model: String,
    /// Why, as the end of a sentence that begins with the name.
    pub(crate) reason: String,
}

impl Host {
    /// Why the model of `snapshot` answers in the place of the wanted one; nothing if it is that.
    fn substitution(
        &self,
        snapshot: &Snapshot,
    ) -> Result<Option<(WantedModel, String)>, IndexError> {
        if let Some(Unusable { model, reason }) = &self.unusable {
            let wanted = WantedModel {
                model: model.clone(),
                coverage: None,
            };
            return Ok(Some((wanted, format!("{model} cannot be used: {reason}"))));
        }
        if self.deputy.is_none() || snapshot.fingerprint() == self.embedder.fingerprint().as_str() {
            return Ok(None);
        }
        let state = self.wanted_snapshot()?;
        let coverage = state.model().map_or(0.0, share);
        let model = self.embedder.model().to_string();
        let reason = match (self.embedder.trouble(), snapshot.lost_vectors_of_wanted()) {
            (Some(trouble), _) => format!("{model} cannot answer now: {trouble}"),
            (None, Some(what)) => format!(
                "the vectors of {model} are damaged ({what}); `lorewell rebuild` makes them anew"
            ),
            (None, None) => format!(
                "{:.0} % of the passages have a vector of {model} by now",
                coverage * 100.0
            ),
        };
        let coverage = Some(coverage);
        Ok(Some((WantedModel { model, coverage }, reason)))
    }
}

impl View<'_> {
    /// Says in an answer which model was wanted.
    pub(crate) fn say_wanted(&self, answer: &mut Answer) -> Result<(), IndexError> {
        for report in &mut answer.lanes {
            if let Some(reason) = self.say_wanted_in(report)? {
                let lane = format!("{}: ", report.lane);
                answer.degraded.retain(|said| !said.starts_with(&lane));
                answer.degraded.push(lane + &reason);
            }
        }
        Ok(())
    }

    /// The same in the report of a lane; the reason, if it is the lane of a model.
    pub(crate) fn say_wanted_in(
        &self,
        report: &mut LaneReport,
    ) -> Result<Option<String>, IndexError> {
        let Some(answers) = report.model.clone() else {
            return Ok(None);
        };
        let Some((wanted, why)) = self.host.substitution(&self.snapshot)? else {
            return Ok(None);
        };
        report.wanted = Some(wanted);
        let why = format!("{why}; {answers} answers in its place");
        let also = |reason: &str| format!("{why}; {reason}");
        let reason = match &mut report.state {
            LaneState::Off => return Ok(None),
            LaneState::Ok => {
                let reason = why;
                report.state = LaneState::Partial {
                    coverage: 1.0,
                    reason: reason.clone(),
                };
                reason
            }
            LaneState::Partial { reason, .. }
            | LaneState::Abstained { reason }
            | LaneState::Unavailable { reason } => {
                *reason = also(reason);
                reason.clone()
            }
        };
        Ok(Some(reason))
    }
}

/// The share of passages that need nothing more of the model.
fn share(model: &ModelState) -> f32 {
    let all = model.embedded + model.outside + model.missing + model.refused;
    match all {
        0 => 1.0,
        all => (all - model.missing) as f32 / all as f32,
    }
}
