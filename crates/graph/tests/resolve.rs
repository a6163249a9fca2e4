//! Which note a link means.

use lorewell_graph::{By, MAX_OTHERS, NameEntry, Names, Resolution, candidate_keys, link_key};
use lorewell_text::{NotePath, name_key};
use proptest::prelude::*;

/// A vault of these paths; an alias follows its note after ` = `.
struct Fixture {
    paths: Vec<String>,
    names: Names,
}

impl Fixture {
    fn new(notes: &[&str]) -> Fixture {
        let split: Vec<(String, Vec<String>)> = notes
            .iter()
            .map(|note| {
                let mut parts = note.split(" = ").map(str::to_owned);
                (parts.next().unwrap_or_default(), parts.collect())
            })
            .collect();
        let entries =
            (0u32..)
                .zip(&split)
                .map(|(id, (path, aliases))| NameEntry { id, path, aliases });
        let names = Names::new(entries);
        Fixture {
            paths: split.into_iter().map(|(path, _)| path).collect(),
            names,
        }
    }

    /// `path`, with `?` in front if it is ambiguous, and how it was found.
    fn shown(&self, resolution: &Resolution) -> String {
        match resolution {
            Resolution::SameNote => "same".to_owned(),
            Resolution::Missing => "missing".to_owned(),
            Resolution::Note {
                id,
                ambiguous,
                others,
                by,
            } => {
                assert_eq!(*ambiguous, !others.is_empty());
                assert!(!others.contains(id));
                format!(
                    "{}{} {by:?}",
                    if *ambiguous { "?" } else { "" },
                    self.paths[*id as usize]
                )
            }
        }
    }

    fn wiki(&self, from: &str, target: &str) -> String {
        self.shown(&self.names.resolve(from, target))
    }

    fn markdown(&self, from: &str, target: &str) -> String {
        self.shown(&self.names.resolve_markdown(from, target))
    }
}

#[test]
fn names_paths_and_their_ends_match_on_whole_segments() {
    let vault = Fixture::new(&[
        "list.md",
        "shopping-list.md",
        "Uphill.md",
        "a/b/c.md",
        "a/b/Deep Note.markdown",
        "v1.8.md",
        "Twice.md.md",
        "hypha#coop.md",
        "pipe|alias.md",
        "flancia, or [[living.md",
        "🌱 Seedlings.md",
    ]);
    for (target, found) in [
        ("list", "list.md Name"),
        ("list.md", "list.md Name"),
        ("Hill", "missing"),
        ("c", "a/b/c.md Name"),
        ("b/c", "a/b/c.md Path"),
        ("a/b/c", "a/b/c.md Path"),
        ("/a/b/c", "a/b/c.md Path"),
        ("/b/c", "missing"),
        ("x/b/c", "missing"),
        ("a/c", "missing"),
        ("a\\b\\c", "a/b/c.md Path"),
        ("deep note", "a/b/Deep Note.markdown Name"),
        ("Deep Note.markdown", "a/b/Deep Note.markdown Name"),
        ("Deep Note.md", "missing"),
        ("v1.8", "v1.8.md Name"),
        ("v1", "missing"),
        ("Twice.md", "Twice.md.md Name"),
        ("Twice", "missing"),
        ("hypha#coop", "hypha#coop.md Name"),
        ("pipe|alias", "pipe|alias.md Name"),
        ("flancia, or [[living", "flancia, or [[living.md Name"),
        ("🌱 seedlings", "🌱 Seedlings.md Name"),
        ("  list ", "list.md Name"),
        ("", "same"),
        ("image.png", "missing"),
        ("a/b", "missing"),
        ("a/b/", "missing"),
        ("/", "missing"),
        ("..", "missing"),
    ] {
        assert_eq!(vault.wiki("list.md", target), found, "{target:?}");
    }
}

#[test]
fn case_unicode_form_and_blanks_do_not_matter() {
    let vault = Fixture::new(&[
        "Harbour Master.md",
        "straße.md",
        "Gro\u{308}ssentabelle.md",
        "cafe\u{301}/menu\u{308}.md",
        "Résumé.md",
        "Resume.md",
        "\u{1112}\u{116c}\u{110b}\u{1174}.md",
    ]);
    for (target, found) in [
        ("HARBOUR\u{a0}MASTER", "Harbour Master.md Name"),
        ("Straße", "straße.md Name"),
        ("STRASSE", "straße.md Name"),
        ("Grössentabelle", "Gro\u{308}ssentabelle.md Name"),
        ("CAFÉ/Menü", "cafe\u{301}/menu\u{308}.md Path"),
        ("resume", "Resume.md Name"),
        ("résumé", "Résumé.md Name"),
        ("회의", "\u{1112}\u{116c}\u{110b}\u{1174}.md Name"),
    ] {
        assert_eq!(vault.wiki("x.md", target), found, "{target:?}");
    }
}

