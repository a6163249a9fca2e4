//! The loop: sleeps until there is something to look at, and has it looked at.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use lorewell_engine::{Freshness, Rules};

use crate::background;
use crate::inbox::{Hints, Inbox, Pace, Wake};
use crate::place::{self, Presence};
use crate::watched::Watched;
use crate::{Cause, Comparison, Keeper, Report, Stop, Trouble, Way};

/// The first wait before a failed update is tried again; it doubles each time.
const FIRST_RETRY: Duration = Duration::from_secs(1);

/// How a watcher learns of changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// By events, and by looking where they do not come.
    #[default]
    Auto,
    /// By events; where they cannot be had, it ends with an error.
    Events,
    /// By looking.
    Poll,
}

/// How a watcher works.
#[derive(Clone, Debug)]
pub struct Options {
    /// How it learns of changes.
    pub by: By,
    /// The slow timer: after so long the folder is compared and the watch set up anew, whatever
    /// events came.
    pub check: Duration,
    /// How often the folder is looked at where events do not come.
    pub poll: Duration,
    /// An update waits until it was quiet for so long.
    pub quiet: Duration,
    /// But not longer than this after the first event.
    pub longest: Duration,
    /// How often to look whether a folder that is away is back.
    pub away: Duration,
    /// Files outside of the vault that it depends on, such as the user's settings: when one of
    /// them changes, all is looked at anew.
    pub also: Vec<PathBuf>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            by: By::Auto,
            check: Duration::from_secs(600),
            poll: Duration::from_secs(10),
            quiet: Duration::from_millis(100),
            longest: Duration::from_secs(1),
            away: Duration::from_secs(3),
            also: Vec::new(),
        }
    }
}

/// Why a watcher ended without being asked to.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// There are no events to be had, and nothing else was allowed.
    #[error("{} cannot be watched: {reason}", .root.display())]
    NoEvents {
        /// The folder.
        root: PathBuf,
        /// What the system said, for people.
        reason: String,
    },
}

/// Keeps `keeper` up to date with the folder `root` (its real path) until `stop` says so. `tell`
/// hears what happens, on the same thread.
///
/// The folder is compared at once. An update that fails is told and tried again, ever more seldom,
/// at last at the pace of the slow timer; events and the timer have it tried sooner.
///
/// # Errors
/// Only with [`By::Events`]: the system gives no watches.
pub fn watch(
    root: &Path,
    keeper: &mut dyn Keeper,
    options: &Options,
    stop: &Stop,
    tell: &mut dyn FnMut(Report),
) -> Result<(), WatchError> {
    Session::new(root, keeper, options, stop, tell, Watched::begin).run()
}

/// [`Watched::begin`], or what stands for it in tests.
type Begin = fn(&Path, &Rules, &[PathBuf], &Arc<Inbox>) -> notify::Result<Watched>;

struct Session<'a> {
    root: &'a Path,
    keeper: &'a mut dyn Keeper,
    options: &'a Options,
    inbox: Arc<Inbox>,
    tell: &'a mut dyn FnMut(Report),
    begin: Begin,
    /// The exclusions as last known.
    rules: Rules,
    /// What the system watches; nothing while it is polled or away.
    watched: Option<Watched>,
    /// Which folder that is, and which rules held: if these change, all is watched anew.
    watched_as: (Option<(u64, u64)>, [u8; 32]),
    /// How changes come to be known, as was told.
    way: Option<Way>,
    next_check: Instant,
    next_poll: Option<Instant>,
    next_try: Option<Instant>,
    failures: u32,
    /// How the folder is away.
    away: Option<Presence>,
}

