//! A vault that is kept fresh: its watcher, and what a request learns of how fresh its index is
//! without a look at the folder.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use lorewell_agents::{AuditLog, Reader};
use lorewell_capabilities::Failure;
use lorewell_direct::look;
use lorewell_engine::{Freshness, Host, Observer, Patience, Rules, Stage};
use lorewell_watch::{
    By, Keeper, LateReport, LateVectors, Options, Report, Stop, Trouble, WatchLock,
    WatchLockAttempt, Way, watch,
};
use tracing::{info, warn};

use crate::hearing::{Cancel, Hearing, Progress, Relay};
use crate::kept::Kept;
use crate::news::{News, Sender};

/// A request waits so long for changes that are being taken in, if there is an index to answer
/// from.
const PATIENCE: Duration = Duration::from_secs(2);

/// How often a request that waits looks whether anybody still waits for it.
const SLICE: Duration = Duration::from_millis(50);

/// What all vaults of a bridge share.
#[derive(Clone)]
pub(crate) struct Surroundings {
    pub(crate) news: Sender,
    /// What must not name a note any longer than an index does.
    pub(crate) audit: AuditLog,
}

/// A vault that is open in the bridge.
pub(crate) struct FreshVault {
    pub(crate) kept: Arc<Kept>,
    watcher: Option<Watcher>,
    standing: Arc<Mutex<Standing>>,
}

struct Watcher {
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

/// What the watcher said last.
#[derive(Default)]
struct Standing {
    /// Events come, so that silence means that nothing changed.
    by_events: bool,
    /// The outcome of the last look, if it went well and the folder was there.
    freshness: Option<Freshness>,
    /// How far an update is that runs now.
    progress: Option<Progress>,
}

impl FreshVault {
    /// Opens the vault and begins to watch it. Where another process watches it, requests look at
    /// the folder themselves.
    ///
    /// # Errors
    /// The folder or the settings.
    pub(crate) fn open(
        kept: Kept,
        reader: Reader,
        around: &Surroundings,
    ) -> Result<FreshVault, Failure> {
        let kept = Arc::new(kept);
        let (host, _) = kept.host()?;
        let standing = Arc::new(Mutex::new(Standing::default()));
        let watcher = match WatchLock::attempt(host.index_folder()) {
            Ok(WatchLockAttempt::Taken(lock)) => {
                Some(begin(&kept, reader, lock, Arc::clone(&standing), around)?)
            }
            Ok(WatchLockAttempt::HeldBy(process)) => {
                info!(?process, "another process watches this vault");
                None
            }
            Err(error) => {
                warn!(kind = ?error.kind(), "the vault cannot be watched");
                None
            }
        };
        Ok(FreshVault {
            kept,
            watcher,
            standing,
        })
    }

    /// How the index of `host` stands to the folder now.
    ///
    /// # Errors
    /// What a look at the folder says; or nobody waits any more.
    pub(crate) fn freshness(
        &self,
        host: &Host,
        observer: &dyn Observer,
    ) -> Result<Freshness, Failure> {
        // What the system has not told yet may be a fence: then the folder itself is looked at.
        let told_in_time = self.watcher.as_ref().filter(|_| !host.has_fences());
        let Some(watcher) = told_in_time else {
            return look(host, observer);
        };
        let began = Instant::now();
        let mut relay = Relay::default();
        let told = watcher.stop.told();
        while !watcher.stop.wait_until_looked(told, Instant::now() + SLICE) {
            if observer.stopped() {
                return Err(Failure::interrupted(host.behind().unwrap_or(0) as u64));
            }
            if watcher.is_over() {
                return look(host, observer);
            }
            if began.elapsed() > PATIENCE && is_whole(host) {
                return Ok(host.standing("they are being taken in")?);
            }
            let progress = self.standing().progress;
            if let Some(progress) = progress {
                relay.tell(progress, observer);
            }
        }
        let known = {
            let standing = self.standing();
            let known = standing.freshness.clone();
            known.filter(|_| standing.by_events)
        };
        match known {
            Some(freshness) => Ok(freshness),
            // It is polled, away, or the last update failed: that is for the asker to hear.
            None => look(host, observer),
        }
    }

