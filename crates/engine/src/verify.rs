//! Verifying: whether the words of quotations, or of an answer with citations, stand in the notes
//! that they are said to come from, as these are on disk now.

mod cited;
mod on_disk;

use std::rc::Rc;

use lorewell_quotes::{Answer, Difference, Found, Kind, Nearest, Quote, Wording};

use cited::{Citations, Cited, Standing};
pub use cited::{CitedPlace, CitedSource};
pub use on_disk::FoundPlace;
use on_disk::{OnDisk, Shelf};

use crate::{EngineError, View};

/// Of one request so many claims are looked at; the rest is counted.
pub const MAX_CLAIMS: usize = 500;

/// Fewer words stand somewhere by chance, and are not looked for in notes that are not cited.
const TELLING: f32 = 3.0;

/// What is to be verified.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerifyRequest {
    /// Quotations, each with where it should stand.
    pub quotes: Vec<CitedQuote>,
    /// A Markdown answer with citations.
    pub answer: Option<String>,
    /// What the numbers in the answer mean.
    pub sources: Vec<CitedSource>,
}

/// A quotation and where it should stand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CitedQuote {
    /// The words.
    pub quote: String,
    /// Where; of a place without a note, anywhere.
    pub place: CitedPlace,
}

/// The outcome.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verification {
    /// One for each quotation, then those of the answer in order. A claim that cites several notes
    /// is one, besides one for each citation that names none.
    pub claims: Vec<VerifiedClaim>,
    /// Quotations of the answer that bear no citation.
    pub uncited: usize,
    /// Claims behind the first [`MAX_CLAIMS`], which were not looked at.
    pub left_out: usize,
    /// Notes that are there and could not be read: path, and why.
    pub unreadable: Vec<(String, String)>,
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
    /// What a changed claim has other than the note.
    pub difference: Option<Difference>,
    /// How alike a changed claim and the note's words are, 0 to 1.
    pub likeness: Option<f32>,
    /// Whether a note was looked at: the citation leads to one.
    pub looked_at: bool,
    /// Whether the note is not any more what it was when it was cited.
    pub stale: bool,
    /// Why the verdict is not plain.
    pub reason: Option<String>,
}

/// Whether words stand where they are said to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Character for character.
    Exact,
    /// But for white space, case, forms of letters, styles of marks and marks of Markdown.
    Normalized,
    /// Elsewhere: in the note, or in another.
    Moved,
    /// Not, but words like them.
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

impl View<'_> {
    /// Says of each claim whether its words stand in the note that it cites, by the file on disk.
    ///
    /// # Errors
    /// The index cannot be read. A note that cannot is named in the outcome.
    pub fn verify(&self, request: &VerifyRequest) -> Result<Verification, EngineError> {
        let mut verification = Verification::default();
        let mut claims: Vec<Claim> = request.quotes.iter().map(Claim::of_quote).collect();
        let answer = request.answer.as_deref().map(Answer::read);
        if let Some(answer) = &answer {
            verification.uncited = answer.uncited;
            let citations = Citations::new(&request.sources, answer);
            claims.extend(answer.claims.iter().map(|claim| Claim {
                kind: claim.kind,
                text: &claim.text,
                bare: claim.bare.as_deref(),
                line: Some(claim.line),
                cited: claim.citations.iter().map(|c| citations.cited(c)).collect(),
            }));
        }
        verification.left_out = claims.len().saturating_sub(MAX_CLAIMS);
        claims.truncate(MAX_CLAIMS);
        let verifier = Verifier {
            shelf: Shelf::new(self),
        };
        for claim in &claims {
            verification.claims.extend(verifier.verified(claim)?);
        }
        verification.unreadable = verifier.shelf.unreadable();
        Ok(verification)
    }
}

/// A claim that is to be verified.
struct Claim<'a> {
    kind: Kind,
    text: &'a str,
    /// The words that are tried where these do not stand.
    bare: Option<&'a str>,
    line: Option<u32>,
    /// Where it should stand; empty for anywhere.
    cited: Vec<Cited>,
}

