//! While notes change: a thousand files at once, a save under a watcher until it is found, and
//! searches while an index is made anew.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use lorewell_engine::{EngineSettings, Host, Patience, Quiet, Request, StatusRequest};
use lorewell_evaluation::percentile;
use lorewell_watch::{Options, Report, Stop, in_background, watch};
use serde::{Deserialize, Serialize};

use super::process;

/// Milliseconds.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Figures {
    /// So many files of `many` were changed at once.
    pub(super) files: usize,
    /// Until all were taken in, by one refresh.
    pub(super) many: f64,
    /// The same under a watcher, from the last write, debounce included.
    pub(super) many_watched: f64,
    /// A save under a watcher until it is found, debounce included: median and worst.
    pub(super) saved: (f64, f64),
    /// 99th percentile of searches, quiet, and while the index is made anew.
    pub(super) p99: (f64, f64),
    /// How many searches were made meanwhile.
    pub(super) asked: usize,
    /// Bytes of the index after all that: catalogue, words, vectors.
    pub(super) sizes: (u64, u64, u64),
    /// Bytes of memory of the process that watched and asked: resident at the end, and at most.
    pub(super) memory: (u64, u64),
}

const FILES: usize = 1_000;
const SAVES: usize = 11;
const DEADLINE: Duration = Duration::from_secs(120);

/// Measures on a copied vault with its index built.
pub(super) fn run(vault: &Path, index: &Path, questions: &Path) -> Result<Figures> {
    let host = Host::open("bench", vault, index, EngineSettings::default())?;
    host.refresh(Patience::Wait, &Quiet)?;
    let text = fs::read_to_string(questions)?;
    let (quiet, busy, asked) = beside_a_rebuild(&host, vault, index, questions, &text)?;
    let mut notes = Vec::new();
    notes_below(vault, &mut notes)?;
    notes.sort();
    notes.truncate(FILES);
    change(&notes, "refreshquix")?;
    let began = Instant::now();
    host.refresh(Patience::Wait, &Quiet)?;
    let many = milliseconds(began);
    let watched = Watched::begin(vault, index)?;
    let last = change(&notes, "watchedquix")?;
    watched.took_in(notes.len())?;
    let many_watched = milliseconds(last);
    let mut saved = Vec::new();
    for number in 0..SAVES {
        let path = notes.get(number * 7 % notes.len().max(1));
        let path = path.context("there is no note to save")?;
        let word = format!("saved{}", "quix".repeat(number + 1));
        let last = save(path, &word)?;
        loop {
            watched
                .compared()
                .with_context(|| format!("after save {number} of {}", path.display()))?;
            if is_found(&host, &word)? {
                break;
            }
            if last.elapsed() > DEADLINE {
                bail!("{}: what was saved is not found", path.display());
            }
        }
        saved.push(milliseconds(last));
    }
    drop(watched);
    let (sizes, memory) = (
        host.status(&StatusRequest::default())?.sizes,
        process::memory(),
    );
    Ok(Figures {
        files: notes.len(),
        many,
        many_watched,
        saved: (percentile(&saved, 50.0), percentile(&saved, 100.0)),
        p99: (quiet, busy),
        asked,
        sizes: (sizes.catalogue, sizes.segments, sizes.vectors),
        memory: (memory.resident, memory.peak),
    })
}

fn is_found(host: &Host, word: &str) -> Result<bool> {
    let answer = host.view()?.search(&Request::new(word))?;
    let mut passages = answer.passages.iter();
    Ok(passages.any(|found| found.passage.text.contains(word)))
}

/// Makes an index anew as a watcher would. Run in a process of its own.
pub(super) fn rebuild(vault: &Path, index: &Path) -> Result<()> {
    in_background(|| {
        let host = Host::open("bench", vault, index, EngineSettings::default())?;
        host.rebuild(&Quiet)?;
        Ok(())
    })
}

