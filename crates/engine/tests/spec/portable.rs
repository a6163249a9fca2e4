//! Vectors that travel with the vault: what is written there, what goes again, and that no answer
//! depends on it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lorewell_engine::{
    EngineSettings, Host, Patience, PortableStatus, PortableVectors, Quiet, Request, RuleSettings,
    Rules, StatusRequest,
};
use lorewell_testkit::TempVault;

use crate::dear::Dear;
use crate::picture::Picture;
use crate::world::StopAfter;

const NOTES: &str = "
=== Kiln.md ===
The kiln is fired to cone six, slowly.
=== Glazes.md ===
A celadon glaze wants a reduction firing.
=== Private/Diary.md ===
The letter from Ludmila came on Monday.
=== Boat.md ===
The boat is surveyed in May, out of the water. #harbour
";

/// One installation of the program.
pub(crate) struct Device {
    pub(crate) root: PathBuf,
    pub(crate) index: PathBuf,
    pub(crate) settings: EngineSettings,
}

impl Device {
    /// A device whose home is `home` and which looks at the vault at `root`.
    pub(crate) fn new(home: PathBuf, root: &Path) -> Device {
        let portable = PortableVectors {
            device_file: home.join("device"),
            carry: true,
            rest: Duration::ZERO,
        };
        Device {
            root: root.to_path_buf(),
            index: home.join("index"),
            settings: EngineSettings {
                portable: Some(portable),
                ..EngineSettings::default()
            },
        }
    }

    pub(crate) fn portable(&mut self) -> &mut PortableVectors {
        self.settings.portable.as_mut().unwrap()
    }

    pub(crate) fn host(&self) -> Host {
        Host::open("Notes", &self.root, &self.index, self.settings.clone()).unwrap()
    }

    fn refresh(&self) {
        let host = self.host();
        host.refresh(Patience::Wait, &Quiet).unwrap();
        // A file that has only just changed is looked at once more.
        while host.behind().unwrap() > 0 {
            host.refresh(Patience::Wait, &Quiet).unwrap();
        }
    }

    pub(crate) fn status(&self) -> PortableStatus {
        let status = self.host().status(&StatusRequest::default()).unwrap();
        status.portable.unwrap()
    }

    /// Vectors in this device's files and in those of others.
    fn vectors(&self) -> (u32, u32) {
        self.rows_in(self.status())
    }

    /// The same with another model.
    fn with_model(&self, model: &'static Dear) -> (u32, u32) {
        let host = self.host().with_embedder(model);
        let status = host.status(&StatusRequest::default()).unwrap();
        self.rows_in(status.portable.unwrap())
    }

    fn rows_in(&self, status: PortableStatus) -> (u32, u32) {
        let is_own = |device: String| Some(device) == status.device;
        let rows = |own: bool| {
            let segments = status.inventory.segments.iter();
            let wanted = segments.filter(|s| is_own(s.device.to_string()) == own);
            wanted.map(|segment| segment.rows).sum()
        };
        (rows(true), rows(false))
    }

    fn exclude(&mut self, rules: RuleSettings) {
        self.settings.index.rules = Rules::new(rules).unwrap();
    }
}

fn folders(names: &[&str]) -> RuleSettings {
    RuleSettings {
        folders: names.iter().map(ToString::to_string).collect(),
        ..RuleSettings::default()
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => all.extend(files(&path)),
            false => all.push(path),
        }
    }
    all.sort();
    all
}