    /// Asks the watcher to end.
    pub(crate) fn stop(&self) {
        if let Some(watcher) = &self.watcher {
            watcher.stop.stop();
        }
    }

    fn standing(&self) -> MutexGuard<'_, Standing> {
        lock(&self.standing)
    }
}

impl Drop for FreshVault {
    /// An update that runs stops at its next safe point and is waited for.
    fn drop(&mut self) {
        let Some(watcher) = &mut self.watcher else {
            return;
        };
        watcher.stop.stop();
        if let Some(thread) = watcher.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Watcher {
    fn is_over(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }
}

/// Whether there is an index to answer from meanwhile. A first build is waited for.
fn is_whole(host: &Host) -> bool {
    host.view().is_ok_and(|view| {
        let totals = view.totals();
        totals.generation > 0 && !totals.unfinished
    })
}

fn begin(
    kept: &Arc<Kept>,
    reader: Reader,
    lock: WatchLock,
    standing: Arc<Mutex<Standing>>,
    around: &Surroundings,
) -> Result<Watcher, Failure> {
    let settings = kept.settings();
    let (host, _) = kept.host()?;
    let options = Options {
        by: match settings.watch().as_str() {
            "events" => By::Events,
            "poll" => By::Poll,
            _ => By::Auto,
        },
        check: Duration::from_secs(settings.watch_check_minutes() * 60),
        poll: Duration::from_secs(settings.watch_poll_seconds()),
        also: [kept.config_file()]
            .into_iter()
            .chain(kept.model_files())
            .collect(),
        ..Options::default()
    };
    let root = host.root().to_path_buf();
    drop(host);
    let stop = Stop::new();
    let (of_thread, mut watching) = (
        stop.clone(),
        Watching {
            kept: Arc::clone(kept),
            reader,
            standing,
            around: around.clone(),
            rules: None,
            late: late_vectors(kept)?,
        },
    );
    let mut telling = watching.teller();
    let thread = thread::Builder::new()
        .name("watcher".to_string())
        .spawn(move || {
            let _lock = lock;
            let ended = watch(&root, &mut watching, &options, &of_thread, &mut |report| {
                telling.hear(report);
            });
            if let Err(error) = ended {
                warn!(code = error.code(), "a watcher ended");
            }
        })
        .map_err(|error| Failure::internal(format!("a thread cannot be started: {error}")))?;
    Ok(Watcher {
        stop,
        thread: Some(thread),
    })
}

/// What the watcher keeps up to date.
struct Watching {
    kept: Arc<Kept>,
    reader: Reader,
    standing: Arc<Mutex<Standing>>,
    around: Surroundings,
    /// The exclusions of the last update.
    rules: Option<[u8; 32]>,
    /// Embeds what waits for a model that is dear.
    late: LateVectors,
}

/// Hears what the watcher says.
struct Teller {
    kept: Arc<Kept>,
    reader: Reader,
    standing: Arc<Mutex<Standing>>,
    news: Sender,
}

impl Watching {
    fn teller(&self) -> Teller {
        Teller {
            kept: Arc::clone(&self.kept),
            reader: self.reader,
            standing: Arc::clone(&self.standing),
            news: self.around.news.clone(),
        }
    }

    /// Notes that are out of the index go out of the log of what agents received too, and out of
    /// the index for remote readers.
    fn forget(&mut self, host: &Host, out: usize) {
        let rules = host.rules_in_force().fingerprint();
        let changed = self.rules.replace(rules) != Some(rules);
        if self.reader == Reader::Remote || !changed && out == 0 && !self.kept.has_left_over() {
            return;
        }
        if let Err(failure) = self.kept.follow(host, &self.around.audit) {
            warn!(
                code = failure.code,
                "the index for remote readers or the log of what agents received is behind"
            );
        }
    }
}

impl Keeper for Watching {
    fn ready(&mut self) -> Result<Rules, Trouble> {
        let (host, _) = self.kept.host().map_err(of_failure)?;
        Ok(host.rules_in_force())
    }

    fn update(&mut self, observer: &dyn Observer) -> Result<Freshness, Trouble> {
        let (host, _) = self.kept.host().map_err(of_failure)?;
        let (standing, news) = (Arc::clone(&self.standing), self.around.news.clone());
        let (vault, reader) = (self.kept.vault.clone(), self.reader);
        let sink = move |progress| {
            lock(&standing).progress = Some(progress);
            news.tell(&vault, reader, News::Building(progress));
        };
        let both = Both {
            watcher: observer,
            hearing: Hearing::telling(Cancel::new(), Box::new(sink)),
        };
        let outcome = host.refresh(Patience::Read, &both);
        lock(&self.standing).progress = None;
        let freshness = outcome?;
        let report = freshness.report.as_ref();
        let out = report.map_or(0, |report| report.removed + report.skipped);
        self.forget(&host, out);
        self.late.wake(host);
        Ok(freshness)
    }
}

impl Teller {
    fn hear(&mut self, report: Report) {
        let vault = &self.kept.vault;
        let mut standing = lock(&self.standing);
        match report {
            Report::Watching(way) => {
                standing.by_events = matches!(way, Way::Events { .. });
                info!(
                    vault = vault.name,
                    by_events = standing.by_events,
                    "watching"
                );
            }
            Report::Compared(comparison) => {
                let mut freshness = comparison.freshness;
                let report = freshness.report.take();
                let changed = report.filter(|report| report.taken_in + report.removed > 0);
                if let Some(report) = changed {
                    // Those that rest show an older generation and hold its files.
                    self.kept.close_views();
                    info!(
                        vault = vault.name,
                        taken_in = report.taken_in,
                        removed = report.removed,
                        pending = freshness.pending,
                        ms = comparison.took.as_millis() as u64,
                        "updated"
                    );
                    let told = News::Updated {
                        taken_in: report.taken_in as u64,
                        removed: report.removed as u64,
                        pending: freshness.pending as u64,
                        generation: report.generation,
                    };
                    self.news.tell(vault, self.reader, told);
                }
                standing.freshness = Some(freshness);
            }
            Report::Failed { trouble, again_in } => {
                standing.freshness = None;
                let again_s = again_in.as_secs();
                warn!(
                    vault = vault.name,
                    code = trouble.code,
                    again_s,
                    "an update failed"
                );
                self.news
                    .tell(vault, self.reader, News::Failed { code: trouble.code });
            }
            Report::Away { bare, .. } => {
                standing.freshness = None;
                warn!(vault = vault.name, bare, "the folder is away");
                self.news.tell(vault, self.reader, News::Away);
            }
            Report::Back { .. } => {
                info!(vault = vault.name, "the folder is back");
                self.news.tell(vault, self.reader, News::Back);
            }
        }
    }
}

/// The thread that embeds behind a watcher, and says in the log what it does.
fn late_vectors(kept: &Arc<Kept>) -> Result<LateVectors, Failure> {
    let kept = Arc::clone(kept);
    let begun = LateVectors::begin(move |report| {
        let vault = kept.vault.name.as_str();
        match report {
            LateReport::Embedded { model, embedding } => {
                // Views that rest have the vectors of before.
                kept.close_views();
                let (settled, waiting) = (embedding.settled, embedding.waiting);
                let refused = embedding.refused;
                info!(vault, model, settled, refused, waiting, "embedded");
            }
            LateReport::Failed(trouble) => {
                warn!(vault, code = trouble.code, "embedding failed");
            }
        }
    });
    begun.map_err(|error| Failure::internal(format!("a thread cannot be started: {error}")))
}

/// Two that hear of the same work; only the watcher ends it.
struct Both<'a> {
    watcher: &'a dyn Observer,
    hearing: Hearing,
}

impl Observer for Both<'_> {
    fn begin(&self, files: usize) {
        self.watcher.begin(files);
        self.hearing.begin(files);
    }

    fn note_done(&self, path: &str) {
        self.watcher.note_done(path);
        self.hearing.note_done(path);
    }

    fn stage(&self, stage: Stage) {
        self.watcher.stage(stage);
        self.hearing.stage(stage);
    }

    fn stopped(&self) -> bool {
        self.watcher.stopped()
    }
}

fn of_failure(failure: Failure) -> Trouble {
    Trouble {
        code: failure.code,
        message: failure.message,
        hint: failure.hint,
    }
}

fn lock(standing: &Mutex<Standing>) -> MutexGuard<'_, Standing> {
    standing.lock().unwrap_or_else(PoisonError::into_inner)
}
