//! What decides how notes are taken into an index.

use lorewell_vault::{AppFolders, Rules};

use crate::EvidenceRules;

/// Counts up when the same notes and settings would give other words, passages or rows than
/// before: an index with another number is built anew.
const ANALYSIS: u32 = 3;

/// The settings of an index. A change of anything but `rules` makes every note be read again.
#[derive(Clone, Debug, Default)]
pub struct IndexSettings {
    /// How notes are cut.
    pub passages: lorewell_markdown::Settings,
    /// How much a word counts in each field.
    pub weights: FieldWeights,
    /// What the user says of the kinds of notes.
    pub evidence: EvidenceRules,
    /// What the user wants left out.
    pub rules: Rules,
}

/// How often a word of each field counts. They are folded into one term frequency (BM25F).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldWeights {
    /// The note's title.
    pub title: u8,
    /// The note's path without its extension.
    pub path: u8,
    /// The headings above the passage.
    pub headings: u8,
    /// Other names of the note.
    pub aliases: u8,
    /// The note's tags.
    pub tags: u8,
    /// The passage's own words.
    pub body: u8,
}

impl Default for FieldWeights {
    fn default() -> FieldWeights {
        FieldWeights {
            title: 3,
            path: 2,
            headings: 2,
            aliases: 2,
            tags: 1,
            body: 1,
        }
    }
}

impl IndexSettings {
    /// A line that differs when notes would be read into other rows, vectors aside: those follow
    /// their model. `folders` are the app's.
    pub(crate) fn reading(&self, folders: &AppFolders) -> String {
        let w = &self.weights;
        format!(
            "analysis {ANALYSIS}; passages {}/{}; weights {}/{}/{}/{}/{}/{}; {}",
            self.passages.passage_chars,
            self.passages.overlap_chars,
            w.title,
            w.path,
            w.headings,
            w.aliases,
            w.tags,
            w.body,
            self.evidence.reading(folders),
        )
    }
}
