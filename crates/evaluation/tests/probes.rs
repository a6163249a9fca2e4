//! Probes drawn from a vault's own links.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use lorewell_engine::{EngineSettings, Host, Patience, Quiet};
use lorewell_evaluation::{Probe, Task, draw_probes, measure};
use lorewell_testkit::TempVault;
use proptest::prelude::*;
use tempfile::TempDir;

/// An indexed vault.
struct Indexed {
    host: Host,
    _vault: TempVault,
    _index: TempDir,
}

fn indexed(fixture: &str) -> Indexed {
    let vault = TempVault::new(fixture);
    let index = tempfile::tempdir().unwrap();
    let host = Host::open(
        "Notes",
        vault.root(),
        index.path(),
        EngineSettings::default(),
    )
    .unwrap();
    host.refresh(Patience::Wait, &Quiet).unwrap();
    Indexed {
        host,
        _vault: vault,
        _index: index,
    }
}

impl Indexed {
    fn probes(&self) -> Vec<Probe> {
        draw_probes(&self.host.view().unwrap(), 200).unwrap()
    }
}

/// A note with enough to say to be looked for.
const KILN: &str = "\
=== Kiln.md ===
The chamber is built of soft brick, holds ninety pots and reaches cone ten in eleven hours.
=== Glazes/Tenmoku.md ===
---
aliases: [black glaze]
---
An iron glaze, eight percent of red oxide, applied thick and cooled slowly to break at the rim.
";

fn drawn(source: &str) -> Vec<(String, String)> {
    let indexed = indexed(&format!("{KILN}=== Source.md ===\n{source}"));
    let probes = indexed.probes();
    probes
        .into_iter()
        .filter(|probe| probe.id.starts_with("Source.md"))
        .map(|probe| (probe.question, probe.target))
        .collect()
}

#[test]
fn the_sentence_around_a_link_without_the_link_is_the_question() {
    let cases = [
        (
            "We waited. After the third load the arch of the [[Kiln]] began to sag near the flue. It held.\n",
            "After the third load the arch of the began to sag near the flue.",
            "Kiln.md",
        ),
        (
            "- After the third **heavy** load the arch of [the old one](Kiln.md) began to sag.\n",
            "After the third heavy load the arch of began to sag.",
            "Kiln.md",
        ),
        (
            "After the third heavy load the arches of both [[kiln]]s began to sag.\n",
            "After the third heavy load the arches of both began to sag.",
            "Kiln.md",
        ),
        (
            "Whoever brushes [[Tenmoku#Rim|it]] thinly over porcelain gets brown streaks, as\n[Leach](https://leach.example/a.b) wrote.\n",
            "Whoever brushes thinly over porcelain gets brown streaks, as Leach wrote.",
            "Glazes/Tenmoku.md",
        ),
    ];
    for (source, question, target) in cases {
        assert_eq!(
            drawn(source),
            [(question.to_string(), target.to_string())],
            "{source}"
        );
    }
}

#[test]
fn what_is_no_prose_or_gives_itself_away_is_no_probe() {
    let cases = [
        (
            "a list of links",
            "- [[Kiln]]\n- [[Tenmoku]]\n- see also [[Kiln]]\n",
        ),
        (
            "navigation",
            "[[Kiln]] ← previous page of the pottery handbook | next page of it → [[Tenmoku]]\n",
        ),
        (
            "a table",
            "| arch | of | the | chamber | sagged | flue |\n| - | - | - | - | - | - |\n| near | third | load | heavy | sagging | [[Kiln]] |\n",
        ),
        (
            "a heading",
            "# After the third heavy load the arch of the [[Kiln]] sagged\n",
        ),
        (
            "a property",
            "---\nabout: \"After the third heavy load the arch of the [[Kiln]] sagged\"\n---\nText.\n",
        ),
        (
            "a field",
            "arch:: After the third heavy load the arch of the [[Kiln]] sagged\n",
        ),
        (
            "an embed",
            "After the third heavy load the arch of the chamber sagged ![[Kiln]]\n",
        ),
        (
            "code",
            "    After the third heavy load the arch of the [[Kiln]] sagged\n",
        ),
        ("too short", "The arch of the [[Kiln]] sagged.\n"),
        (
            "words in links only",
            "[[Kiln|The third heavy load of pots]] and [[Tenmoku|the iron glaze that broke at the rim]] sagged.\n",
        ),
        (
            "the name stands there too",
            "After the third heavy load the arch of the [[Kiln]], a kiln of soft brick, sagged.\n",
        ),
        (
            "an alias stands there too",
            "Whoever brushes [[Tenmoku|it up]] thinly over porcelain gets a black glaze with streaks.\n",
        ),
        (
            "the label stands there too",
            "After the third heavy load the old arch of [[Kiln|the old arch]] sagged towards the flue.\n",
        ),
        (
            "no such note",
            "After the third heavy load the arch of the [[Furnace]] began to sag.\n",
        ),
        (
            "the note itself",
            "After the third heavy load the arch of the [[Source]] began to sag, [[#Here]] too.\n",
        ),
        (
            "outside",
            "After the third heavy load the arch of the [kiln](https://kiln.example) began to sag.\n",
        ),
    ];
    for (what, source) in cases {
        assert_eq!(drawn(source), [], "{what}");
    }
}