/// The 99th percentile of searches in quiet, and while another process makes the index anew; and
/// how many were made then.
fn beside_a_rebuild(
    host: &Host,
    vault: &Path,
    index: &Path,
    file: &Path,
    questions: &str,
) -> Result<(f64, f64, usize)> {
    let questions: Vec<&str> = questions.lines().collect();
    let ask = |number: usize| -> Result<f64> {
        let question = questions.get(number % questions.len().max(1));
        let request = Request::new(question.copied().unwrap_or("notes"));
        let began = Instant::now();
        // Each question finds the newest generation, as those of a bridge do.
        std::hint::black_box(host.view()?.search(&request)?);
        Ok(milliseconds(began))
    };
    for number in 0..questions.len().min(100) {
        ask(number)?;
    }
    let quiet: Vec<f64> = (0..questions.len()).map(ask).collect::<Result<_>>()?;
    let mut busy = Vec::new();
    for _ in 0..3 {
        let mut child = start("rebuild", vault, index, file)?;
        while child.try_wait()?.is_none() {
            busy.push(ask(busy.len())?);
        }
    }
    let asked = busy.len();
    Ok((percentile(&quiet, 99.0), percentile(&busy, 99.0), asked))
}

fn start(work: &str, vault: &Path, index: &Path, questions: &Path) -> Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["bench-part", work, "--vault"]).arg(vault);
    command.arg("--index").arg(index);
    // What it prints is no part of what this process does.
    command
        .arg("--questions")
        .arg(questions)
        .stdout(Stdio::null());
    Ok(command.spawn()?)
}

/// Adds a line to each note; when the last was written.
fn change(notes: &[PathBuf], word: &str) -> Result<Instant> {
    let mut last = Instant::now();
    for path in notes {
        last = save(path, word)?;
    }
    Ok(last)
}

/// Saves as editors do: a temporary file beside the note, renamed over it.
fn save(path: &Path, word: &str) -> Result<Instant> {
    let mut bytes = fs::read(path)?;
    bytes.extend_from_slice(format!("\n\nA line with the word {word} in it.\n").as_bytes());
    let temporary = path.with_extension("md.tmp");
    fs::write(&temporary, bytes)?;
    fs::rename(&temporary, path)?;
    Ok(Instant::now())
}

fn notes_below(folder: &Path, notes: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with('.') {
            continue;
        }
        if path.is_dir() {
            notes_below(&path, notes)?;
        } else if name.ends_with(".md") && !is_drawing(&path)? {
            notes.push(path);
        }
    }
    Ok(())
}

/// What is added at the end of a drawing is none of its text.
fn is_drawing(path: &Path) -> Result<bool> {
    let bytes = fs::read(path)?;
    let key = b"excalidraw-plugin:";
    Ok(bytes.windows(key.len()).any(|window| window == key))
}

/// A watcher on a thread.
struct Watched {
    stop: Stop,
    reports: Receiver<Report>,
}

impl Watched {
    fn begin(vault: &Path, index: &Path) -> Result<Watched> {
        let mut keeper = Host::open("bench", vault, index, EngineSettings::default())?;
        let (send, reports) = mpsc::channel();
        let stop = Stop::new();
        let of_thread = stop.clone();
        thread::spawn(move || {
            let root = keeper.root().to_path_buf();
            let mut tell = |report| drop(send.send(report));
            watch(
                &root,
                &mut keeper,
                &Options::default(),
                &of_thread,
                &mut tell,
            )
        });
        let watched = Watched { stop, reports };
        watched.compared()?;
        Ok(watched)
    }

    /// The next comparison; how many notes it took in.
    fn compared(&self) -> Result<usize> {
        loop {
            let report = self.reports.recv_timeout(DEADLINE);
            match report.context("the watcher says nothing")? {
                Report::Compared(found) => {
                    return Ok(found.freshness.report.map_or(0, |report| report.taken_in));
                }
                Report::Failed { trouble, .. } => bail!("the watcher failed: {trouble:?}"),
                Report::Watching(_) | Report::Away { .. } | Report::Back { .. } => {}
            }
        }
    }

    /// Waits until so many changed notes were taken in.
    fn took_in(&self, notes: usize) -> Result<()> {
        let mut left = notes;
        while left > 0 {
            let taken_in = self
                .compared()
                .with_context(|| format!("{left} of {notes} notes are not taken in"))?;
            left = left.saturating_sub(taken_in);
        }
        Ok(())
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.stop.stop();
    }
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}