#[test]
fn only_the_one_folder_is_written_and_only_with_the_setting() {
    let vault = TempVault::new(NOTES);
    let notes = files(vault.root());
    let mut device = Device::new(vault.beside("a"), vault.root());
    device.portable().carry = false;
    device.refresh();
    assert_eq!(files(vault.root()), notes);
    assert!(!vault.beside("a").join("device").exists());
    let plain = Picture::of(&device.host());

    device.portable().carry = true;
    device.refresh();
    let new: Vec<_> = files(vault.root())
        .into_iter()
        .filter(|file| !notes.contains(file))
        .collect();
    assert_eq!(new.len(), 1, "{new:?}");
    assert!(new[0].starts_with(vault.path(".lorewell/vectors")));
    assert_eq!(device.vectors(), (4, 0));
    assert_eq!(device.status().waiting, 0);
    // Words of notes are not in there, and nothing of it is a note.
    let bytes = fs::read(&new[0]).unwrap();
    let text = String::from_utf8_lossy(&bytes);
    for word in ["Ludmila", "celadon", "harbour", "Kiln"] {
        assert!(!text.contains(word), "{word}");
    }
    assert_eq!(Picture::of(&device.host()), plain);
    // With nothing to do, nothing is written.
    let before = fs::metadata(&new[0]).unwrap().modified().unwrap();
    device.refresh();
    device.host().rebuild(&Quiet).unwrap();
    assert_eq!(fs::metadata(&new[0]).unwrap().modified().unwrap(), before);
    assert_eq!(files(vault.root()).len(), notes.len() + 1);
}

#[test]
fn an_excluded_note_leaves_this_devices_files_at_once() {
    let vault = TempVault::new(NOTES);
    let mut device = Device::new(vault.beside("a"), vault.root());
    device.refresh();
    assert_eq!(device.vectors(), (4, 0));
    // A rule of the settings, known to a question that does not look at the folder.
    device.exclude(folders(&["Private"]));
    drop(device.host().view().unwrap());
    assert_eq!(device.vectors(), (3, 0));
    // A tag that a note gets.
    device.exclude(RuleSettings {
        tags: vec!["secret".to_string()],
        ..folders(&["Private"])
    });
    device.refresh();
    assert_eq!(device.vectors(), (3, 0));
    vault.write("Boat.md", "The boat is surveyed in May. #secret\n");
    device.refresh();
    assert_eq!(device.vectors(), (2, 0));
    assert_eq!(device.status().inventory.skipped, []);
}

#[test]
fn what_was_excluded_while_the_index_was_gone_leaves_too() {
    let vault = TempVault::new(NOTES);
    let mut device = Device::new(vault.beside("a"), vault.root());
    device.refresh();
    fs::remove_dir_all(&device.index).unwrap();
    device.exclude(folders(&["Private"]));
    device.refresh();
    assert_eq!(device.vectors(), (3, 0));
}

#[test]
fn the_files_of_other_devices_are_theirs() {
    let vault = TempVault::new(NOTES);
    let a = Device::new(vault.beside("a"), vault.root());
    let mut b = Device::new(vault.beside("b"), vault.root());
    a.refresh();
    b.refresh();
    assert_eq!(b.vectors(), (0, 4), "it has nothing to add");
    vault.write("New.md", "The harbour fee is due in October.\n");
    b.refresh();
    assert_eq!((a.vectors(), b.vectors()), ((4, 1), (1, 4)));
    a.refresh();
    b.exclude(folders(&["Private"]));
    b.refresh();
    assert_eq!((a.vectors(), b.vectors()), ((4, 1), (1, 4)));
    // What one drops and another still wants is written by that one.
    fs::remove_dir_all(vault.path(".lorewell")).unwrap();
    b.refresh();
    assert_eq!(b.vectors(), (4, 0));
    a.refresh();
    assert_eq!(a.vectors(), (1, 4));
}

#[test]
fn the_setting_can_be_turned_either_way() {
    let vault = TempVault::new(NOTES);
    let mut a = Device::new(vault.beside("a"), vault.root());
    let mut b = Device::new(vault.beside("b"), vault.root());
    a.refresh();
    vault.write("New.md", "The harbour fee is due in October.\n");
    b.refresh();
    let picture = Picture::of(&b.host());
    a.portable().carry = false;
    a.refresh();
    assert_eq!(b.vectors(), (1, 0));
    assert!(!a.status().carry);
    a.portable().carry = true;
    a.refresh();
    assert_eq!(a.vectors(), (4, 1));
    a.portable().carry = false;
    b.portable().carry = false;
    a.refresh();
    b.refresh();
    assert!(!vault.path(".lorewell").exists());
    let status = b.host().status(&StatusRequest::default()).unwrap();
    assert_eq!(status.portable, None);
    assert_eq!(Picture::of(&b.host()), picture);
}

