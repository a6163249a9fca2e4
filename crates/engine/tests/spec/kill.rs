//! A writing process that is killed at any instant, or ends at any named place, leaves a whole
//! generation behind. `LOREWELL_KILLS` says how often it is killed.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use lorewell_engine::{
    EngineError, EngineSettings, Host, IndexError, Observer, Patience, Quiet, Rules, Stage,
};
use lorewell_index::failpoint::{self, Fault};

use crate::crash::{about_to_merge, without_secrets};
use crate::script::{CONTENTS, PATHS, write};
use crate::world::World;

const VICTIM: &str = "LOREWELL_TEST_VICTIM";
const WORK: &str = "LOREWELL_TEST_WORK";
const PLACES: &str = "LOREWELL_TEST_PLACES";

/// Prints a line at every step that the engine tells of.
struct Aloud;

impl Observer for Aloud {
    fn note_done(&self, path: &str) {
        say(path);
    }

    fn stage(&self, stage: Stage) {
        say(&format!("{stage:?}"));
    }
}

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    // Nobody may be listening any more.
    let _ = writeln!(out, "step {line}").and_then(|()| out.flush());
}

/// The process that is killed: takes in one edit after the other, until it dies.
#[test]
#[ignore = "started by the test below, which kills it"]
fn victim() {
    let Ok(home) = std::env::var(VICTIM) else {
        panic!("the test below starts this one");
    };
    let home = std::path::Path::new(&home);
    let vault = home.join("vault");
    let host = Host::open(
        "Notes",
        &vault,
        &home.join("index"),
        EngineSettings::default(),
    )
    .unwrap();
    for round in 0_u64.. {
        let file = vault.join(format!("Victim {}.md", round % 5));
        match round % 7 {
            6 => drop(std::fs::remove_file(&file)),
            _ => std::fs::write(&file, CONTENTS[round as usize % CONTENTS.len()]).unwrap(),
        }
        let done = match round % 11 {
            10 => host.rebuild(&Aloud),
            _ => host.refresh(Patience::Wait, &Aloud),
        };
        done.unwrap();
    }
}

#[test]
fn a_killed_writer_leaves_a_whole_generation() {
    let world = World::new("=== keep.txt ===\n");
    for (path, content) in PATHS.iter().zip(CONTENTS) {
        write(&world, path, content);
    }
    let rounds = std::env::var("LOREWELL_KILLS").map_or(16, |n| n.parse().unwrap());
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut is_built = false;
    for round in 0..rounds {
        kill_after(
            &world,
            random.below(90),
            Duration::from_micros(random.below(3_000)),
        );
        match world.host().view().map(drop) {
            Ok(()) => world.snapshot().verify().unwrap(),
            Err(EngineError::Index(IndexError::Absent(_))) if !is_built => {}
            Err(error) => panic!("round {round}: {error}"),
        }
        world.refresh();
        is_built = true;
        let found = world.picture();
        found.assert_same(&world.rebuilt_picture());
        assert!(
            found.counts.0 >= 9,
            "round {round}: {} notes",
            found.counts.0
        );
    }
}

/// The process that ends at a named place, with nothing closed: one update, or one rebuild.
#[test]
#[ignore = "started by the test below"]
fn ends_at_a_place() {
    let said = |name| std::env::var(name).expect("the test below starts this one");
    let home = std::path::PathBuf::from(said(VICTIM));
    let mut settings = EngineSettings::default();
    settings.index.rules = Rules::new(without_secrets()).unwrap();
    let host = Host::open("Notes", &home.join("vault"), &home.join("index"), settings).unwrap();
    failpoint::arm_any(said(PLACES).parse().unwrap(), Fault::Abort);
    let done = match said(WORK).as_str() {
        "update" => host.refresh(Patience::Wait, &Quiet),
        _ => host.rebuild(&Quiet),
    };
    done.unwrap();
    assert!(failpoint::is_armed());
}

#[test]
fn a_process_that_ends_at_any_place_leaves_a_whole_generation() {
    for work in ["update", "rebuild"] {
        let mut expected = None;
        for places in 0.. {
            let mut world = about_to_merge();
            world.home.vault.remove("Glaze.md");
            let kiln = "The kiln fires at cone 10 now.\n";
            world.home.vault.write("Kiln.md", kiln);
            world.home.vault.write("Fourth.md", "A new note.\n");
            let ended = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "kill::ends_at_a_place", "--ignored"])
                .env(VICTIM, world.home.vault.root().parent().unwrap())
                .env(WORK, work)
                .env(PLACES, places.to_string())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .unwrap();
            world.snapshot().verify().unwrap();
            assert!(!world.found("firing").is_empty(), "{work}, {places}");
            world.exclude(without_secrets());
            world.refresh();
            let picture = world.picture();
            picture.assert_same(expected.get_or_insert_with(|| world.rebuilt_picture()));
            assert_eq!(
                world.files_holding("quetzalrent"),
                [""; 0],
                "{work}, {places}"
            );
            if ended.success() {
                // It went by every place.
                assert!(places >= 4, "{work}: {places} places");
                break;
            }
            assert_eq!(ended.code(), None, "{work}, {places}: it failed instead");
        }
    }
}

/// Starts the victim and kills it at its n-th step, or that much later.
fn kill_after(world: &World, steps: u64, later: Duration) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "kill::victim", "--ignored", "--nocapture"])
        .env(VICTIM, world.home.vault.root().parent().unwrap())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let told = lines
        .map_while(Result::ok)
        .filter(|l| l.starts_with("step "));
    told.take(steps as usize + 1).for_each(drop);
    let at = Instant::now();
    while at.elapsed() < later {
        std::hint::spin_loop();
    }
    assert!(
        child.try_wait().unwrap().is_none(),
        "the victim ended by itself"
    );
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Xorshift: the same instants in each run, as far as instants can be the same.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}
