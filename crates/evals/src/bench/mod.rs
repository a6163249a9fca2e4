//! Speed, sizes and memory of building, checking, editing and searching.
//!
//! Each vault is copied, so that a note can be edited, and measured in processes of their own, so
//! that peak memory is that of the work alone. Times depend on the machine and on what else it
//! does; quote ratios between runs on one machine.

mod build;
mod changing;
mod cold;
pub mod hook;
pub(crate) mod machine;
mod process;
mod questions;
mod search;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use clap::{Args, ValueEnum};
use lorewell_evaluation::Table;
use serde::de::DeserializeOwned;
use tempfile::TempDir;

use crate::results::write;
use crate::sample::results_folder;

/// What to measure.
#[derive(Args)]
pub struct Wish {
    /// Folders of notes; they are copied and not changed.
    #[arg(long, num_args = 1.., required = true)]
    vault: Vec<PathBuf>,
    /// Folder of the evaluation data, for its questions; else $LOREWELL_EVAL_DATA.
    #[arg(long, env = crate::data::VARIABLE)]
    data: Option<PathBuf>,
    /// The page that the figures go to.
    #[arg(long, default_value_os_t = results_folder().join("speed.md"))]
    out: PathBuf,
}

/// One measurement, in a process of its own. It prints one line of JSON.
#[derive(Args)]
pub struct Part {
    /// Which.
    #[arg(value_enum)]
    work: Work,
    /// The copied vault.
    #[arg(long)]
    vault: PathBuf,
    /// The folder of the index.
    #[arg(long)]
    index: PathBuf,
    /// A file with one question a line.
    #[arg(long)]
    questions: PathBuf,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Work {
    Build,
    Search,
    Edit,
    Changing,
    Rebuild,
}

/// A full build is done so often; the fastest counts.
const BUILDS: usize = 3;

/// Measures every vault, prints a table and writes it to docs/evals/speed.md.
///
/// # Errors
/// A vault cannot be read or copied, or a part fails.
pub fn run(wish: &Wish) -> Result<()> {
    let mut pages = vec![introduction()];
    let names = ROWS.iter().map(|(name, _)| *name);
    let mut table = Table::new(&std::iter::once("measured").chain(names).collect::<Vec<_>>());
    let goals = ROWS.iter().map(|(_, goal)| goal.to_string());
    table.row(std::iter::once("goal".to_string()).chain(goals).collect());
    for vault in &wish.vault {
        let name = vault
            .file_name()
            .map_or("vault".into(), |name| name.to_string_lossy().into_owned());
        eprintln!("{name} …");
        let cells = measure(vault, &name, wish.data.as_deref())?;
        table.row(std::iter::once(name).chain(cells).collect());
    }
    pages.push(table.turned().markdown());
    let page = pages.join("\n");
    print!("{page}");
    write(&wish.out, &page)
}

/// Does one part and prints its figures as JSON.
///
/// # Errors
/// The index cannot be made or read.
pub fn run_part(part: &Part) -> Result<()> {
    let line = match part.work {
        Work::Build => serde_json::to_string(&build::run(&part.vault, &part.index)?),
        Work::Search => {
            serde_json::to_string(&search::run(&part.vault, &part.index, &part.questions)?)
        }
        Work::Edit => serde_json::to_string(&search::edits(&part.vault, &part.index)?),
        Work::Changing => {
            serde_json::to_string(&changing::run(&part.vault, &part.index, &part.questions)?)
        }
        Work::Rebuild => serde_json::to_string(&changing::rebuild(&part.vault, &part.index)?),
    };
    println!("{}", line?);
    Ok(())
}

/// What is measured, and the goal for a vault of 10,000 notes on two processors, if there is one.
const ROWS: [(&str, &str); 26] = [
    ("notes / passages / MB of notes", ""),
    ("full build, s (fastest of 3)", "1.5"),
    ("– CPU-seconds", ""),
    (
        "– listing / notes / words / catalogue / merge, CPU-seconds",
        "",
    ),
    ("– peak memory, MB", ""),
    ("index, MB: catalogue / words / vectors", ""),
    ("cold `search`, ms: least / median of 11", "60"),
    ("– with `--no-refresh`", ""),
    ("up-to-date check, ms: least / median of 20", "60"),
    ("one edited note to visible, ms: least / median of 11", "50"),
    ("– of it refresh, ms: median", ""),
    ("opening the index and first search, ms", ""),
    ("warm search, ms: median (best of 3 a question)", ""),
    ("– p99 (best of 3 a question)", "5"),
    ("– p99, single pass", ""),
    ("– worst, single pass", ""),
    ("– each lane alone: median / p99", ""),
    (
        "memory after searching, MB: resident / anonymous",
        "120 resident",
    ),
    ("– peak, MB", ""),
    (
        "1,000 notes changed at once (all of a smaller vault), ms: one refresh",
        "",
    ),
    ("– under a watcher, from the last write", "300"),
    (
        "one save under a watcher until it is found, ms: median / worst of 11",
        "300",
    ),
    (
        "search p99, ms: quiet / while the index is made anew in the background",
        "",
    ),
    ("– how many times as long", "2"),
    (
        "index after these changes, MB: catalogue / words / vectors",
        "",
    ),
    (
        "memory of the process that watched, MB: resident / peak",
        "",
    ),
];

fn measure(vault: &Path, name: &str, data: Option<&Path>) -> Result<Vec<String>> {
    let place = tempfile::tempdir()?;
    let copy = place.path().join("vault");
    let bytes = copy_vault(vault, &copy)?;
    let questions = place.path().join("questions.txt");
    fs::write(&questions, questions::draw(&copy, name, data)?.join("\n"))?;
    let part = |work: &str, index: &Path| child(work, &copy, index, &questions);
    let mut builds: Vec<(build::Figures, TempDir)> = Vec::new();
    for _ in 0..BUILDS {
        let index = tempfile::tempdir_in(place.path())?;
        builds.push((decode(&part("build", index.path())?)?, index));
    }
    builds.sort_by(|a, b| a.0.wall.total_cmp(&b.0.wall));
    let (build, index) = builds.swap_remove(0);
    let search: search::Figures = decode(&part("search", index.path())?)?;
    let cold = cold::run(&copy, place.path(), &questions)?;
    let edits: search::Edits = decode(&part("edit", index.path())?)?;
    let changing: changing::Figures = decode(&part("changing", index.path())?)?;
    let pair = |(least, median): (f64, f64)| format!("{least:.1} / {median:.1}");
    let lanes = search.lanes.iter();
    let lanes: Vec<String> = lanes
        .map(|(lane, median, p99)| format!("{lane} {median:.2} / {p99:.2}"))
        .collect();
    let s = &build.stages;
    Ok(vec![
        format!(
            "{} / {} / {:.1}",
            build.notes,
            build.passages,
            bytes as f64 / 1e6
        ),
        format!("{:.2}", build.wall),
        format!("{:.2}", build.cpu),
        format!(
            "{:.2} / {:.2} / {:.2} / {:.2} / {:.2}",
            s[0], s[1], s[2], s[3], s[4]
        ),
        megabytes(build.peak),
        format!(
            "{} / {} / {}",
            megabytes(build.catalogue),
            megabytes(build.segments),
            megabytes(build.vectors)
        ),
        cold.as_ref()
            .map_or_else(Clone::clone, |cold| pair(cold.usual)),
        cold.as_ref()
            .map_or_else(|_| "–".to_string(), |cold| pair(cold.no_refresh)),
        pair(search.check),
        pair(edits.visible),
        format!("{:.1}", edits.refresh),
        format!("{:.1}", search.first),
        format!("{:.2}", search.median),
        format!("{:.2}", search.p99),
        format!("{:.2}", search.p99_single),
        format!("{:.2}", search.worst_single),
        lanes.join(", "),
        format!(
            "{} / {}",
            megabytes(search.resident),
            megabytes(search.anonymous)
        ),
        megabytes(search.peak),
        format!("{:.0} ({} notes)", changing.many, changing.files),
        format!("{:.0}", changing.many_watched),
        format!("{:.0} / {:.0}", changing.saved.0, changing.saved.1),
        format!(
            "{:.2} / {:.2} ({} asked)",
            changing.p99.0, changing.p99.1, changing.asked
        ),
        format!("{:.2}", changing.p99.1 / changing.p99.0),
        format!(
            "{} / {} / {}",
            megabytes(changing.sizes.0),
            megabytes(changing.sizes.1),
            megabytes(changing.sizes.2)
        ),
        format!(
            "{} / {}",
            megabytes(changing.memory.0),
            megabytes(changing.memory.1)
        ),
    ])
}

fn introduction() -> String {
    let date = jiff::Timestamp::now().strftime("%Y-%m-%d");
    format!(
        "# Speed\n\nWritten by `cargo xtask bench` on {date}. Machine: {}. Release build, files in the page cache, and \
         whatever else the machine did: compare within the page, not with others.\n\nParts of a build are CPU time by \
         the stage that was last announced; batches overlap, so they tell the share and no more. Memory counts mapped \
         files as far as they were touched. The goals are for 10,000 notes. Warm searches: up to 500 questions, those of the set about the vault and \
         sentences of its notes.\n",
        machine::described()
    )
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / 1e6)
}

