//! An index that followed a folder step by step equals one made anew: any edits, any settings, any
//! model, carried vectors or none, any interruption between them.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use lorewell_engine::{
    EngineSettings, Host, Observer, Patience, PortableVectors, Quiet, RuleSettings, StatusRequest,
};
use lorewell_index::failpoint::{self, Fault};
use lorewell_index::{IndexError, Lock, LockAttempt, UpdateReport, Writer};
use lorewell_portable::failpoint::POINTS as PORTABLE_POINTS;
use lorewell_vault::Vault;
use proptest::prelude::*;
use proptest::test_runner::{FileFailurePersistence, TestCaseResult, TestRunner};

use crate::dear::Dear;
use crate::portable::files;
use crate::script::{CONTENTS, Edit, FOLDERS, PATHS, apply, edit, open_all, while_shut, write};
use crate::world::{StopAfter, World};

#[derive(Clone, Debug)]
enum Step {
    Edit(Edit),
    Exclude(usize),
    Cut(usize),
    Refresh,
    RefreshTwiceWithOneWriter(usize, usize),
    Stop(usize),
    /// Dies at a named place, after passing it so many times.
    Crash(Death),
    Rebuild,
    /// Looks while a folder is shut.
    RefreshWhileShut(usize),
    /// Another model is wanted: the built-in one, or one of two that are dear.
    Model(usize),
    /// Whether the dear models answer.
    Answers(bool),
    /// Makes the vectors that wait.
    Embed,
    /// The same, stopped after being asked so many times whether to.
    EmbedAndStop(usize),
    /// The same, with an edit while the model works.
    EmbedMeanwhile(usize, usize),
    /// Dies while vectors come.
    CrashEmbedding(Death),
    /// Whether vectors are carried into the vault: never heard of, yes, no.
    Storage(usize),
    /// Another device with the same vault takes in what there is, and carries.
    OtherDevice,
    LoseIndex,
}

/// A named place, or any; how many such places are passed first; how it ends there.
type Death = (Option<usize>, usize, usize);

/// Deaths that were died, of all scripts.
static DEATHS: AtomicUsize = AtomicUsize::new(0);

fn step() -> impl Strategy<Value = Step> {
    let (path, content) = (0..PATHS.len(), 0..CONTENTS.len());
    let places = failpoint::POINTS.len() + PORTABLE_POINTS.len();
    // Most work passes few of the named places; one of the first is always there.
    let death = prop_oneof![
        1 => (0..places, 0..2usize, 0..3usize).prop_map(|(at, n, how)| (Some(at), n, how)),
        2 => (0..16usize, 0..3usize).prop_map(|(passes, how)| (None, passes, how)),
    ];
    let stops = 0..4usize;
    prop_oneof![
        30 => edit().prop_map(Step::Edit),
        2 => (0..5usize).prop_map(Step::Exclude),
        1 => (0..3usize).prop_map(Step::Cut),
        6 => Just(Step::Refresh),
        2 => (path.clone(), content.clone()).prop_map(|(p, c)| Step::RefreshTwiceWithOneWriter(p, c)),
        2 => stops.clone().prop_map(Step::Stop),
        8 => death.clone().prop_map(Step::Crash),
        1 => Just(Step::Rebuild),
        1 => (0..FOLDERS.len()).prop_map(Step::RefreshWhileShut),
        3 => (0..3usize).prop_map(Step::Model),
        1 => any::<bool>().prop_map(Step::Answers),
        3 => Just(Step::Embed),
        2 => stops.prop_map(Step::EmbedAndStop),
        2 => (path, content).prop_map(|(p, c)| Step::EmbedMeanwhile(p, c)),
        3 => death.prop_map(Step::CrashEmbedding),
        2 => (0..3usize).prop_map(Step::Storage),
        1 => Just(Step::OtherDevice),
        1 => Just(Step::LoseIndex),
    ]
}

/// A world, and the models that are dear in it.
struct Stage {
    world: World,
    dear: [&'static Dear; 2],
    /// Files that another device carried, which nobody else may touch.
    theirs: BTreeMap<PathBuf, Vec<u8>>,
}

impl Stage {
    fn new() -> Stage {
        Stage {
            // What is no note keeps the folder from ever being bare, which is a case of its own.
            world: World::new("=== keep.txt ===\n"),
            dear: ["script a", "script b"].map(Dear::new),
            theirs: BTreeMap::new(),
        }
    }

