//! The loop where the system gives no watches, and where updates fail.

use std::sync::mpsc;
use std::thread;

use lorewell_engine::Observer;
use lorewell_testkit::TempVault;

use super::*;

/// Whatever may happen on a busy machine, it does not take so long.
const DEADLINE: Duration = Duration::from_secs(120);

/// Answers updates with what the script says, then with success.
struct Scripted(Vec<Result<Freshness, Trouble>>);

impl Keeper for Scripted {
    fn ready(&mut self) -> Result<Rules, Trouble> {
        Ok(Rules::default())
    }

    fn update(&mut self, _: &dyn Observer) -> Result<Freshness, Trouble> {
        self.0.pop().unwrap_or_else(|| Ok(Freshness::default()))
    }
}

/// All that is told until it is enough; then the watcher is stopped.
fn told(
    root: &Path,
    script: Vec<Result<Freshness, Trouble>>,
    options: Options,
    begin: Begin,
    enough: impl Fn(&[Report]) -> bool,
) -> (Vec<Report>, Result<(), WatchError>) {
    let (stop, root) = (Stop::new(), root.to_path_buf());
    let (send, receive) = mpsc::channel();
    let of_thread = stop.clone();
    let thread = thread::spawn(move || {
        let mut keeper = Scripted(script);
        let mut tell = |report| drop(send.send(report));
        Session::new(&root, &mut keeper, &options, &of_thread, &mut tell, begin).run()
    });
    let mut told = Vec::new();
    while !enough(&told) {
        match receive.recv_timeout(DEADLINE) {
            Ok(report) => told.push(report),
            Err(_) => break,
        }
    }
    stop.stop();
    (told, thread.join().unwrap())
}

fn no_more_watches(_: &Path, _: &Rules, _: &[PathBuf], _: &Arc<Inbox>) -> notify::Result<Watched> {
    Err(notify::Error::new(notify::ErrorKind::MaxFilesWatch))
}

fn causes(told: &[Report]) -> Vec<&Cause> {
    let compared = told.iter().filter_map(|report| match report {
        Report::Compared(comparison) => Some(&comparison.cause),
        _ => None,
    });
    compared.collect()
}

#[test]
fn where_the_system_gives_no_watches_it_polls_and_says_so() {
    let vault = TempVault::new("=== a.md ===\nx\n");
    let options = Options {
        poll: Duration::from_millis(1),
        ..Options::default()
    };
    let enough = |told: &[Report]| causes(told).len() == 3;
    let (told, ended) = told(vault.root(), Vec::new(), options, no_more_watches, enough);
    let Report::Watching(Way::Poll { every, reason }) = &told[0] else {
        panic!("{told:?}");
    };
    assert_eq!(*every, Duration::from_millis(1));
    assert!(reason.as_ref().unwrap().contains("max_user_watches"));
    assert_eq!(causes(&told), [&Cause::Start, &Cause::Poll, &Cause::Poll]);
    assert!(ended.is_ok());
}

#[test]
fn where_only_events_are_allowed_it_ends_without_them() {
    let vault = TempVault::new("=== a.md ===\nx\n");
    let options = Options {
        by: By::Events,
        ..Options::default()
    };
    let (told, ended) = told(vault.root(), Vec::new(), options, no_more_watches, |_| {
        false
    });
    assert_eq!(told, []);
    assert_eq!(ended.unwrap_err().code(), "no_events");
}

#[test]
fn what_failed_or_is_pending_is_tried_again_and_the_slow_timer_looks_besides() {
    let vault = TempVault::new("=== a.md ===\nx\n");
    let trouble = Trouble {
        code: "disk_full".to_string(),
        message: "no room".to_string(),
        hint: String::new(),
    };
    let pending = Freshness {
        pending: 1,
        ..Freshness::default()
    };
    // Answered from the end.
    let script = vec![Ok(pending), Err(trouble.clone())];
    let options = Options {
        check: Duration::from_millis(20),
        ..Options::default()
    };
    let enough = |told: &[Report]| causes(told).len() == 4;
    let (told, ended) = told(vault.root(), script, options, Watched::begin, enough);
    assert!(matches!(told[0], Report::Watching(_)), "{told:?}");
    let again_in = Duration::from_millis(20);
    assert_eq!(told[1], Report::Failed { trouble, again_in });
    let Report::Compared(second) = &told[2] else {
        panic!("{told:?}");
    };
    assert_eq!(second.freshness.pending, 1);
    assert!(told[3..].iter().all(|report| matches!(report,
        Report::Compared(c) if c.freshness.pending == 0 && c.cause != Cause::Poll)));
    assert!(ended.is_ok());
}

#[test]
fn waits_grow() {
    let seconds = |failures| retry_after(failures).as_secs();
    assert_eq!([0, 1, 2, 9].map(seconds), [1, 2, 4, 512]);
    assert_eq!(seconds(u32::MAX), 1 << 20);
}
