//! What happens to a folder of notes, drawn at random.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use proptest::prelude::*;

use crate::world::World;

pub(crate) const PATHS: [&str; 10] = [
    "Kiln.md",
    "kiln.md",
    "Projects/Kiln.md",
    "Projects/Kiln log.md",
    "Projects/Deep/Glaze Recipes.md",
    "Private/Diary.md",
    "2024-05-01.md",
    "釉料.md",
    "Workshop rent.md",
    "Folder.md/inner.md",
];

pub(crate) const CONTENTS: [&str; 14] = [
    "---\naliases: [Oven, 窑]\ntags: [ceramics/firing]\n---\n# Firing\nCone 6, slow. See [[Glaze Recipes]] and [log](Kiln%20log.md).\n\n## Second firing\nThe second firing goes to 1240 degrees and cools slowly. #ceramics ^temp\n",
    "# Kiln log\nMonday: bisque. Tuesday: second firing, cone 6 stoneware notes. [[Kiln#Firing|the kiln]] [[Oven]]\n",
    "---\ntitle: Glaze Recipes\ndate: 2023-02-03\n---\nCeladon: feldspar, silica, whiting. Ceramist friends use ceramography.\n",
    "窑炉的温度是一千二百度。釉料要慢慢冷却。\n\n第二次烧制之前先检查釉料的厚度。\n",
    "alpha beta gamma delta\n",
    "delta gamma beta alpha\n",
    "beta alpha delta gamma\n\n# —\n",
    "#private\nThe rent of the workshop is paid by nobody.\n",
    "---\nsecret: true\n---\nThe rent is 400. [[Kiln]]\n",
    "---\nbroken: [yaml\n---\nThe rent of the workshop is paid on the first of the month. #rent\n",
    "",
    "\u{0}\u{1}binary\u{0}",
    "# One\nA line about ceramics that is long enough to be a copy of its twin in another note.\n\n# Two\nAnother paragraph on the second firing, long enough to stand alone when the limit is small, with words and words and words.\n\n# Three\nSlow cooling of cone 6 stoneware, again and again until every passage is cut from its neighbour by the small limit.\n",
    "A line about ceramics that is long enough to be a copy of its twin in another note.\n",
];

pub(crate) const FOLDERS: [&str; 5] = [
    "Projects",
    "Work",
    "Private",
    "Archive/Old",
    "Projects/Deep",
];

const FILTERS: [&str; 3] = [
    "{}",
    r#"{"userIgnoreFilters": ["Private/"]}"#,
    r#"{"userIgnoreFilters": ["/log/", "Projects/Deep/"]}"#,
];

/// One thing that happens to a folder.
#[derive(Clone, Debug)]
pub(crate) enum Edit {
    Write(usize, usize),
    /// New content under the old time of writing.
    Silently(usize, usize),
    /// Another time, the same content.
    Touch(usize, u64),
    Rename(usize, usize),
    /// Moves a folder with all in it to another place.
    MoveFolder(usize, usize),
    /// Another case of the same letters.
    CaseRename(usize),
    Remove(usize),
    /// A folder of this name in the place of the file.
    FolderInPlace(usize),
    /// A file in the place of a folder.
    FileInPlace(usize),
    /// A symbolic link to a note, a folder, or nothing.
    Link(usize, usize),
    /// The same words in another encoding.
    Encode(usize, usize),
    /// Files that the vault's own app leaves out.
    Filter(usize),
    /// Takes the right to read the file away.
    Shut(usize),
    /// Gives all rights back.
    OpenAll,
}

pub(crate) fn edit() -> impl Strategy<Value = Edit> {
    let (path, content) = (0..PATHS.len(), 0..CONTENTS.len());
    prop_oneof![
        6 => (path.clone(), content.clone()).prop_map(|(p, c)| Edit::Write(p, c)),
        2 => (path.clone(), content.clone()).prop_map(|(p, c)| Edit::Silently(p, c)),
        2 => (path.clone(), 0..3000u64).prop_map(|(p, day)| Edit::Touch(p, day)),
        3 => (path.clone(), path.clone()).prop_map(|(from, to)| Edit::Rename(from, to)),
        2 => (0..FOLDERS.len(), 0..FOLDERS.len()).prop_map(|(from, to)| Edit::MoveFolder(from, to)),
        1 => path.clone().prop_map(Edit::CaseRename),
        3 => path.clone().prop_map(Edit::Remove),
        1 => path.clone().prop_map(Edit::FolderInPlace),
        1 => (0..FOLDERS.len()).prop_map(Edit::FileInPlace),
        1 => (path.clone(), 0..3usize).prop_map(|(p, target)| Edit::Link(p, target)),
        1 => (path.clone(), 0..3usize).prop_map(|(p, encoding)| Edit::Encode(p, encoding)),
        1 => (0..FILTERS.len()).prop_map(Edit::Filter),
        2 => path.prop_map(Edit::Shut),
        1 => Just(Edit::OpenAll),
    ]
}

