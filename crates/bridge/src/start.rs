//! Finding the bridge, and starting one in the background.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::state::is_running;
use crate::{BridgeError, Client, Places};

/// How long a bridge may take to start.
const STARTING: Duration = Duration::from_secs(10);

/// How often it is looked for meanwhile.
const PAUSE: Duration = Duration::from_millis(10);

/// Connects to the bridge of the user. If none runs, starts `program serve` with `words` besides,
/// which goes on by itself, and waits until it can be asked.
///
/// # Errors
/// As [`Client::connect`]; [`BridgeError::NotStarted`].
pub fn find_or_start(
    places: &Places,
    program: &Path,
    words: &[&OsStr],
) -> Result<Client, BridgeError> {
    match Client::connect(places) {
        Err(BridgeError::NotRunning) => {}
        other => return other,
    }
    let mut command = Command::new(program);
    command
        .arg("serve")
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    // Its own group: what ends the client does not end the bridge.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command
        .spawn()
        .map_err(|source| BridgeError::io(program, source))?;
    let until = Instant::now() + STARTING;
    loop {
        match Client::connect(places) {
            Err(BridgeError::NotRunning) => {}
            other => return other,
        }
        // Another may have been faster, and this one ends then.
        let ended = matches!(child.try_wait(), Ok(Some(_)));
        if Instant::now() > until || ended && !is_running(places) {
            return Err(BridgeError::NotStarted);
        }
        thread::sleep(PAUSE);
    }
}

/// Waits until no bridge runs, but not longer than `most`; whether none does.
pub fn wait_until_gone(places: &Places, most: Duration) -> bool {
    let until = Instant::now() + most;
    while is_running(places) {
        if Instant::now() > until {
            return false;
        }
        thread::sleep(PAUSE);
    }
    true
}
