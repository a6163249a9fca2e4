//! From the shell: a new process, the index, the answer.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Instant;

use anyhow::Result;

use super::search::least_and_median;

const RUNS: usize = 11;

/// Milliseconds: least and median.
pub(super) struct Figures {
    pub(super) usual: (f64, f64),
    pub(super) no_refresh: (f64, f64),
}

/// Times the `lorewell` program beside this one; why not, where there is none.
pub(super) fn run(vault: &Path, place: &Path, questions: &Path) -> Result<Result<Figures, String>> {
    let program = std::env::current_exe()?
        .with_file_name(format!("lorewell{}", std::env::consts::EXE_SUFFIX));
    if !program.exists() {
        return Ok(Err(format!(
            "no {} beside this program",
            file_name(&program)
        )));
    }
    let text = std::fs::read_to_string(questions)?;
    let questions: Vec<&str> = text.lines().collect();
    let ask = |run: usize, extra: &[&str]| -> Result<(f64, Output)> {
        let mut command = Command::new(&program);
        command
            .arg("search")
            .arg("--vault")
            .arg(vault)
            .arg("--index-dir")
            .arg(place.join("indexes"));
        command
            .arg("--json")
            .args(extra)
            .arg("--")
            .arg(questions[run * 7 % questions.len().max(1)]);
        command.env("XDG_CONFIG_HOME", place).env("HOME", place);
        let began = Instant::now();
        let output = command.output()?;
        Ok((began.elapsed().as_secs_f64() * 1e3, output))
    };
    let (_, output) = ask(0, &[])?;
    if !matches!(output.status.code(), Some(0 | 1)) {
        let said = String::from_utf8_lossy(&output.stderr);
        return Ok(Err(format!(
            "failed: {}",
            said.lines().next().unwrap_or_default()
        )));
    }
    let times = |extra: &[&str]| -> Result<(f64, f64)> {
        let times: Result<Vec<f64>> = (0..RUNS).map(|run| Ok(ask(run, extra)?.0)).collect();
        Ok(least_and_median(&times?))
    };
    Ok(Ok(Figures {
        usual: times(&[])?,
        no_refresh: times(&["--no-refresh"])?,
    }))
}

fn file_name(path: &Path) -> String {
    PathBuf::from(path)
        .file_name()
        .map_or(String::new(), |name| name.to_string_lossy().into_owned())
}
