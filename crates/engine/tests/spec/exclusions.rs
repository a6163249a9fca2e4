//! An excluded note is nowhere, from the moment that the exclusion is known.

use lorewell_engine::{
    EngineError, Host, ReadRequest, Request, RuleSettings, Status, StatusRequest,
};
use lorewell_index::{Lock, LockAttempt};

use crate::world::World;

const NOTES: &str = "
=== Kiln.md ===
The kiln fires at cone 6, with zeolite.
=== Secret/Diary.md ===
---
tags: [private
---
The kiln of quokkazorn. #private
";

fn by_folder() -> RuleSettings {
    RuleSettings {
        folders: vec!["Secret".to_string()],
        ..RuleSettings::default()
    }
}

fn by_tag() -> RuleSettings {
    RuleSettings {
        tags: vec!["private".to_string()],
        ..RuleSettings::default()
    }
}

fn status(host: &Host) -> Result<Status, EngineError> {
    host.status(&StatusRequest {
        list_limit: 99,
        verify: true,
        why_not: None,
    })
}

/// Asks without a look for changes.
fn asked(host: &Host) -> Result<Vec<String>, EngineError> {
    let answer = host.view()?.search(&Request::new("kiln"))?;
    let path = |p: &lorewell_engine::AnswerPassage| p.note.path.as_str().to_string();
    Ok(answer.passages.iter().map(path).collect())
}

#[test]
fn who_does_not_look_for_changes_sees_no_excluded_note() {
    for rules in [by_folder(), by_tag()] {
        let mut world = World::built(NOTES);
        assert_eq!(asked(&world.host()).unwrap().len(), 2);
        world.exclude(rules.clone());
        assert_eq!(asked(&world.host()).unwrap(), ["Kiln.md"]);

        let mut world = World::built(NOTES);
        assert_eq!(status(&world.host()).unwrap().warnings_total, 1);
        world.exclude(rules.clone());
        let status = status(&world.host()).unwrap();
        assert_eq!((status.totals.notes, status.totals.passages), (1, 1));
        assert_eq!((status.warnings, status.warnings_total), (Vec::new(), 0));
        assert_eq!(
            (status.totals.unfinished, status.verified),
            (false, Some(Ok(())))
        );

        let mut world = World::built(NOTES);
        world.exclude(rules);
        let host = world.host();
        let diary = ReadRequest {
            note: "Secret/Diary.md".to_string(),
            ..ReadRequest::default()
        };
        let error = host.view().unwrap().read(&diary).unwrap_err();
        assert_eq!(error.code(), "no_such_note");
        world.refresh();
        world.picture().assert_same(&world.rebuilt_picture());
    }
}

#[test]
fn what_cannot_be_taken_out_is_not_answered_from() {
    let mut world = World::built(NOTES);
    let LockAttempt::Taken(lock) = Lock::attempt(&world.layout()).unwrap() else {
        panic!("nobody else writes here");
    };
    // Rules that leave out nothing of what is known change nothing.
    world.exclude(RuleSettings {
        folders: vec!["Nowhere".to_string()],
        ..RuleSettings::default()
    });
    assert_eq!(asked(&world.host()).unwrap().len(), 2);
    world.exclude(by_tag());
    let host = world.host();
    for error in [asked(&host).unwrap_err(), status(&host).unwrap_err()] {
        assert_eq!(error.code(), "exclusions_changed");
        let said = error.to_string();
        assert!(
            said.starts_with("notes that are excluded now are still in the index: another process"),
            "{said}"
        );
        assert!(error.hint().starts_with("Wait"));
    }
    drop(lock);
    assert_eq!(asked(&host).unwrap(), ["Kiln.md"]);
}

#[test]
fn half_written_settings_of_obsidian_let_nothing_slip_in() {
    let hidden = "{\"userIgnoreFilters\": [\"Secret/\"]}";
    for broken in ["{\"userIgnoreFil", ""] {
        let world = World::new(NOTES);
        world.home.vault.write(".obsidian/app.json", hidden);
        world.settle();
        world.home.vault.write(".obsidian/app.json", broken);
        // A process of its own, which never saw the settings whole.
        let host = world.host();
        world.refresh();
        assert_eq!(asked(&host).unwrap(), ["Kiln.md"]);
        let told = status(&host).unwrap();
        let said = &told.warnings[0].message;
        assert!(
            said.ends_with("; the excluded files known before still hold"),
            "{said}"
        );

        world.home.vault.write(".obsidian/app.json", "{}");
        world.settle();
        assert_eq!(asked(&world.host()).unwrap().len(), 2);
    }
    let world = World::new(NOTES);
    world.home.vault.write(".obsidian/app.json", "{");
    world.settle();
    for _ in 0..2 {
        let told = status(&world.host()).unwrap();
        let said = &told.warnings[0].message;
        assert!(said.contains("was never read"), "{said}");
        world.refresh();
    }
}

#[test]
fn no_file_of_the_index_keeps_a_word_of_an_excluded_note() {
    let changes: [fn(&mut World); 4] = [
        |world| world.exclude(by_folder()),
        |world| world.exclude(by_tag()),
        |world| {
            let hidden = "{\"userIgnoreFilters\": [\"Secret/\"]}";
            world.home.vault.write(".obsidian/app.json", hidden);
        },
        |world| {
            // The rule was there before; now the note falls under it.
            world.exclude(RuleSettings {
                properties: vec!["hide".to_string()],
                ..RuleSettings::default()
            });
            world.refresh();
            assert!(!world.files_holding("quokkazorn").is_empty());
            let note = "---\nhide: true\n---\nNothing.\n";
            world.home.vault.write("Secret/Diary.md", note);
        },
    ];
    for change in changes {
        let mut world = World::built(NOTES);
        // An older content of the note, whose pages are free.
        let old = world.home.vault.bytes("Secret/Diary.md");
        let long = format!("#private\n{}", "The quokkazorn again. ".repeat(4_000));
        world.home.vault.write("Secret/Diary.md", long);
        world.refresh();
        world.home.vault.write("Secret/Diary.md", old);
        world.settle();
        let before = world.files_holding("quokkazorn");
        assert!(
            before.iter().any(|file| file.ends_with(".lex")),
            "{before:?}"
        );
        assert!(
            before.iter().any(|file| file.starts_with("catalogue")),
            "{before:?}"
        );
        let rows = |world: &World| {
            let file = world.index_files("keys.bin");
            file[0].metadata().unwrap().len()
        };
        let rows_before = rows(&world);

        change(&mut world);
        world.refresh();
        assert_eq!(asked(&world.host()).unwrap(), ["Kiln.md"]);
        assert_eq!(world.files_holding("quokkazorn"), [""; 0]);
        assert!(!world.files_holding("zeolite").is_empty());
        assert!(rows(&world) < rows_before);
        assert_eq!(world.index_files("keys.bin").len(), 1);
        world.picture().assert_same(&world.rebuilt_picture());
    }
}

#[test]
fn a_reader_keeps_what_it_holds_while_an_exclusion_is_wiped() {
    let mut world = World::built(NOTES);
    let host = world.host();
    let view = host.view().unwrap();
    world.exclude(by_folder());
    world.refresh();
    let answer = view.search(&Request::new("quokkazorn")).unwrap();
    assert_eq!(answer.passages[0].note.path.as_str(), "Secret/Diary.md");
    drop(view);
    // The reader held the log back; the next look for changes empties it.
    world.refresh();
    assert_eq!(world.files_holding("quokkazorn"), [""; 0]);
}
