//! Links and tags as a snapshot tells them: both ways, as they are written and as they are meant.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeSet;

use lorewell_embed::{Embedder, StaticModel};
use lorewell_graph::{NameEntry, Names, Resolution};
use lorewell_index::{
    Edge, IndexSettings, Layout, LinkTarget, Lock, Quiet, Snapshot, StoredNote, Writer,
};
use lorewell_testkit::{TempHome, TempVault};
use lorewell_vault::{Rules, Vault};
use proptest::prelude::*;

fn snapshot(home: &TempHome) -> Snapshot {
    let embedder = StaticModel::built_in();
    let layout = Layout::new(home.index_dir());
    let vault = Vault::open(home.vault.root()).unwrap();
    let listing = vault.list(&Rules::default()).unwrap();
    let lock = Lock::wait(&layout).unwrap();
    let mut writer = Writer::open(&layout, lock, embedder).unwrap();
    let settings = IndexSettings::default();
    writer
        .update(&vault, &listing, &settings, embedder, &Quiet)
        .unwrap();
    Snapshot::open(&layout, embedder.fingerprint().as_str()).unwrap()
}

fn notes(snapshot: &Snapshot) -> Vec<StoredNote> {
    let ids: BTreeSet<u32> = snapshot.names().unwrap().iter().map(|n| n.note).collect();
    ids.iter()
        .map(|id| snapshot.note(*id).unwrap().unwrap())
        .collect()
}

/// `linking note: target -> note that is meant`, `?` in front of it where others could be.
fn shown(snapshot: &Snapshot, target: &LinkTarget) -> String {
    let meaning = match &target.resolution {
        Resolution::Note { id, ambiguous, .. } => {
            let path = snapshot.path_of(*id).unwrap();
            format!("{}{path}", if *ambiguous { "?" } else { "" })
        }
        Resolution::SameNote => "itself".to_string(),
        Resolution::Missing => "nothing".to_string(),
    };
    let from = snapshot.path_of(target.link.note).unwrap();
    format!("{from}: {} -> {meaning}", target.link.target)
}