#[test]
fn a_few_new_vectors_rest_before_they_are_written() {
    let vault = TempVault::new(NOTES);
    let mut device = Device::new(vault.beside("a"), vault.root());
    device.portable().rest = Duration::from_secs(3600);
    device.refresh();
    assert_eq!(device.vectors(), (4, 0), "the first time is not put off");
    vault.write("New.md", "The harbour fee is due in October.\n");
    device.refresh();
    assert_eq!((device.vectors(), device.status().waiting), ((4, 0), 1));
    // An exclusion is not put off, and takes along what waits.
    device.exclude(folders(&["Private"]));
    device.refresh();
    assert_eq!((device.vectors(), device.status().waiting), ((4, 0), 0));
    // Many are not put off.
    for number in 0..70 {
        vault.write(
            &format!("Day {number}.md"),
            format!("The harbour on day {number}.\n"),
        );
    }
    device.refresh();
    assert_eq!(device.vectors(), (74, 0));
    // Neither is a rebuild.
    vault.write("Newer.md", "The mast is stepped in June.\n");
    device.refresh();
    assert_eq!(device.status().waiting, 1);
    device.host().rebuild(&Quiet).unwrap();
    assert_eq!(device.vectors(), (75, 0));
}

#[test]
fn a_bare_or_missing_folder_is_not_written_to() {
    let vault = TempVault::new(NOTES);
    let device = Device::new(vault.beside("a"), vault.root());
    device.refresh();
    let aside = vault.beside("aside");
    fs::rename(vault.root(), &aside).unwrap();
    fs::create_dir(vault.root()).unwrap();
    device.host().refresh(Patience::Wait, &Quiet).unwrap();
    assert_eq!(fs::read_dir(vault.root()).unwrap().count(), 0);
    fs::remove_dir(vault.root()).unwrap();
    fs::rename(&aside, vault.root()).unwrap();
    device.refresh();
    assert_eq!(device.vectors(), (4, 0));
}

#[test]
fn trouble_is_told_by_the_status_and_no_answer_lacks_anything() {
    let vault = TempVault::new(NOTES);
    // A file stands in the way.
    vault.write(".lorewell", "mine");
    let device = Device::new(vault.beside("a"), vault.root());
    device.refresh();
    let status = device.status();
    let trouble = status.trouble.unwrap();
    assert!(
        trouble.contains(".lorewell") && trouble.contains("not a folder"),
        "{trouble}"
    );
    assert_eq!(status.inventory.skipped[0].fault.code(), "not_a_folder");
    assert_eq!(vault.read(".lorewell"), "mine");
    let request = Request::new("when is the boat surveyed");
    let answer = device.host().view().unwrap().search(&request).unwrap();
    assert_eq!(answer.passages[0].note.path.as_str(), "Boat.md");
    // As soon as it is gone, all is well.
    vault.remove(".lorewell");
    device.refresh();
    assert_eq!((device.vectors(), device.status().trouble), ((4, 0), None));
}

/// Builds and embeds all, with a model that counts; the passages that it was asked for.
fn settled(device: &Device, model: &'static Dear) -> Vec<String> {
    let host = device.host().with_embedder(model);
    host.refresh(Patience::Wait, &Quiet).unwrap();
    while host.behind().unwrap() > 0 {
        host.refresh(Patience::Wait, &Quiet).unwrap();
    }
    let embedding = host.embed_waiting(&Quiet).unwrap();
    assert_eq!((embedding.waiting, embedding.reason), (0, None));
    model.asked()
}

