//! What each lane brings to an answer, over small vaults.

mod bench;

use bench::{Bench, notes};
use lorewell_index::{EvidenceClass, Scope};
use lorewell_retrieval::{Answer, Contribution, Lane, Likeness, Request, Signal, Standing, Voice};
use lorewell_text::Day;

/// A question to these lanes only.
fn with(lanes: &[Lane], question: &str) -> Request {
    Request {
        lanes: lanes.to_vec(),
        ..Request::new(question)
    }
}

/// The signals of a lane for the passages of a note.
fn signals<'a>(answer: &'a Answer, note: &str, lane: Lane) -> Vec<&'a Signal> {
    let of_note = answer
        .passages
        .iter()
        .filter(|p| p.note.path.as_str() == note);
    of_note
        .flat_map(|p| &p.signals)
        .filter(|s| s.lane == lane)
        .collect()
}

/// Fillers, so that words of the notes that matter are rare.
fn fillers(count: usize) -> String {
    let things = [
        "oak", "copper", "linen", "barley", "slate", "amber", "willow", "chalk",
    ];
    (0..count)
        .map(|n| {
            let (a, b) = (things[n % 8], things[n / 8 % 8]);
            format!("=== Fill/{n:03}.md ===\nA remark on {a} and {b}, taken down in row {n}.\n")
        })
        .collect()
}

const NOTIFY: &str = "
=== Standup.md ===
A reminder goes out to notify the crew before the standup.
=== Rent.md ===
Set a reminder: notify the landlord on the first.
=== Harbour.md ===
The reminder should notify the harbour master.
=== Pump house.md ===
Notify the warden when the pump house floods.
=== Cheese.md ===
Brine the cheese for two days.
";

#[test]
fn a_word_is_answered_through_its_neighbours_and_they_are_named() {
    let bench = Bench::new(&format!("{NOTIFY}{}", fillers(300)));
    let answer = bench.ask(&with(&[Lane::Text, Lane::Vocab], "reminder about floods"));
    let added: Vec<&str> = signals(&answer, "Pump house.md", Lane::Vocab)
        .iter()
        .flat_map(|s| s.added.iter().map(String::as_str))
        .collect();
    assert!(
        added.contains(&"notifi") || added.contains(&"notify"),
        "{added:?}"
    );

    let alone = bench.ask(&with(&[Lane::Text], "reminder"));
    assert!(!notes(&alone).contains(&"Pump house.md"));
    let joined = bench.ask(&with(&[Lane::Text, Lane::Vocab], "reminder"));
    let found = notes(&joined);
    let place = |note: &str| found.iter().position(|n| *n == note);
    let through = place("Pump house.md").expect("found through its neighbours");
    for literal in ["Standup.md", "Rent.md", "Harbour.md"] {
        assert!(
            place(literal).is_some_and(|place| place < through),
            "{found:?}"
        );
    }
    assert!(!found.contains(&"Cheese.md"));
}

#[test]
fn what_goes_together_is_that_of_the_generation() {
    let bench = Bench::new(&format!("{NOTIFY}{}", fillers(300)));
    let request = with(&[Lane::Vocab], "reminder");
    assert!(notes(&bench.ask(&request)).contains(&"Pump house.md"));
    for note in ["Standup.md", "Rent.md", "Harbour.md"] {
        bench.home.vault.remove(note);
    }
    bench.update();
    assert!(
        notes(&bench.ask(&request)).is_empty(),
        "nothing teaches it any more"
    );
}

const GLAZE: &str = "
=== Tenmoku.md ===
Tenmoku breaks to rust where the glaze is thin. It came out of [[Tests of March]].
=== Tests of March.md ===
Rust spots on the glaze tests.
=== Tests of April.md ===
Rust spots on the glaze tiles.
=== Overview.md ===
[[Tenmoku]] and nothing else.
";

#[test]
fn a_linked_note_stands_above_one_of_equal_words_and_the_note_between_is_named() {
    let bench = Bench::new(GLAZE);
    let question = "tenmoku glaze rust spots";
    let plain = bench.ask(&with(&[Lane::Text], question));
    let linked = bench.ask(&with(&[Lane::Text, Lane::Link], question));
    let place = |answer: &Answer, note: &str| notes(answer).iter().position(|n| *n == note);
    assert!(place(&linked, "Tests of March.md") < place(&linked, "Tests of April.md"));
    let value = |answer: &Answer, note: &str| {
        let passage = answer
            .passages
            .iter()
            .find(|p| p.note.path.as_str() == note);
        passage.map(|p| p.fused.value).expect("in the answer")
    };
    let lead =
        |answer: &Answer| value(answer, "Tests of March.md") - value(answer, "Tests of April.md");
    assert!(lead(&linked) > lead(&plain) + 0.01);
    let signal = signals(&linked, "Tests of March.md", Lane::Link);
    assert_eq!(signal[0].via, ["Tenmoku.md"]);
    assert!(signals(&linked, "Tests of April.md", Lane::Link).is_empty());
}

