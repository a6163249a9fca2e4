//! A test as another user: the superuser may do everything, so what permissions forbid is tried by
//! somebody else, in a copy of the test program that anyone may run.

#![expect(clippy::disallowed_types, reason = "tests start programs")]

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Runs the test of this name in the program that calls, as the user `nobody`, with these options
/// of a test program (`--ignored`) and these variables besides. The test knows by them that it is the other one.
///
/// # Errors
/// Why it cannot be run here: not as the superuser, or there is no `setpriv`.
///
/// # Panics
/// If it fails.
pub fn as_another_user(
    test: &str,
    options: &[&str],
    variables: &[(&str, &Path)],
) -> Result<(), String> {
    let said = |error: std::io::Error| error.to_string();
    let place = tempfile::tempdir().map_err(said)?;
    let program = place.path().join("test");
    fs::copy(std::env::current_exe().map_err(said)?, &program).map_err(said)?;
    for path in [place.path(), &program] {
        open_to_all(path).map_err(said)?;
    }
    let variables = variables
        .iter()
        .map(|(name, value)| (OsStr::new(name), value.as_os_str()));
    let run = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"])
        .arg(&program)
        .args(["--exact", test, "--nocapture"])
        .args(options)
        .envs(variables)
        .env("TMPDIR", "/tmp")
        .current_dir("/")
        .output()
        .map_err(|error| format!("there is no setpriv ({error})"))?;
    let (out, err) = (
        String::from_utf8_lossy(&run.stdout),
        String::from_utf8_lossy(&run.stderr),
    );
    if !out.contains("running ") {
        return Err(format!("only the superuser can be another user: {err}"));
    }
    assert!(
        run.status.success() && out.contains("1 passed"),
        "{out}{err}"
    );
    Ok(())
}

#[cfg(unix)]
fn open_to_all(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn open_to_all(_: &Path) -> std::io::Result<()> {
    Ok(())
}