/// The first notes that a device finds for some questions, and how near each is in meaning.
fn answers(device: &Device, model: &'static Dear) -> Vec<String> {
    let host = device.host().with_embedder(model);
    let view = host.view().unwrap();
    let ask = |question: &&str| {
        let answer = view.search(&Request::new(*question)).unwrap();
        let shown = answer.passages.iter().map(|passage| {
            let (path, text) = (passage.note.path.as_str(), &passage.passage.text);
            format!("{path} {:.4} {text} {:?}", passage.score, passage.signals)
        });
        format!("{question}: {:?}", shown.collect::<Vec<_>>())
    };
    let questions = [
        "how is the kiln fired",
        "reduction glaze",
        "when is the boat surveyed in May",
        "letter from Ludmila",
        "harbour fee",
        "cone six",
    ];
    questions.iter().map(ask).collect()
}

/// Answers are those of an index that was built from nothing, without any carried vector.
fn assert_like_rebuilt(device: &Device, model: &'static Dear) {
    let holder = tempfile::tempdir().unwrap();
    let mut plain = Device::new(holder.path().to_path_buf(), &device.root);
    plain.settings = device.settings.clone();
    plain.settings.portable = None;
    settled(&plain, model);
    assert_eq!(answers(device, model), answers(&plain, model));
}

#[test]
fn a_second_machine_embeds_only_questions() {
    let vault = TempVault::new(NOTES);
    let (a, b) = (
        Device::new(vault.beside("a"), vault.root()),
        Device::new(vault.beside("b"), vault.root()),
    );
    let model = Dear::new("1");
    assert_eq!(settled(&a, model).len(), 4);
    assert_eq!(settled(&b, model), [""; 0]);
    assert_eq!(answers(&a, model), answers(&b, model));
    assert_like_rebuilt(&b, model);
    // Edits on both sides: each text is embedded once, by whoever meets it first.
    model.asked();
    vault.write("New.md", "The harbour fee is due in October.\n");
    assert_eq!(settled(&b, model).len(), 1);
    assert_eq!(settled(&a, model), [""; 0]);
    vault.write("Boat.md", "The boat is surveyed in June.\n");
    vault.rename("Kiln.md", "Workshop/Kiln.md");
    assert_eq!(settled(&a, model).len(), 1);
    assert_eq!(settled(&b, model), [""; 0]);
    assert_like_rebuilt(&a, model);
    // Another revision of the model shares nothing with it.
    let newer = Dear::new("2");
    assert_eq!(settled(&b, newer).len(), 5);
    assert_eq!(settled(&a, newer), [""; 0]);
    // A device that lost its index and has the vault embeds nothing.
    fs::remove_dir_all(&a.index).unwrap();
    assert_eq!(settled(&a, newer), [""; 0]);
    assert_like_rebuilt(&a, newer);
}

#[test]
fn two_machines_without_the_setting_share_nothing_and_write_nothing() {
    let vault = TempVault::new(NOTES);
    let model = Dear::new("plain");
    let notes = files(vault.root());
    let devices = ["a", "b"].map(|name| {
        let mut device = Device::new(vault.beside(name), vault.root());
        device.portable().carry = false;
        assert_eq!(settled(&device, model).len(), 4);
        device
    });
    vault.write("Boat.md", "The boat is surveyed in June.\n");
    for device in &devices {
        assert_eq!(settled(device, model).len(), 1);
    }
    assert_eq!(files(vault.root()), notes);
    assert_eq!(answers(&devices[0], model), answers(&devices[1], model));
    assert_like_rebuilt(&devices[0], model);
}

#[test]
fn back_to_local_what_is_lacking_is_taken_first() {
    let vault = TempVault::new(NOTES);
    let model = Dear::new("back");
    let mut device = Device::new(vault.beside("a"), vault.root());
    settled(&device, model);
    fs::remove_dir_all(&device.index).unwrap();
    device.portable().carry = false;
    assert_eq!(settled(&device, model), [""; 0]);
    assert!(!vault.path(".lorewell").exists());
    device.portable().carry = true;
    assert_eq!(settled(&device, model), [""; 0]);
    assert_eq!(device.with_model(model), (4, 0));
}