#[test]
fn shared_rare_tags_lift_and_are_named() {
    let bench = Bench::new(&format!(
        "
=== Celadon.md ===
---
tags: [ceramics/glaze]
---
The celadon of the second firing came out grey.
=== Kiln log.md ===
---
tags: [ceramics/glaze]
---
A grey firing once more.
=== Camp.md ===
A grey firing range once more.
{}",
        fillers(40)
    ));
    let answer = bench.ask(&with(
        &[Lane::Text, Lane::Tag],
        "celadon second firing grey",
    ));
    let found = notes(&answer);
    assert_eq!(found[..2], ["Celadon.md", "Kiln log.md"], "{found:?}");
    assert_eq!(
        signals(&answer, "Kiln log.md", Lane::Tag)[0].tags,
        ["ceramics", "ceramics/glaze"]
    );
    assert!(signals(&answer, "Camp.md", Lane::Tag).is_empty());
}

#[test]
fn newer_notes_rise_by_what_they_say_of_their_date_not_by_the_files_time() {
    let bench = Bench::new(
        "
=== Heating 2031-02-01.md ===
The boiler set point is 58 degrees.
=== Heating 2029-02-01.md ===
The boiler set point is 61 degrees.
=== Heating.md ===
The boiler set point is 70 degrees.
",
    );
    let mut request = with(&[Lane::Text, Lane::Recent], "boiler set point");
    request.today = Day::new(2030, 1, 1);
    assert_eq!(notes(&bench.ask(&request))[0], "Heating 2031-02-01.md");
    request.lanes = vec![Lane::Text];
    let plain = bench.ask(&request);
    assert!(
        plain
            .passages
            .iter()
            .all(|p| p.signals.iter().all(|s| s.lane == Lane::Text))
    );
}

#[test]
fn a_daily_note_is_found_by_its_date_in_words() {
    let bench = Bench::new(
        "
=== Journal/2024-05-03.md ===
Planted the beans, called the roofer.
=== Journal/2024-05-04.md ===
Rain. Sorted the seeds.
=== Roof.md ===
The roofer comes on Monday, 3 May or later.
",
    );
    let first = |question: &str, today: Option<Day>| {
        let request = Request {
            today,
            ..Request::new(question)
        };
        let answer = bench.ask(&request);
        notes(&answer).first().map(|note| (*note).to_string())
    };
    let today = Day::new(2024, 5, 5);
    for (question, note) in [
        ("3 May 2024", "Journal/2024-05-03.md"),
        ("what did I do on May 4th, 2024?", "Journal/2024-05-04.md"),
        ("yesterday", "Journal/2024-05-04.md"),
        ("2024-05-03", "Journal/2024-05-03.md"),
    ] {
        assert_eq!(first(question, today).as_deref(), Some(note), "{question}");
    }
    let later = Day::new(2024, 5, 4);
    assert_eq!(
        first("yesterday", later).as_deref(),
        Some("Journal/2024-05-03.md")
    );
    assert_ne!(
        first("yesterday", None).as_deref(),
        Some("Journal/2024-05-04.md")
    );
}

const WORDS: &str = "
=== Deposit.md ===
The landlord keeps two months of rent as a deposit.
=== Security.md ===
The bond is paid back when the keys are returned.
=== Fish.md ===
Smoke the trout over alder.
";

#[test]
fn paraphrases_have_lists_of_their_own_and_never_outvote_the_question() {
    let bench = Bench::new(WORDS);
    let lanes = &[Lane::Text, Lane::Dense];
    let plain = bench.ask(&with(lanes, "deposit of the landlord"));
    assert_eq!(notes(&plain)[0], "Deposit.md");
    let request = Request {
        also: vec!["bond paid back with the keys".into()],
        ..with(lanes, "deposit of the landlord")
    };
    let helped = bench.ask(&request);
    assert_eq!(notes(&helped)[..2], ["Deposit.md", "Security.md"]);
    let of_also = |note: &str| {
        let passage = helped
            .passages
            .iter()
            .find(|p| p.note.path.as_str() == note);
        passage.is_some_and(|p| p.signals.iter().any(|s| s.voice == Voice::Also(0)))
    };
    assert!(of_also("Security.md"));
    let score = |answer: &Answer| {
        let passage = answer
            .passages
            .iter()
            .find(|p| p.note.path.as_str() == "Security.md");
        passage.map_or(0.0, |p| p.score)
    };
    assert!(
        score(&helped) > score(&plain),
        "a paraphrase that fits makes it likelier"
    );
    // However many words it has in common with something else.
    let loud = Request {
        also: vec!["smoke the trout over alder smoke the trout over alder".into()],
        ..with(lanes, "deposit of the landlord")
    };
    assert_eq!(notes(&bench.ask(&loud))[0], "Deposit.md");
}

