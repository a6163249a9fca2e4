//! Everything that an index says, without its internal numbers: two pictures are equal if no
//! question can tell the indexes apart.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt::Debug;

use lorewell_embed::{Embedder, StaticModel};
use lorewell_engine::{
    Answer, Host, Lane, Piece, RelatedQuestion, Request, Scope, SharedTarget, Signal, StatusRequest,
};
use lorewell_graph::Resolution;
use lorewell_index::{LinkTarget, Snapshot};
use lorewell_vault::Vault;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Picture {
    pub(crate) counts: (u64, u64, bool),
    /// Each note's rows, by path, as they print.
    pub(crate) notes: BTreeMap<String, Vec<String>>,
    /// Paths of the notes with a tag.
    pub(crate) tags: BTreeMap<String, BTreeSet<String>>,
    pub(crate) skipped: Vec<String>,
    pub(crate) warnings: Vec<String>,
    /// Passages with a vector, passages outside the model's vocabulary, live rows.
    pub(crate) vectors: (u64, u64, u32),
    pub(crate) answers: Vec<(String, Vec<String>)>,
    /// What is related to each note, and what links to and from it.
    pub(crate) ties: Vec<(String, Vec<String>)>,
    /// What the status counts and lists.
    pub(crate) status: String,
}

/// Questions whose answers are compared: by words, by title, in Chinese, by a word's beginning,
/// with ties, and of things that no note has.
pub(crate) const QUESTIONS: [&str; 13] = [
    "how hot is the second firing",
    "Kiln",
    "kiln log",
    "Glaze Recipes",
    "窑炉的温度是多少",
    "釉料",
    "ceram",
    "alpha beta gamma delta",
    "Who pays the rent of the workshop?",
    "quantum chromodynamics",
    "the of and",
    "what is the \"second firing\"",
    "slow cooling cone 6 stoneware notes",
];

impl Picture {
    pub(crate) fn of(host: &Host) -> Picture {
        Picture::of_model(host, StaticModel::built_in())
    }

    /// The picture of an index whose vectors are those of a model.
    pub(crate) fn of_model(host: &Host, model: &dyn Embedder) -> Picture {
        let fingerprint = model.fingerprint();
        let layout = lorewell_index::Layout::new(host.index_folder());
        let snapshot = Snapshot::open(&layout, fingerprint.as_str()).unwrap();
        snapshot.verify().unwrap();
        let totals = snapshot.totals();
        let vault = Vault::open(host.root()).unwrap();
        let listing = vault.list(&host.settings().index.rules).unwrap();
        let mut picture = Picture {
            counts: (totals.notes, totals.passages, totals.unfinished),
            notes: BTreeMap::new(),
            tags: BTreeMap::new(),
            skipped: shown(snapshot.skipped(&listing).unwrap()),
            warnings: shown(snapshot.warnings(usize::MAX >> 1).unwrap().0),
            vectors: snapshot.model().map_or((0, 0, 0), |model| {
                let live = snapshot.vectors().map_or(0, |(_, live)| live.count());
                (model.embedded, model.outside, live)
            }),
            answers: Vec::new(),
            ties: Vec::new(),
            status: status_row(host),
        };
        let notes: BTreeSet<u32> = snapshot.names().unwrap().iter().map(|n| n.note).collect();
        for id in &notes {
            picture.add_note(&snapshot, *id);
        }
        assert_eq!(
            notes.len() as u64,
            totals.notes,
            "names of notes that are not there"
        );
        picture.ask(host);
        picture.tie(host);
        picture
    }

    fn add_note(&mut self, snapshot: &Snapshot, id: u32) {
        let note = snapshot.note(id).unwrap().expect("a name's note");
        let path = note.path.as_str().to_string();
        let mut rows = vec![format!(
            "{:?}",
            (
                &note.title,
                &note.aliases,
                &note.tags,
                &note.date,
                &note.evidence,
                note.passages
            )
        )];
        rows.push(format!("{:?} {}", note.content_hash, note.encoding));
        let names = snapshot.names().unwrap();
        rows.extend(
            names
                .iter()
                .filter(|n| n.note == id)
                .map(|n| format!("{:?} {}", n.kind, n.name)),
        );
        for number in snapshot.passages_of(id).unwrap() {
            let p = snapshot.passage(number).unwrap().expect("a listed passage");
            let row = snapshot.row_of_passage(number).unwrap();
            let vector = row.and_then(|row| snapshot.vectors()?.0.bytes(row));
            rows.push(format!(
                "{:?}",
                (
                    p.ordinal,
                    p.byte_range,
                    p.line_range,
                    p.heading_path,
                    p.hidden,
                    p.text,
                    vector
                )
            ));
        }
        let links = snapshot.links_from(&note).unwrap();
        rows.extend(links.iter().map(|link| link_row(snapshot, link)));
        for tag in &note.tags {
            let scope = Scope {
                tags: vec![tag.clone()],
                ..Scope::default()
            };
            let with = snapshot.notes_in(&scope).unwrap().expect("a scope");
            self.tags.insert(tag.clone(), paths(snapshot, &with));
        }
        assert!(
            self.notes.insert(path, rows).is_none(),
            "two notes of one path"
        );
    }

    fn ask(&mut self, host: &Host) {
        let view = host.view().unwrap();
        let mut ask = |request: &Request| {
            let answer = view.search(request).unwrap();
            self.answers
                .push((format!("{request:?}"), answer_rows(&answer)));
        };
        for question in QUESTIONS {
            let mut whole = Request::new(question);
            let mut narrow = whole.clone();
            narrow.settings.depth = 3;
            narrow.limit = 3;
            narrow.settings.max_per_note = 1;
            ask(&whole);
            ask(&narrow);
            whole.lanes = Lane::ALL.to_vec();
            ask(&whole);
        }
        let mut exact = Request::new("# —");
        exact.exact = true;
        ask(&exact);
        exact.question = "second firing".to_string();
        ask(&exact);
        let mut scoped = Request::new("firing temperature");
        scoped.scope.folders = vec!["Projects".to_string()];
        ask(&scoped);
    }

