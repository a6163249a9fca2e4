//! Vectors of Smart Connections in a vault: which notes are alike, and what the answer says of it.

use std::fs;

use lorewell_engine::{
    EngineSettings, Host, Lane, LaneReport, LaneState, Patience, Quiet, RelatedQuestion,
    RelatedSignal, Request,
};
use lorewell_testkit::TempVault;

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

struct Place {
    vault: TempVault,
    index: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        let vault = TempVault::new(NOTES);
        let folder = vault.path(".smart-env/multi");
        fs::create_dir_all(&folder).expect("made");
        let line = |(path, vec): &(&str, &str)| {
            format!(
                "\"smart_sources:{path}\": {{\"path\":\"{path}\",\"embeddings\":{{\"bge\":{{\"vec\":{vec}}}}}}},\n"
            )
        };
        let lines: String = VECTORS.iter().map(line).collect();
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
    assert_eq!(dense.model.as_deref(), Some("bge (Smart Connections)"));
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
    let ask = |host: &Host| {
        let request = Request::new("φούρνος");
        host.view()
            .expect("a view")
            .search(&request)
            .expect("an answer")
    };
    let without = ask(&place.host(false));
    assert!(
        without
            .passages
            .iter()
            .all(|found| found.note.path.as_str() != "Ψωμί.md")
    );
    let answer = ask(&place.host(true));
    let paths: Vec<&str> = answer
        .passages
        .iter()
        .map(|p| p.note.path.as_str())
        .collect();
    assert_eq!(paths.first(), Some(&"Φούρνος.md"), "words go first");
    assert!(paths.contains(&"Ψωμί.md"), "{paths:?}");
    let dense = answer
        .lanes
        .iter()
        .find(|report| report.lane == Lane::Dense)
        .expect("the lane");
    assert_eq!(dense.model.as_deref(), Some("bge (Smart Connections)"));
    assert!(
        matches!(&dense.state, LaneState::Partial { reason, .. } if reason.contains("words find first"))
    );
}