#[test]
fn what_must_be_there_is_there_before_anything_is_ranked() {
    let bench = Bench::new(&format!("{WORDS}{}", fillers(60)));
    let ask = |must: &[&str]| {
        let request = Request {
            must: must.iter().map(ToString::to_string).collect(),
            ..Request::new("a remark on oak")
        };
        let answer = bench.ask(&request);
        let notes = notes(&answer)
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>();
        (notes, answer.notice)
    };
    assert_eq!(ask(&["bonds"]).0, ["Security.md"]);
    assert_eq!(ask(&["keys", "Bond paid"]).0, ["Security.md"]);
    let (none, notice) = ask(&["bond", "trout"]);
    assert!(none.is_empty() && notice.is_some_and(|n| n.contains("bond, trout")));
    let (some, notice) = ask(&["?!"]);
    assert!(!some.is_empty() && notice.is_some_and(|n| n.contains("?!")));
}

#[test]
fn what_is_like_a_passage_is_found_without_the_passage_itself() {
    let bench = Bench::new(
        "
=== A.md ===
The vane pump was chosen for the cellar because it runs dry without damage.
=== B.md ===
A pump that runs dry without damage: the vane pump, in the cellar of the neighbours.
=== C.md ===
Bees swarmed in May.
",
    );
    let request = Request {
        like: vec![Likeness {
            text: "The vane pump was chosen for the cellar because it runs dry without damage."
                .into(),
            place: None,
        }],
        ..Request::new("")
    };
    let answer = bench.ask(&request);
    assert_eq!(notes(&answer)[0], "B.md");
    assert!(!notes(&answer).contains(&"A.md"));
}

#[test]
fn no_place_is_kept_for_what_stands_back() {
    let bench = Bench::new(
        "
=== Templates/Meeting.md ===
Meeting agenda: who decided at the meeting, who decided the agenda of the meeting.
=== Notes/Ada.md ===
At the meeting Ada said who decided the agenda of the spring fair.
=== Notes/Fair.md ===
Who decided on the agenda of the fair was not said at the meeting.
",
    );
    let mut request = Request::new("who decided the agenda at the meeting");
    let ranks = |request: &Request| {
        let answer = bench.ask(request);
        let template = answer.passages.iter().find(|found| {
            let by_words = |part: &&Contribution| part.lane == Lane::Text;
            let part = found.fused.trace.iter().find(by_words).expect("words");
            found.evidence.class == EvidenceClass::Template && part.rank == 1
        });
        let template = template.expect("it has most of the words");
        (template.rank, template.fused.place)
    };
    assert_eq!(ranks(&request), (3, None));
    request.settings.standing = Standing::EQUAL;
    assert!(
        ranks(&request).0 < 3,
        "it is the standing that keeps it back"
    );
}

#[test]
fn lesser_evidence_stands_behind_unless_it_is_asked_for() {
    let bench = Bench::new(
        "
=== Templates/Meeting.md ===
Meeting agenda: who was there, what was decided at the meeting.
=== Notes/Meeting with Ada.md ===
At the meeting Ada said who decided the agenda of the spring fair.
",
    );
    let question = "who decided the agenda at the meeting";
    let answer = bench.ask(&Request::new(question));
    assert_eq!(notes(&answer)[0], "Notes/Meeting with Ada.md");
    let template = answer
        .passages
        .iter()
        .find(|p| p.fused.standing < 1.0)
        .expect("still there");
    assert_eq!(template.evidence.class, EvidenceClass::Template);
    let sum: f32 = template.fused.trace.iter().map(|c| c.added).sum();
    assert!((sum * template.fused.standing - template.fused.value).abs() < 1e-5);

    let asked = Request {
        scope: Scope {
            evidence: vec![EvidenceClass::Template],
            ..Scope::default()
        },
        ..Request::new(question)
    };
    let answer = bench.ask(&asked);
    assert_eq!(notes(&answer), ["Templates/Meeting.md"]);
    assert_eq!(answer.passages[0].fused.standing, 1.0);
    let equal = {
        let mut request = Request::new(question);
        request.settings.standing = Standing::EQUAL;
        request
    };
    assert!(
        bench
            .ask(&equal)
            .passages
            .iter()
            .all(|p| p.fused.standing == 1.0)
    );
}

#[test]
fn a_slip_of_the_pen_finds_the_word_and_says_so() {
    let bench = Bench::new(
        "
=== Health.md ===
The thermometer of the bath broke; sumatriptan at the first sign.
=== Kiln.md ===
The thermocouple of the kiln drifts.
",
    );
    for (question, note) in [
        ("where is the thermomter", Some("Health.md")),
        ("sumatriptn dose", Some("Health.md")),
        ("thermocuople drift", Some("Kiln.md")),
        ("thermodynamics", None),
    ] {
        let answer = bench.ask(&with(&[Lane::Text], question));
        assert_eq!(notes(&answer).first().copied(), note, "{question}");
        let said = answer
            .notice
            .is_some_and(|notice| notice.contains("spelled nearly so"));
        assert_eq!(said, note.is_some(), "{question}");
    }
    let right = bench.ask(&with(&[Lane::Text], "thermometer"));
    assert_eq!(right.notice, None);
}