impl<'a> Session<'a> {
    fn new(
        root: &'a Path,
        keeper: &'a mut dyn Keeper,
        options: &'a Options,
        stop: &Stop,
        tell: &'a mut dyn FnMut(Report),
        begin: Begin,
    ) -> Session<'a> {
        Session {
            root,
            keeper,
            options,
            inbox: Arc::clone(&stop.inbox),
            tell,
            begin,
            rules: Rules::default(),
            watched: None,
            watched_as: (None, [0; 32]),
            way: None,
            next_check: Instant::now() + options.check,
            next_poll: None,
            next_try: None,
            failures: 0,
            away: None,
        }
    }

    fn run(mut self) -> Result<(), WatchError> {
        self.round(Cause::Start, &Hints::anew())?;
        loop {
            if let Some(presence) = self.away.take() {
                if !self.wait_until_back(presence) {
                    return Ok(());
                }
                self.round(Cause::Back, &Hints::anew())?;
                continue;
            }
            self.inbox.look_is_over();
            match self.inbox.wait(self.next_time(), self.pace()) {
                Wake::Stop => return Ok(()),
                Wake::Hints(hints) => self.round(Cause::Events(hints.first.clone()), &hints)?,
                Wake::Time => self.timer()?,
            }
        }
    }

    fn pace(&self) -> Pace {
        Pace {
            quiet: self.options.quiet,
            longest: self.options.longest,
        }
    }

    fn next_time(&self) -> Instant {
        let others = self.next_poll.into_iter().chain(self.next_try);
        others.fold(self.next_check, Instant::min)
    }

    fn timer(&mut self) -> Result<(), WatchError> {
        let now = Instant::now();
        if self.next_check <= now {
            self.next_check = now + self.options.check;
            // A watch can be dead without a word, as after a drive was taken off and put back.
            self.round(Cause::Check, &Hints::anew())
        } else if self.next_try.is_some_and(|at| at <= now) {
            self.round(Cause::Retry, &Hints::default())
        } else {
            self.round(Cause::Poll, &Hints::default())
        }
    }

    /// One comparison, with all that belongs to it. What is watched is put right first, so that
    /// nothing falls between the comparison and the events that come after it.
    fn round(&mut self, cause: Cause, hints: &Hints) -> Result<(), WatchError> {
        let started = Instant::now();
        self.next_try = None;
        let ready = self.keeper.ready().map(|rules| self.rules = rules);
        // Also where that failed: the event to wait for may be that a setting is put right.
        self.see_to_events(hints)?;
        let outcome = ready.and_then(|()| {
            let (keeper, inbox) = (&mut self.keeper, &*self.inbox);
            let outcome = match hints.hurried {
                true => background::run_for_who_waits(|| keeper.update(inbox)),
                false => background::run(|| keeper.update(inbox)),
            };
            self.inbox.update_is_over();
            outcome
        });
        match outcome {
            Ok(freshness) => self.compared(cause, freshness, started.elapsed()),
            Err(trouble) => self.failed(trouble),
        }
        self.next_poll = match self.way {
            Some(Way::Poll { every, .. }) => Some(Instant::now() + every),
            _ => None,
        };
        Ok(())
    }

    fn compared(&mut self, cause: Cause, freshness: Freshness, took: Duration) {
        let report = freshness.report.as_ref();
        if report.is_some_and(|report| report.taken_in + report.removed > 0) {
            // What is left now is another matter than what failed before.
            self.failures = 0;
        }
        // To look again at notes that are known to be unreadable gives nothing.
        let could_come = freshness.pending - freshness.unreadable.changed();
        let was_tried = report.is_some_and(|report| report.unread > 0);
        if could_come == 0 && !was_tried {
            self.failures = 0;
        } else if place::presence(self.root) == Presence::Bare {
            self.away = Some(Presence::Bare);
        } else {
            self.try_again();
        }
        (self.tell)(Report::Compared(Comparison {
            cause,
            freshness,
            took,
        }));
    }

    fn failed(&mut self, trouble: Trouble) {
        let presence = place::presence(self.root);
        if presence == Presence::Missing {
            self.away = Some(presence);
            return;
        }
        let again_in = self.try_again();
        (self.tell)(Report::Failed { trouble, again_in });
    }

    fn try_again(&mut self) -> Duration {
        let wait = retry_after(self.failures).min(self.options.check);
        self.failures += 1;
        self.next_try = Some(Instant::now() + wait);
        wait
    }

    /// Whether the folder is back; else it is to stop.
    fn wait_until_back(&mut self, presence: Presence) -> bool {
        self.watched = None;
        self.next_poll = None;
        let root = self.root.to_path_buf();
        let bare = presence == Presence::Bare;
        (self.tell)(Report::Away { root, bare });
        loop {
            self.inbox.look_is_over();
            let next = Instant::now() + self.options.away;
            if self.inbox.wait(next, self.pace()) == Wake::Stop {
                return false;
            }
            if place::presence(self.root) == Presence::There {
                let root = self.root.to_path_buf();
                (self.tell)(Report::Back { root });
                return true;
            }
        }
    }

    /// Makes sure that events come, or that it is polled.
    fn see_to_events(&mut self, hints: &Hints) -> Result<(), WatchError> {
        if self.options.by == By::Poll {
            self.take_way(None);
            return Ok(());
        }
        let Some(identity) = place::identity(self.root) else {
            // The update will say so.
            self.watched = None;
            return Ok(());
        };
        let watched_as = (Some(identity), self.rules.fingerprint());
        let outcome = match &mut self.watched {
            Some(watched) if !hints.everything && self.watched_as == watched_as => {
                watched.follow(&hints.folders)
            }
            // To try again each time would be work for nothing; the slow timer does.
            None if !hints.everything && matches!(self.way, Some(Way::Poll { .. })) => {
                return Ok(());
            }
            _ => {
                // Let go first: the system's watches are counted.
                self.watched = None;
                (self.begin)(self.root, &self.rules, &self.options.also, &self.inbox)
                    .map(|watched| self.watched = Some(watched))
            }
        };
        self.watched_as = watched_as;
        let reason = match outcome {
            Ok(()) => place::remote_drive(self.root).map(|kind| {
                format!(
                    "changes from elsewhere are not told on a file system of this kind ({kind})"
                )
            }),
            Err(error) => {
                self.watched = None;
                Some(in_words(&error))
            }
        };
        let is_away = || place::presence(self.root) == Presence::Missing;
        match (reason, &self.watched) {
            (Some(reason), None) if self.options.by == By::Events => {
                if is_away() {
                    return Ok(());
                }
                let root = self.root.to_path_buf();
                return Err(WatchError::NoEvents { root, reason });
            }
            (Some(_), None) if is_away() => {}
            (Some(_), Some(_)) if self.options.by == By::Events => self.take_way(None),
            (reason, _) => self.take_way(reason),
        }
        Ok(())
    }

    /// `reason`: why events are not enough, if they are not.
    fn take_way(&mut self, reason: Option<String>) {
        let every = self.options.poll;
        let way = match &self.watched {
            Some(watched) if reason.is_none() => Way::Events {
                folders: watched.folders(),
            },
            _ => Way::Poll { every, reason },
        };
        let same = match (&self.way, &way) {
            (Some(Way::Events { .. }), Way::Events { .. }) => true,
            (before, _) => before.as_ref() == Some(&way),
        };
        if !same {
            (self.tell)(Report::Watching(way.clone()));
        }
        self.way = Some(way);
    }
}

impl Hints {
    /// All is to be watched anew.
    fn anew() -> Hints {
        Hints {
            everything: true,
            ..Hints::default()
        }
    }
}

impl WatchError {
    /// A stable word for programs.
    pub fn code(&self) -> &'static str {
        match self {
            WatchError::NoEvents { .. } => "no_events",
        }
    }

    /// What to try.
    pub fn hint(&self) -> &'static str {
        match self {
            WatchError::NoEvents { .. } => {
                "Set `watch` to \"auto\" or \"poll\", or raise the system's limit (on Linux, \
                 fs.inotify.max_user_watches)."
            }
        }
    }
}

/// How long to wait after so many failures before.
fn retry_after(failures: u32) -> Duration {
    FIRST_RETRY.saturating_mul(1 << failures.min(20))
}

fn in_words(error: &notify::Error) -> String {
    match &error.kind {
        notify::ErrorKind::MaxFilesWatch => {
            "the system gives no more watches (on Linux, `sysctl fs.inotify.max_user_watches=524288` \
             raises the limit)"
                .to_string()
        }
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests;
