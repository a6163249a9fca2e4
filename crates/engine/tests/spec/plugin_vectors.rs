//! Vectors of Smart Connections in a vault: which notes are alike, and what the answer says of it.

use std::fmt::Display;
use std::fs;
use std::sync::Arc;

use lorewell_embed::{Embedded, Embedder};
use lorewell_engine::{
    Answer, EngineSettings, Host, Lane, LaneReport, LaneState, Patience, Quiet, RelatedQuestion,
    RelatedSignal, Request,
};
use lorewell_testkit::TempVault;

use crate::dear::Dear;

/// Greek, which the built-in model does not know.
const NOTES: &str = "
=== Φούρνος.md ===
Ο φούρνος ανάβει το πρωί.
=== Ψωμί.md ===
Το ζυμάρι φουσκώνει όλη νύχτα.
=== Βάρκα.md ===
Η βάρκα θέλει νέο πανί.
=== Δίχτυ.md ===
Μπλεγμένα σχοινιά στην άμμο.
";

/// What the plugin knows: bread and oven are alike, boat and net.
const VECTORS: &[(&str, &str)] = &[
    ("Φούρνος.md", "[1,0.1,0]"),
    ("Ψωμί.md", "[1,0.2,0]"),
    ("Βάρκα.md", "[0,1,0.1]"),
    ("Δίχτυ.md", "[0.1,1,0]"),
];

/// What the plugin calls its model.
const MODEL: &str = "Somebody/bge";

struct Place {
    vault: TempVault,
    index: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        Place::with_vectors(VECTORS.iter().copied())
    }

    fn with_vectors<'v>(vectors: impl Iterator<Item = (&'v str, impl Display)>) -> Place {
        let vault = TempVault::new(NOTES);
        let folder = vault.path(".smart-env/multi");
        fs::create_dir_all(&folder).expect("made");
        let line = |(path, vec)| {
            format!(
                "\"smart_sources:{path}\": {{\"path\":\"{path}\",\"embeddings\":{{\"{MODEL}\":{{\"vec\":{vec}}}}}}},\n"
            )
        };
        let lines: String = vectors.map(line).collect();
        fs::write(folder.join("all.ajson"), lines).expect("written");
        Place {
            vault,
            index: tempfile::tempdir().expect("a folder"),
        }
    }

    fn host(&self, smart_connections: bool) -> Host {
        let settings = EngineSettings {
            smart_connections,
            ..EngineSettings::default()
        };
        let host = Host::open("v", self.vault.root(), self.index.path(), settings).expect("opened");
        host.refresh(Patience::Wait, &Quiet).expect("built");
        host
    }
}

fn related(host: &Host, note: &str) -> (Vec<String>, LaneReport) {
    let question = RelatedQuestion {
        note: note.to_string(),
        limit: 5,
        ..RelatedQuestion::default()
    };
    let found = host
        .view()
        .expect("a view")
        .related(&question)
        .expect("an answer");
    let by_meaning = found.notes.iter().filter(|entry| {
        let is_dense = |signal: &RelatedSignal| matches!(signal, RelatedSignal::Dense(_));
        entry.signals.iter().any(is_dense)
    });
    let paths = by_meaning.map(|entry| entry.note.path.as_str().to_string());
    (paths.collect(), found.dense)
}

#[test]
fn notes_are_alike_by_the_plugins_vectors_where_the_user_says_so() {
    let place = Place::new();
    assert_eq!(
        related(&place.host(false), "Φούρνος").0,
        Vec::<String>::new()
    );
    let host = place.host(true);
    let (paths, dense) = related(&host, "Φούρνος");
    assert_eq!(paths, ["Ψωμί.md"]);
    assert_eq!(
        dense.model.as_deref(),
        Some("Somebody/bge (Smart Connections)")
    );
    assert_eq!(related(&host, "Βάρκα").0, ["Δίχτυ.md"]);
}

#[test]
fn a_note_that_the_plugin_does_not_know_is_compared_by_the_model_and_that_is_said() {
    let place = Place::new();
    place
        .vault
        .write("Late.md", "Bread from the oven, and a boat.\n");
    let (_, dense) = related(&place.host(true), "Late");
    assert_eq!(dense.model.as_deref(), Some("static-en-256"));
    assert_eq!(
        dense.wanted.map(|wanted| wanted.model),
        Some("Smart Connections".to_string())
    );
}

