//! Context: the best passages for a question, packed for a prompt within a budget of tokens.

mod cut;
mod pack;
mod tokens;

use lorewell_retrieval::{Answer, AnswerPassage, Confidence, LaneReport, Request};

use pack::Pack;
pub use tokens::{Counting, Tokens, TokensError, estimate};

use crate::{EngineError, View};

/// At most so many passages of one note.
const PER_NOTE: usize = 2;
/// A passage that scores less says nothing, whatever the others say.
const FLOOR: f32 = 0.01;
/// One that scores less than this share of the best says too little beside it. On the development
/// questions of four vaults this keeps 60 of the 61 right passages among the first 8 and nearly
/// halves what is given (a quarter of the best would lose 10 of them).
const SHARE_OF_BEST: f32 = 0.1;
/// So many passages of attached notes are passed over at most.
const MOST_ATTACHED: usize = 200;

/// What a prompt needs.
#[derive(Clone, Debug, PartialEq)]
pub struct ContextRequest {
    /// The question and its frame; how many passages are wanted is said below.
    pub request: Request,
    /// The text is at most so many tokens.
    pub budget: usize,
    /// At most so many passages.
    pub passages: usize,
    /// Notes that the prompt holds already: their paths or names.
    pub attached: Vec<String>,
}

/// Passages for a prompt.
#[derive(Clone, Debug, PartialEq)]
pub struct Context {
    /// The text: a line that says what it is, each passage under `[n] path › heading`, and how to
    /// read more. Empty where nothing fits.
    pub text: String,
    /// How many tokens it is.
    pub tokens: usize,
    /// How they were counted.
    pub counting: Counting,
    /// The passages in the order of the text; the first is `[1]`.
    pub sources: Vec<ContextSource>,
    /// Whether the notes answer the question at all. With [`Confidence::None`] there is no text.
    pub confidence: Confidence,
    /// Every lane.
    pub lanes: Vec<LaneReport>,
    /// What did not run, or ran on a part.
    pub degraded: Vec<String>,
    /// The model that judged the first passages again, if one did.
    pub reranked_by: Option<String>,
    /// Something to know.
    pub notice: Option<String>,
    /// Passages good enough that the budget had no room for.
    pub left_out: usize,
    /// Whether there is more to be had: with a larger budget or more passages.
    pub truncated: bool,
}

/// A passage in a prompt.
#[derive(Clone, Debug, PartialEq)]
pub struct ContextSource {
    /// The passage; of neighbours that were joined, from the first to the last.
    pub passage: AnswerPassage,
    /// How many passages of the note it is.
    pub passages: u32,
    /// Whether it ends before its end, because all of it was too large.
    pub is_cut: bool,
}

impl ContextSource {
    /// Whether the note holds more than this.
    pub fn is_part(&self) -> bool {
        self.is_cut || self.passage.note.passages > self.passages
    }

    fn whole(passage: AnswerPassage) -> ContextSource {
        ContextSource {
            passage,
            passages: 1,
            is_cut: false,
        }
    }

    /// The beginning of a passage, up to a byte of its text.
    fn cut(passage: &AnswerPassage, end: usize) -> ContextSource {
        let mut cut = passage.clone();
        let stored = &mut cut.passage;
        stored.text.truncate(end);
        stored.byte_range.end = stored.byte_range.start + end as u64;
        let lines = lorewell_text::LineIndex::new(&stored.text).count();
        stored.line_range.1 = stored.line_range.0 + lines.saturating_sub(1);
        stored.hidden.retain(|hidden| hidden.start < end);
        for hidden in &mut stored.hidden {
            hidden.end = hidden.end.min(end);
        }
        ContextSource {
            is_cut: true,
            ..ContextSource::whole(cut)
        }
    }
}

