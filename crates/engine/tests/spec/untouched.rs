//! The notes are the truth: nothing that the engine does changes a byte, a name or a time of their
//! folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::SystemTime;

use lorewell_engine::{EngineSettings, Host, Patience, Quiet, ReadRequest, Request, StatusRequest};
use lorewell_testkit::TempHome;

use crate::world::World;

/// Content (nothing for a folder) and time of writing of everything below a folder, by path.
type Look = BTreeMap<String, (Option<Vec<u8>>, SystemTime)>;

fn look(folder: &Path, seen: &mut Look) {
    let time = |path: &Path| fs::metadata(path).unwrap().modified().unwrap();
    seen.insert(folder.display().to_string(), (None, time(folder)));
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            look(&path, seen);
        } else {
            let bytes = fs::read(&path).unwrap();
            seen.insert(path.display().to_string(), (Some(bytes), time(&path)));
        }
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let place = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &place);
        } else {
            fs::copy(&path, &place).unwrap();
        }
    }
}

#[test]
fn nothing_changes_a_byte_a_name_or_a_time_of_the_vault() {
    let home = TempHome::new("");
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sample-vault");
    copy(&sample, home.vault.root());
    let mut before = Look::new();
    look(home.vault.root(), &mut before);
    assert!(before.len() > 20, "{} files", before.len());

    let settings = EngineSettings::default();
    let host = Host::open("Notes", home.vault.root(), &home.index_dir(), settings).unwrap();
    host.refresh(Patience::Wait, &Quiet).unwrap();
    let view = host.view().unwrap();
    let answer = view.search(&Request::new("how hot is the kiln")).unwrap();
    assert!(!answer.passages.is_empty());
    for passage in &answer.passages {
        let request = ReadRequest {
            note: passage.note.path.as_str().to_string(),
            ..ReadRequest::default()
        };
        view.read(&request).unwrap();
    }
    drop(view);
    let status = StatusRequest {
        why_not: Some(answer.passages[0].note.path.as_str().to_string()),
        list_limit: 99,
        verify: true,
    };
    host.status(&status).unwrap();
    host.rebuild(&Quiet).unwrap();
    host.behind().unwrap();

    let mut after = Look::new();
    look(home.vault.root(), &mut after);
    let names = |look: &Look| look.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&before), names(&after));
    for (path, was) in &before {
        assert!(after[path] == *was, "{path} was changed");
    }
}

#[test]
fn an_index_among_the_notes_is_refused() {
    let world = World::new("=== Kiln.md ===\nCone 6.\n");
    let root = world.home.vault.root();
    let mut places = vec![
        root.to_path_buf(),
        root.join("index"),
        root.join("a/b/../c"),
    ];
    #[cfg(unix)]
    {
        let link = world.home.vault.beside("link");
        std::os::unix::fs::symlink(root, &link).unwrap();
        places.push(link.join("index"));
    }
    for place in places {
        let settings = EngineSettings::default();
        let error = Host::open("Notes", root, &place, settings)
            .map(drop)
            .unwrap_err();
        assert_eq!(error.code(), "index_in_vault", "{}", place.display());
        assert!(error.hint().contains("--index-dir"));
    }
    assert_eq!(fs::read_dir(root).unwrap().count(), 1);
}
