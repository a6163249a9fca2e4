//! What the status says of the whole and of one file.

use lorewell_engine::{FileState, RuleSettings, StatusRequest};

use crate::world::World;

fn state(world: &World, path: &str) -> FileState {
    let request = StatusRequest {
        why_not: Some(path.to_string()),
        ..StatusRequest::default()
    };
    world.host().status(&request).unwrap().file.unwrap()
}

#[test]
fn each_file_is_accounted_for() {
    let mut world = World::new(
        "=== Kiln.md ===\nCone 6.\n=== Private/Diary.md ===\nx\n=== Secret.md ===\n#secret\n=== picture.png ===\n=== .trash/Old.md ===\nx\n",
    );
    world.home.vault.write("Binary.md", b"\0\x01\0\x02");
    world
        .home
        .vault
        .write("Broken.md", "---\na: [\n---\nText.\n");
    assert_eq!(state(&world, "Kiln.md"), FileState::Pending);
    let status = world.host().status(&StatusRequest::default()).unwrap();
    assert_eq!((status.built, status.pending_total), (false, 5));
    world.exclude(RuleSettings {
        folders: vec!["Private".to_string()],
        tags: vec!["secret".to_string()],
        ..RuleSettings::default()
    });
    world.settle();
    world.home.vault.write("New.md", "new\n");

    assert_eq!(state(&world, "Kiln.md"), FileState::Indexed { passages: 1 });
    let absolute = world.home.vault.path("Kiln.md");
    let absolute = std::fs::canonicalize(absolute).unwrap();
    assert!(matches!(
        state(&world, absolute.to_str().unwrap()),
        FileState::Indexed { .. }
    ));
    assert_eq!(state(&world, "New.md"), FileState::Pending);
    assert_eq!(state(&world, "picture.png"), FileState::NotANote);
    assert_eq!(state(&world, "Nowhere.md"), FileState::Absent);
    for (path, code) in [
        ("Private/Diary.md", "excluded_folder"),
        ("Secret.md", "excluded_tag"),
        ("Binary.md", "binary"),
        (".trash/Old.md", "trash"),
    ] {
        let FileState::LeftOut(file) = state(&world, path) else {
            panic!("{path}: {:?}", state(&world, path));
        };
        assert_eq!(file.code, code, "{path}");
    }

    let request = StatusRequest {
        list_limit: 2,
        verify: true,
        why_not: None,
    };
    let status = world.host().status(&request).unwrap();
    assert_eq!(
        (status.built, status.pending_total, status.writer),
        (true, 1, None)
    );
    assert_eq!((status.totals.notes, status.totals.passages), (2, 2));
    assert_eq!((status.left_out.len(), status.left_out_total), (2, 4));
    assert_eq!((status.warnings.len(), status.warnings_total), (1, 1));
    assert_eq!(
        (status.warnings[0].path.as_str(), status.warnings[0].line),
        ("Broken.md", 2)
    );
    assert_eq!(status.other_files.get("png"), Some(&1));
    assert_eq!(status.verified, Some(Ok(())));
    let model = &status.models[0];
    assert_eq!(model.embedded + model.outside, status.totals.passages);
}

#[test]
fn sizes_are_those_of_the_files() {
    let world = World::built("=== Kiln.md ===\nCone 6.\n");
    let sizes = world
        .host()
        .status(&StatusRequest::default())
        .unwrap()
        .sizes;
    let sum = |ending: &str| -> u64 {
        let files = world.index_files(ending);
        files.iter().map(|f| f.metadata().unwrap().len()).sum()
    };
    assert_eq!((sizes.segments, sizes.vectors), (sum(".lex"), sum(".bin")));
    assert_eq!(sizes.catalogue, sum("catalogue.sqlite") + sum("-wal"));
    assert!(sizes.segments > 0 && sizes.vectors > 0);
}

#[test]
fn a_warning_of_the_vaults_settings_names_their_file() {
    let world = World::built("=== .obsidian/app.json ===\n{\n=== Kiln.md ===\nCone 6.\n");
    let request = StatusRequest {
        list_limit: 9,
        ..StatusRequest::default()
    };
    let status = world.host().status(&request).unwrap();
    assert_eq!(status.warnings_total, 1);
    assert_eq!(status.warnings[0].path, ".obsidian/app.json");
    let said = &status.warnings[0].message;
    assert!(said.starts_with("is not valid JSON: "), "{said}");
}