impl View<'_> {
    /// The best passages for a question, as a text for a prompt that is never larger than the
    /// budget: best first, two of a note at most, neighbours joined, those that say little left
    /// out.
    ///
    /// # Errors
    /// The index cannot be read, or tokens cannot be counted as the settings say.
    pub fn context(&self, request: &ContextRequest) -> Result<Context, EngineError> {
        let attached = self.attached(&request.attached)?;
        let answer = self.passages_for(request, attached.paths.len())?;
        let is_attached = |path: &str| attached.paths.iter().any(|known| known == path);
        let best = answer.passages.iter().map(|p| p.score).fold(0.0, f32::max);
        let floor = FLOOR.max(best * SHARE_OF_BEST);
        let mut good: Vec<&AnswerPassage> = Vec::new();
        let mut known = false;
        for passage in &answer.passages {
            // A copy of what is attached is attached.
            let copied = passage.copies.iter().any(|copy| is_attached(copy));
            if copied || is_attached(passage.note.path.as_str()) {
                known = true;
            } else if passage.score >= floor && pack::says_something(passage) {
                good.push(passage);
            }
        }
        let all_good = answer
            .passages
            .last()
            .is_some_and(|last| last.score >= floor);
        let more = good.len() > request.passages || answer.more && all_good;
        good.truncate(request.passages);
        if answer.confidence == Confidence::None {
            good.clear();
        }
        let tokens = self.host.settings.tokens.as_deref();
        let count = |text: &str| match tokens {
            Some(tokens) => tokens.count(text),
            None => Ok(estimate(text)),
        };
        let join = |a: &AnswerPassage, b: &AnswerPassage| self.joined(a, b);
        let mut pack = Pack::new(self.vault(), &self.unread, request.budget, &count, &join);
        let left_out = fill(&mut pack, &good)?;
        let is_cut = pack.sources.iter().any(|source| source.is_cut);
        let mut degraded = attached.degraded;
        degraded.extend(answer.degraded.iter().cloned());
        Ok(Context {
            notice: notice(&answer, &pack, good.is_empty(), known),
            truncated: left_out > 0 || is_cut || more && !pack.sources.is_empty(),
            left_out,
            text: pack.text,
            tokens: pack.tokens,
            counting: tokens.map_or(Counting::Estimated, |tokens| Counting::Exact(tokens.name())),
            sources: pack.sources,
            confidence: answer.confidence,
            lanes: answer.lanes,
            degraded,
            reranked_by: answer.reranked_by,
        })
    }

    /// Passages enough to fill the pack, though those of attached notes are passed over.
    fn passages_for(
        &self,
        request: &ContextRequest,
        attached: usize,
    ) -> Result<Answer, EngineError> {
        let mut search = request.request.clone();
        search.offset = 0;
        search.settings.max_per_note = search.settings.max_per_note.min(PER_NOTE);
        search.limit = request.passages + (attached * PER_NOTE).min(MOST_ATTACHED);
        self.search(&search)
    }

    /// The paths of the notes that are attached.
    fn attached(&self, names: &[String]) -> Result<Attached, EngineError> {
        let mut attached = Attached::default();
        for name in names {
            match self.paths_of_note_named(name) {
                Ok((path, others)) => {
                    attached.paths.push(path);
                    if !others.is_empty() {
                        attached.degraded.push(format!(
                            "context: other notes answer to the name “{name}” too: {}",
                            others.join(", ")
                        ));
                    }
                }
                Err(EngineError::NoSuchNote { .. }) => {
                    let said = format!("context: “{name}” is attached and is no note of the vault");
                    attached.degraded.push(said);
                }
                Err(error) => return Err(error),
            }
        }
        attached.paths.sort();
        attached.paths.dedup();
        Ok(attached)
    }

    /// Two passages of a note as one, where nothing but white space stands between them, or they
    /// overlap. What stands between is known from the file, if that is as it was indexed.
    fn joined(&self, a: &AnswerPassage, b: &AnswerPassage) -> Option<AnswerPassage> {
        if a.note.id != b.note.id {
            return None;
        }
        let (first, second) = if a.passage.byte_range.start <= b.passage.byte_range.start {
            (&a.passage, &b.passage)
        } else {
            (&b.passage, &a.passage)
        };
        if first.ordinal.abs_diff(second.ordinal) > 1 {
            return None;
        }
        let file = self.host.vault.read(&a.note.path).ok()?;
        if file.content_hash != a.note.content_hash {
            return None;
        }
        let place = |at: u64| usize::try_from(at).ok();
        let last = first.byte_range.end.max(second.byte_range.end);
        let (start, end) = (place(first.byte_range.start)?, place(last)?);
        let (gap_start, gap_end) = (
            place(first.byte_range.end)?,
            place(second.byte_range.start)?,
        );
        if gap_start < gap_end && !file.text.get(gap_start..gap_end)?.trim().is_empty() {
            return None;
        }
        let mut joined = a.clone();
        let shift = gap_end - start;
        let moved = second.hidden.iter().map(|h| h.start + shift..h.end + shift);
        let known = first.hidden.last().map_or(0, |hidden| hidden.end);
        let hidden = first.hidden.iter().cloned();
        joined.passage.hidden = hidden.chain(moved.filter(|h| h.start >= known)).collect();
        joined.passage.text = file.text.get(start..end)?.to_string();
        joined.passage.byte_range = first.byte_range.start..last;
        joined.passage.line_range = (
            first.line_range.0,
            first.line_range.1.max(second.line_range.1),
        );
        joined.passage.heading_path = first.heading_path.clone();
        joined.passage.ordinal = first.ordinal;
        joined.passage.table_header = first.table_header.clone();
        Some(joined)
    }
}

#[derive(Default)]
struct Attached {
    paths: Vec<String>,
    degraded: Vec<String>,
}

/// Fills a pack, best first; how many passages there was no room for. Of a first passage for which
/// there is none, the beginning is taken.
fn fill(pack: &mut Pack<'_>, passages: &[&AnswerPassage]) -> Result<usize, TokensError> {
    let mut left_out = 0;
    for (at, passage) in passages.iter().enumerate() {
        let taken = pack.take(passage)? || at == 0 && pack.take_beginning(passage)?;
        left_out += usize::from(!taken);
    }
    Ok(left_out)
}

/// Why the text is empty, or what else there is to know.
fn notice(answer: &Answer, pack: &Pack<'_>, is_nothing: bool, known: bool) -> Option<String> {
    let said = if !pack.sources.is_empty() {
        return answer.notice.clone();
    } else if let Some(notice) = &answer.notice {
        return Some(notice.clone());
    } else if answer.confidence == Confidence::None {
        "Nothing in these notes seems to answer this."
    } else if is_nothing && known {
        "What answers this is attached already."
    } else if is_nothing {
        "Nothing in these notes says enough of this."
    } else {
        "The budget is too small for any passage."
    };
    Some(said.to_string())
}
