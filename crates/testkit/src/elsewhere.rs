//! Tests that need another place than this process: another user, or a small disk. The test program
//! is started again there, with the one test.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::as_another_user;

/// The variable that names the small disk to a started test.
#[cfg(target_os = "linux")]
const DISK: &str = "LOREWELL_TEST_SMALL_DISK";

/// Whether this process may read and write everything: who owns what it makes is who it runs as.
///
/// # Panics
/// If no folder can be made.
pub fn is_superuser() -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let place = tempfile::tempdir().expect("a temporary folder");
    fs::metadata(place.path()).expect("its owner").uid() == 0
}

/// Runs a test of this program, by its whole name, as a user who may not do everything. `options`
/// are those of a test program (`--ignored`). A user who may not do everything runs it as itself.
///
/// # Panics
/// If the test fails.
pub fn start_as_ordinary_user(test: &str, options: &[&str]) {
    if !is_superuser() {
        let program = Command::new(std::env::current_exe().expect("this program"));
        return assert_passes(&run(program, test, options).expect("this program again"));
    }
    if let Err(why) = as_another_user(test, options, &[]) {
        eprintln!("SKIPPED: {why}");
    }
}

/// Starts the test of this name again where it may mount a disk of eight megabytes, and there does
/// `work` with its folder.
///
/// # Panics
/// If the test fails.
#[cfg(target_os = "linux")]
pub fn on_a_small_disk(test: &str, work: impl FnOnce(&Path)) {
    if let Ok(disk) = std::env::var(DISK) {
        return work(Path::new(&disk));
    }
    let place = tempfile::tempdir().expect("a temporary folder");
    let script = r#"mount -t tmpfs -o size=8m tmpfs "$1" || exit 75; shift; exec "$@""#;
    let mut command = Command::new("unshare");
    command
        .args(["--user", "--map-root-user", "--mount"])
        .args(["sh", "-c", script, "sh"])
        .arg(place.path())
        .arg(std::env::current_exe().expect("this program"))
        .env(DISK, place.path());
    match run(command, test, &[]) {
        Ok(run) if String::from_utf8_lossy(&run.stdout).contains("running 1 test") => {
            assert_passes(&run);
        }
        _ => eprintln!("SKIPPED: no disk can be mounted here"),
    }
}

fn run(mut program: Command, test: &str, options: &[&str]) -> std::io::Result<Output> {
    program
        .args(["--exact", test, "--nocapture"])
        .args(options)
        .output()
}

fn assert_passes(run: &Output) {
    let said = String::from_utf8_lossy(&run.stdout);
    let why = String::from_utf8_lossy(&run.stderr);
    let has_passed = run.status.success() && said.contains("1 passed");
    assert!(has_passed, "{said}{why}");
}