    /// Asks what is related and linked to every note, and what is loose in the vault.
    fn tie(&mut self, host: &Host) {
        let view = host.view().unwrap();
        let piece = Piece {
            offset: 0,
            limit: 1000,
        };
        for path in self.notes.keys().cloned().collect::<Vec<String>>() {
            let links = view.links_of(&path, piece).unwrap();
            let back = links.backlinks.items.iter().map(|link| {
                format!(
                    "{} {:?} {} {:?}",
                    link.from.path, link.others, link.sentence, link.byte_range
                )
            });
            let loose = links.unresolved.items.iter().chain(&links.ambiguous.items);
            let mut rows: Vec<String> = back.chain(loose.map(target_row)).collect();
            let related = view
                .related(&RelatedQuestion {
                    note: path.clone(),
                    limit: 10,
                    scope: Scope::default(),
                })
                .unwrap();
            rows.extend(related.notes.iter().map(|entry| {
                let path = entry.note.path.as_str();
                format!(
                    "{path} {} {} {} {:?}",
                    entry.score, entry.snippet, entry.near_copy, entry.signals
                )
            }));
            self.ties.push((path, rows));
        }
        let all = view.link_overview(piece).unwrap();
        let loose = all.unresolved.items.iter().chain(&all.ambiguous.items);
        let orphans = all.orphans.items.iter().map(|note| note.path.clone());
        let rows = loose.map(target_row).chain(orphans).collect();
        self.ties.push((format!("{} links", all.links), rows));
    }

    /// Fails naming the first thing that differs.
    #[track_caller]
    pub(crate) fn assert_same(&self, other: &Picture) {
        assert_eq!(
            self.notes.keys().collect::<Vec<_>>(),
            other.notes.keys().collect::<Vec<_>>()
        );
        for (path, rows) in &self.notes {
            assert_eq!(rows, &other.notes[path], "rows of {path}");
        }
        for (mine, theirs) in self.answers.iter().zip(&other.answers) {
            assert_eq!(mine, theirs, "answers");
        }
        for (mine, theirs) in self.ties.iter().zip(&other.ties) {
            assert_eq!(mine, theirs, "ties");
        }
        assert_eq!(self, other);
    }
}

fn target_row(target: &SharedTarget) -> String {
    let places = target.from.iter().map(|place| place.note.path.as_str());
    let places: Vec<&str> = places.collect();
    format!(
        "{} {:?} {} {} {places:?}",
        target.target, target.notes, target.links, target.linking
    )
}

/// The status but for what differs between two indexes of the same notes: folders, sizes, times,
/// and whether a file that has only just changed is looked at once more.
fn status_row(host: &Host) -> String {
    let request = StatusRequest {
        list_limit: 1000,
        ..StatusRequest::default()
    };
    let status = host.status(&request).unwrap();
    // Hidden folders come and go with settings that no note depends on.
    let left_out = status.left_out.iter();
    let left_out = left_out.filter(|file| file.code != "dot_folder");
    let models = status
        .models
        .iter()
        .map(|m| (m.embedded, m.outside, m.missing));
    format!(
        "{:?}",
        (
            status.totals.notes,
            status.totals.passages,
            models.collect::<Vec<_>>(),
            left_out.collect::<Vec<_>>(),
            status.unreadable,
            status.other_files,
            status.warnings,
        )
    )
}

fn shown<T: Debug>(rows: Vec<T>) -> Vec<String> {
    rows.iter().map(|row| format!("{row:?}")).collect()
}

fn paths(snapshot: &Snapshot, notes: &HashSet<u32>) -> BTreeSet<String> {
    let path = |id: &u32| {
        snapshot
            .note(*id)
            .unwrap()
            .expect("a note")
            .path
            .as_str()
            .to_string()
    };
    notes.iter().map(path).collect()
}

fn link_row(snapshot: &Snapshot, target: &LinkTarget) -> String {
    let path = |id: u32| {
        snapshot
            .note(id)
            .unwrap()
            .expect("a note")
            .path
            .as_str()
            .to_string()
    };
    let meaning = match &target.resolution {
        Resolution::Note {
            id,
            ambiguous,
            others,
            by,
        } => {
            let others: Vec<String> = others.iter().map(|id| path(*id)).collect();
            format!("{} {ambiguous} {others:?} {by:?}", path(*id))
        }
        other => format!("{other:?}"),
    };
    let l = &target.link;
    format!(
        "{:?} → {meaning}",
        (
            &l.target,
            &l.headings,
            &l.block,
            &l.label,
            l.embed,
            &l.byte_range
        )
    )
}

fn answer_rows(answer: &Answer) -> Vec<String> {
    let frame = format!(
        "{:?} {:?} {:?} {:?} {}",
        answer.confidence, answer.lanes, answer.degraded, answer.notice, answer.more
    );
    let passages = answer.passages.iter().map(|p| {
        let signals: &Vec<Signal> = &p.signals;
        format!(
            "{} {} {:?} {} {signals:?} {:?} {:?} {} {:?}",
            p.rank,
            p.note.path.as_str(),
            p.passage.byte_range,
            p.score,
            p.copies,
            p.terms,
            p.fused.value,
            p.fused.trace
        )
    });
    std::iter::once(frame).chain(passages).collect()
}
