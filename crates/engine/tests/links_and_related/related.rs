//! Which notes are related, and what changes that.

use lorewell_engine::{RelatedEntry, RelatedNotes, RelatedSignal, RuleSettings, Rules, Scope};

use super::{World, backlinks, targets};

/// Twelve notes about nothing that matters here, so that words can be rare.
fn filler() -> String {
    let subjects = [
        "tram",
        "harbour",
        "violin",
        "ledger",
        "orchard",
        "glacier",
        "parliament",
        "bakery",
        "telescope",
        "saddle",
        "lantern",
        "archive",
    ];
    let note = |subject: &&str| {
        format!(
            "=== Other/{subject}.md ===\n# {subject}\nOn Monday we saw the {subject} and talked \
             about it for a while.\nThe {subject} was old, and nobody there had a better one.\n"
        )
    };
    subjects.iter().map(note).collect()
}

fn paths(related: &RelatedNotes) -> Vec<&str> {
    let entries = related.notes.iter();
    entries.map(|entry| entry.note.path.as_str()).collect()
}

fn entry<'a>(related: &'a RelatedNotes, path: &str) -> &'a RelatedEntry {
    let found = related.notes.iter().find(|e| e.note.path.as_str() == path);
    found.unwrap_or_else(|| panic!("{path} is not among {:?}", paths(related)))
}

#[test]
fn each_reason_is_told() {
    let world = World::new(&format!(
        "
=== Dye/Madder.md ===
---
tags: [dye/red]
---
The roots of madder need chalk; see [[Mordants]]. Turkey red took twenty days of steeping.
=== Dye/Mordants.md ===
Alum before all others. Used for [[Madder]] and [[Weld]].
=== Dye/Weld.md ===
A clear yellow. Goes with [[Mordants]].
=== Dye/Cochineal.md ===
---
tags: [dye/red]
---
Insects from Peru, ground fine.
=== Letters/Ottilie.md ===
Dear aunt, the Turkey red cloth arrived, and the steeping of the wool went well.
{}",
        filler()
    ));
    let related = world.related("Madder");
    assert_eq!(paths(&related)[0], "Dye/Mordants.md");
    let has = |path: &str, wanted: RelatedSignal| {
        let signals = &entry(&related, path).signals;
        assert!(signals.contains(&wanted), "{path}: {signals:?}");
    };
    let text = |texts: &[&str]| texts.iter().map(|t| t.to_string()).collect::<Vec<_>>();
    has(
        "Dye/Mordants.md",
        RelatedSignal::Link {
            out: true,
            back: true,
        },
    );
    has(
        "Dye/Weld.md",
        RelatedSignal::Neighbour(text(&["Dye/Mordants.md"])),
    );
    has("Dye/Cochineal.md", RelatedSignal::Tag(text(&["dye/red"])));
    let letter = entry(&related, "Letters/Ottilie.md");
    let words = letter.signals.iter().find_map(|signal| match signal {
        RelatedSignal::Words(words) => Some(words.clone()),
        _ => None,
    });
    let mut words = words.unwrap();
    words.sort();
    assert_eq!(words, ["Turkey", "red", "steeping"]);
    assert_eq!(
        letter.snippet,
        "Dear aunt, the Turkey red cloth arrived, and the steeping of the wool went well."
    );
    assert!(
        related
            .notes
            .iter()
            .all(|e| e.note.path.as_str() != "Dye/Madder.md")
    );
    assert!(
        related
            .notes
            .iter()
            .all(|e| e.score > 0.0 && e.score <= 1.0)
    );
    assert!(
        !paths(&related)
            .iter()
            .any(|path| path.starts_with("Other/"))
    );

    let only = |folders: &[&str], tags: &[&str]| {
        let scope = Scope {
            folders: text(folders),
            tags: text(tags),
            ..Scope::default()
        };
        let related = world.related_in("Madder", scope);
        paths(&related)
            .into_iter()
            .map(str::to_string)
            .collect::<Vec<_>>()
    };
    assert_eq!(only(&["Letters"], &[]), ["Letters/Ottilie.md"]);
    assert_eq!(only(&[], &["dye"]), ["Dye/Cochineal.md"]);
}

#[test]
fn what_a_template_gives_to_many_notes_is_no_reason() {
    let meeting = |name: &str, text: &str| {
        format!(
            "=== Meetings/{name}.md ===\n# {name}\nCreated from the meeting template on 2024-01-0{}\n\n\
             ## Attendees and apologies\n\n## Decisions taken by the committee\n{text}\n\n\
             ## Follow-up for the secretary\n",
            name.len()
        )
    };
    let meetings = [
        ("Alpha", "The lantern festival gets a bigger tent."),
        (
            "Bravos",
            "Gravel and a culvert for the northern towpath were ordered.",
        ),
        ("Charlie", "Our choir will sing Monteverdi at Easter."),
        ("Deltas", "Wasps nest above the pantry, call somebody."),
        (
            "Echo",
            "The towpath floods; gravel and a culvert would help.",
        ),
    ];
    let notes: String = meetings
        .iter()
        .map(|(name, text)| meeting(name, text))
        .collect();
    let world = World::new(&format!("\n{notes}{}", filler()));
    let related = world.related("Bravos");
    assert_eq!(paths(&related), ["Meetings/Echo.md"], "{:?}", related.notes);
    assert_eq!(paths(&world.related("Charlie")), [""; 0]);
}

