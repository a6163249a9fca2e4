//! Verifying: whether the words of quotations, or of an answer with citations, stand in the notes
//! that they are said to come from, as these are on disk now.

mod cited;
mod on_disk;
mod outcome;

use std::rc::Rc;

use lorewell_quotes::{Answer, Found, Kind, Nearest, Numbers, Quote, Wording};

use cited::{Citations, Cited, Standing};
pub use cited::{CitedPlace, CitedSource};
pub use on_disk::FoundPlace;
use on_disk::{OnDisk, Shelf};
pub use outcome::{Elsewhere, Verdict, Verification, VerifiedClaim};

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
            verification.uncited.clone_from(&answer.uncited);
            let citations = Citations::new(&request.sources, answer);
            claims.extend(answer.claims.iter().map(|claim| {
                Claim {
                    kind: claim.kind,
                    text: &claim.text,
                    bare: claim.bare.as_deref(),
                    line: Some(claim.line),
                    cited: (claim.citations.iter())
                        .map(|citation| citations.cited(citation, claim.kind))
                        .collect(),
                }
            }));
        }
        verification.left_out = claims.len().saturating_sub(MAX_CLAIMS);
        claims.truncate(MAX_CLAIMS);
        let verifier = Verifier {
            shelf: Shelf::new(self),
        };
        for claim in &claims {
            let mut verified = verifier.verified(claim)?;
            if claim.kind == Kind::Pointer {
                // What a claim beside it says already is not said twice.
                verified.retain(|new| {
                    let mut known = verification.claims.iter().rev();
                    !known.any(|known| known.citation == new.citation && !known.looked_at)
                });
            }
            verification.claims.extend(verified);
        }
        verification.cited_unread = verifier.shelf.has_missed_cited();
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
            kind: match self.kind {
                Kind::Pointer => Kind::Sentence,
                kind => kind,
            },
            quote: self.text.to_string(),
            line: self.line,
            citation: None,
            note: None,
            verdict,
            wording: None,
            found: None,
            elsewhere: None,
            lacking: Vec::new(),
            difference: None,
            likeness: None,
            looked_at: true,
            in_other_note: false,
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
        if claim.kind == Kind::Pointer {
            return Ok(outcomes);
        }
        if quote.is_empty() {
            let reason = "it holds no words to look for".to_string();
            return Ok(vec![claim.outcome(Verdict::Absent, Some(reason))]);
        }
        if !places.is_empty() {
            let mut judged = self.judged(claim, &quote, &places)?;
            if let Some(bare) = claim.bare.filter(|_| judged.verdict >= Verdict::Changed) {
                let other = self.judged(claim, &Quote::new(bare), &places)?;
                let is_better = other.verdict < judged.verdict && !other.in_other_note;
                if is_better || other.likeness > judged.likeness {
                    judged = other;
                }
            }
            if judged.is_in_other_words() {
                judged.lacking = numbers_of(&places).lacking(claim.text);
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
        let elsewhere = self.elsewhere(quote, &cited)?;
        let nearest = places.iter().filter_map(|place| {
            let standing = &place.standing;
            let nearest = standing
                .note
                .original
                .nearest(quote, standing.region.as_ref())?;
            Some((place, nearest))
        });
        let nearest = nearest.max_by(|a, b| a.1.likeness.total_cmp(&b.1.likeness));
        Ok(match (nearest, elsewhere) {
            (Some((place, nearest)), elsewhere) => {
                let about = about(claim, Verdict::Changed, None, std::slice::from_ref(place));
                let elsewhere = elsewhere.map(|(note, found)| self.in_other(&note, &found));
                VerifiedClaim {
                    elsewhere: elsewhere.transpose()?,
                    ..changed(about, &place.standing.note, nearest)
                }
            }
            (None, Some((note, found))) => VerifiedClaim {
                wording: Some(found.wording),
                found: Some(note.place(&found.range, &found.pieces)),
                in_other_note: true,
                ..about(
                    claim,
                    Verdict::Moved,
                    Some(format!("not in that note, but in “{}”", note.note.path)),
                    places,
                )
            },
            (None, None) => about(claim, Verdict::Absent, absence(claim.kind), places),
        })
    }

    /// A place in a note that is not cited.
    fn in_other(&self, note: &OnDisk, found: &Found) -> Result<Elsewhere, EngineError> {
        Ok(Elsewhere {
            place: note.place(&found.range, &found.pieces),
            superseded_by: self.shelf.view.snapshot.superseded_by(&note.note)?,
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

/// The numbers and days that any of some notes has: in its text, its path or its title.
fn numbers_of(places: &[Place]) -> Numbers {
    let notes = places.iter().map(|place| &place.standing.note);
    let texts = notes.flat_map(|note| {
        [
            note.original.text(),
            note.note.path.as_str(),
            note.note.title.as_str(),
        ]
    });
    Numbers::of(&texts.collect::<Vec<_>>())
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
        Kind::Quote | Kind::Pointer => return None,
        Kind::Sentence => {
            "not word for word in the note; a sentence may say it in words of its own"
        }
    };
    Some(reason.to_string())
}
