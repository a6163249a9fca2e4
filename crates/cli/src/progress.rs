//! Progress of long work on standard error, and interrupting it.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lorewell_engine::{Observer, Stage};

use crate::style::inert;

/// Work on fewer files is over before a bar could be read.
const WORTH_SHOWING: usize = 50;

/// Set by the first interrupt; the second ends the process at once.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Shows progress where it should be shown, and hears interrupts.
pub(crate) struct Progress {
    bar: ProgressBar,
    shown: bool,
    files: AtomicUsize,
}

impl Progress {
    /// `when`: the setting `progress`.
    pub(crate) fn new(when: &str) -> Progress {
        let _ = ctrlc::set_handler(|| {
            if INTERRUPTED.swap(true, Ordering::SeqCst) {
                std::process::exit(2);
            }
        });
        let shown = when == "always" || (when != "never" && std::io::stderr().is_terminal());
        let bar = ProgressBar::hidden();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {pos}/{len} notes  {wide_msg}") {
            bar.set_style(style);
        }
        Progress {
            bar,
            shown,
            files: AtomicUsize::new(0),
        }
    }

    /// Whether the user asked to stop.
    pub(crate) fn interrupted(&self) -> bool {
        INTERRUPTED.load(Ordering::SeqCst)
    }

    /// Takes the bar away, so that an answer can be printed.
    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }

    /// The same, at the end.
    pub(crate) fn finish(&self) {
        self.clear();
    }
}

impl Observer for Progress {
    fn begin(&self, files: usize) {
        self.files.store(files, Ordering::SeqCst);
        self.bar.set_length(files as u64);
        if self.shown && files >= WORTH_SHOWING {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            self.bar.enable_steady_tick(Duration::from_millis(100));
        }
    }

    fn note_done(&self, path: &str) {
        self.bar.inc(1);
        if !self.bar.is_hidden() {
            self.bar.set_message(inert(path).into_owned());
        }
    }

    fn stage(&self, stage: Stage) {
        if stage == Stage::Merge && !self.bar.is_hidden() {
            self.bar.set_message("joining segments");
        }
    }

    fn stopped(&self) -> bool {
        self.interrupted()
    }
}
