//! What the index holds, what it does not, and why.

mod lists;

use std::collections::BTreeMap;

use lorewell_index::{
    Changes, Differs, IndexError, Layout, Lock, Sizes, Snapshot, Totals, Warning,
};
use lorewell_text::name_key;
use lorewell_vault::Listing;

use self::lists::{all_new, left_out, pending, unreadable};
use crate::embedding_turn::Turn;
use crate::{EngineError, Host, PortableStatus, Watcher};

/// What is wanted of the status.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatusRequest {
    /// Say of this file whether it is indexed, and why not.
    pub why_not: Option<String>,
    /// At most so many warnings and left-out files are listed.
    pub list_limit: usize,
    /// Also check every checksum of the index.
    pub verify: bool,
}

/// The state of one vault.
#[derive(Clone, Debug, PartialEq)]
pub struct Status {
    /// The vault's name.
    pub vault: String,
    /// Its folder.
    pub root: String,
    /// The folder of the index.
    pub index_folder: String,
    /// Whether there is an index at all.
    pub built: bool,
    /// Counts.
    pub totals: Totals,
    /// Room on disk.
    pub sizes: Sizes,
    /// Notes that differ from the folder and are not taken in yet, with the reason; the first of
    /// them.
    pub pending: Vec<LeftOutFile>,
    /// How many there are in all.
    pub pending_total: u64,
    /// The process that is writing the index now, if there is one and it is known.
    pub writer: Option<Option<u32>>,
    /// Who watches the vault, if anybody does.
    pub watcher: Option<Watcher>,
    /// Vectors that travel with the vault, where there are any or are to be.
    pub portable: Option<PortableStatus>,
    /// Models with what they cover.
    pub models: Vec<ModelStatus>,
    /// How the embedding of what waits stands.
    pub embedding: EmbeddingStatus,
    /// The reranker that is wanted, if one is, and why it cannot be used, if it is known not to be.
    pub reranker: Option<(String, Option<String>)>,
    /// Files that are not searched, with the reason; the first of them.
    pub left_out: Vec<LeftOutFile>,
    /// How many there are in all.
    pub left_out_total: u64,
    /// Files and folders that could not be looked at or read. They are not treated as deleted.
    pub unreadable: Vec<LeftOutFile>,
    /// Files that are no notes, counted by extension.
    pub other_files: BTreeMap<String, u64>,
    /// What could not be read as it stands; the first of them.
    pub warnings: Vec<Warning>,
    /// How many there are in all.
    pub warnings_total: u64,
    /// Where this vault's text is sent, by its settings.
    pub network_targets: Vec<String>,
    /// The outcome of the check, if it was wanted or a file is damaged: nothing wrong, or what.
    pub verified: Option<Result<(), String>>,
    /// The answer to `why_not`.
    pub file: Option<FileState>,
}

/// A model's part in the index.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelStatus {
    /// Its name.
    pub model: String,
    /// What decides its vectors.
    pub fingerprint: String,
    /// Passages with a vector.
    pub embedded: u64,
    /// Passages that the model knows too little of.
    pub outside: u64,
    /// Passages that were not embedded yet.
    pub missing: u64,
    /// Passages that the model will not take.
    pub refused: u64,
    /// Texts that were cut because they are longer than the model takes.
    pub cut: u64,
}

/// How the embedding of what waits stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmbeddingStatus {
    /// The process that embeds now, if there is one and it is known.
    pub process: Option<Option<u32>>,
    /// In which numbers and by which instructions the wanted model is computed, where there is a
    /// choice.
    pub computed_by: Option<String>,
    /// Why the wanted model cannot be used, if it is known not to be.
    pub trouble: Option<String>,
    /// The wanted model's name.
    pub wanted: String,
}

/// The only settings of a vault that are read, and may be warned of.
const OBSIDIAN_SETTINGS: &str = ".obsidian/app.json";

/// A file or folder that is not searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOutFile {
    /// Path in the vault.
    pub path: String,
    /// A folder stands for all in it.
    pub folder: bool,
    /// A stable word for the reason.
    pub code: String,
    /// The reason for people, as the end of a sentence that begins with the path.
    pub reason: String,
}

/// Where one file stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileState {
    /// In the index as it is on disk.
    Indexed {
        /// How many passages it gave.
        passages: u32,
    },
    /// It is new or changed and will be taken in next.
    Pending,
    /// It is not searched.
    LeftOut(LeftOutFile),
    /// It could not be read.
    Failed(LeftOutFile),
    /// It is there, and is no note.
    NotANote,
    /// It is not in the folder.
    Absent,
}

