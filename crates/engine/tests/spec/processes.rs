//! Several processes at one index: one writes, any number read.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use lorewell_engine::{Observer, Patience, Quiet, Request, Stage};
use lorewell_index::{Lock, LockAttempt};

use crate::world::World;

/// Stops a writer when it begins to write the catalogue, until it may go on.
struct Gate {
    arrived: Sender<()>,
    go_on: Mutex<Receiver<()>>,
}

impl Observer for Gate {
    fn stage(&self, stage: Stage) {
        if stage == Stage::Catalogue {
            self.arrived.send(()).unwrap();
            let go_on = self.go_on.lock().unwrap_or_else(PoisonError::into_inner);
            go_on.recv().unwrap();
        }
    }
}

/// Runs `meanwhile` while a writer has read new notes and not published them.
fn while_writing(world: &World, meanwhile: impl FnOnce(&Sender<()>)) {
    let (arrived, at_gate) = channel();
    let (go_on, wait) = channel();
    let gate = Gate {
        arrived,
        go_on: Mutex::new(wait),
    };
    thread::scope(|scope| {
        let writer = scope.spawn(|| world.host().refresh(Patience::Wait, &gate).unwrap());
        at_gate.recv().unwrap();
        meanwhile(&go_on);
        let _ = go_on.send(());
        assert_eq!(writer.join().unwrap().pending, 0);
    });
}

#[test]
fn while_one_writes_another_reads_what_there_is_and_says_what_is_missing() {
    let world = World::built("=== Kiln.md ===\nCone 6.\n");
    world.home.vault.write("Glaze.md", "Celadon.\n");
    while_writing(&world, |_| {
        let host = world.host();
        let freshness = host.refresh(Patience::Read, &Quiet).unwrap();
        assert_eq!(freshness.pending, 1);
        let me = std::process::id();
        let reason = format!("another process ({me}) is taking them in");
        assert_eq!(freshness.reason, Some(reason));
        assert_eq!(host.view().unwrap().totals().notes, 1);
        let status = host.status(&Default::default()).unwrap();
        assert_eq!((status.pending_total, status.writer), (1, Some(Some(me))));
    });
    assert_eq!(world.snapshot().totals().notes, 2);
}

#[test]
fn before_the_first_build_is_published_a_reader_waits_rather_than_find_nothing() {
    let world = World::new("=== Kiln.md ===\nCone 6.\n");
    while_writing(&world, |go_on| {
        thread::scope(|scope| {
            let (done, is_done) = channel();
            let world = &world;
            scope.spawn(move || {
                let host = world.host();
                let freshness = host.refresh(Patience::Read, &Quiet).unwrap();
                let notes = host.view().unwrap().totals().notes;
                done.send((freshness.pending, freshness.reason, notes))
                    .unwrap();
            });
            let too_early = is_done.recv_timeout(Duration::from_millis(300));
            go_on.send(()).unwrap();
            assert!(too_early.is_err(), "it did not wait: {too_early:?}");
            assert_eq!(is_done.recv().unwrap(), (0, None, 1));
        });
    });
}

#[test]
fn who_waits_for_the_writer_looks_at_the_folder_again() {
    let world = World::built("=== Kiln.md ===\nCone 6.\n");
    world.home.vault.write("Glaze.md", "Celadon.\n");
    while_writing(&world, |go_on| {
        thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                let host = world.host();
                let about_to_wait = host.behind().unwrap();
                (about_to_wait, host.refresh(Patience::Wait, &Quiet).unwrap())
            });
            go_on.send(()).unwrap();
            let (before, freshness) = waiting.join().unwrap();
            assert!(before <= 1 && freshness.pending == 0);
        });
    });
    world.picture().assert_same(&world.rebuilt_picture());
}

/// The listing was made before another process took in a note that came later: that note stays.
#[test]
fn a_look_from_before_the_lock_removes_nothing() {
    let world = World::built("=== Kiln.md ===\nCone 6.\n");
    let held = Lock::wait(&world.layout()).unwrap();
    world.home.vault.write("Glaze.md", "Celadon.\n");
    let (looked, has_looked) = channel();
    thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let host = world.host();
            looked.send(host.behind().unwrap()).unwrap();
            host.refresh(Patience::Wait, &Quiet).unwrap()
        });
        assert_eq!(has_looked.recv().unwrap(), 1);
        world.home.vault.write("Rent.md", "Paid.\n");
        drop(held);
        world.host().refresh(Patience::Wait, &Quiet).unwrap();
        assert_eq!(waiting.join().unwrap().pending, 0);
    });
    assert_eq!(world.snapshot().totals().notes, 3);
}

