//! Vectors that come later than the words: of a model that is dear.

use lorewell_embed::Cost;
use lorewell_index::{KnownVectors, Lock, Observer, Snapshot, Waiting};

use crate::embedding_turn::Turn;
use crate::portable::When;
use crate::{EngineError, Host};

/// So many passages are embedded between two looks at what still waits. It bounds what a stop can
/// lose.
const BATCH: usize = 64;

/// What embedding came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Embedding {
    /// Passages that have what the model says of them now.
    pub settled: usize,
    /// Passages that the model was asked for; the others were known from before.
    pub embedded: usize,
    /// Passages that the model will not take. They are not asked for again until their text or the
    /// model changes.
    pub refused: usize,
    /// Vectors that were thrown away, for their text changed meanwhile.
    pub too_late: usize,
    /// Passages that still wait.
    pub waiting: u64,
    /// Why some still wait, for people.
    pub reason: Option<String>,
    /// Another process is embedding them.
    pub elsewhere: bool,
}

impl Host {
    /// Embeds the passages that wait for a vector of the wanted model, the newest first. Each batch
    /// becomes visible by itself, so that it can be stopped and killed at any time; the next call
    /// goes on from there. Other processes may write meanwhile; where another embeds, this does
    /// nothing.
    ///
    /// A model that is cheap embeds in [`refresh`](Self::refresh), and has nothing to do here.
    ///
    /// # Errors
    /// The index cannot be read or written; there is none; exclusions that cannot be followed.
    pub fn embed_waiting(&self, observer: &dyn Observer) -> Result<Embedding, EngineError> {
        let mut embedding = Embedding::default();
        if self.embedder.cost() == Cost::Cheap {
            return Ok(embedding);
        }
        let wanted = self.wanted_snapshot()?;
        let waiting = wanted.model().map(|model| model.missing);
        let passages = wanted.totals().passages;
        drop(wanted);
        if waiting == Some(0) && !self.holds_deputy()? {
            return Ok(embedding);
        }
        let _turn = match Turn::take(self.layout.folder(), self.embedder.model())? {
            Ok(turn) => turn,
            Err(process) => {
                let who = process.map_or(String::new(), |id| format!(" ({id})"));
                // A model of which nothing is known yet is still to see every passage.
                embedding.waiting = waiting.unwrap_or(passages);
                embedding.reason = Some(format!("another process{who} is embedding them"));
                embedding.elsewhere = true;
                return Ok(embedding);
            }
        };
        if waiting.is_none() {
            // A model that came after the notes: from here on every passage waits for it.
            drop(self.writer(Lock::wait(&self.layout)?)?);
        }
        let places = self.known_elsewhere();
        let places: Vec<&dyn KnownVectors> = places.iter().map(AsRef::as_ref).collect();
        // What comes in while it runs is found by another pass.
        loop {
            let before = embedding.settled + embedding.refused;
            let is_over = self.embed_pass(&places, observer, &mut embedding)?;
            if is_over || embedding.settled + embedding.refused == before {
                break;
            }
        }
        embedding.waiting = self.missing()?;
        Ok(embedding)
    }

    /// Whether the model that answered in the place of the wanted one is still to go.
    fn holds_deputy(&self) -> Result<bool, EngineError> {
        let Some(deputy) = self.deputy else {
            return Ok(false);
        };
        let snapshot = Snapshot::open(&self.layout, deputy.fingerprint().as_str())?;
        Ok(snapshot.model().is_some())
    }

    /// How many passages wait for the wanted model, those that it refused left out.
    fn missing(&self) -> Result<u64, EngineError> {
        let wanted = self.wanted_snapshot()?;
        Ok(wanted.model().map_or(0, |model| model.missing))
    }

    /// Looks once at each passage that waits. Whether there is no use in another pass.
    fn embed_pass(
        &self,
        places: &[&dyn KnownVectors],
        observer: &dyn Observer,
        embedding: &mut Embedding,
    ) -> Result<bool, EngineError> {
        let mut last: Option<Waiting> = None;
        let mut unread = 0;
        loop {
            if observer.stopped() {
                embedding.reason = Some("it was stopped; the next one goes on from here".into());
                return Ok(true);
            }
            // Nothing that is excluded by now is read to the model.
            drop(self.without_excluded()?);
            let snapshot = self.wanted_snapshot()?;
            let waiting = snapshot.waiting(last.as_ref(), BATCH)?;
            if waiting.is_empty() {
                break;
            }
            let late = snapshot.embed(
                &waiting,
                &self.vault,
                &self.settings.index,
                self.embedder,
                places,
                observer,
            )?;
            drop(snapshot);
            last = waiting.into_iter().next_back();
            unread += late.unread;
            embedding.embedded += late.embedded;
            let trouble = late.trouble.clone();
            let lock = Lock::wait(&self.layout)?;
            let taken = self.writer(lock)?.take_late(late)?;
            self.tend_portable(When::Due);
            embedding.settled += taken.settled;
            embedding.refused += taken.refused;
            embedding.too_late += taken.too_late;
            let done = (embedding.settled + embedding.refused) as u64;
            observer.vectors(done, done + self.missing()?);
            if let Some(trouble) = trouble {
                embedding.reason = Some(format!("{}: {trouble}", self.embedder.model()));
                return Ok(true);
            }
        }
        if unread > 0 {
            embedding.reason = Some("some notes cannot be read, or changed meanwhile".to_string());
        }
        let lock = Lock::wait(&self.layout)?;
        if observer.stopped() {
            // Perhaps for another model is wanted by now: none is forgotten.
            return Ok(true);
        }
        self.writer(lock)?.settle_models(unread)?;
        self.tend_portable(When::Due);
        Ok(false)
    }
}
