//! How copies are folded in an answer: which is shown, which are named.

mod bench;

use bench::{Bench, notes as notes_of};
use lorewell_retrieval::Request;

/// The answer to a question over a vault: each passage as `note (copies)`, best first.
fn ask(notes: &str, question: &str) -> Vec<String> {
    let answer = Bench::new(notes).ask(&Request::new(question));
    let shown = answer.passages.iter().zip(notes_of(&answer));
    let shown = shown.map(|(passage, note)| {
        let mut copies = passage.copies.clone();
        copies.sort();
        format!("{note} ({})", copies.join(", "))
    });
    shown.collect()
}

/// The file line of a note and a text, several times.
fn notes(of: &[(&str, &str)]) -> String {
    of.iter()
        .map(|(path, text)| format!("=== {path} ===\n{text}\n"))
        .collect()
}

const EVENT: &str = "On 3 May 2024 the kiln in the shed cracked along its lid during the second \
    firing, because it had been cooled too fast, and Ada ordered a new lid from the works in Stoke.";

#[test]
fn notes_that_repeat_one_event_are_one_and_events_in_one_form_are_many() {
    let repeated = notes(&[
        ("Kiln.md", EVENT),
        ("Repairs.md", &EVENT.replace("because it had", "as it had")),
        (
            "Shed.md",
            &format!("> {}", EVENT.replace("too fast", "far too fast")),
        ),
    ]);
    let shown = ask(&repeated, "why did the kiln crack?");
    assert_eq!(shown.len(), 1, "{shown:?}");
    for path in ["Kiln.md", "Repairs.md", "Shed.md"] {
        assert!(shown[0].contains(path), "{shown:?}");
    }

    let told_alike = notes(&[
        ("Kiln.md", EVENT),
        ("Repairs.md", &EVENT.replace("3 May", "9 June")),
        ("Shed.md", &EVENT.replace("Ada", "Bob")),
    ]);
    let shown = ask(&told_alike, "why did the kiln crack?");
    assert_eq!(shown.len(), 3, "{shown:?}");
    assert!(
        shown.iter().all(|passage| passage.ends_with("()")),
        "{shown:?}"
    );
}

#[test]
fn what_is_hidden_does_not_make_a_difference() {
    let vault = notes(&[
        ("Kiln.md", &format!("{EVENT} ^lid-7")),
        (
            "Shed.md",
            &EVENT.replace("its lid", "its lid %%the 2nd, says Bob%%"),
        ),
    ]);
    assert_eq!(ask(&vault, "why did the kiln crack?").len(), 1);
}

#[test]
fn a_heading_that_names_its_note_is_not_compared_but_a_day_is() {
    let under = |headings: [&str; 3]| {
        let paths = ["Boat.md", "Harbour.md", "Engine.md"];
        let texts = headings.map(|heading| format!("# {heading}\n\n{EVENT}"));
        let all: Vec<(&str, &str)> = paths
            .into_iter()
            .zip(texts.iter().map(String::as_str))
            .collect();
        ask(&notes(&all), "why did the kiln crack?").len()
    };
    assert_eq!(under(["Boat", "The harbour", "Engine"]), 1);
    assert_eq!(under(["3 May", "4 May", "5 May"]), 3);
}

#[test]
fn the_better_evidence_is_shown() {
    let older = EVENT.replace("new lid", "lid");
    for (path, other) in [
        ("Archive/Workshop/Kiln.md", "Backup/Kiln.md"),
        ("Archive/Workshop/Kiln.md", "Clippings/Kiln.md"),
        ("Clippings/Kiln.md", "Generated/Kiln.md"),
        // Of one class, the shorter path of those ranked equal.
        ("Kiln/Kiln.md", "Kiln/Kiln/Kiln/Kiln.md"),
    ] {
        for (one, two) in [
            (EVENT, EVENT),
            (EVENT, older.as_str()),
            (older.as_str(), EVENT),
        ] {
            let is_class = !path.starts_with("Kiln/");
            if !is_class && one != two {
                continue;
            }
            let vault = notes(&[(path, one), (other, two)]);
            let shown = ask(&vault, "kiln cracked lid");
            assert_eq!(shown, [format!("{path} ({other})")], "{path} {other}");
        }
    }
}

#[test]
fn the_same_words_on_two_days_are_one_and_nearly_the_same_words_two() {
    let entry = "Walked the dog along the river in the morning, had coffee at the bakery, and \
        wrote two pages of the story about the lighthouse keeper before noon.";
    let question = "walk with the dog along the river";
    let same = notes(&[("2024-05-03.md", entry), ("2024-05-04.md", entry)]);
    assert_eq!(ask(&same, question).len(), 1);
    let near = entry.replace("the story", "the long story");
    let differing = notes(&[("2024-05-03.md", entry), ("2024-05-04.md", &near)]);
    assert_eq!(ask(&differing, question).len(), 2);
}
