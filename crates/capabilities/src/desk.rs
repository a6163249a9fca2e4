//! What a capability works with: a host, and what is known of how fresh its index is.

use lorewell_engine::{Freshness, Host, Observer, Quiet, View};

use crate::Failure;
use crate::answer_json::IndexJson;

/// Hears of long work.
pub type Listener<'a> = &'a dyn Observer;

/// The surroundings of one request.
pub struct Desk<'a> {
    /// The vault.
    pub host: &'a Host,
    /// The outcome of looking for changes, if the surface did.
    pub freshness: Option<Freshness>,
    /// Who hears of long work.
    pub listener: Listener<'a>,
}

impl<'a> Desk<'a> {
    /// A desk whose index was not compared with the folder.
    pub fn new(host: &'a Host) -> Desk<'a> {
        Desk {
            host,
            freshness: None,
            listener: &Quiet,
        }
    }

    /// The desk after a look for changes.
    pub fn refreshed(host: &'a Host, freshness: Freshness) -> Desk<'a> {
        Desk {
            host,
            freshness: Some(freshness),
            listener: &Quiet,
        }
    }

    pub(crate) fn view(&self) -> Result<View<'a>, Failure> {
        let view = self.host.view()?;
        Ok(match &self.freshness {
            Some(freshness) => view.knowing(freshness.unreadable.clone()),
            None => view,
        })
    }

    /// The generation, as answers show it.
    pub(crate) fn index_json(&self, view: &View<'_>) -> IndexJson {
        let totals = view.totals();
        IndexJson {
            generation: totals.generation,
            notes: totals.notes,
            passages: totals.passages,
            pending: self.freshness.as_ref().map(|f| f.pending as u64),
            updated_at: totals.updated_at.clone(),
        }
    }

    /// What an answer must say about an index that may be behind.
    pub(crate) fn staleness(&self) -> Option<String> {
        match &self.freshness {
            None => Some("index: the folder was not looked at for changes".to_string()),
            Some(freshness) => {
                let reason = freshness.reason.as_ref()?;
                Some(match freshness.pending {
                    0 => format!("index: {reason}"),
                    1 => format!("index: one change is not in it yet: {reason}"),
                    pending => format!("index: {pending} changes are not in it yet: {reason}"),
                })
            }
        }
    }
}
