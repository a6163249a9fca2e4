//! `knowledge.rebuild`: read every note anew, or bring the index up to date.

use lorewell_engine::Patience;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Access, Capability, Desk, Failure};

/// The ability.
pub struct Rebuild;

/// How.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RebuildInput {
    /// Only take in what changed, instead of reading every note anew.
    #[serde(default)]
    pub update: bool,
}

/// What was done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RebuildOutput {
    /// The version of this contract.
    pub contract: u32,
    /// The vault.
    pub vault: String,
    /// The generation afterwards.
    pub generation: u64,
    /// Notes in the index afterwards.
    pub notes: u64,
    /// Passages in the index afterwards.
    pub passages: u64,
    /// Notes that were read and taken in.
    pub taken_in: u64,
    /// Notes that were removed.
    pub removed: u64,
    /// Files that were read and left out, by a rule or because they could not be read.
    pub skipped: u64,
    /// Notes that are not taken in yet.
    pub pending: u64,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Capability for Rebuild {
    const ID: &'static str = "knowledge.rebuild";
    const SUMMARY: &'static str = "Build the index anew, or bring it up to date";
    const DESCRIPTION: &'static str = "Reads every note anew and replaces the index; with `update` it only takes \
        in what changed. A healthy index goes on answering meanwhile. Notes are never changed.";
    const ACCESS: Access = Access::Manage;
    const POSITIONAL: Option<&'static str> = None;
    const FRESH: bool = false;
    type Input = RebuildInput;
    type Output = RebuildOutput;

    fn run(desk: &Desk<'_>, input: RebuildInput) -> Result<RebuildOutput, Failure> {
        let freshness = if input.update {
            desk.host.refresh(Patience::Wait, desk.listener)?
        } else {
            desk.host.rebuild(desk.listener)?
        };
        let report = freshness.report.unwrap_or_default();
        if report.stopped {
            return Err(Failure::interrupted(freshness.pending as u64));
        }
        let view = desk.view()?;
        let totals = view.totals();
        Ok(RebuildOutput {
            contract: 1,
            vault: view.vault().to_string(),
            generation: totals.generation,
            notes: totals.notes,
            passages: totals.passages,
            taken_in: report.taken_in as u64,
            removed: report.removed as u64,
            skipped: report.skipped as u64,
            pending: freshness.pending as u64,
            reason: freshness.reason,
        })
    }
}