impl Host {
    /// The models of a generation: the wanted one, and the one that answers in its place.
    fn models(&self, snapshot: &Snapshot) -> Result<Vec<ModelStatus>, IndexError> {
        let wanted = self.wanted_snapshot()?;
        let mut models: Vec<ModelStatus> = model(&wanted).into_iter().collect();
        if wanted.fingerprint() != snapshot.fingerprint() {
            models.extend(model(snapshot));
        }
        Ok(models)
    }

    /// The state of the vault and its index. Changes nothing, but that notes which are excluded
    /// by now go out of the index, so that nothing here counts or names them.
    ///
    /// # Errors
    /// The folder of notes cannot be read, or the index is damaged or of another format;
    /// [`EngineError::ExclusionsChanged`].
    pub fn status(&self, request: &StatusRequest) -> Result<Status, EngineError> {
        let mut listing = self.list()?;
        let snapshot = match self.without_excluded() {
            Ok(snapshot) => Some(snapshot),
            Err(EngineError::Index(IndexError::Absent(_))) => None,
            Err(error) => return Err(error),
        };
        let skipped = snapshot
            .as_ref()
            .map(|snapshot| snapshot.skipped(&listing))
            .transpose()?
            .unwrap_or_default();
        let skipped = match self.has_fences() {
            true => Vec::new(),
            false => skipped,
        };
        let (warnings, warnings_total) =
            self.warnings(&listing, snapshot.as_ref(), request.list_limit)?;
        let changes = match &snapshot {
            Some(snapshot) => Some(self.settled(snapshot.changes(&listing)?)),
            None => None,
        };
        if self.has_fences() {
            let asked = request.why_not.as_ref().map(|path| self.relative(path));
            only_indexed(&mut listing, snapshot.as_ref(), asked.as_deref())?;
        }
        let unread = changes.as_ref().map(Changes::unread).unwrap_or_default();
        let (left_out, unreadable) = (
            left_out(&listing, &skipped, &unread),
            unreadable(&listing, &skipped, &unread),
        );
        let file = match &request.why_not {
            Some(path) => {
                let looked = Looked {
                    listing: &listing,
                    snapshot: snapshot.as_ref(),
                    changes: changes.as_ref(),
                    left_out: &left_out,
                    unreadable: &unreadable,
                };
                Some(self.file_state(path, &looked)?)
            }
            None => None,
        };
        let pending = match &changes {
            Some(changes) => pending(changes, &unreadable),
            None => all_new(&listing),
        };
        Ok(Status {
            vault: self.name.clone(),
            root: self.root().display().to_string(),
            index_folder: self.index_folder().display().to_string(),
            built: snapshot.is_some(),
            totals: snapshot
                .as_ref()
                .map(|s| s.totals().clone())
                .unwrap_or_default(),
            sizes: self.layout.sizes(),
            pending_total: pending.len() as u64,
            pending: first(pending, request.list_limit),
            writer: writer(&self.layout),
            watcher: Watcher::of(self.index_folder()),
            portable: self.portable_status()?,
            models: match &snapshot {
                Some(snapshot) => self.models(snapshot)?,
                None => Vec::new(),
            },
            embedding: self.embedding_status(),
            reranker: match &self.unusable_reranker {
                Some(unusable) => Some((unusable.model.clone(), Some(unusable.reason.clone()))),
                None => self
                    .reranker
                    .map(|reranker| (reranker.model().to_string(), reranker.trouble())),
            },
            left_out_total: left_out.len() as u64,
            left_out: first(left_out, request.list_limit),
            unreadable,
            other_files: listing.other_files,
            warnings,
            warnings_total,
            network_targets: self.embedder.network_target().into_iter().collect(),
            verified: match &snapshot {
                Some(snapshot) if request.verify || snapshot.damage().is_some() => {
                    Some(snapshot.verify().map_err(|error| error.to_string()))
                }
                _ => None,
            },
            file,
        })
    }

    fn embedding_status(&self) -> EmbeddingStatus {
        let (wanted, trouble) = match &self.unusable {
            Some(unusable) => (unusable.model.as_str(), Some(unusable.reason.clone())),
            None => (self.embedder.model(), self.embedder.trouble()),
        };
        EmbeddingStatus {
            // One that has not left off yet may embed for a model that was wanted before.
            process: Turn::holder(self.index_folder())
                .filter(|holder| holder.model.as_deref().is_none_or(|model| model == wanted))
                .map(|holder| holder.process),
            computed_by: match &self.unusable {
                Some(_) => None,
                None => self.embedder.computed_by(),
            },
            trouble,
            wanted: wanted.to_string(),
        }
    }

