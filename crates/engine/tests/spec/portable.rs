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

use crate::picture::Picture;

pub(crate) const NOTES: &str = "
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

    pub(crate) fn refresh(&self) {
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
    pub(crate) fn vectors(&self) -> (u32, u32) {
        self.rows_in(self.status())
    }

    /// Notes that its index holds.
    pub(crate) fn notes_of_index(&self) -> u64 {
        self.host().view().unwrap().totals().notes
    }

    pub(crate) fn rows_in(&self, status: PortableStatus) -> (u32, u32) {
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

pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
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
