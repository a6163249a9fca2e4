//! The golden set: what it takes in, refuses and gives back.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::fs;

use lorewell_engine::{EngineSettings, Host, Patience, Quiet};
use lorewell_evaluation::{EvaluationError, GoldenSet, NewQuestion, Question};
use lorewell_testkit::TempVault;

const NOTES: &str = "\
=== Firing/Kiln.md ===
# Schedule
Cone 6, slow,
with a soak.
=== One/Twin.md ===
First.
=== Two/Twin.md ===
Second.
";

struct Place {
    vault: TempVault,
    host: Host,
    set: GoldenSet,
}

fn place() -> Place {
    let vault = TempVault::new(NOTES);
    let host = Host::open(
        "Notes",
        vault.root(),
        &vault.beside("index"),
        EngineSettings::default(),
    )
    .unwrap();
    host.refresh(Patience::Wait, &Quiet).unwrap();
    let set = GoldenSet::at(vault.beside("deep/down/notes.jsonl"));
    Place { vault, host, set }
}

impl Place {
    fn add(&self, question: &str, note: &str, snippet: &str) -> Result<Question, EvaluationError> {
        let given = |text: &str| (!text.is_empty()).then(|| text.to_string());
        let new = NewQuestion {
            question: question.to_string(),
            note: given(note),
            snippet: given(snippet),
            kind: None,
        };
        self.set.add(&self.host.view().unwrap(), &new)
    }

    fn ids(&self) -> Vec<String> {
        let questions = self.set.questions().unwrap();
        questions.into_iter().map(|question| question.id).collect()
    }
}

#[test]
fn it_grows_and_shrinks_by_lines() {
    let place = place();
    assert_eq!(place.ids(), Vec::<String>::new());
    // A name will do for a path, and white space of a snippet may differ.
    let first = place
        .add(" How  slow? ", "kiln", "slow, with\ta soak")
        .unwrap();
    assert_eq!(first.question, "How slow?");
    assert_eq!(first.notes, ["Firing/Kiln.md"]);
    assert_eq!(first.snippet, "slow, with a soak");
    assert!(!place.add("Who owns it?", "", "").unwrap().is_answerable());
    // An editor may have left the last line without an end, and a blank one.
    let text = fs::read_to_string(place.set.path()).unwrap();
    fs::write(place.set.path(), format!("\n{}", text.trim_end())).unwrap();
    place.add("Which cone?", "Firing/Kiln.md", "").unwrap();
    assert_eq!(place.ids(), ["q1", "q2", "q3"]);
    let text = fs::read_to_string(place.set.path()).unwrap();
    assert_eq!(
        text.lines().last().unwrap(),
        r#"{"id":"q3","question":"Which cone?","notes":["Firing/Kiln.md"]}"#
    );
    assert_eq!(place.set.remove("q2").unwrap().question, "Who owns it?");
    assert_eq!(place.ids(), ["q1", "q3"]);
    place.add("Who owns it now?", "", "").unwrap();
    assert_eq!(place.ids(), ["q1", "q3", "q4"]);
    // Nothing of it lies in the vault.
    let in_vault = fs::read_dir(place.vault.root()).unwrap().count();
    assert_eq!(in_vault, 3);
}

#[test]
fn what_could_not_be_measured_is_refused() {
    let place = place();
    place.add("Which cone?", "Kiln", "").unwrap();
    let cases = [
        (place.add(" ", "Kiln", ""), "empty_question"),
        (place.add("which  CONE?", "Kiln", ""), "duplicate_question"),
        (place.add("Which cone?", "", ""), "duplicate_question"),
        (place.add("How slow?", "Klin", ""), "no_such_note"),
        (place.add("How slow?", "Twin", ""), "which_note"),
        (place.add("How slow?", "Kiln", "Cone 7"), "no_such_snippet"),
        (place.set.remove("q9"), "no_such_question"),
    ];
    for (result, code) in cases {
        let error = result.expect_err(code);
        assert_eq!(error.code(), code, "{error}");
        assert!(!error.hint().is_empty(), "{error}");
    }
    // The same of another note is another question.
    place.add("Which cone?", "One/Twin", "First.").unwrap();
    assert_eq!(place.ids(), ["q1", "q2"]);
    fs::write(place.set.path(), "{\"id\":\"q1\"}\n").unwrap();
    let broken = place.set.questions().unwrap_err();
    assert_eq!(broken.code(), "not_a_question");
    assert!(broken.to_string().contains(".jsonl:1:"), "{broken}");
}

#[test]
fn several_may_add_at_once() {
    let place = place();
    let view = || place.host.view().unwrap();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let (set, view) = (&place.set, view());
            scope.spawn(move || {
                for number in 0..5 {
                    let new = NewQuestion {
                        question: format!("Question {number} of {writer}?"),
                        note: Some("Kiln".to_string()),
                        ..NewQuestion::default()
                    };
                    set.add(&view, &new).unwrap();
                }
            });
        }
    });
    let mut ids = place.ids();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 20);
}