    fn take(&mut self, step: &Step) {
        let world = &mut self.world;
        match step {
            Step::Edit(edit) => apply(world, edit),
            Step::Exclude(which) => world.exclude(rules(*which)),
            Step::Cut(which) => {
                let (chars, overlap) = [(1_200, 0), (120, 0), (200, 40)][*which];
                world.settings.index.passages.passage_chars = chars;
                world.settings.index.passages.overlap_chars = overlap;
            }
            Step::Refresh => drop(world.refresh()),
            Step::RefreshTwiceWithOneWriter(path, content) => {
                let mut writer = open_writer(world);
                // A writer that failed goes on from what is published.
                failpoint::arm(failpoint::POINTS[*content], path % 2, Fault::Cut);
                let _ = update(world, &mut writer);
                failpoint::is_armed();
                write(world, PATHS[*path], CONTENTS[*content]);
                update(world, &mut writer).unwrap();
            }
            Step::Stop(notes) => {
                let stop = StopAfter::new(*notes);
                world.host().refresh(Patience::Read, &stop).unwrap();
            }
            Step::Crash(death) => dies(world, *death, || drop(world.try_refresh())),
            Step::Rebuild => drop(world.host().rebuild(&Quiet).unwrap()),
            Step::RefreshWhileShut(folder) => {
                while_shut(world, *folder, || drop(world.refresh()));
            }
            Step::Model(0) => world.model = World::built_in(),
            Step::Model(which) => world.model = self.dear[which - 1],
            Step::Answers(answers) => {
                let down = |model: &&Dear| model.is_down.store(!answers, Ordering::SeqCst);
                self.dear.iter().for_each(down);
            }
            Step::Embed => embed(world, &Quiet),
            Step::EmbedAndStop(times) => embed(world, &StopAsking(AtomicUsize::new(*times))),
            Step::EmbedMeanwhile(path, content) => {
                let file = world.home.vault.path(PATHS[*path]);
                let content = CONTENTS[*content];
                let edit = move || {
                    if file.is_file() {
                        // Some may not be written.
                        let _ = std::fs::write(&file, content);
                    }
                };
                self.dear
                    .iter()
                    .for_each(|model| model.meanwhile(edit.clone()));
                embed(world, &Quiet);
                self.dear.iter().for_each(|model| model.meanwhile(|| ()));
            }
            Step::CrashEmbedding(death) => dies(world, *death, || embed(world, &Quiet)),
            Step::Storage(which) => {
                let device = world.home.vault.beside("device");
                world.settings.portable = match which {
                    0 => None,
                    which => Some(carrying(device, *which == 1)),
                };
            }
            Step::OtherDevice => {
                let before = carried(world);
                let other = other_device(world);
                other.refresh(Patience::Wait, &Quiet).unwrap();
                other.embed_waiting(&Quiet).unwrap();
                let now = carried(world);
                self.theirs.retain(|path, _| now.contains_key(path));
                let new = now
                    .into_iter()
                    .filter(|(path, _)| !before.contains_key(path));
                self.theirs.extend(new);
            }
            Step::LoseIndex => {
                let _ = std::fs::remove_dir_all(world.home.index_dir());
            }
        }
    }

    /// Nothing stands in the way any more, and all is taken in.
    fn settle(&mut self) {
        open_all(&self.world);
        self.take(&Step::Answers(true));
        let freshness = self.world.refresh();
        assert_eq!(freshness.pending, 0);
        let host = self.world.host();
        let embedding = host.embed_waiting(&Quiet).unwrap();
        assert_eq!((embedding.waiting, embedding.reason), (0, None));
        // An edit while vectors were made is taken in by the next look.
        assert_eq!(host.refresh(Patience::Read, &Quiet).unwrap().pending, 0);
        host.embed_waiting(&Quiet).unwrap();
        let carried = carried(&self.world);
        for (path, bytes) in &self.theirs {
            assert_eq!(carried.get(path), Some(bytes), "{}", path.display());
        }
    }
}

/// All files in the vault's folder of carried vectors.
fn carried(world: &World) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = files(&world.home.vault.path(".lorewell")).into_iter();
    files
        .map(|file| (file.clone(), std::fs::read(file).unwrap()))
        .collect()
}