pub(crate) fn apply(world: &World, edit: &Edit) {
    let vault = &world.home.vault;
    match *edit {
        Edit::Write(path, content) => write(world, PATHS[path], CONTENTS[content]),
        Edit::Silently(path, content) => {
            let file = vault.path(PATHS[path]);
            if let Some(time) = (file.is_file() && can_write(world, PATHS[path]))
                .then(|| file.metadata().unwrap().modified().unwrap())
            {
                write(world, PATHS[path], CONTENTS[content]);
                set_modified(&file, time);
            }
        }
        Edit::Touch(path, day) => {
            let file = vault.path(PATHS[path]);
            if file.is_file() && can_write(world, PATHS[path]) {
                set_modified(
                    &file,
                    SystemTime::UNIX_EPOCH + Duration::from_secs(day * 86_400 * 5),
                );
            }
        }
        Edit::Rename(from, to) => {
            let free = !vault.path(PATHS[to]).is_dir() && can_write(world, PATHS[to]);
            if vault.path(PATHS[from]).is_file() && free {
                vault.rename(PATHS[from], PATHS[to]);
            }
        }
        Edit::MoveFolder(from, to) => {
            let (from, to) = (FOLDERS[from], FOLDERS[to]);
            let inside = format!("{to}/").starts_with(&format!("{from}/"));
            let free = !vault.path(to).exists() && can_write(world, to);
            if vault.path(from).is_dir() && free && !inside {
                vault.rename(from, to);
            }
        }
        Edit::CaseRename(path) => {
            let (folder, name) = PATHS[path].rsplit_once('/').unwrap_or(("", PATHS[path]));
            let swapped: String = name.chars().map(other_case).collect();
            let to = format!("{folder}/{}.md", swapped.trim_end_matches(".MD"));
            let to = to.trim_start_matches('/');
            if vault.path(PATHS[path]).is_file() && !vault.path(to).exists() {
                vault.rename(PATHS[path], to);
            }
        }
        Edit::FileInPlace(folder) => {
            if vault.path(FOLDERS[folder]).is_dir() {
                vault.remove(FOLDERS[folder]);
                vault.write(FOLDERS[folder], CONTENTS[folder]);
            }
        }
        Edit::Link(path, target) => {
            #[cfg(unix)]
            if can_write(world, PATHS[path]) && !vault.path(PATHS[path]).exists() {
                let place = vault.path(PATHS[path]);
                fs::create_dir_all(place.parent().unwrap()).unwrap();
                let targets = [
                    vault.path("Kiln.md"),
                    vault.path("Projects"),
                    "/nowhere".into(),
                ];
                // A link that leads nowhere may stand there already.
                let _ = std::os::unix::fs::symlink(&targets[target], place);
            }
        }
        Edit::Encode(path, encoding) => {
            if can_write(world, PATHS[path]) {
                vault.write(PATHS[path], encoded(encoding));
            }
        }
        Edit::Filter(which) => vault.write(".obsidian/app.json", FILTERS[which]),
        Edit::Remove(path) => {
            if vault.path(PATHS[path]).exists() {
                vault.remove(PATHS[path]);
            }
        }
        Edit::FolderInPlace(path) => {
            if vault.path(PATHS[path]).is_file() {
                vault.remove(PATHS[path]);
                vault.write(&format!("{}/inside.md", PATHS[path]), CONTENTS[path]);
            }
        }
        Edit::Shut(path) => {
            let file = vault.path(PATHS[path]);
            if file.is_file() && !file.is_symlink() {
                mode(&file, 0o000);
            }
        }
        Edit::OpenAll => open_all(world),
    }
}

/// Everything in the vault can be read and written again.
pub(crate) fn open_all(world: &World) {
    let files = crate::portable::files(world.home.vault.root());
    files
        .iter()
        .filter(|file| file.is_file() && !file.is_symlink())
        .for_each(|file| mode(file, 0o644));
}

/// Lets nobody look into a folder while some work is done, if it is there.
pub(crate) fn while_shut(world: &World, folder: usize, work: impl FnOnce()) {
    let folder = world.home.vault.path(FOLDERS[folder]);
    let is_there = folder.is_dir();
    if is_there {
        mode(&folder, 0o000);
    }
    work();
    if is_there {
        mode(&folder, 0o755);
    }
}

#[cfg(unix)]
fn mode(path: &std::path::Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[cfg(not(unix))]
fn mode(_: &std::path::Path, _: u32) {}

fn other_case(letter: char) -> char {
    match letter.is_lowercase() {
        true => letter.to_ascii_uppercase(),
        false => letter.to_ascii_lowercase(),
    }
}

/// A line on glazes in UTF-16 with its mark, in Latin-1, and as UTF-8 with a mark.
fn encoded(which: usize) -> Vec<u8> {
    let text = "Café glaze, feldspar and the second firing. [[Kiln]]\n";
    match which {
        0 => [0xFEFF]
            .into_iter()
            .chain(text.encode_utf16())
            .flat_map(u16::to_le_bytes)
            .collect(),
        1 => text.chars().map(|letter| letter as u8).collect(),
        _ => format!("\u{FEFF}{text}").into_bytes(),
    }
}

/// Whether no file stands where the path needs a folder, nor a folder or a file that may not be
/// written where it needs a file.
fn can_write(world: &World, path: &str) -> bool {
    let vault = &world.home.vault;
    let blocked = path
        .match_indices('/')
        .any(|(at, _)| vault.path(&path[..at]).is_file());
    let place = vault.path(path);
    let is_shut = place.is_file() && File::options().write(true).open(&place).is_err();
    let leads_nowhere = place.is_symlink() && !place.exists();
    !blocked && !place.is_dir() && !is_shut && !leads_nowhere
}

pub(crate) fn write(world: &World, path: &str, content: &str) {
    if can_write(world, path) {
        world.home.vault.write(path, content);
    }
}

fn set_modified(file: &std::path::Path, time: SystemTime) {
    let file = File::options().write(true).open(file).unwrap();
    file.set_modified(time).unwrap();
}
