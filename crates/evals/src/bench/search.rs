//! Warm searches, the check for changes, and an edit until it is found.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use lorewell_engine::{EngineSettings, Host, Lane, Patience, Quiet, Request, View};
use lorewell_evaluation::percentile;
use serde::{Deserialize, Serialize};

use super::process;

/// Times in milliseconds, memory in bytes.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Figures {
    pub(super) check: (f64, f64),
    pub(super) first: f64,
    pub(super) median: f64,
    pub(super) p99: f64,
    pub(super) p99_single: f64,
    pub(super) worst_single: f64,
    /// Each lane alone: its name, median and p99 of the best of 3.
    pub(super) lanes: Vec<(String, f64, f64)>,
    pub(super) resident: u64,
    pub(super) anonymous: u64,
    pub(super) peak: u64,
}

/// From saving a note to finding what was added. Milliseconds.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Edits {
    pub(super) visible: (f64, f64),
    pub(super) refresh: f64,
}

const PASSES: usize = 3;
const EDITS: usize = 11;
const CHECKS: usize = 20;

pub(super) fn run(vault: &Path, index: &Path, questions: &Path) -> Result<Figures> {
    let text = fs::read_to_string(questions)?;
    let questions: Vec<&str> = text.lines().collect();
    let host = Host::open("bench", vault, index, EngineSettings::default())?;
    let first = milliseconds(|| {
        host.view()?
            .search(&Request::new(questions.first().copied().unwrap_or("notes")))?;
        Ok(())
    })?;
    let view = host.view()?;
    for question in questions.iter().rev().take(20) {
        timed(&view, question, &Lane::ALL)?;
    }
    let all = passes(&view, &questions, &Lane::ALL)?;
    let best = best_of(&all);
    let memory = process::memory();
    let mut lanes = Vec::new();
    for lane in Lane::ALL {
        let best = best_of(&passes(&view, &questions, &[lane])?);
        lanes.push((
            lane.name().to_string(),
            percentile(&best, 50.0),
            percentile(&best, 99.0),
        ));
    }
    let checks: Result<Vec<f64>> = (0..CHECKS).map(|_| check(&host)).collect();
    Ok(Figures {
        check: least_and_median(&checks?),
        first,
        median: percentile(&best, 50.0),
        p99: percentile(&best, 99.0),
        p99_single: percentile(&all[0], 99.0),
        worst_single: percentile(&all[0], 100.0),
        lanes,
        resident: memory.resident,
        anonymous: memory.anonymous,
        peak: memory.peak,
    })
}

/// Adds a new word to a note, each time another note, and looks for it.
pub(super) fn edits(vault: &Path, index: &Path) -> Result<Edits> {
    let host = Host::open("bench", vault, index, EngineSettings::default())?;
    let some = host.view()?.search(&Request {
        limit: EDITS,
        ..Request::new("notes about the")
    })?;
    let mut paths: Vec<String> = some
        .passages
        .iter()
        .map(|p| p.note.path.as_str().to_string())
        .collect();
    paths.dedup();
    if paths.is_empty() {
        bail!("{}: no note to edit", vault.display());
    }
    let (mut visible, mut refresh) = (Vec::new(), Vec::new());
    for number in 0..EDITS {
        let path = vault.join(&paths[number % paths.len()]);
        let word = format!(
            "quixotrix{}",
            ["alpha", "beta", "gamma"][number % 3].repeat(1 + number / 3)
        );
        let mut file = fs::File::options()
            .append(true)
            .open(&path)
            .with_context(|| path.display().to_string())?;
        writeln!(file, "\n\nA line with the word {word} in it.")?;
        drop(file);
        let began = Instant::now();
        host.refresh(Patience::Wait, &Quiet)?;
        refresh.push(began.elapsed().as_secs_f64() * 1e3);
        let answer = host.view()?.search(&Request::new(word.as_str()))?;
        visible.push(began.elapsed().as_secs_f64() * 1e3);
        if !answer
            .passages
            .iter()
            .any(|p| p.passage.text.contains(&word))
        {
            bail!("{}: what was added is not found", path.display());
        }
    }
    Ok(Edits {
        visible: least_and_median(&visible),
        refresh: percentile(&refresh, 50.0),
    })
}

fn check(host: &Host) -> Result<f64> {
    milliseconds(|| {
        let freshness = host.refresh(Patience::Wait, &Quiet)?;
        if freshness.report.is_some() {
            bail!("nothing changed, and the index was written");
        }
        Ok(())
    })
}

/// Milliseconds of every question in each of three passes.
fn passes(view: &View<'_>, questions: &[&str], lanes: &[Lane]) -> Result<Vec<Vec<f64>>> {
    let pass = |_| {
        questions
            .iter()
            .map(|question| timed(view, question, lanes))
            .collect()
    };
    (0..PASSES).map(pass).collect()
}

fn best_of(passes: &[Vec<f64>]) -> Vec<f64> {
    let questions = passes.first().map_or(0, Vec::len);
    let best = |index: usize| {
        passes
            .iter()
            .map(|pass| pass[index])
            .fold(f64::MAX, f64::min)
    };
    (0..questions).map(best).collect()
}

fn timed(view: &View<'_>, question: &str, lanes: &[Lane]) -> Result<f64> {
    let mut request = Request::new(question);
    request.lanes = lanes.to_vec();
    milliseconds(|| {
        std::hint::black_box(view.search(&request)?);
        Ok(())
    })
}

fn milliseconds(work: impl FnOnce() -> Result<()>) -> Result<f64> {
    let began = Instant::now();
    work()?;
    Ok(began.elapsed().as_secs_f64() * 1e3)
}

pub(super) fn least_and_median(times: &[f64]) -> (f64, f64) {
    (percentile(times, 0.0), percentile(times, 50.0))
}