fn embed(world: &World, observer: &dyn Observer) {
    let host = world.host();
    // Before the first build there is nothing to embed.
    if world.layout().exists() && host.view().is_ok() {
        let _ = host.embed_waiting(observer);
    }
}

/// Runs some work that dies at a named place; what is on disk is whole all the same.
fn dies(world: &World, (at, passes, how): Death, work: impl FnOnce()) {
    let all = failpoint::POINTS.iter().chain(&PORTABLE_POINTS);
    let points: Vec<&'static str> = all.copied().collect();
    let fault = [Fault::Crash, Fault::Cut, Fault::DiskFull][how];
    match at {
        Some(at) => failpoint::arm(points[at], passes, fault),
        None => failpoint::arm_any(passes, fault),
    }
    let _ = catch_unwind(AssertUnwindSafe(work));
    if !failpoint::is_armed() {
        DEATHS.fetch_add(1, Ordering::SeqCst);
    }
    if world.layout().exists() {
        world.snapshot().verify().unwrap();
    }
}

/// Stops when it was asked so many times whether to.
struct StopAsking(AtomicUsize);

impl Observer for StopAsking {
    fn stopped(&self) -> bool {
        let one_less = |left: usize| left.checked_sub(1);
        let left = self
            .0
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less);
        left.is_err()
    }
}

fn carrying(device_file: PathBuf, carry: bool) -> PortableVectors {
    PortableVectors {
        device_file,
        carry,
        rest: Duration::ZERO,
    }
}

fn other_device(world: &World) -> Host {
    let settings = EngineSettings {
        portable: Some(carrying(world.home.vault.beside("other device"), true)),
        ..world.settings.clone()
    };
    let (root, index) = (
        world.home.vault.root(),
        world.home.vault.beside("other index"),
    );
    let host = Host::open("Notes", root, &index, settings).unwrap();
    host.with_embedder(world.model)
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

fn open_writer(world: &World) -> Writer {
    let LockAttempt::Taken(lock) = Lock::attempt(&world.layout()).unwrap() else {
        panic!("nobody else writes here");
    };
    Writer::open(&world.layout(), lock, world.model).unwrap()
}

fn update(world: &World, writer: &mut Writer) -> Result<UpdateReport, IndexError> {
    let vault = Vault::open(world.home.vault.root()).unwrap();
    let settings = &world.settings.index;
    let listing = vault.list(&settings.rules).unwrap();
    writer.update(&vault, &listing, settings, world.model, &Quiet)
}

/// Scripts that failed once, tried first.
const SEEDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/spec/incremental.seeds");

#[test]
#[cfg_attr(unix, ignore = "started by the test below, as an ordinary user")]
fn as_it_was_followed() {
    let config = ProptestConfig {
        cases: cases(),
        max_shrink_iters: 100,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(SEEDS))),
        ..ProptestConfig::default()
    };
    let scripts = prop::collection::vec(step(), 1..30);
    let outcome = TestRunner::new(config).run(&scripts, |steps| follow(&steps));
    outcome.unwrap_or_else(|error| panic!("{error}"));
    let deaths = DEATHS.load(Ordering::SeqCst);
    assert!(deaths >= cases() as usize / 2, "only {deaths} deaths");
}

/// Takes the steps of a script, and compares what came of them with an index made at once.
fn follow(steps: &[Step]) -> TestCaseResult {
    let mut stage = Stage::new();
    for step in steps {
        stage.take(step);
    }
    // Whatever the script was, an edit is cut short at the first place that is reached.
    write(&stage.world, "Last.md", "The last note of the script.\n");
    stage.take(&Step::Crash((None, 0, steps.len() % 3)));
    stage.settle();
    let world = &stage.world;
    world.picture().assert_same(&world.rebuilt_picture());
    if let Some(portable) = &world.settings.portable {
        let request = StatusRequest::default();
        let status = world.host().status(&request).unwrap().portable;
        let stands = status.map_or((0, None), |status| (status.waiting, status.trouble));
        prop_assert_eq!(stands, (0, None), "carrying: {}", portable.carry);
    }
    Ok(())
}

/// The superuser may read everything, so this runs as another user.
#[cfg(unix)]
#[test]
fn an_index_that_followed_equals_one_made_anew() {
    let test = "incremental::as_it_was_followed";
    lorewell_testkit::start_as_ordinary_user(test, &["--ignored"]);
}

fn cases() -> u32 {
    std::env::var("PROPTEST_CASES")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(24)
}
