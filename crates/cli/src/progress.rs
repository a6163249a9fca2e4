//! Progress of long work on standard error, and interrupting it.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lorewell_engine::{Host, Observer, Stage, StatusRequest};

use crate::style::{self, inert_line};

/// Work on fewer files is over before a bar could be read.
const WORTH_SHOWING: usize = 50;

/// Set by the first interrupt; the second ends the process at once.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Whether there is work that must reach a safe point before the process ends.
static WORKING: AtomicBool = AtomicBool::new(false);

/// After so long without any work, another process may be what is waited for.
const SUSPICIOUS: Duration = Duration::from_millis(500);

/// Shows progress where it should be shown, and hears interrupts.
pub(crate) struct Progress {
    bar: ProgressBar,
    shown: bool,
}

impl Progress {
    /// `when`: the setting `progress`.
    pub(crate) fn new(when: &str) -> Progress {
        hear_interrupts();
        let shown = when == "always" || (when != "never" && std::io::stderr().is_terminal());
        let bar = ProgressBar::hidden();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {pos}/{len} notes  {wide_msg}") {
            bar.set_style(style);
        }
        Progress { bar, shown }
    }

    /// Whether the user asked to stop.
    pub(crate) fn interrupted(&self) -> bool {
        INTERRUPTED.load(Ordering::SeqCst)
    }

    /// Does `work`, which another process may do for this one. Afterwards the bar is gone, so that
    /// an answer can be printed.
    pub(crate) fn through<T>(&self, work: impl FnOnce() -> T) -> T {
        let outcome = work();
        WORKING.store(false, Ordering::SeqCst);
        self.bar.finish_and_clear();
        outcome
    }

    /// Progress where there is no terminal to draw a bar on: a line now and then.
    fn say_each_tenth(&self) {
        let (done, all) = (self.bar.position(), self.bar.length().unwrap_or(0));
        if all >= WORTH_SHOWING as u64 && done % all.div_ceil(10) == 0 {
            style::note(&format!("{done} of {all} notes"));
        }
    }

    /// Does `work`, which may have to wait for another process that writes the index, and says so
    /// if it does. Afterwards the bar is gone, so that an answer can be printed.
    pub(crate) fn unless_waiting<T>(&self, host: &Host, work: impl FnOnce() -> T) -> T {
        let (done, end) = mpsc::channel::<()>();
        thread::scope(|scope| {
            scope.spawn(move || {
                let waits = end.recv_timeout(SUSPICIOUS) == Err(RecvTimeoutError::Timeout);
                if waits && !WORKING.load(Ordering::SeqCst) && is_written(host) {
                    style::note("another process is writing this index; waiting for it to finish");
                }
            });
            let outcome = self.through(work);
            drop(done);
            outcome
        })
    }
}

/// Has the first interrupt end work at its next safe point, and the second the process.
pub(crate) fn hear_interrupts() {
    // It can be set once.
    let _ = ctrlc::set_handler(|| {
        let again = INTERRUPTED.swap(true, Ordering::SeqCst);
        if again || !WORKING.load(Ordering::SeqCst) {
            std::process::exit(2);
        }
    });
}

/// Whether the user asked to stop.
pub(crate) fn was_interrupted() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}

/// Says whether there is work that must reach a safe point.
pub(crate) fn work(is_on: bool) {
    WORKING.store(is_on, Ordering::SeqCst);
}

/// Whether talk goes to a terminal.
pub(crate) fn on_terminal() -> bool {
    std::io::stderr().is_terminal()
}

/// Whether a process other than this one writes the index.
fn is_written(host: &Host) -> bool {
    host.status(&StatusRequest::default())
        .is_ok_and(|status| match status.writer {
            Some(process) => process != Some(std::process::id()),
            None => false,
        })
}

impl Observer for Progress {
    fn begin(&self, files: usize) {
        WORKING.store(true, Ordering::SeqCst);
        self.bar.set_length(files as u64);
        if self.shown && files >= WORTH_SHOWING && std::io::stderr().is_terminal() {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            self.bar.enable_steady_tick(Duration::from_millis(100));
        }
    }

    fn note_done(&self, path: &str) {
        self.bar.inc(1);
        if !self.bar.is_hidden() {
            self.bar.set_message(inert_line(path));
        } else if self.shown {
            self.say_each_tenth();
        }
    }

    fn stage(&self, stage: Stage) {
        self.bar.set_message(match stage {
            Stage::Notes => "",
            Stage::Words => "indexing words",
            Stage::Catalogue => "writing the catalogue",
            Stage::Merge => "joining segments",
        });
    }

    fn vectors(&self, done: u64, all: u64) {
        WORKING.store(true, Ordering::SeqCst);
        if self.bar.is_finished() {
            // The notes are read by now, and their bar is done.
            self.bar.reset();
        }
        self.bar.set_length(all);
        self.bar.set_position(done);
        if let Ok(style) = ProgressStyle::with_template("{spinner} {pos}/{len} passages  {eta}") {
            self.bar.set_style(style);
        }
        if !self.shown {
            return;
        }
        if std::io::stderr().is_terminal() {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        } else {
            style::note(&format!("{done} of {all} passages embedded"));
        }
    }

    fn stopped(&self) -> bool {
        self.interrupted()
    }
}
