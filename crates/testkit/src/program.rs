//! The program as a process, in a home of its own.

#![expect(clippy::disallowed_types, reason = "tests start programs")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};

use serde_json::Value;

/// A program, and the home in which it is started. Nothing of the environment of the test comes
/// through.
#[derive(Clone, Debug)]
pub struct Program {
    file: PathBuf,
    home: PathBuf,
    variables: Vec<(String, String)>,
}

/// A bridge as a process; it is killed when it is dropped.
pub struct Serving {
    /// The process.
    pub child: Child,
    /// What it said when it could be asked: `{"event": "serving", …}`.
    pub state: Value,
    out: BufReader<ChildStdout>,
}

impl Program {
    /// The program in `file` (of a test: `env!("CARGO_BIN_EXE_lorewell")`), with `home` as the
    /// user's home, which is made.
    ///
    /// # Panics
    /// If the home cannot be made.
    pub fn new(file: impl Into<PathBuf>, home: PathBuf) -> Program {
        fs::create_dir_all(&home).unwrap_or_else(|e| panic!("{}: {e}", home.display()));
        Program {
            file: file.into(),
            home,
            variables: Vec::new(),
        }
    }

    /// The same with a variable in its environment.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Program {
        self.variables.push((name.to_string(), value.to_string()));
        self
    }

    /// The user's home.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// The program with these words, ready to be started.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.file);
        command
            .args(words)
            .env_clear()
            .env("HOME", &self.home)
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .current_dir(&self.home);
        command
    }

    /// What came of these words.
    ///
    /// # Panics
    /// If the program cannot be started.
    pub fn run(&self, words: &[&str]) -> Output {
        let output = self.command(words).output();
        output.unwrap_or_else(|e| panic!("{}: {e}", self.file.display()))
    }

    /// What these words print; they must do their work.
    ///
    /// # Panics
    /// If they do not.
    pub fn done(&self, words: &[&str]) -> String {
        let output = self.run(words);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words:?}: {said}");
        let text = String::from_utf8_lossy(&output.stdout);
        text.trim_end().to_string()
    }

    /// The JSON that these words print with `--json`, whatever came of them.
    ///
    /// # Panics
    /// If they print none.
    pub fn json(&self, words: &[&str]) -> Value {
        let output = self.run(&[words, &["--json"]].concat());
        parsed(&String::from_utf8_lossy(&output.stdout))
    }

    /// A bridge, started with these words besides, at any port.
    ///
    /// # Panics
    /// If it does not come up.
    pub fn serve(&self, words: &[&str]) -> Serving {
        self.try_serve(words)
            .unwrap_or_else(|said| panic!("{said}"))
    }

    /// The same, or what it says instead.
    ///
    /// # Errors
    /// It did not come up.
    ///
    /// # Panics
    /// If the program cannot be started.
    pub fn try_serve(&self, words: &[&str]) -> Result<Serving, String> {
        let words = [&["serve", "--port", "0", "--json"], words].concat();
        let mut child = self
            .command(&words)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|e| panic!("{}: {e}", self.file.display()));
        let out = child.stdout.take().expect("it is piped");
        let mut serving = Serving {
            child,
            state: Value::Null,
            out: BufReader::new(out),
        };
        let mut line = String::new();
        serving
            .out
            .read_line(&mut line)
            .map_err(|e| e.to_string())?;
        serving.state = serde_json::from_str(&line).unwrap_or_default();
        match serving.state["event"] == "serving" {
            true => Ok(serving),
            false => Err(line),
        }
    }
}

impl Serving {
    /// Where it listens for HTTP, the address of IPv4 first.
    ///
    /// # Panics
    /// If it does not say.
    pub fn address(&self) -> SocketAddr {
        let told = self.state["addresses"][0].as_str().unwrap_or_default();
        told.parse()
            .unwrap_or_else(|e| panic!("{e}: {}", self.state))
    }

    /// The next object that it prints.
    ///
    /// # Panics
    /// If it prints none.
    pub fn line(&mut self) -> Value {
        let mut line = String::new();
        self.out.read_line(&mut line).expect("its output is read");
        parsed(&line)
    }

    /// Sends it a signal: `-TERM`.
    ///
    /// # Panics
    /// If that is not possible.
    pub fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args([name, &id]).status();
        assert!(sent.is_ok_and(|status| status.success()), "{name}");
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text:?}"))
}