impl<'a> Claim<'a> {
    fn of_quote(quote: &'a CitedQuote) -> Claim<'a> {
        let cited = Cited {
            written: None,
            place: Ok(quote.place.clone()),
        };
        let is_anywhere = quote.place.note.is_none() && quote.place.content_hash.is_none();
        Claim {
            kind: Kind::Quote,
            text: &quote.quote,
            bare: None,
            line: None,
            cited: if is_anywhere { Vec::new() } else { vec![cited] },
        }
    }

    fn outcome(&self, verdict: Verdict, reason: Option<String>) -> VerifiedClaim {
        VerifiedClaim {
            kind: self.kind,
            quote: self.text.to_string(),
            line: self.line,
            citation: None,
            note: None,
            verdict,
            wording: None,
            found: None,
            difference: None,
            likeness: None,
            looked_at: true,
            stale: false,
            reason,
        }
    }
}

/// A place that a claim cites, at hand.
struct Place {
    written: Option<String>,
    standing: Standing,
}

struct Verifier<'v> {
    shelf: Shelf<'v>,
}

impl Verifier<'_> {
    fn verified(&self, claim: &Claim<'_>) -> Result<Vec<VerifiedClaim>, EngineError> {
        let quote = Quote::new(claim.text);
        let mut outcomes = Vec::new();
        let mut places: Vec<Place> = Vec::new();
        for cited in &claim.cited {
            match self.shelf.standing(cited)? {
                Ok(standings) => places.extend(standings.into_iter().map(|standing| Place {
                    written: cited.written.clone(),
                    standing,
                })),
                Err(unresolved) => outcomes.push(VerifiedClaim {
                    citation: cited.written.clone(),
                    note: unresolved.note,
                    looked_at: false,
                    ..claim.outcome(Verdict::Absent, Some(unresolved.reason))
                }),
            }
        }
        if quote.is_empty() {
            let reason = "it holds no words to look for".to_string();
            return Ok(vec![claim.outcome(Verdict::Absent, Some(reason))]);
        }
        if !places.is_empty() {
            let mut judged = self.judged(claim, &quote, &places)?;
            if let Some(bare) = claim.bare.filter(|_| judged.verdict >= Verdict::Changed) {
                let other = self.judged(claim, &Quote::new(bare), &places)?;
                if other.verdict < judged.verdict || other.likeness > judged.likeness {
                    judged = other;
                }
            }
            outcomes.insert(0, judged);
        } else if claim.cited.is_empty() {
            outcomes.push(self.anywhere(claim, &quote)?);
        } else if let Some((note, found)) = self.elsewhere(&quote, &[])? {
            // What is cited is gone; where its words are helps to mend the citation.
            for outcome in &mut outcomes {
                outcome.found = Some(note.place(&found.range, &found.pieces));
                outcome.wording = Some(found.wording);
            }
        }
        Ok(outcomes)
    }

    /// The verdict on a claim that cites notes which are there.
    fn judged(
        &self,
        claim: &Claim<'_>,
        quote: &Quote,
        places: &[Place],
    ) -> Result<VerifiedClaim, EngineError> {
        let mut best: Option<VerifiedClaim> = None;
        for place in places {
            let Some(outcome) = stands(claim, quote, place) else {
                continue;
            };
            let rank = |outcome: &VerifiedClaim| (outcome.verdict, outcome.wording);
            if best.as_ref().is_none_or(|best| rank(&outcome) < rank(best)) {
                best = Some(outcome);
            }
        }
        if let Some(best) = best {
            return Ok(best);
        }
        let cited: Vec<u32> = places.iter().map(|p| p.standing.note.note.id).collect();
        if let Some((note, found)) = self.elsewhere(quote, &cited)? {
            return Ok(VerifiedClaim {
                wording: Some(found.wording),
                found: Some(note.place(&found.range, &found.pieces)),
                ..about(
                    claim,
                    Verdict::Moved,
                    Some("in another note".to_string()),
                    places,
                )
            });
        }
        let nearest = places.iter().filter_map(|place| {
            let standing = &place.standing;
            let nearest = standing
                .note
                .original
                .nearest(quote, standing.region.as_ref())?;
            Some((place, nearest))
        });
        let nearest = nearest.max_by(|a, b| a.1.likeness.total_cmp(&b.1.likeness));
        Ok(match nearest {
            Some((place, nearest)) => {
                let about = about(claim, Verdict::Changed, None, std::slice::from_ref(place));
                changed(about, &place.standing.note, nearest)
            }
            None => about(claim, Verdict::Absent, absence(claim.kind), places),
        })
    }

    /// The verdict on a quotation that may stand anywhere.
    fn anywhere(&self, claim: &Claim<'_>, quote: &Quote) -> Result<VerifiedClaim, EngineError> {
        let notes = self.shelf.candidates(quote)?;
        let mut best: Option<(&Rc<OnDisk>, Found)> = None;
        for note in &notes {
            if let Some(found) = note.original.find(quote, None)
                && best
                    .as_ref()
                    .is_none_or(|(_, known)| found.wording < known.wording)
            {
                best = Some((note, found));
            }
        }
        if let Some((note, found)) = best {
            return Ok(VerifiedClaim {
                wording: Some(found.wording),
                found: Some(note.place(&found.range, &found.pieces)),
                ..claim.outcome(plain(found.wording), None)
            });
        }
        let nearest = notes
            .iter()
            .filter_map(|note| Some((note, note.original.nearest(quote, None)?)))
            .max_by(|a, b| a.1.likeness.total_cmp(&b.1.likeness));
        Ok(match nearest {
            Some((note, nearest)) => changed(claim.outcome(Verdict::Changed, None), note, nearest),
            None => claim.outcome(Verdict::Absent, Some("in no note of the vault".to_string())),
        })
    }

    /// Where the words of a quotation stand, but for some notes.
    fn elsewhere(
        &self,
        quote: &Quote,
        but: &[u32],
    ) -> Result<Option<(Rc<OnDisk>, Found)>, EngineError> {
        if quote.length() < TELLING {
            return Ok(None);
        }
        let mut best: Option<(Rc<OnDisk>, Found)> = None;
        for note in self.shelf.candidates(quote)? {
            if but.contains(&note.note.id) {
                continue;
            }
            match note.original.find(quote, None) {
                Some(found) if found.wording == Wording::Exact => return Ok(Some((note, found))),
                Some(found) if best.is_none() => best = Some((note, found)),
                _ => {}
            }
        }
        Ok(best)
    }
}