#[test]
fn ties_go_to_the_same_spelling_then_the_same_folder_then_the_shortest_path() {
    let vault = Fixture::new(&[
        "z/Note.md",
        "y/longer/Note.md",
        "y/note.md",
        "b/Same.md",
        "a/Same.md",
        "deep/er/b/Same.md",
        "st.md",
        "St.md",
        "Same/Same.md",
        "b/c.md",
        "a/b/c.md",
    ]);
    for (from, target, found) in [
        ("x.md", "Note", "?z/Note.md Name"),
        ("x.md", "note", "?y/note.md Name"),
        ("y/longer/x.md", "Note", "?y/longer/Note.md Name"),
        ("z/x.md", "note", "?y/note.md Name"),
        ("x.md", "NOTE", "?y/note.md Name"),
        ("z/x.md", "NOTE", "?z/Note.md Name"),
        ("x.md", "Same", "?a/Same.md Name"),
        ("b/x.md", "Same", "?b/Same.md Name"),
        ("x.md", "b/Same", "b/Same.md Path"),
        ("x.md", "er/b/same", "deep/er/b/Same.md Path"),
        ("x.md", "st", "?st.md Name"),
        ("x.md", "St", "?St.md Name"),
        ("a/x.md", "b/c", "b/c.md Path"),
    ] {
        assert_eq!(vault.wiki(from, target), found, "{target:?} in {from:?}");
    }
    let Resolution::Note { others, .. } = vault.names.resolve("x.md", "Same") else {
        panic!("it is there");
    };
    let others: Vec<&str> = others
        .iter()
        .map(|id| vault.paths[*id as usize].as_str())
        .collect();
    assert_eq!(others, ["b/Same.md", "Same/Same.md", "deep/er/b/Same.md"]);
}

#[test]
fn relative_paths_count_from_the_note_and_markdown_tries_its_folder_first() {
    let vault = Fixture::new(&[
        "Tide Tables.md",
        "sub/Tide Tables.md",
        "sub/Ebb+Flow.md",
        "sub/deep/x.md",
        "other/only here.md",
        "100% wool.md",
    ]);
    for (from, target, wiki, markdown) in [
        (
            "Start.md",
            "./sub/../Tide Tables.md",
            "Tide Tables.md Relative",
            "Tide Tables.md Relative",
        ),
        (
            "sub/a.md",
            "./Tide Tables",
            "sub/Tide Tables.md Relative",
            "sub/Tide Tables.md Relative",
        ),
        (
            "sub/a.md",
            "../Tide Tables",
            "Tide Tables.md Relative",
            "Tide Tables.md Relative",
        ),
        ("sub/a.md", "../../Tide Tables", "missing", "missing"),
        ("sub/a.md", "./100% wool", "missing", "missing"),
        (
            "other/a.md",
            "Tide Tables.md",
            "?Tide Tables.md Name",
            "Tide Tables.md Path",
        ),
        (
            "sub/a.md",
            "Tide Tables.md",
            "?sub/Tide Tables.md Name",
            "sub/Tide Tables.md Relative",
        ),
        (
            "sub/a.md",
            "/Tide Tables.md",
            "Tide Tables.md Path",
            "Tide Tables.md Path",
        ),
        (
            "sub/a.md",
            "deep/x.md",
            "sub/deep/x.md Path",
            "sub/deep/x.md Relative",
        ),
        (
            "sub/a.md",
            "sub/Ebb+Flow.md",
            "sub/Ebb+Flow.md Path",
            "sub/Ebb+Flow.md Path",
        ),
        (
            "sub/a.md",
            "only here.md",
            "other/only here.md Name",
            "other/only here.md Name",
        ),
        (
            "sub/a.md",
            "deep/../Ebb+Flow",
            "sub/Ebb+Flow.md Name",
            "sub/Ebb+Flow.md Relative",
        ),
        (
            "a.md",
            "100% wool.md",
            "100% wool.md Name",
            "100% wool.md Relative",
        ),
        ("a.md", "", "same", "same"),
    ] {
        assert_eq!(vault.wiki(from, target), wiki, "[[{target}]] in {from:?}");
        assert_eq!(
            vault.markdown(from, target),
            markdown,
            "({target}) in {from:?}"
        );
    }
}

#[test]
fn an_alias_counts_only_where_no_file_has_the_name() {
    let vault = Fixture::new(&[
        "Kiln.md = Oven = TCP/IP = oven",
        "Furnace.md = Kiln =  OVEN ",
        "a/Glaze.md = Email = mail.md",
    ]);
    for (target, found) in [
        ("Kiln", "Kiln.md Name"),
        ("tcp/ip", "Kiln.md Alias"),
        ("email", "a/Glaze.md Alias"),
        ("mail.md", "a/Glaze.md Alias"),
        ("oven", "?Kiln.md Alias"),
        ("./oven", "missing"),
        ("", "same"),
    ] {
        assert_eq!(vault.wiki("x.md", target), found, "{target:?}");
    }
    assert_eq!(vault.markdown("x.md", "email"), "a/Glaze.md Alias");
}

