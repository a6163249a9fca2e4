//! Everything that can be wrong with an index or a folder of notes: the words it is told in, and
//! that nothing is lost.

use std::fs::{self, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use lorewell_engine::{
    Confidence, ContextRequest, EngineError, FileState, Host, Lane, LaneState, Quiet,
    RelatedQuestion, Request, RuleSettings, StatusRequest,
};
use rusqlite::Connection;

use crate::world::World;

const NOTES: &str = "
=== Kiln.md ===
---
aliases: [Oven]
---
# Firing
The kiln fires at cone 6. See [[Glaze]].
=== Glaze.md ===
Celadon and ash. #ceramics
";

/// What a person and a program are told.
fn told(error: &EngineError, world: &World) -> (String, &'static str, String) {
    let folder = world.home.index_dir().display().to_string();
    let said = error.to_string().replace(&folder, "INDEX");
    let root = world.home.vault.root().display().to_string();
    (said.replace(&root, "VAULT"), error.code(), error.hint())
}

#[track_caller]
fn assert_told(world: &World, message: &str, code: &str) {
    let host = world.host();
    let answers = [
        host.refresh(lorewell_engine::Patience::Read, &Quiet)
            .map(drop),
        host.view().map(drop),
        host.status(&StatusRequest::default()).map(drop),
    ];
    for answer in answers {
        let error = answer.unwrap_err();
        let (said, found, hint) = told(&error, world);
        assert!(said.starts_with(message), "{said}");
        assert_eq!(found, code);
        assert!(!hint.is_empty());
    }
}

fn flip_a_bit(file: &Path, at: u64) {
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .open(file)
        .unwrap();
    let mut byte = [0];
    file.seek(SeekFrom::Start(at)).unwrap();
    file.read_exact(&mut byte).unwrap();
    file.seek(SeekFrom::Start(at)).unwrap();
    file.write_all(&[byte[0] ^ 4]).unwrap();
}

fn set_format(world: &World, format: u32) {
    let file = world.home.index_dir().join("catalogue.sqlite");
    let connection = Connection::open(file).unwrap();
    connection
        .pragma_update(None, "user_version", format)
        .unwrap();
}

/// Damage, as done to the index, how it is told, and its code.
type Damage = (fn(&World), &'static str, &'static str);

#[test]
fn damage_is_told_and_rebuild_makes_it_good() {
    let cases: [Damage; 3] = [
        (
            |world| {
                let path = world.home.index_dir().join("catalogue.sqlite");
                let half = fs::metadata(&path).unwrap().len() / 2;
                let file = OpenOptions::new().write(true).open(path).unwrap();
                file.set_len(half).unwrap();
            },
            "the index in INDEX is damaged: catalogue.sqlite: ",
            "index_damaged",
        ),
        (
            |world| {
                fs::write(
                    world.home.index_dir().join("catalogue.sqlite"),
                    "no database, only words",
                )
                .unwrap()
            },
            "the index in INDEX is damaged: catalogue.sqlite: file is not a database",
            "index_damaged",
        ),
        (
            |world| set_format(world, 4_000),
            "the index in INDEX has format 4000; this version knows formats up to 7",
            "index_newer",
        ),
    ];
    for (damage, message, code) in cases {
        let world = World::built(NOTES);
        let before = world.picture();
        damage(&world);
        assert_told(&world, message, code);
        world.host().rebuild(&Quiet).unwrap();
        world.picture().assert_same(&before);
    }
}

/// A way to damage one file, and what it is.
type Harm = (&'static str, fn(&Path));

const HARMS: [Harm; 3] = [
    ("cut", |file| {
        let file = OpenOptions::new().write(true).open(file).unwrap();
        file.set_len(90).unwrap();
    }),
    ("flipped in its header", |file| flip_a_bit(file, 1)),
    ("deleted", |file| fs::remove_file(file).unwrap()),
];

/// A fault that shows only when a word is looked up there, or all of it is looked at.
const IN_ITS_BODY: Harm = ("flipped in its body", |file| flip_a_bit(file, 200));

fn asked(lanes: &[Lane]) -> Request {
    Request {
        lanes: lanes.to_vec(),
        ..Request::new("celadon ash kiln")
    }
}

/// What a view answers of a lane, and how the lane fared.
fn answer_of(host: &Host, lane: Lane) -> (usize, LaneState) {
    let answer = host.view().unwrap().search(&asked(&[lane])).unwrap();
    let report = answer.lanes.iter().find(|report| report.lane == lane);
    (answer.passages.len(), report.unwrap().state.clone())
}

fn says_rebuild(state: &LaneState) -> bool {
    matches!(state, LaneState::Unavailable { reason } if reason.contains("`lorewell rebuild`"))
}

#[test]
fn one_damaged_file_leaves_the_rest_answering_and_the_next_update_mends_it() {
    for (ending, hurt, whole) in [
        (".lex", Lane::Text, Lane::Dense),
        ("rows.bin", Lane::Dense, Lane::Text),
        ("keys.bin", Lane::Dense, Lane::Text),
    ] {
        let in_body = (ending == ".lex").then_some(IN_ITS_BODY);
        for (how, harm) in HARMS.into_iter().chain(in_body) {
            for rebuild in [false, true] {
                let case = format!("{ending} {how}, rebuild: {rebuild}");
                let world = World::built(NOTES);
                let before = world.picture();
                harm(&world.index_files(ending)[0]);
                let host = world.host();

                let (_, state) = answer_of(&host, hurt);
                assert!(says_rebuild(&state), "{case}: {state:?}");
                let (found, state) = answer_of(&host, whole);
                assert!(found > 0, "{case}");
                assert!(!says_rebuild(&state), "{case}: {state:?}");
                let answer = host.view().unwrap().search(&asked(&[hurt, whole])).unwrap();
                assert!(!answer.passages.is_empty(), "{case}");
                let said = answer.degraded.join("; ");
                assert!(said.contains("`lorewell rebuild`"), "{case}: {said}");
                let status = host.status(&StatusRequest::default()).unwrap();
                assert!(matches!(status.verified, Some(Err(_))), "{case}");

                match rebuild {
                    true => drop(host.rebuild(&Quiet).unwrap()),
                    false => drop(world.refresh()),
                }
                let check = StatusRequest {
                    verify: true,
                    ..StatusRequest::default()
                };
                let host = world.host();
                assert_eq!(
                    host.status(&check).unwrap().verified,
                    Some(Ok(())),
                    "{case}"
                );
                assert!(!says_rebuild(&answer_of(&host, hurt).1), "{case}");
                world.picture().assert_same(&before);
            }
        }
    }
}

#[test]
fn one_damaged_segment_of_several_leaves_the_words_of_the_others() {
    for (how, harm) in HARMS.into_iter().chain([IN_ITS_BODY]) {
        let world = World::built(NOTES);
        let first = world.index_files(".lex");
        world
            .home
            .vault
            .write("Later.md", "Celadon again, see [[Kiln]].");
        world.refresh();
        let before = world.picture();
        assert_eq!(world.index_files(".lex").len(), 2, "nothing was joined");
        harm(&first[0]);

        let host = world.host();
        let view = host.view().unwrap();
        let answer = view.search(&asked(&[Lane::Text])).unwrap();
        let paths: Vec<_> = answer
            .passages
            .iter()
            .map(|found| found.note.path.as_str())
            .collect();
        assert_eq!(paths, ["Later.md"], "{how}");
        // That the notes hold no answer cannot be told while words are missing.
        let nothing = view.search(&Request::new("aardvark")).unwrap();
        assert_ne!(nothing.confidence, Confidence::None, "{how}");
        let said = answer.degraded.join("; ");
        assert!(said.contains("`lorewell rebuild`"), "{how}: {said}");
        // Where words must be there, those that cannot be looked up are missed by no lane's fault.
        let must = Request {
            must: vec!["celadon".to_string()],
            ..asked(&[Lane::Dense])
        };
        let said = host
            .view()
            .unwrap()
            .search(&must)
            .unwrap()
            .degraded
            .join("; ");
        assert!(said.contains("must: "), "{how}: {said}");
        let related = host.view().unwrap().related(&RelatedQuestion {
            note: "Later.md".to_string(),
            limit: 5,
            ..RelatedQuestion::default()
        });
        let related = related.unwrap();
        assert!(related.words.is_some(), "{how}");
        assert_eq!(related.notes[0].note.path.as_str(), "Kiln.md", "{how}");
        let context = host.view().unwrap().context(&ContextRequest {
            request: asked(&[Lane::Text]),
            budget: 500,
            passages: 3,
            attached: Vec::new(),
        });
        let context = context.unwrap();
        assert!(
            context.degraded.join("; ").contains("`lorewell rebuild`"),
            "{how}"
        );
        drop(view);

        world.refresh();
        let status = world.host().status(&StatusRequest::default()).unwrap();
        assert_eq!(status.verified, None, "{how}: nothing is wrong any more");
        world.picture().assert_same(&before);
    }
}

#[test]
fn a_damaged_passage_is_in_no_answer_and_that_is_told() {
    let damage: [&str; 3] = [
        "UPDATE passages SET text = replace(text, 'cone 6', 'cone 9')",
        "UPDATE passages SET byte_end = byte_end - 1 WHERE text LIKE '%cone%'",
        "UPDATE passages SET heading_path = '[' WHERE text LIKE '%cone%'",
    ];
    for sql in damage {
        let world = World::built(NOTES);
        let file = world.home.index_dir().join("catalogue.sqlite");
        Connection::open(file).unwrap().execute(sql, []).unwrap();
        let host = world.host();
        let answer = host
            .view()
            .unwrap()
            .search(&Request::new("kiln celadon"))
            .unwrap();
        let paths = answer.passages.iter().map(|found| found.note.path.as_str());
        assert_eq!(paths.collect::<Vec<_>>(), ["Glaze.md"], "{sql}");
        let said = answer.degraded.join("; ");
        assert!(said.contains("not as it was written"), "{sql}: {said}");
        let check = StatusRequest {
            verify: true,
            ..StatusRequest::default()
        };
        let said = host.status(&check).unwrap().verified.unwrap().unwrap_err();
        assert!(said.contains("is not as it was written"), "{said}");
        drop(host);
        world.host().rebuild(&Quiet).unwrap();
        assert_eq!(world.host().status(&check).unwrap().verified, Some(Ok(())));
    }
}

#[test]
fn a_damaged_segment_that_an_update_comes_upon_is_made_again_by_the_next() {
    let world = World::built(NOTES);
    flip_a_bit(&world.index_files(".lex")[0], 200);
    world.home.vault.write("Glaze.md", "Tenmoku.");
    let host = world.host();
    let patience = lorewell_engine::Patience::Read;
    let first = host.refresh(patience, &Quiet).unwrap();
    let reason = first.reason.unwrap();
    assert!(reason.contains("damaged"), "{reason}");
    let second = host.refresh(patience, &Quiet).unwrap();
    assert_eq!((second.pending, second.reason), (0, None));
    let rebuilt = World::built(NOTES);
    rebuilt.home.vault.write("Glaze.md", "Tenmoku.");
    rebuilt.refresh();
    world.picture().assert_same(&rebuilt.picture());
}

#[test]
fn an_older_index_is_told_and_made_anew_when_it_is_brought_up_to_date() {
    let world = World::built(NOTES);
    let before = world.picture();
    set_format(&world, 1);
    let error = world.host().view().map(drop).unwrap_err();
    let (said, code, _) = told(&error, &world);
    let message = "the index in INDEX has the old format 1; this version writes format 7";
    assert!(said.starts_with(message), "{said}");
    assert_eq!(code, "index_older");
    let patience = lorewell_engine::Patience::Read;
    world.host().refresh(patience, &Quiet).unwrap();
    world.picture().assert_same(&before);
}

#[test]
fn a_flipped_bit_is_found_and_named() {
    for (ending, at, message) in [
        (".lex", 200, "lexical segment"),
        (
            "rows.bin",
            4_200,
            "vectors of static-en-256, the first is row 0",
        ),
    ] {
        let world = World::built(NOTES);
        let before = world.picture();
        flip_a_bit(&world.index_files(ending)[0], at);
        let check = StatusRequest {
            verify: true,
            ..StatusRequest::default()
        };
        let said = match world.host().status(&check) {
            Ok(status) => status.verified.unwrap().unwrap_err(),
            Err(error) => error.to_string(),
        };
        assert!(said.contains(message), "{said}");
        world.host().rebuild(&Quiet).unwrap();
        assert_eq!(world.host().status(&check).unwrap().verified, Some(Ok(())));
        world.picture().assert_same(&before);
    }
}

#[test]
fn an_index_folder_that_is_a_file_is_told() {
    let world = World::new(NOTES);
    fs::remove_dir(world.home.index_dir()).unwrap();
    fs::write(world.home.index_dir(), "mine").unwrap();
    assert_told(
        &world,
        "INDEX is a file, or lies in one; the index needs a folder",
        "index_not_a_folder",
    );
    assert_eq!(fs::read(world.home.index_dir()).unwrap(), b"mine");
}

#[test]
fn a_folder_of_notes_that_vanishes_or_is_bare_loses_nothing() {
    let world = World::built(NOTES);
    let (before, host) = (world.picture(), world.host());
    let away = world.home.vault.beside("away");
    fs::rename(world.home.vault.root(), &away).unwrap();
    let error = host
        .refresh(lorewell_engine::Patience::Read, &Quiet)
        .unwrap_err();
    assert_eq!(told(&error, &world).0, "there is no folder VAULT");
    assert_eq!(error.code(), "vault_missing");
    host.rebuild(&Quiet).unwrap_err();

    fs::create_dir(world.home.vault.root()).unwrap();
    let freshness = world.refresh();
    assert_eq!((freshness.pending, freshness.report), (2, None));
    let reason = freshness.reason.unwrap();
    assert!(
        reason.starts_with("the folder is bare, as if its drive were not there"),
        "{reason}"
    );

    fs::remove_dir(world.home.vault.root()).unwrap();
    fs::rename(&away, world.home.vault.root()).unwrap();
    assert_eq!(world.refresh().pending, 0);
    world.picture().assert_same(&before);
}

#[test]
fn a_folder_that_was_emptied_on_purpose_can_be_followed() {
    let world = World::built(NOTES);
    world.home.vault.remove("Kiln.md");
    world.home.vault.remove("Glaze.md");
    assert_eq!(world.refresh().pending, 2);
    world.host().rebuild(&Quiet).unwrap();
    assert_eq!(world.snapshot().totals().notes, 0);

    // Obsidian's settings are still there: this is no missing drive.
    let world = World::built(NOTES);
    world.home.vault.write(".obsidian/app.json", "{}");
    world.home.vault.remove("Kiln.md");
    world.home.vault.remove("Glaze.md");
    assert_eq!(world.refresh().pending, 0);
    assert_eq!(world.snapshot().totals().notes, 0);
}

/// Nothing that the note held is left in any part of the index.
#[track_caller]
fn assert_nowhere(host: &Host, world: &World, word: &str, path: &str) {
    let snapshot = world.snapshot();
    assert!(snapshot.note_at(path).unwrap().is_none());
    assert_eq!(snapshot.notes_named("Oven").unwrap(), []);
    assert!(snapshot.passages_holding(word, 10).unwrap().is_empty());
    let scope = lorewell_engine::Scope {
        tags: vec!["hot".to_string()],
        ..Default::default()
    };
    assert_eq!(snapshot.notes_in(&scope).unwrap().unwrap().len(), 0);
    let (_, live) = snapshot.vectors().unwrap();
    assert_eq!(u64::from(live.count()), snapshot.totals().passages);
    let glaze = snapshot.note_at("Glaze.md").unwrap().unwrap();
    let links = snapshot.links_from(&glaze).unwrap();
    assert!(
        links
            .iter()
            .all(|l| l.resolution == lorewell_graph::Resolution::Missing)
    );
    for live in snapshot.segments() {
        let found = lorewell_lexical::document_frequency(&[live], word).unwrap();
        assert_eq!(found, 0);
    }
    assert_eq!(host.view().unwrap().totals().notes, 1);
    snapshot.verify().unwrap();
}

#[test]
fn a_note_that_turns_binary_or_is_excluded_is_nowhere() {
    let fixture = "
=== Private/Kiln.md ===
---
aliases: [Oven]
secret: true
---
# Firing
The Oven is zirconium. #hot
=== Glaze.md ===
Celadon, see [[Oven]] and [[Kiln]].
";
    let rules = [
        RuleSettings {
            folders: vec!["Private".into()],
            ..RuleSettings::default()
        },
        RuleSettings {
            globs: vec!["Kil*".into()],
            ..RuleSettings::default()
        },
        RuleSettings {
            tags: vec!["hot".into()],
            ..RuleSettings::default()
        },
        RuleSettings {
            properties: vec!["secret".into()],
            ..RuleSettings::default()
        },
    ];
    for rule in rules {
        let mut world = World::built(fixture);
        let before = world.picture();
        world.exclude(rule);
        let report = world.refresh().report.unwrap();
        assert_eq!((report.removed, report.taken_in), (1, 0));
        assert_nowhere(&world.host(), &world, "zirconium", "Private/Kiln.md");
        let why = StatusRequest {
            why_not: Some("Private/Kiln.md".into()),
            list_limit: 9,
            verify: false,
        };
        let status = world.host().status(&why).unwrap();
        let Some(FileState::LeftOut(file)) = status.file else {
            panic!("{:?}", status.file)
        };
        assert!(file.code.starts_with("excluded"), "{file:?}");
        world.exclude(RuleSettings::default());
        world.refresh();
        world.picture().assert_same(&before);
    }
    let world = World::built(fixture);
    world
        .home
        .vault
        .write("Private/Kiln.md", b"\0\x01\x02\0 no text");
    world.refresh();
    assert_nowhere(&world.host(), &world, "zirconium", "Private/Kiln.md");
}

#[test]
fn looking_again_without_news_makes_no_generation() {
    let world = World::built(NOTES);
    let generation = world.snapshot().totals().generation;
    let same = world.home.vault.bytes("Glaze.md");
    world.home.vault.write("Glaze.md", same);
    world.settle();
    assert_eq!(world.snapshot().totals().generation, generation);
}
