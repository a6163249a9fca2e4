//! The hook for prompts as an agent runs it: a process for each prompt, alone and with a bridge that
//! runs, with and without notes behind fences.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use clap::Args;
use serde_json::json;

use super::{machine, questions};
use crate::results::write;
use crate::sample::results_folder;

/// What to measure.
#[derive(Args)]
pub struct Wish {
    /// A folder of notes; it is not changed.
    #[arg(long)]
    vault: PathBuf,
}

/// Prompts of each way, after the first ones.
const PROMPTS: usize = 41;
/// So many come before, so that everything is warm.
const BEFORE: usize = 5;
/// The goal for a warm answer, in milliseconds.
const GOAL: f64 = 100.0;

/// A home with the vault listed and indexed.
struct Home {
    program: PathBuf,
    place: tempfile::TempDir,
}

/// A bridge; it ends when it is dropped.
struct Bridge(Child);

/// Measures, prints a table and writes it to docs/evals/hook.md.
///
/// # Errors
/// There is no `lorewell` beside this program, or it fails.
pub fn run(wish: &Wish) -> Result<()> {
    let name = wish.vault.file_name().unwrap_or_default().to_string_lossy();
    let prompts = questions::draw(&wish.vault, &name, None)?;
    if prompts.is_empty() {
        bail!(
            "no note of {} has a sentence to ask with",
            wish.vault.display()
        );
    }
    let mut rows = String::new();
    for fenced in [false, true] {
        let home = Home::new(&wish.vault)?;
        if fenced {
            // A fence behind which nothing lies: what it costs is the index of its own.
            home.done(&["config", "set", "fence_tags", "kept-from-agents"])?;
            home.done(&["search", "--remote", "first"])?;
        }
        home.done(&["config", "set", "bridge", "never"])?;
        let alone = home.times("alone", &prompts)?;
        home.done(&["config", "set", "bridge", "running"])?;
        let bridge = home.serve()?;
        let bridged = home.times("bridged", &prompts)?;
        drop(bridge);
        for (way, times) in [("the hook alone", alone), ("through a bridge", bridged)] {
            rows += &row(way, fenced, times);
        }
    }
    let page = format!(
        "# The hook for prompts\n\nWritten by `cargo xtask bench-hook` on {}. Machine: {}. Release build, {} ({} \
         prompts a row, each a process; sentences of the notes; from the start of the process to its end). The goal \
         for a warm answer is {GOAL:.0} ms.\n\n| answered by | fences | prompts answered | median, ms | p90, ms | \
         worst, ms | goal |\n| --- | --- | --- | --- | --- | --- | --- |\n{rows}",
        jiff::Timestamp::now().strftime("%Y-%m-%d"),
        machine::described(),
        name,
        PROMPTS,
    );
    print!("{page}");
    write(&results_folder().join("hook.md"), &page)
}

fn row(way: &str, fenced: bool, (mut times, answered): (Vec<f64>, usize)) -> String {
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    let fences = if fenced { "yes" } else { "none" };
    let goal = if at(0.5) < GOAL { "met" } else { "missed" };
    format!(
        "| {way} | {fences} | {answered} of {PROMPTS} | {:.1} | {:.1} | {:.1} | {goal} |\n",
        at(0.5),
        at(0.9),
        at(1.0)
    )
}

impl Home {
    fn new(vault: &Path) -> Result<Home> {
        let program = std::env::current_exe()?
            .with_file_name(format!("lorewell{}", std::env::consts::EXE_SUFFIX));
        if !program.exists() {
            bail!("there is no {}", program.display());
        }
        let place = tempfile::tempdir()?;
        let home = Home { program, place };
        home.done(&[
            "vault",
            "add",
            &vault.display().to_string(),
            "--name",
            "Notes",
        ])?;
        home.done(&["rebuild"])?;
        Ok(home)
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(words)
            .env_clear()
            .env("HOME", self.place.path())
            .current_dir(self.place.path());
        command
    }

    fn done(&self, words: &[&str]) -> Result<()> {
        let output = self.command(words).output()?;
        // 1 is that nothing was found.
        if !matches!(output.status.code(), Some(0 | 1)) {
            bail!(
                "`{}`: {}",
                words.join(" "),
                String::from_utf8_lossy(&output.stderr)
            );
        }
        Ok(())
    }

    fn serve(&self) -> Result<Bridge> {
        let mut child = self
            .command(&["serve", "--port", "0", "--json", "--vault", "Notes"])
            .stdout(Stdio::piped())
            .spawn()?;
        let out = child.stdout.take().context("no output")?;
        let mut line = String::new();
        BufReader::new(out).read_line(&mut line)?;
        if !line.contains("serving") {
            bail!("the bridge did not start: {line}");
        }
        Ok(Bridge(child))
    }

    /// Milliseconds of each prompt, and how many were answered.
    fn times(&self, way: &str, prompts: &[String]) -> Result<(Vec<f64>, usize)> {
        let mut times = Vec::new();
        let mut answered = 0;
        for number in 0..BEFORE + PROMPTS {
            // Sessions of their own: nothing was given before.
            let event = json!({
                "session_id": format!("{way} {number}"),
                "cwd": self.place.path(),
                "hook_event_name": "UserPromptSubmit",
                "prompt": prompts[number * 7 % prompts.len()],
            });
            let began = Instant::now();
            let mut hook = self
                .command(&["hook", "prompt", "--client", "claude-code"])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()?;
            if let Some(mut input) = hook.stdin.take() {
                input.write_all(event.to_string().as_bytes())?;
            }
            let output = hook.wait_with_output()?;
            if number >= BEFORE {
                times.push(began.elapsed().as_secs_f64() * 1e3);
                answered += usize::from(!output.stdout.is_empty());
            }
        }
        Ok((times, answered))
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
