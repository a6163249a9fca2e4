//! A full build, with what each stage of it takes.

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use anyhow::Result;
use lorewell_engine::{EngineSettings, Host, Observer, Patience, Stage, StatusRequest};
use serde::{Deserialize, Serialize};

use super::process;

/// What a build took. Times in seconds, sizes in bytes.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Figures {
    pub(super) notes: u64,
    pub(super) passages: u64,
    pub(super) wall: f64,
    pub(super) cpu: f64,
    /// CPU-seconds: listing, notes, words, catalogue, merge.
    pub(super) stages: [f64; 5],
    pub(super) peak: u64,
    pub(super) catalogue: u64,
    pub(super) segments: u64,
    pub(super) vectors: u64,
}

pub(super) fn run(vault: &Path, index: &Path) -> Result<Figures> {
    let host = Host::open("bench", vault, index, EngineSettings::default())?;
    let (began, cpu) = (Instant::now(), process::cpu_seconds());
    let stages = Stages::new(cpu);
    host.refresh(Patience::Wait, &stages)?;
    let (wall, cpu) = (began.elapsed().as_secs_f64(), process::cpu_seconds() - cpu);
    let peak = process::memory().peak;
    let status = host.status(&StatusRequest::default())?;
    Ok(Figures {
        notes: status.totals.notes,
        passages: status.totals.passages,
        wall,
        cpu,
        stages: stages.done(),
        peak,
        catalogue: status.sizes.catalogue,
        segments: status.sizes.segments,
        vectors: status.sizes.vectors,
    })
}

/// Books the CPU time of the process on the stage that was last announced.
struct Stages(Mutex<Book>);

struct Book {
    current: usize,
    since: f64,
    spent: [f64; 5],
}

impl Stages {
    fn new(cpu: f64) -> Stages {
        Stages(Mutex::new(Book {
            current: 0,
            since: cpu,
            spent: [0.0; 5],
        }))
    }

    fn turn(&self, stage: usize) -> [f64; 5] {
        let mut book = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (now, current) = (process::cpu_seconds(), book.current);
        book.spent[current] += now - book.since;
        (book.since, book.current) = (now, stage);
        book.spent
    }

    fn done(&self) -> [f64; 5] {
        self.turn(0)
    }
}

impl Observer for Stages {
    fn stage(&self, stage: Stage) {
        self.turn(match stage {
            Stage::Notes => 1,
            Stage::Words => 2,
            Stage::Catalogue => 3,
            Stage::Merge => 4,
        });
    }
}