#[test]
fn near_copies_are_marked_and_a_change_is_seen() {
    let poem = "The ferryman counts his silver by the lamp,\nand every coin is colder than the last.\n\
        Beneath the jetty eels knit black on black,\nand no one pays him for the second crossing.\n";
    let world = World::new(&format!(
        "
=== Ferry.md ===
{poem}
=== Ferry 2.md ===
{poem}
Copied in May.
=== Eels.md ===
Smoked eels from the jetty, with silver skin.
{}",
        filler()
    ));
    let related = world.related("Ferry");
    assert_eq!(paths(&related)[0], "Ferry 2.md");
    assert!(entry(&related, "Ferry 2.md").near_copy);
    assert!(!entry(&related, "Eels.md").near_copy);
    world
        .home
        .vault
        .write("Ferry.md", "Now about the violin of the orchard keeper.");
    assert!(!paths(&world.related("Ferry")).contains(&"Eels.md"));
    world.home.vault.remove("Ferry 2.md");
    assert!(!paths(&world.related("Eels")).contains(&"Ferry 2.md"));
}

#[test]
fn an_index_that_was_updated_relates_as_one_that_was_built_at_once() {
    let first = "
=== a/Weld.md ===
A clear yellow from [[Lime]] and weld, fast to light. #dye
=== b/Lime.md ===
Slaked lime, from the kiln at Settle. #dye
=== c/Settle.md ===
The lime kiln at Settle closed; weld grows on the heap now.
=== c/Old.md ===
Weld again: clear yellow, fast to light, on wool.
";
    let stepwise = World::new(&format!("{first}{}", filler()));
    stepwise.host();
    let vault = &stepwise.home.vault;
    vault.rename("c/Old.md", "a/Yellow.md");
    vault.write(
        "b/Lime.md",
        "Slaked lime; see [[Weld]] and [[Settle]]. #dye #stone",
    );
    stepwise.host();
    vault.write(
        "a/New.md",
        "[[Settle]] has weld and lime, a clear yellow. #stone",
    );
    vault.remove("Other/tram.md");
    let at_once = World::new("");
    let others = filler();
    let names = others.lines().filter_map(|line| line.strip_prefix("=== "));
    let ours = [
        "a/Weld.md",
        "a/Yellow.md",
        "a/New.md",
        "b/Lime.md",
        "c/Settle.md",
    ];
    let paths: Vec<&str> = names
        .filter_map(|line| line.strip_suffix(" ==="))
        .filter(|path| *path != "Other/tram.md")
        .chain(ours)
        .collect();
    for path in paths.iter().rev() {
        at_once.home.vault.write(path, vault.bytes(path));
    }
    let picture = |world: &World, path: &str| -> Vec<String> {
        let related = world.related(path);
        let shown = related.notes.iter().map(|entry| {
            let RelatedEntry {
                note,
                score,
                snippet,
                signals,
                near_copy,
            } = entry;
            format!("{} {score} {snippet} {signals:?} {near_copy}", note.path)
        });
        shown.chain(backlinks(&world.links(path))).collect()
    };
    for path in &paths {
        assert_eq!(picture(&stepwise, path), picture(&at_once, path), "{path}");
    }
    assert!(!picture(&at_once, "a/Weld.md").is_empty());
}

#[test]
fn an_excluded_note_is_no_part_of_any_answer() {
    let mut world = World::new(&format!(
        "
=== Ferry.md ===
The ferryman counts silver; see [[Ledger of tolls]] and [[Eels]]. #river
=== Eels.md ===
Silver eels under the ferry, says the ferryman. #river
=== Private/Ledger of tolls.md ===
The ferryman counts silver at the [[Ferry]] over [[Eels]]. #river
{}",
        filler()
    ));
    assert_eq!(paths(&world.related("Ferry")).len(), 2);
    let rules = RuleSettings {
        folders: vec!["Private".to_string()],
        ..RuleSettings::default()
    };
    world.settings.index.rules = Rules::new(rules).unwrap();
    let related = world.related("Ferry");
    assert_eq!(paths(&related), ["Eels.md"]);
    assert!(!format!("{related:?}").contains("Private"));
    let links = world.links("Ferry");
    assert_eq!(
        targets(&links.unresolved),
        ["Ledger of tolls [] 1x from Ferry.md:1"]
    );
    assert_eq!(backlinks(&links), [""; 0]);
    assert!(!format!("{links:?}").contains("Private"));
}

#[test]
fn a_language_that_the_model_does_not_know_is_said() {
    let world = World::new(&format!(
        "
=== 藍.md ===
藍の葉は夏に刈り取り、発酵させて蒅にする。徳島の職人は百日かけて仕込む。
=== 徳島.md ===
徳島の職人を訪ねた。蒅の匂いが強かった。
{}",
        filler()
    ));
    let related = world.related("藍");
    let state = format!("{:?}", related.dense.state);
    assert!(state.starts_with("Abstained"), "{state}");
    assert_eq!(paths(&related), ["徳島.md"]);
}

#[test]
fn an_empty_note_is_found_by_its_links_and_has_no_vector() {
    let world = World::new(
        "
=== Empty.md ===
=== Hidden.md ===
%% nothing to see %%
=== Kiln.md ===
See [[Empty]] and [[Hidden]] before the kiln is fired.
",
    );
    let related = world.related("Empty");
    assert!(paths(&related).contains(&"Kiln.md"), "{related:?}");
    assert_eq!(entry(&world.related("Kiln"), "Hidden.md").snippet, "");
    let host = world.host();
    assert_eq!(host.view().unwrap().totals().passages, 3);
}