#[test]
fn a_question_that_the_model_does_not_know_finds_what_is_near_to_what_its_words_find() {
    let place = Place::new();
    let without = ask(&place.host(false), "φούρνος");
    assert!(
        without
            .passages
            .iter()
            .all(|found| found.note.path.as_str() != "Ψωμί.md")
    );
    let answer = ask(&place.host(true), "φούρνος");
    let paths = paths(&answer);
    assert_eq!(paths.first(), Some(&"Φούρνος.md"), "words go first");
    assert!(paths.contains(&"Ψωμί.md"), "{paths:?}");
    let (model, reason) = dense(&answer);
    assert_eq!(model, "Somebody/bge (Smart Connections)");
    assert!(reason.contains("words find first"), "{reason}");
}

#[test]
fn a_question_is_embedded_by_the_plugins_own_model_where_that_is_here() {
    let model = Dear::new("the plugin's");
    let near: &[(&str, &str)] = &[
        ("Φούρνος.md", "φωτιά κάρβουνο"),
        ("Ψωμί.md", "ζυμάρι αλεύρι"),
        ("Βάρκα.md", "πανί ταξίδι"),
        ("Δίχτυ.md", "ψάρι θάλασσα"),
    ];
    let vectors = near
        .iter()
        .map(|(path, text)| match model.embed_question(text) {
            Embedded::Vector(vector) => (*path, format!("{vector:?}")),
            other => panic!("{other:?}"),
        });
    let place = Place::with_vectors(vectors);
    let by_name = |name: &str| Ok((name == MODEL).then_some(model as &'static dyn Embedder));
    let host = place.host(true).finding_models(Arc::new(by_name));
    // No word of it is in any note.
    let answer = ask(&host, "ψάρι στη θάλασσα");
    assert_eq!(paths(&answer).first(), Some(&"Δίχτυ.md"));
    let (model, reason) = dense(&answer);
    assert_eq!(model, "Somebody/bge (Smart Connections)");
    assert!(
        reason.contains("near to the question, as dear-64"),
        "{reason}"
    );
}

#[test]
fn a_model_that_does_not_fit_the_plugins_vectors_is_named_and_words_lead() {
    let model = Dear::new("another");
    let by_name = |_: &str| Ok(Some(model as &'static dyn Embedder));
    let place = Place::new();
    let host = place.host(true).finding_models(Arc::new(by_name));
    let answer = ask(&host, "φούρνος");
    assert!(paths(&answer).contains(&"Ψωμί.md"));
    let (_, reason) = dense(&answer);
    assert!(
        reason.contains("words find first; dear-64 was asked"),
        "{reason}"
    );
    let damaged = |_: &str| Err("it is damaged".to_string());
    let host = place.host(true).finding_models(Arc::new(damaged));
    let (_, reason) = dense(&ask(&host, "φούρνος"));
    assert!(
        reason.contains("cannot be asked: it is damaged"),
        "{reason}"
    );
}

#[test]
fn vectors_that_could_not_help_are_told() {
    let place = Place::new();
    let report = |host: &Host| {
        let answer = ask(host, "ξένο");
        let is_dense = |report: &&LaneReport| report.lane == Lane::Dense;
        match &answer.lanes.iter().find(is_dense).expect("the lane").state {
            LaneState::Abstained { reason } => reason.clone(),
            other => panic!("{other:?}"),
        }
    };
    let said = report(&place.host(true));
    assert!(said.contains("Smart Connections stands in"), "{said}");
    assert!(!report(&place.host(false)).contains("Smart"), "not wanted");
    let damaged = |_: &str| Err("it is damaged".to_string());
    let said = report(&place.host(true).finding_models(Arc::new(damaged)));
    assert!(said.contains("cannot be asked: it is damaged"), "{said}");
    fs::remove_dir_all(place.vault.path(".smart-env")).expect("gone");
    let said = report(&place.host(true));
    assert!(said.contains("holds no vectors of Smart"), "{said}");
}

fn ask(host: &Host, question: &str) -> Answer {
    let request = Request::new(question);
    let view = host.view().expect("a view");
    view.search(&request).expect("an answer")
}

fn paths(answer: &Answer) -> Vec<&str> {
    let passages = answer.passages.iter();
    passages.map(|found| found.note.path.as_str()).collect()
}

/// The model of the dense lane, and why it is partial.
fn dense(answer: &Answer) -> (String, String) {
    let is_dense = |report: &&LaneReport| report.lane == Lane::Dense;
    let report = answer.lanes.iter().find(is_dense).expect("the lane");
    match &report.state {
        LaneState::Partial { reason, .. } => {
            (report.model.clone().unwrap_or_default(), reason.clone())
        }
        other => panic!("{other:?}"),
    }
}