#[test]
fn a_name_of_very_many_notes_names_only_the_nearest_others() {
    let paths: Vec<String> = (0..500).map(|n| format!("f{n:03}/README.md")).collect();
    let notes: Vec<&str> = paths.iter().map(String::as_str).collect();
    let vault = Fixture::new(&notes);
    let Resolution::Note { id, others, .. } = vault.names.resolve("f300/x.md", "README") else {
        panic!("it is there");
    };
    assert_eq!((id, others.len(), others[0]), (300, MAX_OTHERS, 0));
    assert_eq!(
        vault.wiki("f300/x.md", "f499/readme"),
        "f499/README.md Path"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Every note is what its own path means, wherever it is written and in whatever case.
    #[test]
    fn a_full_path_means_its_note(
        paths in prop::collection::btree_set("[a-cé]{1,2}(/[a-c .#]{0,2}[a-cé]){0,3}\\.md", 1..12),
        from in "[a-c]{1}/x\\.md",
    ) {
        let notes: Vec<&str> = paths.iter().map(String::as_str).collect();
        let vault = Fixture::new(&notes);
        for path in &notes {
            let by_path = vault.names.resolve(&from, &format!("/{path}"));
            let Resolution::Note { id, by, .. } = by_path else {
                return Err(TestCaseError::fail(format!("{path} is missing")));
            };
            prop_assert_eq!((notes[id as usize], by), (*path, By::Path));
            let upper = path.to_uppercase();
            prop_assert_ne!(vault.names.resolve(&from, &upper), Resolution::Missing);
        }
    }

    /// The order in which notes are given changes nothing, and no text is trouble.
    #[test]
    fn order_does_not_matter(
        paths in prop::collection::btree_set("[ab]{1,2}(/[aA]{1,2}){0,2}\\.md", 1..8),
        target in "[aAb./\\\\]{0,5}|.{0,8}",
        from in ".{0,4}",
    ) {
        let forward: Vec<&str> = paths.iter().map(String::as_str).collect();
        let backward: Vec<&str> = forward.iter().rev().copied().collect();
        let (a, b) = (Fixture::new(&forward), Fixture::new(&backward));
        prop_assert_eq!(a.wiki(&from, &target), b.wiki(&from, &target));
        prop_assert_eq!(a.markdown(&from, &target), b.markdown(&from, &target));
    }

    /// A table of the notes that a target could mean answers as the table of all notes does, and
    /// the note that is meant is found by the target's key.
    #[test]
    fn candidates_are_enough(
        paths in prop::collection::btree_set(PATH, 1..10),
        aliases in prop::collection::vec((0usize..10, NAME), 0..6),
        target in TARGET,
        from in prop::option::of(0usize..10),
    ) {
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let mut notes: Vec<(&str, Vec<String>)> = paths.iter().map(|p| (*p, vec![])).collect();
        for (at, alias) in aliases {
            let at = at % notes.len();
            notes[at].1.push(alias);
        }
        let from = from.map_or("", |at| paths[at % paths.len()]);
        let keys = candidate_keys(&target);
        let could_be_meant = |name: &str| keys.contains(&name_key(name));
        let candidates: Vec<(u32, &str, Vec<String>)> = (0u32..)
            .zip(&notes)
            .map(|(id, (path, aliases))| {
                let aliases = aliases.iter().filter(|a| could_be_meant(a)).cloned().collect();
                (id, *path, aliases)
            })
            .filter(|(_, path, aliases): &(u32, &str, Vec<String>)| {
                !aliases.is_empty() || could_be_meant(NotePath::new(*path).name())
            })
            .collect();
        let entry = |(id, path, aliases)| NameEntry { id, path, aliases };
        let all = Names::new((0u32..).zip(&notes).map(|(id, (p, a))| entry((id, *p, &a[..]))));
        let few = Names::new(candidates.iter().map(|(id, p, a)| entry((*id, *p, &a[..]))));
        let meaning = all.resolve(from, &target);
        prop_assert_eq!(&meaning, &few.resolve(from, &target));
        prop_assert_eq!(all.resolve_markdown(from, &target), few.resolve_markdown(from, &target));
        for meaning in [meaning, all.resolve_markdown(from, &target)] {
            if let Resolution::Note { id, .. } = meaning {
                let (path, aliases) = &notes[id as usize];
                let path = NotePath::new(*path);
                let mut names = aliases.iter().map(String::as_str).chain([path.name()]);
                prop_assert!(names.any(|name| link_key(name) == link_key(&target)));
            }
        }
    }
}

/// Few letters, so that names meet; all that folding, paths and extensions make hard.
const NAME: &str = "([aAbéß .\\\\/]|e\u{301}|ss|\\.md|\\.){1,4}";
const PATH: &str =
    "([abA]/|\\.\\./|[aé] /){0,2}([aAbéß .\\\\]|e\u{301}|\\.md){1,3}\\.(md|MD|markdown)";
const TARGET: &str =
    "(\\./|\\.\\./|/)?([aAbéß .]|e\u{301}|[aAb]/|[aAb]\\\\|\\.\\./|\\.md|\\.){1,5}";