/// The verdict on a claim by one note that it cites, if its words stand there.
fn stands(claim: &Claim<'_>, quote: &Quote, place: &Place) -> Option<VerifiedClaim> {
    let standing = &place.standing;
    let found = standing
        .note
        .original
        .find(quote, standing.region.as_ref())?;
    let (verdict, reason) = match (&standing.missing, &standing.cited_as) {
        (_, Some(path)) => {
            let reason = format!(
                "in “{}”, the note that was “{path}”",
                standing.note.note.path
            );
            (Verdict::Moved, Some(reason))
        }
        (Some(missing), None) => (Verdict::Moved, Some(missing.clone())),
        (None, None) if !found.in_region => {
            let reason = "elsewhere in the note than cited".to_string();
            (Verdict::Moved, Some(reason))
        }
        (None, None) => (plain(found.wording), None),
    };
    Some(VerifiedClaim {
        wording: Some(found.wording),
        found: Some(standing.note.place(&found.range, &found.pieces)),
        ..about(claim, verdict, reason, std::slice::from_ref(place))
    })
}

/// A claim with what it cites.
fn about(
    claim: &Claim<'_>,
    verdict: Verdict,
    reason: Option<String>,
    places: &[Place],
) -> VerifiedClaim {
    let mut written: Vec<&str> = places.iter().filter_map(|p| p.written.as_deref()).collect();
    written.dedup();
    let first = places.first().map(|place| &place.standing);
    let note = first.map(|standing| {
        let path = standing.note.note.path.as_str();
        standing.cited_as.as_deref().unwrap_or(path).to_string()
    });
    VerifiedClaim {
        citation: (!written.is_empty()).then(|| written.join(" ")),
        note,
        stale: places.iter().any(|place| place.standing.stale),
        ..claim.outcome(verdict, reason)
    }
}

fn changed(about: VerifiedClaim, note: &OnDisk, nearest: Nearest) -> VerifiedClaim {
    let reason = match (nearest.other_order, nearest.one_piece) {
        (true, _) => Some("its pieces stand in another order".to_string()),
        (_, true) => Some("one of its pieces differs".to_string()),
        _ => about.reason.clone(),
    };
    VerifiedClaim {
        found: Some(note.place(&nearest.range, &[])),
        likeness: Some(nearest.likeness),
        difference: Some(nearest.difference),
        reason,
        ..about
    }
}

fn plain(wording: Wording) -> Verdict {
    match wording {
        Wording::Exact => Verdict::Exact,
        Wording::Normalized => Verdict::Normalized,
    }
}

/// Why a claim is absent whose note is there.
fn absence(kind: Kind) -> Option<String> {
    let reason = match kind {
        Kind::Quote => return None,
        Kind::Sentence => {
            "not word for word in the note; a sentence may say it in words of its own"
        }
    };
    Some(reason.to_string())
}