    fn warnings(
        &self,
        listing: &Listing,
        snapshot: Option<&Snapshot>,
        limit: usize,
    ) -> Result<(Vec<Warning>, u64), EngineError> {
        let own = |message: &String| {
            let rest = message.strip_prefix(OBSIDIAN_SETTINGS).unwrap_or(message);
            Warning {
                path: OBSIDIAN_SETTINGS.to_string(),
                line: 0,
                message: rest.trim_start_matches([':', ' ']).to_string(),
            }
        };
        let mut warnings: Vec<Warning> = listing.warnings.iter().map(own).collect();
        let mut total = warnings.len() as u64;
        if let Some(snapshot) = snapshot {
            let (of_notes, count) = snapshot.warnings(limit)?;
            warnings.extend(of_notes);
            total += count;
        }
        warnings.truncate(limit);
        Ok((warnings, total))
    }

    fn file_state(&self, path: &str, looked: &Looked<'_>) -> Result<FileState, EngineError> {
        let wanted = self.relative(path);
        let same = |other: &str| name_key(other) == name_key(&wanted);
        let within = |file: &&LeftOutFile| {
            let rest = wanted.strip_prefix(&file.path);
            same(&file.path) || (file.folder && rest.is_some_and(|r| r.starts_with('/')))
        };
        if let Some(file) = looked.unreadable.iter().find(within) {
            return Ok(FileState::Failed(file.clone()));
        }
        if let Some(file) = looked.left_out.iter().find(within) {
            return Ok(FileState::LeftOut(file.clone()));
        }
        let mut notes = looked.listing.notes.iter().map(|note| note.path.as_str());
        if let Some(path) = notes.find(|path| same(path)) {
            let differing = looked.changes.map(Changes::differing).unwrap_or_default();
            let differs = differing.iter().find(|(other, _)| *other == path);
            if let Some((_, differs @ Differs::Unread(_))) = differs {
                return Ok(FileState::Failed(lists::differing(path, *differs)));
            }
            let known = looked.snapshot.map(|s| s.note_at(path));
            return Ok(match known.transpose()?.flatten() {
                Some(note) if differs.is_none() => FileState::Indexed {
                    passages: note.passages,
                },
                _ => FileState::Pending,
            });
        }
        Ok(
            if !self.has_fences() && self.root().join(&wanted).exists() {
                FileState::NotANote
            } else {
                FileState::Absent
            },
        )
    }

    /// A path of this vault, whether it was given from the root or as a whole path.
    fn relative(&self, path: &str) -> String {
        let given = std::path::Path::new(path);
        let inside = given
            .strip_prefix(self.root())
            .map(|p| p.to_string_lossy().into_owned());
        inside.unwrap_or_else(|_| path.trim_start_matches("./").trim_matches('/').to_string())
    }
}

/// What a look at the vault and its index found.
struct Looked<'a> {
    listing: &'a Listing,
    snapshot: Option<&'a Snapshot>,
    changes: Option<&'a Changes>,
    left_out: &'a [LeftOutFile],
    unreadable: &'a [LeftOutFile],
}

fn first(mut files: Vec<LeftOutFile>, limit: usize) -> Vec<LeftOutFile> {
    files.truncate(limit);
    files
}

/// Leaves nothing in a listing of which the index has no note, see [`Host::has_fences`]; and of
/// the notes the one alone that was asked for.
fn only_indexed(
    listing: &mut Listing,
    snapshot: Option<&Snapshot>,
    asked: Option<&str>,
) -> Result<(), IndexError> {
    let is_asked = |path: &str| asked.is_some_and(|asked| name_key(asked) == name_key(path));
    let notes = std::mem::take(&mut listing.notes);
    for entry in notes {
        let path = entry.path.as_str();
        let known = snapshot.filter(|_| is_asked(path)).map(|s| s.note_at(path));
        if known.transpose()?.flatten().is_some() {
            listing.notes.push(entry);
        }
    }
    listing.left_out.clear();
    listing.unreadable.clear();
    listing.other_files.clear();
    Ok(())
}

/// A model's part in a generation, if it has one.
fn model(snapshot: &Snapshot) -> Option<ModelStatus> {
    let state = snapshot.model()?;
    let passages = state.embedded + state.outside + state.missing + state.refused;
    (passages > 0).then(|| ModelStatus {
        model: state.model.clone(),
        fingerprint: state.fingerprint.clone(),
        embedded: state.embedded,
        outside: state.outside,
        missing: state.missing,
        refused: state.refused,
        cut: state.cut,
    })
}

fn writer(layout: &Layout) -> Option<Option<u32>> {
    if !layout.exists() {
        return None;
    }
    Lock::holder(layout)
}
