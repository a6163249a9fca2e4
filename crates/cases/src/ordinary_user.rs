//! Running a case in another place than this process: as a user who may not read everything, or
//! where the system gives few watches. The calling test program is started again, from a copy that
//! anyone may run, with the case in a folder that anyone may read.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::report::{Finding, Report, Verdict};
use crate::{Case, Level, vault_copy};

/// The variable that names the case which a started program is to run.
pub const ASKED: &str = "LOREWELL_CASE_ASKED";

/// What its line begins with.
const MARK: &str = "CASE-REPORT ";

/// Whether this process may read and write everything.
#[cfg(unix)]
pub(crate) fn is_superuser() -> bool {
    use std::os::unix::fs::MetadataExt as _;
    // Who owns what this process makes is who it runs as.
    tempfile::tempdir()
        .is_ok_and(|place| fs::metadata(place.path()).is_ok_and(|facts| facts.uid() == 0))
}

/// Whether this process may read and write everything.
#[cfg(not(unix))]
pub(crate) fn is_superuser() -> bool {
    false
}

/// Runs a case as an ordinary user; its test program must have a test that prints [`asked_line`].
pub(crate) fn run(case: &Case) -> Report {
    let mut program = Command::new("setpriv");
    program.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"]);
    let report = started(case, program, "running as root, and there is no setpriv");
    report.unwrap_or_else(|reason| Report::skipped(case, reason))
}

/// Runs a case in a namespace of its own, in which the system gives so many watches.
pub(crate) fn run_with_few_watches(case: &Case, most: u64) -> Report {
    // 75 is no exit code of a test program.
    const SCRIPT: &str = r#"echo "$1" > /proc/sys/user/max_inotify_watches || exit 75
        shift; exec "$@""#;
    let most = most.to_string();
    let mut program = Command::new("unshare");
    program.args(["--user", "--map-root-user", "sh", "-c", SCRIPT, "sh", &most]);
    let report = started(case, program, "no limit of watches can be set here");
    report.unwrap_or_else(|reason| Report::skipped(case, reason))
}

/// Runs a case by a program that starts others; `lacking` is said where that cannot be.
fn started(case: &Case, mut by: Command, lacking: &str) -> Result<Report, String> {
    let said = |error: std::io::Error| error.to_string();
    let place = tempfile::tempdir().map_err(said)?;
    let program = place.path().join("test");
    let folder = place.path().join(&case.id);
    fs::copy(std::env::current_exe().map_err(said)?, &program).map_err(said)?;
    vault_copy::copy(&case.folder, &folder).map_err(said)?;
    open_to_all(place.path()).map_err(said)?;
    let run = by
        .arg(&program)
        .args(["--exact", "the_case_that_is_asked_for", "--nocapture"])
        .env(ASKED, &folder)
        .env("TMPDIR", std::env::temp_dir())
        .current_dir("/")
        .output()
        .map_err(|error| format!("{lacking} ({error})"))?;
    if run.status.code() == Some(75) || !program_ran(&run.stdout) {
        return Err(lacking.to_string());
    }
    let output = String::from_utf8_lossy(&run.stdout).into_owned();
    let line = output.lines().find_map(|line| line.split_once(MARK));
    match line.and_then(|(_, json)| serde_json::from_str(json).ok()) {
        Some(json) => Ok(report_of(case, &json)),
        None => Ok(Report::of(
            case,
            vec![Finding::of_step("as an ordinary user", Err(output))],
        )),
    }
}

/// Whether the test program was started at all.
fn program_ran(output: &[u8]) -> bool {
    String::from_utf8_lossy(output).contains("running ")
}

/// Lets anyone read and run what is below a folder.
#[cfg(unix)]
fn open_to_all(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755))?;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            open_to_all(&path)?;
        } else {
            fs::set_permissions(path, fs::Permissions::from_mode(0o755))?;
        }
    }
    Ok(())
}

/// Nothing to do on this system.
#[cfg(not(unix))]
fn open_to_all(_: &Path) -> std::io::Result<()> {
    Ok(())
}

/// A report as the line that a started program prints.
pub fn asked_line(report: &Report) -> String {
    let findings = report.findings.iter().map(|finding| {
        let must = finding.level == Level::Must;
        json!([finding.label, must, finding.outcome.as_ref().err()])
    });
    format!("{MARK}{}", Value::Array(findings.collect()))
}

fn report_of(case: &Case, json: &Value) -> Report {
    let findings = json
        .as_array()
        .into_iter()
        .flatten()
        .map(|finding| Finding {
            label: finding[0].as_str().unwrap_or_default().to_string(),
            level: if finding[1] == true {
                Level::Must
            } else {
                Level::Should
            },
            outcome: finding[2]
                .as_str()
                .map_or(Ok(()), |what| Err(what.to_string())),
        });
    let report = Report::of(case, findings.collect());
    match report.verdict {
        Verdict::Holds if report.findings.is_empty() => {
            Report::skipped(case, "nothing was looked at".to_string())
        }
        _ => report,
    }
}
