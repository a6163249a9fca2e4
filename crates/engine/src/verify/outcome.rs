//! What became of claims, as plain data.

use lorewell_quotes::{Difference, Kind, Uncited, Wording};

use super::FoundPlace;

/// The outcome.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verification {
    /// One for each quotation, then those of the answer in order. A claim that cites several notes
    /// is one, besides one for each citation that names none.
    pub claims: Vec<VerifiedClaim>,
    /// Quotations of the answer that bear no citation.
    pub uncited: Vec<Uncited>,
    /// Claims behind the first [`MAX_CLAIMS`](crate::MAX_CLAIMS), which were not looked at.
    pub left_out: usize,
    /// Notes that are there and could not be read: path, and why.
    pub unreadable: Vec<(String, String)>,
    /// Whether one of these is cited, or may be: several notes can bear the name that is.
    pub cited_unread: bool,
}

impl Verification {
    /// Whether all that was to be looked at was: every claim, and every note that is cited.
    pub fn is_whole(&self) -> bool {
        self.left_out == 0 && !self.cited_unread
    }
}

/// A claim with what became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct VerifiedClaim {
    /// Whether it is a quotation or a sentence of the answer's own.
    pub kind: Kind,
    /// Its words.
    pub quote: String,
    /// The line of the answer on which it begins.
    pub line: Option<u32>,
    /// Its citation as written, where it is from an answer.
    pub citation: Option<String>,
    /// The note that is cited: its path, or what was written where there is none.
    pub note: Option<String>,
    /// The verdict.
    pub verdict: Verdict,
    /// How the words stand at the place, where they stand.
    pub wording: Option<Wording>,
    /// Where they stand, or, of a changed claim, where the nearest words do.
    pub found: Option<FoundPlace>,
    /// Of a changed claim, where the very words stand in another note.
    pub elsewhere: Option<Elsewhere>,
    /// Numbers and days of a sentence that no note which it cites has, as written.
    pub lacking: Vec<String>,
    /// What a changed claim has other than the note.
    pub difference: Option<Difference>,
    /// How alike a changed claim and the note's words are, 0 to 1.
    pub likeness: Option<f32>,
    /// Whether a note was looked at: the citation leads to one.
    pub looked_at: bool,
    /// Of moved words, whether they stand in a note that is not cited.
    pub in_other_note: bool,
    /// Whether the note is not any more what it was when it was cited.
    pub stale: bool,
    /// Why the verdict is not plain.
    pub reason: Option<String>,
}

impl VerifiedClaim {
    /// Whether the words stand in the cited note; of words without a citation, in any.
    pub fn holds(&self) -> bool {
        self.verdict <= Verdict::Moved && !self.in_other_note
    }

    /// Whether it is a sentence that its note may say in words of its own.
    pub fn is_in_other_words(&self) -> bool {
        self.kind == Kind::Sentence && self.looked_at && self.verdict >= Verdict::Changed
    }
}

/// Where the very words of a changed claim stand, though that note is not cited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elsewhere {
    /// The place.
    pub place: FoundPlace,
    /// Paths of notes that say that they replace that note.
    pub superseded_by: Vec<String>,
}

/// Whether words stand where they are said to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Character for character.
    Exact,
    /// But for white space, case, forms of letters, styles of marks and marks of Markdown.
    Normalized,
    /// Elsewhere: in the note; or in another, where the note does not even have words like them.
    Moved,
    /// Not in the note, but words like them.
    Changed,
    /// Not.
    Absent,
}

impl Verdict {
    /// `exact`, `normalized`, `moved`, `changed` or `absent`.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Exact => "exact",
            Verdict::Normalized => "normalized",
            Verdict::Moved => "moved",
            Verdict::Changed => "changed",
            Verdict::Absent => "absent",
        }
    }
}