#[test]
fn a_build_that_was_stopped_keeps_what_the_vault_has() {
    let vault = TempVault::new(NOTES);
    let model = Dear::new("stopped");
    let device = Device::new(vault.beside("a"), vault.root());
    settled(&device, model);
    fs::remove_dir_all(&device.index).unwrap();
    // The words are there, no vector is looked for yet.
    let stopped = StopAfter::new(1);
    let host = device.host().with_embedder(model);
    host.refresh(Patience::Wait, &stopped).unwrap();
    drop(host);
    assert_eq!(device.with_model(model), (4, 0));
    assert_eq!(settled(&device, model), [""; 0]);
}

/// Copies what `from` has and `to` lacks or has otherwise, as a sync program does.
fn sync(from: &Path, to: &Path) {
    for file in files(from) {
        let place = to.join(file.strip_prefix(from).unwrap());
        let bytes = fs::read(&file).unwrap();
        if fs::read(&place).ok().as_ref() != Some(&bytes) {
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::write(&place, bytes).unwrap();
        }
    }
}

#[test]
fn two_copies_that_are_synced_back_and_forth_lose_nothing() {
    let left = TempVault::new(NOTES);
    let right = TempVault::empty();
    let model = Dear::new("synced");
    let a = Device::new(left.beside("a"), left.root());
    let b = Device::new(right.beside("b"), right.root());
    assert_eq!(settled(&a, model).len(), 4);
    sync(left.root(), right.root());
    assert_eq!(settled(&b, model), [""; 0]);
    assert_eq!(b.with_model(model), (0, 4));

    // Both edit at once.
    left.write("Left.md", "The mast is stepped in June.\n");
    right.write("Right.md", "The harbour fee is due in October.\n");
    assert_eq!((settled(&a, model).len(), settled(&b, model).len()), (1, 1));
    // The sync is cut off in the middle of a file, leaves a draft and a conflict copy.
    let is_new = |file: &PathBuf| {
        let inside = file.strip_prefix(right.root()).unwrap();
        file.extension().is_some_and(|e| e == "seg")
            && !left.path(inside.to_str().unwrap()).exists()
    };
    let new = files(right.root()).into_iter().find(is_new).unwrap();
    let bytes = fs::read(&new).unwrap();
    let inside = new.strip_prefix(right.root()).unwrap();
    let place = left.root().join(inside);
    fs::write(&place, &bytes[..bytes.len() / 2]).unwrap();
    let stem = place.file_stem().unwrap().to_str().unwrap();
    for name in [
        format!("{stem} (B's conflicted copy 2026-11-30).seg"),
        format!("{stem}.sync-conflict-20261130-081500-ABCDEFG.seg"),
        format!(".syncthing.{stem}.seg.tmp"),
    ] {
        fs::write(place.with_file_name(name), &bytes[..bytes.len() / 3]).unwrap();
    }
    left.write("Right.md", "The harbour fee is due in October.\n");
    // The half file is of no use, so that the note is embedded once more here, and no other.
    assert_eq!(settled(&a, model), ["The harbour fee is due in October."]);
    let skipped = a.status().inventory.skipped;
    let mut codes: Vec<_> = skipped.iter().map(|s| s.fault.code()).collect();
    codes.sort_unstable();
    assert_eq!(
        codes,
        ["conflict_copy", "conflict_copy", "short", "unfinished"]
    );
    assert_like_rebuilt(&a, model);
    model.asked();

    // Then it goes through, both ways.
    sync(right.root(), left.root());
    sync(left.root(), right.root());
    assert_eq!((settled(&a, model), settled(&b, model)), (vec![], vec![]));
    assert_eq!(answers(&a, model), answers(&b, model));
    assert_like_rebuilt(&b, model);
    let all: u32 = a.with_model(model).0 + a.with_model(model).1;
    assert_eq!(all, 7, "six texts, one of them by both");
    // A third device finds everything.
    model.asked();
    let c = Device::new(right.beside("c"), right.root());
    assert_eq!(settled(&c, model), [""; 0]);
    assert_like_rebuilt(&c, model);
}
