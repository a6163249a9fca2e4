//! The log: a file of bounded size in the bridge's folder, for whoever must find out what went
//! wrong. It holds no text of notes, no questions and no tokens.

use std::fs::{self, File};
use std::io::{self, Write};
use std::panic;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tracing::Subscriber;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt as _;

use crate::state::private_file;
use crate::{BridgeError, Places};

/// A file that has grown to this is put aside.
const MAX_BYTES: u64 = 1 << 20;

/// So many that were put aside are kept.
const KEPT: usize = 3;

/// How much is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    /// Nothing.
    Off,
    /// What failed.
    Error,
    /// And what was refused or is not as it should be.
    Warn,
    /// And every request, by its caller, ability and time.
    #[default]
    Info,
    /// And more for developers.
    Debug,
}

impl std::str::FromStr for Level {
    type Err = ();

    fn from_str(word: &str) -> Result<Level, ()> {
        match word.trim().to_ascii_lowercase().as_str() {
            "off" => Ok(Level::Off),
            "error" => Ok(Level::Error),
            "warn" => Ok(Level::Warn),
            "info" => Ok(Level::Info),
            "debug" => Ok(Level::Debug),
            _ => Err(()),
        }
    }
}

/// Logs from now on to the end of the process. With `silent`, a panic is told here and nowhere
/// else.
///
/// # Errors
/// The file cannot be made.
pub(crate) fn begin(places: &Places, level: Level, silent: bool) -> Result<(), BridgeError> {
    let path = places.log();
    let file = Rotated::open(&path).map_err(|source| BridgeError::io(&path, source))?;
    // A second one in the same process, as in tests, goes on with the first.
    let _ =
        tracing::subscriber::set_global_default(subscriber(Log(Arc::new(Mutex::new(file))), level));
    let others = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        // The words of a panic may hold text of notes; where it was does not.
        let place = info
            .location()
            .map(|at| format!("{}:{}", at.file(), at.line()));
        tracing::error!(place, "a panic");
        if !silent {
            others(info);
        }
    }));
    Ok(())
}

fn subscriber(log: Log, level: Level) -> impl Subscriber + Send + Sync {
    let level = match level {
        Level::Off => LevelFilter::OFF,
        Level::Error => LevelFilter::ERROR,
        Level::Warn => LevelFilter::WARN,
        Level::Info => LevelFilter::INFO,
        Level::Debug => LevelFilter::DEBUG,
    };
    // Libraries may tell what they are handed.
    let ours = Targets::new().with_target("lorewell", level);
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(log)
        .with_ansi(false);
    tracing_subscriber::registry().with(ours).with(lines)
}

/// Where lines go.
#[derive(Clone)]
struct Log(Arc<Mutex<Rotated>>);

impl<'a> MakeWriter<'a> for Log {
    type Writer = Log;

    fn make_writer(&'a self) -> Log {
        self.clone()
    }
}

impl Write for Log {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        file.write(line)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A file that is put aside when it has grown.
struct Rotated {
    path: PathBuf,
    file: File,
    size: u64,
    most: u64,
}

impl Rotated {
    fn open(path: &Path) -> io::Result<Rotated> {
        let (file, size) = open(path)?;
        Ok(Rotated {
            path: path.to_path_buf(),
            file,
            size,
            most: MAX_BYTES,
        })
    }

    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self.size > 0 && self.size + line.len() as u64 > self.most {
            self.put_aside()?;
        }
        let written = self.file.write(line)?;
        self.size += written as u64;
        Ok(written)
    }

    fn put_aside(&mut self) -> io::Result<()> {
        for number in (1..KEPT).rev() {
            let _ = fs::rename(aside(&self.path, number), aside(&self.path, number + 1));
        }
        fs::rename(&self.path, aside(&self.path, 1))?;
        (self.file, self.size) = open(&self.path)?;
        Ok(())
    }
}

fn aside(path: &Path, number: usize) -> PathBuf {
    path.with_extension(format!("log.{number}"))
}

/// The file at its end; made for the user alone.
fn open(path: &Path) -> io::Result<(File, u64)> {
    match private_file(path) {
        Ok(file) => Ok((file, 0)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let file = File::options().append(true).open(path)?;
            let size = file.metadata()?.len();
            Ok((file, size))
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_has_grown_is_put_aside_and_few_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bridge.log");
        let mut log = Rotated::open(&path).unwrap();
        log.most = 10;
        for number in 0..20 {
            log.write(format!("line {number:02}\n").as_bytes()).unwrap();
        }
        let mut names: Vec<_> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(
            names,
            ["bridge.log", "bridge.log.1", "bridge.log.2", "bridge.log.3"]
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), "line 19\n");
        assert_eq!(fs::read_to_string(aside(&path, 3)).unwrap(), "line 16\n");
        let mut again = Rotated::open(&path).unwrap();
        again.write(b"more\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "line 19\nmore\n");
    }

    #[test]
    fn what_libraries_tell_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bridge.log");
        let log = Log(Arc::new(Mutex::new(Rotated::open(&path).unwrap())));
        tracing::subscriber::with_default(subscriber(log, Level::Info), || {
            tracing::info!(target: "lorewell_bridge::x", "told");
            tracing::debug!(target: "lorewell_bridge::x", "too fine");
            tracing::error!(target: "hyper::proto", "theirs");
        });
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains("told"), "{text}");
        assert!(
            !text.contains("too fine") && !text.contains("theirs"),
            "{text}"
        );
    }
}