const VAULT: &str = "
=== Kiln.md ===
---
aliases: [Oven, TCP/IP]
tags: [hot/very, Tool]
---
See [[Glaze]], [[Glaze|the glaze]] and [[#Firing]].
=== Glaze.md ===
---
related: \"[[kiln]]\"
tags: [tool]
---
![[Oven]] [[Ash]] [bad](../Nowhere.md)
=== Old/Kiln.md ===
[up](../Kiln.md), [beside](Kiln.md) and [[Kiln]].
=== Old/Log.md ===
[[Kiln.md]], [[..\\Kiln]], [[tcp/ip]], [[Old/Log]], [far](Old/Kiln)
=== Lone.md ===
Nothing. #tool
";

#[test]
fn links_are_told_both_ways() {
    let home = TempHome::new(VAULT);
    let snapshot = snapshot(&home);
    let note = |path: &str| snapshot.note_at(path).unwrap().unwrap();
    let lines = |links: Vec<LinkTarget>| -> Vec<String> {
        links.iter().map(|link| shown(&snapshot, link)).collect()
    };
    assert_eq!(
        lines(snapshot.links_to(&note("Kiln.md")).unwrap()),
        [
            "Glaze.md: kiln -> ?Kiln.md",
            "Glaze.md: Oven -> Kiln.md",
            "Old/Kiln.md: ../Kiln -> Kiln.md",
            "Old/Log.md: ..\\Kiln -> Kiln.md",
            "Old/Log.md: tcp/ip -> Kiln.md",
        ]
    );
    assert_eq!(
        lines(snapshot.links_to(&note("Old/Kiln.md")).unwrap()),
        [
            "Old/Log.md: Kiln -> ?Old/Kiln.md",
            "Old/Log.md: Old/Kiln -> Old/Kiln.md",
        ]
    );
    assert_eq!(
        lines(snapshot.links_from(&note("Kiln.md")).unwrap()),
        [
            "Kiln.md: Glaze -> Glaze.md",
            "Kiln.md: Glaze -> Glaze.md",
            "Kiln.md:  -> itself",
        ]
    );
    assert_eq!(
        lines(snapshot.links_from(&note("Glaze.md")).unwrap()),
        [
            "Glaze.md: kiln -> ?Kiln.md",
            "Glaze.md: Oven -> Kiln.md",
            "Glaze.md: Ash -> nothing",
            "Glaze.md: ../Nowhere -> nothing",
        ]
    );
    let edge = |edge: &Edge| {
        let path = |id| snapshot.path_of(id).unwrap();
        let sign = if edge.ambiguous { "?" } else { "" };
        format!("{} -> {sign}{}", path(edge.from), path(edge.to))
    };
    let neighbours = |path: &str| {
        let edges = snapshot.link_neighbours(&[note(path).id]).unwrap();
        let mut edges: Vec<String> = edges.iter().map(edge).collect();
        edges.sort();
        edges
    };
    assert_eq!(
        neighbours("Kiln.md"),
        [
            "Glaze.md -> Kiln.md",
            "Kiln.md -> Glaze.md",
            "Old/Kiln.md -> Kiln.md",
            "Old/Log.md -> Kiln.md",
        ]
    );
    assert_eq!(
        neighbours("Old/Kiln.md"),
        ["Old/Kiln.md -> Kiln.md", "Old/Log.md -> Old/Kiln.md"]
    );
    assert_eq!(neighbours("Lone.md"), [""; 0]);
    assert_eq!(snapshot.link_neighbours(&[]).unwrap(), []);
}

#[test]
fn tags_are_told_with_how_many_notes_have_them() {
    let home = TempHome::new(VAULT);
    let snapshot = snapshot(&home);
    let kiln = snapshot.note_at("Kiln.md").unwrap().unwrap().id;
    let tags = snapshot.tags_of(&[kiln, kiln]).unwrap();
    let keys: Vec<&str> = tags.iter().map(|tag| tag.key.as_str()).collect();
    assert_eq!(keys, ["hot", "hot/very", "tool"]);
    for (tag, count) in [
        ("tool", 3),
        ("#TOOL", 3),
        ("hot", 1),
        ("hot/very", 1),
        ("cold", 0),
    ] {
        assert_eq!(snapshot.notes_with_tag_count(tag).unwrap(), count, "{tag}");
        let notes = snapshot.notes_with_tag(tag).unwrap();
        assert_eq!(notes.len(), count as usize, "{tag}");
    }
}

/// A made-up vault: paths, aliases and links that meet, now and then through several forms.
fn vaults() -> impl Strategy<Value = Vec<(String, Vec<String>, Vec<String>)>> {
    let path = "(b/|B c/|b/d/)?(Kiln|kiln log|Résumé|x\\.md|TCP)\\.(md|markdown)";
    let alias = "(Kiln|Oven|KILN LOG|tcp/ip|b/Kiln|Re\u{301}sume\u{301})";
    let link = "\\[\\[(\\.\\./|b/|b\\\\|\\./|/)?(kiln|Kiln\\.md|Kiln  log|oven|tcp/ip|IP|x|x\\.md\\.md|résumé|\\.\\.)(#h)?\\]\\]|\
        \\[t\\]\\((\\.\\./|b/|\\./|/|b/\\.\\./|b%20c/)?(kiln|Kiln\\.md|oven|R%C3%A9sum%C3%A9|x\\.md)\\)";
    let note = (
        path,
        prop::collection::vec(alias, 0..2),
        prop::collection::vec(link, 0..5),
    );
    prop::collection::vec(note, 1..7)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// What candidates alone tell is what a table of all names tells.
    #[test]
    fn links_mean_what_a_table_of_all_names_says(vault in vaults()) {
        let home = TempHome { vault: TempVault::empty() };
        for (path, aliases, links) in &vault {
            let text = format!("---\naliases: {aliases:?}\n---\n{}\n", links.join(" and "));
            home.vault.write(path, text);
        }
        std::fs::create_dir_all(home.index_dir()).unwrap();
        let snapshot = snapshot(&home);
        let notes = notes(&snapshot);
        let table = Names::new(notes.iter().map(|note| NameEntry {
            id: note.id,
            path: note.path.as_str(),
            aliases: &note.aliases,
        }));
        let mut all = Vec::new();
        for note in &notes {
            let links = snapshot.links_from(note).unwrap();
            for LinkTarget { link, resolution } in &links {
                let from = note.path.as_str();
                let meaning = match link.markdown {
                    true => table.resolve_markdown(from, &link.target),
                    false => table.resolve(from, &link.target),
                };
                prop_assert_eq!(resolution, &meaning, "{:?} in {}", link.target, from);
                prop_assert_eq!(snapshot.resolve(&link.target).unwrap(), table.resolve("", &link.target));
            }
            all.extend(links);
        }
        let by_path = |id| snapshot.path_of(id).unwrap();
        all.sort_by_key(|target| (by_path(target.link.note), target.link.ordinal));
        prop_assert_eq!(&snapshot.all_links().unwrap(), &all);
        let id = |target: &LinkTarget| match target.resolution {
            Resolution::Note { id, ambiguous, .. } => Some((id, ambiguous)),
            _ => None,
        };
        for note in &notes {
            let to: Vec<LinkTarget> = all
                .iter()
                .filter(|t| t.link.note != note.id && id(t).is_some_and(|(id, _)| id == note.id))
                .cloned()
                .collect();
            prop_assert_eq!(snapshot.links_to(note).unwrap(), to);
            let edges = snapshot.link_neighbours(&[note.id]).unwrap();
            let mut wanted: Vec<Edge> = Vec::new();
            for (from, (to, ambiguous)) in all.iter().filter_map(|t| Some((t.link.note, id(t)?))) {
                if from == to || (from != note.id && to != note.id) {
                    continue;
                }
                match wanted.iter_mut().find(|e| (e.from, e.to) == (from, to)) {
                    Some(edge) => edge.ambiguous &= ambiguous,
                    None => wanted.push(Edge { from, to, ambiguous }),
                }
            }
            wanted.sort_unstable();
            prop_assert_eq!(edges, wanted);
        }
    }
}
