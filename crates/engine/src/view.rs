//! A view: answers from one generation of the index.

use lorewell_embed::Embedder;
use lorewell_index::{Totals, Unread, UnreadNotes};
use lorewell_retrieval::{Answer, Request, RetrievalError};

use crate::deputy::Unusable;
use crate::plugin_vectors::{StandIn, say_no_stand_in};
use crate::shelf::Lent;
use crate::{EngineError, Host};

/// One generation of one vault's index. Whatever is written meanwhile, it answers the same.
pub struct View<'h> {
    pub(crate) host: &'h Host,
    pub(crate) snapshot: Lent<'h>,
    /// The model whose vectors the snapshot has.
    pub(crate) embedder: &'static dyn Embedder,
    /// Notes that cannot be read now, as far as is known.
    pub(crate) unread: UnreadNotes,
}

impl View<'_> {
    /// The same view, which knows of notes that cannot be read now: what a look at the folder
    /// found.
    #[must_use]
    pub fn knowing(mut self, unread: UnreadNotes) -> Self {
        self.unread = unread;
        self
    }

    /// Why a note cannot be read now, so that its last content answers; nothing where it can, or
    /// where the folder was not looked at.
    pub fn unread(&self, path: &str) -> Option<Unread> {
        self.unread.why(path)
    }

    /// The vault's name.
    pub fn vault(&self) -> &str {
        self.host.name()
    }

    /// Counts of this generation.
    pub fn totals(&self) -> &Totals {
        self.snapshot.totals()
    }

    /// Answers a question.
    ///
    /// # Errors
    /// Only if the index cannot be read; no question is an error.
    pub fn search(&self, request: &Request) -> Result<Answer, EngineError> {
        let mut request = request.clone();
        let ask = |request: &Request| {
            self.despite_damage(|| {
                let models = (self.embedder, self.host.reranker);
                lorewell_retrieval::search_with(&self.snapshot, models.0, models.1, request)
            })
        };
        let mut answer = ask(&request)?;
        match self.near_to_question(&request, &answer)? {
            StandIn::Unasked => {}
            StandIn::Notes(near) => {
                request.near = Some(near);
                answer = ask(&request)?;
            }
            StandIn::No(why) => say_no_stand_in(&mut answer, &why),
        }
        self.say_wanted(&mut answer)?;
        if let Some(Unusable { model, reason }) = &self.host.unusable_reranker
            && request.is_judged()
        {
            let said = format!("rerank_unavailable: {model} cannot be used: {reason}");
            answer.degraded.push(said);
        }
        Ok(answer)
    }

    /// Asks; where that comes upon a damaged lexical segment, again without it.
    pub(crate) fn despite_damage<T>(
        &self,
        ask: impl Fn() -> Result<T, RetrievalError>,
    ) -> Result<T, EngineError> {
        match ask() {
            Err(RetrievalError::Segment(_)) if self.snapshot.set_damaged_words_aside() => {
                Ok(ask()?)
            }
            other => Ok(other?),
        }
    }

    /// The path of the note that a name means (a path, name, title or alias), and those of other
    /// notes that answer to it.
    ///
    /// # Errors
    /// [`EngineError::NoSuchNote`], or the index cannot be read.
    pub fn paths_of_note_named(&self, name: &str) -> Result<(String, Vec<String>), EngineError> {
        let (note, others) = self.note_named(name)?;
        Ok((note.path.as_str().to_string(), others))
    }

    /// Whether a note of this path, which somebody was told of before, may still be named: it is
    /// in this generation, or it is gone from the folder and no rule leaves out its path. What is
    /// in the folder and not in the index is left out, or never was told of.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn may_name(&self, path: &str) -> Result<bool, EngineError> {
        if self.snapshot.note_at(path)?.is_some() {
            return Ok(true);
        }
        let is_left_out = || self.host.rules_in_force().excludes_path(path).is_some();
        Ok(!self.host.root().join(path).exists() && !is_left_out())
    }

    /// Whether a newer generation has been committed since.
    pub fn is_outdated(&self) -> bool {
        self.snapshot.is_outdated()
    }
}