/// Runs this program again for one part; its last line of output.
fn child(work: &str, vault: &Path, index: &Path, questions: &Path) -> Result<String> {
    let output = Command::new(std::env::current_exe()?)
        .args(["bench-part", work, "--vault"])
        .arg(vault)
        .arg("--index")
        .arg(index)
        .arg("--questions")
        .arg(questions)
        .output()?;
    if !output.status.success() {
        bail!(
            "the part `{work}` failed: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(String::from_utf8(output.stdout)?)
}

fn decode<T: DeserializeOwned>(line: &str) -> Result<T> {
    serde_json::from_str(line).with_context(|| format!("not what a part prints: {line}"))
}

/// Copies a folder with its files' times; the bytes of its notes.
fn copy_vault(from: &Path, to: &Path) -> Result<u64> {
    fs::create_dir_all(to)?;
    let mut bytes = 0;
    for entry in fs::read_dir(from).with_context(|| from.display().to_string())? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            bytes += copy_vault(&source, &target)?;
        } else if entry.file_type()?.is_file() {
            let length =
                fs::copy(&source, &target).with_context(|| source.display().to_string())?;
            fs::File::options()
                .write(true)
                .open(&target)?
                .set_modified(entry.metadata()?.modified()?)?;
            let is_note = source
                .extension()
                .is_some_and(|e| e == "md" || e == "markdown");
            bytes += if is_note { length } else { 0 };
        }
    }
    Ok(bytes)
}