#[test]
fn a_lock_file_of_a_dead_process_stops_nobody() {
    let world = World::new("=== Kiln.md ===\nCone 6.\n");
    std::fs::write(world.home.index_dir().join("writer.lock"), "4194304\n").unwrap();
    assert_eq!(world.refresh().pending, 0);
    assert!(matches!(
        Lock::attempt(&world.layout()).unwrap(),
        LockAttempt::Taken(_)
    ));
    let own = std::fs::read_to_string(world.home.index_dir().join("writer.lock")).unwrap();
    assert_eq!(own.trim(), std::process::id().to_string());
}

#[test]
fn a_reader_keeps_its_generation_while_segments_are_joined_and_deleted() {
    let world = World::built("=== Kiln.md ===\nThe kiln fires at cone 6.\n");
    let host = world.host();
    let view = host.view().unwrap();
    let request = Request::new("kiln fires");
    let before = view.search(&request).unwrap();
    let files = world.index_files(".lex");
    for round in 0..12 {
        let text = format!("Round {round} of the kiln fires.\n");
        world.home.vault.write(&format!("{round}.md"), text);
        world
            .home
            .vault
            .write("Kiln.md", format!("Nothing {round}.\n"));
        world.refresh();
    }
    assert!(
        !files[0].exists(),
        "the segment that the reader has open is deleted"
    );
    assert_eq!(view.search(&request).unwrap(), before);
    assert_eq!(view.totals().notes, 1);
    assert!(view.is_outdated());
    assert_eq!(host.view().unwrap().totals().notes, 13);
}

/// Readers open one generation after the other while the writer publishes, joins and deletes:
/// each answers like the folder at one moment, in which every note told the same number.
#[test]
fn readers_never_see_half_a_generation() {
    let world = World::new("=== keep.txt ===\n");
    let write = |round: u32| {
        for note in 0..6 {
            let text = format!("marker number{round} of all\n");
            world.home.vault.write(&format!("{note}.md"), text);
        }
        world.refresh();
    };
    write(0);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let readers: Vec<_> = (0..2)
            .map(|_| scope.spawn(|| read_until(&world, &done)))
            .collect();
        for round in 1..25 {
            write(round);
        }
        done.store(true, Ordering::Release);
        for reader in readers {
            assert!(reader.join().unwrap() > 0);
        }
    });
}

/// What goes and what comes in one update are one generation: notes that move are never nowhere.
#[test]
fn notes_that_move_are_never_nowhere() {
    let world = World::new("=== keep.txt ===\n");
    for note in 0..6 {
        let text = "marker number of all\n";
        world.home.vault.write(&format!("0/{note}.md"), text);
    }
    world.refresh();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let readers: Vec<_> = (0..2)
            .map(|_| scope.spawn(|| read_until(&world, &done)))
            .collect();
        for round in 0..25 {
            let (from, to) = (round.to_string(), (round + 1).to_string());
            world.home.vault.rename(&from, &to);
            world.refresh();
        }
        done.store(true, Ordering::Release);
        for reader in readers {
            assert!(reader.join().unwrap() > 0);
        }
    });
}

fn read_until(world: &World, done: &AtomicBool) -> u32 {
    let host = world.host();
    let mut request = Request::new("marker");
    request.limit = 20;
    let mut views = 0;
    while !done.load(Ordering::Acquire) {
        let view = host.view().unwrap();
        let answer = view.search(&request).unwrap();
        let mut texts: Vec<&str> = answer
            .passages
            .iter()
            .map(|p| p.passage.text.as_str())
            .collect();
        let mut notes = texts.len();
        notes += answer
            .passages
            .iter()
            .map(|p| p.copies.len())
            .sum::<usize>();
        texts.dedup();
        assert_eq!(
            (texts.len(), notes, view.totals().notes),
            (1, 6, 6),
            "{texts:?}"
        );
        views += 1;
    }
    views
}