#[test]
fn targets_have_text_are_no_days_and_are_meant_alone() {
    let fixture = "\
=== Empty.md ===
=== 2024-03-01.md ===
The chamber is built of soft brick, holds ninety pots and reaches cone ten in eleven hours.
=== One/Twin.md ===
The chamber is built of soft brick, holds ninety pots and reaches cone ten in eleven hours.
=== Two/Twin.md ===
The chamber is built of hard brick, holds eighty pots and reaches cone six in fourteen hours.
=== Diary/Source.md ===
After the third heavy load the arch of [[Empty]] began to sag near the flue.

After the third heavy load the arch of [[2024-03-01]] began to sag near the flue.

After the third heavy load the arch of [[Twin]] began to sag near the flue.
";
    assert_eq!(indexed(fixture).probes(), []);
}

#[test]
fn the_source_and_what_else_it_links_to_do_not_count_against_the_engine() {
    let fixture = format!(
        "{KILN}=== Source.md ===\nAfter the third heavy load of [[Tenmoku|iron ware]] cooled slowly, the soft brick arch of the [[Kiln]] sagged.\n"
    );
    let indexed = indexed(&fixture);
    let probes = indexed.probes();
    assert_eq!(probes.len(), 1);
    assert_eq!(probes[0].target, "Glazes/Tenmoku.md");
    assert_eq!(probes[0].passed_over, ["Source.md", "Kiln.md"]);
    let task = Task {
        questions: &[],
        probes: &probes,
        rrf_k: 60.0,
        advise: false,
        progress: &|_, _| {},
    };
    let measured = measure(&indexed.host, &task).unwrap();
    let figures = measured.probes.unwrap();
    // The source holds the whole sentence and would come first.
    let fused = figures.systems.last().unwrap();
    assert_eq!(
        (fused.system.as_str(), fused.note_at_1.mean),
        ("fused", 1.0)
    );
    assert_eq!(figures.misses, []);
}

#[test]
fn one_state_of_a_vault_gives_the_same_probes_and_no_note_gives_many() {
    let mut fixture = KILN.to_string();
    for day in 0..30 {
        fixture += &format!("=== Log {day}.md ===\n");
        for load in 0..9 {
            fixture += &format!(
                "On load {load} of week {day} the brick arch over the [[Kiln]] sagged near the flue.\n\n"
            );
        }
    }
    let indexed = indexed(&fixture);
    let probes = indexed.probes();
    assert_eq!(probes, indexed.probes());
    // Three for one target at most, whichever notes they are from.
    assert_eq!(probes.len(), 3);
    let view = indexed.host.view().unwrap();
    assert_eq!(draw_probes(&view, 2).unwrap(), probes[..2]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Whatever a note holds, no probe says what its link showed, and its words stand in a
    /// paragraph or list item of the source.
    #[test]
    fn no_probe_tells_its_answer(pieces in prop::collection::vec(piece(), 1..14)) {
        let text = pieces.concat();
        let indexed = indexed(&format!("{KILN}=== Source.md ===\n{text}"));
        let prose: Vec<&str> = text
            .lines()
            .filter(|line| !line.starts_with(['#', '|', '>', '`']) && !line.contains("![["))
            .collect();
        let prose = prose.join("\n");
        for probe in indexed.probes() {
            let question = probe.question.to_lowercase();
            let names: &[&str] = if probe.target == "Kiln.md" {
                &["kiln", "[[", "]]"]
            } else {
                &["tenmoku", "black glaze", "[[", "]]"]
            };
            for told in names {
                prop_assert!(!question.contains(told), "{question}");
            }
            prop_assert!(question.split_whitespace().count() >= 6, "{question}");
            for word in probe.question.split_whitespace() {
                prop_assert!(prose.contains(word.trim_matches(['.', ','])), "{word} of {question}");
            }
        }
    }
}

/// Pieces of Markdown, prose and not.
fn piece() -> impl Strategy<Value = String> {
    let words = "the third heavy load of pots made every arch sag near flue slowly cold rim broke";
    let words: Vec<&str> = words.split(' ').collect();
    let some = prop::sample::subsequence(words, 2..14).prop_map(|words| words.join(" "));
    let link = prop::sample::select(vec![
        "[[Kiln]]",
        "[[Kiln|it]]",
        "[[Tenmoku]]",
        "[that glaze](Glazes/Tenmoku.md)",
        "![[Kiln]]",
        "[[Nowhere]]",
        "",
    ]);
    let opens = prop::sample::select(vec!["", "", "", "- ", "1. ", "# ", "> ", "| ", "```\n"]);
    let ends = prop::sample::select(vec![". ", "\n", "\n\n", ".\n\n"]);
    (opens, some.clone(), link, some, ends).prop_map(|(opens, before, link, after, ends)| {
        format!("\n{opens}{before} {link} {after}{ends}")
    })
}
