//! An index that followed a folder step by step equals one made anew: any edits, any settings,
//! any interruption between them.

use std::fs::File;
use std::time::{Duration, SystemTime};

use lorewell_embed::StaticModel;
use lorewell_engine::{Patience, Quiet, RuleSettings};
use lorewell_index::{IndexError, Lock, LockAttempt, UpdateReport, Writer, failpoint};
use lorewell_vault::Vault;
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

use crate::world::{StopAfter, World};

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

const FOLDERS: [&str; 5] = [
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

#[derive(Clone, Debug)]
enum Step {
    Write(usize, usize),
    /// New content under the old time of writing.
    EditSilently(usize, usize),
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
    Exclude(usize),
    Cut(usize),
    Refresh,
    RefreshTwiceWithOneWriter(usize, usize),
    Stop(usize),
    /// Die at a named place, after passing it so many times.
    Crash(usize, usize),
    Rebuild,
}

fn step() -> impl Strategy<Value = Step> {
    let (path, content) = (0..PATHS.len(), 0..CONTENTS.len());
    prop_oneof![
        6 => (path.clone(), content.clone()).prop_map(|(p, c)| Step::Write(p, c)),
        2 => (path.clone(), content.clone()).prop_map(|(p, c)| Step::EditSilently(p, c)),
        2 => (path.clone(), 0..3000u64).prop_map(|(p, day)| Step::Touch(p, day)),
        3 => (path.clone(), path.clone()).prop_map(|(from, to)| Step::Rename(from, to)),
        2 => (0..FOLDERS.len(), 0..FOLDERS.len()).prop_map(|(from, to)| Step::MoveFolder(from, to)),
        1 => path.clone().prop_map(Step::CaseRename),
        3 => path.clone().prop_map(Step::Remove),
        1 => path.clone().prop_map(Step::FolderInPlace),
        1 => (0..FOLDERS.len()).prop_map(Step::FileInPlace),
        1 => (path.clone(), 0..3usize).prop_map(|(p, target)| Step::Link(p, target)),
        1 => (path.clone(), 0..3usize).prop_map(|(p, encoding)| Step::Encode(p, encoding)),
        1 => (0..FILTERS.len()).prop_map(Step::Filter),
        2 => (0..5usize).prop_map(Step::Exclude),
        1 => (0..3usize).prop_map(Step::Cut),
        6 => Just(Step::Refresh),
        2 => (path, content).prop_map(|(p, c)| Step::RefreshTwiceWithOneWriter(p, c)),
        2 => (0..4usize).prop_map(Step::Stop),
        4 => (0..failpoint::POINTS.len(), 0..2usize).prop_map(|(at, passes)| Step::Crash(at, passes)),
        1 => Just(Step::Rebuild),
    ]
}

fn take(world: &mut World, step: &Step) {
    let vault = &world.home.vault;
    match *step {
        Step::Write(path, content) => write(world, PATHS[path], CONTENTS[content]),
        Step::EditSilently(path, content) => {
            let file = vault.path(PATHS[path]);
            if let Some(time) = file
                .is_file()
                .then(|| file.metadata().unwrap().modified().unwrap())
            {
                write(world, PATHS[path], CONTENTS[content]);
                set_modified(&file, time);
            }
        }
        Step::Touch(path, day) => {
            let file = vault.path(PATHS[path]);
            if file.is_file() {
                set_modified(
                    &file,
                    SystemTime::UNIX_EPOCH + Duration::from_secs(day * 86_400 * 5),
                );
            }
        }
        Step::Rename(from, to) => {
            let free = !vault.path(PATHS[to]).is_dir() && can_write(world, PATHS[to]);
            if vault.path(PATHS[from]).is_file() && free {
                vault.rename(PATHS[from], PATHS[to]);
            }
        }
        Step::MoveFolder(from, to) => {
            let (from, to) = (FOLDERS[from], FOLDERS[to]);
            let inside = format!("{to}/").starts_with(&format!("{from}/"));
            let free = !vault.path(to).exists() && can_write(world, to);
            if vault.path(from).is_dir() && free && !inside {
                vault.rename(from, to);
            }
        }
        Step::CaseRename(path) => {
            let (folder, name) = PATHS[path].rsplit_once('/').unwrap_or(("", PATHS[path]));
            let swapped: String = name.chars().map(other_case).collect();
            let to = format!("{folder}/{}.md", swapped.trim_end_matches(".MD"));
            let to = to.trim_start_matches('/');
            if vault.path(PATHS[path]).is_file() && !vault.path(to).exists() {
                vault.rename(PATHS[path], to);
            }
        }
        Step::FileInPlace(folder) => {
            if vault.path(FOLDERS[folder]).is_dir() {
                vault.remove(FOLDERS[folder]);
                vault.write(FOLDERS[folder], CONTENTS[folder]);
            }
        }
        Step::Link(path, target) => {
            #[cfg(unix)]
            if can_write(world, PATHS[path]) && !vault.path(PATHS[path]).exists() {
                let place = vault.path(PATHS[path]);
                std::fs::create_dir_all(place.parent().unwrap()).unwrap();
                let targets = [
                    vault.path("Kiln.md"),
                    vault.path("Projects"),
                    "/nowhere".into(),
                ];
                // A link that leads nowhere may stand there already.
                let _ = std::os::unix::fs::symlink(&targets[target], place);
            }
        }
        Step::Encode(path, encoding) => {
            if can_write(world, PATHS[path]) {
                vault.write(PATHS[path], encoded(encoding));
            }
        }
        Step::Filter(which) => vault.write(".obsidian/app.json", FILTERS[which]),
        Step::Remove(path) => {
            if vault.path(PATHS[path]).exists() {
                vault.remove(PATHS[path]);
            }
        }
        Step::FolderInPlace(path) => {
            if vault.path(PATHS[path]).is_file() {
                vault.remove(PATHS[path]);
                vault.write(&format!("{}/inside.md", PATHS[path]), CONTENTS[path]);
            }
        }
        Step::Exclude(which) => world.exclude(rules(which)),
        Step::Cut(which) => {
            let (chars, overlap) = [(1_200, 0), (120, 0), (200, 40)][which];
            world.settings.index.passages.passage_chars = chars;
            world.settings.index.passages.overlap_chars = overlap;
        }
        Step::Refresh => {
            world.refresh();
        }
        Step::RefreshTwiceWithOneWriter(path, content) => {
            let mut writer = open_writer(world);
            // A writer that failed goes on from what is published.
            failpoint::arm(failpoint::POINTS[content], path % 2);
            let _ = update(world, &mut writer);
            failpoint::is_armed();
            write(world, PATHS[path], CONTENTS[content]);
            update(world, &mut writer).unwrap();
        }
        Step::Stop(notes) => {
            world
                .host()
                .refresh(Patience::Read, &StopAfter::new(notes))
                .unwrap();
        }
        Step::Crash(at, passes) => {
            failpoint::arm(failpoint::POINTS[at], passes);
            let _ = world.try_refresh();
            failpoint::is_armed();
            if world.layout().exists() {
                world.snapshot().verify().unwrap();
            }
        }
        Step::Rebuild => {
            world.host().rebuild(&Quiet).unwrap();
        }
    }
}

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

fn rules(which: usize) -> RuleSettings {
    let mut rules = RuleSettings::default();
    match which {
        1 => rules.folders = vec!["Private".to_string()],
        2 => rules.tags = vec!["private".to_string(), "rent".to_string()],
        3 => rules.properties = vec!["secret".to_string()],
        4 => rules.globs = vec!["*log*".to_string()],
        _ => {}
    }
    rules
}

/// Whether no file stands where the path needs a folder, nor a folder where it needs a file.
fn can_write(world: &World, path: &str) -> bool {
    let vault = &world.home.vault;
    let blocked = path
        .match_indices('/')
        .any(|(at, _)| vault.path(&path[..at]).is_file());
    !blocked && !vault.path(path).is_dir()
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

fn open_writer(world: &World) -> Writer {
    let LockAttempt::Taken(lock) = Lock::attempt(&world.layout()).unwrap() else {
        panic!("nobody else writes here");
    };
    Writer::open(&world.layout(), lock, StaticModel::built_in()).unwrap()
}

fn update(world: &World, writer: &mut Writer) -> Result<UpdateReport, IndexError> {
    let vault = Vault::open(world.home.vault.root()).unwrap();
    let settings = &world.settings.index;
    let listing = vault.list(&settings.rules).unwrap();
    writer.update(&vault, &listing, settings, StaticModel::built_in(), &Quiet)
}

/// Scripts that failed once, tried first.
const SEEDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/spec/incremental.seeds");

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), max_shrink_iters: 100, failure_persistence: Some(Box::new(FileFailurePersistence::Direct(SEEDS))), ..ProptestConfig::default() })]

    #[test]
    fn an_index_that_followed_equals_one_made_anew(steps in prop::collection::vec(step(), 1..24)) {
        // What is no note keeps the folder from ever being bare, which is a case of its own.
        let mut world = World::new("=== keep.txt ===\n");
        for step in &steps {
            take(&mut world, step);
        }
        let freshness = world.refresh();
        prop_assert_eq!(freshness.pending, 0);
        world.picture().assert_same(&world.rebuilt_picture());
    }
}

fn cases() -> u32 {
    std::env::var("PROPTEST_CASES")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(24)
}
