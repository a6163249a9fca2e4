//! How a command ends: exit codes and errors, decided in this one place.

use std::process::ExitCode;

use clap::error::ErrorKind;
use lorewell_agents::AgentsError;
use lorewell_capabilities::{ErrorJson, Failure};
use lorewell_engine::EngineError;
use lorewell_setup::{OpenError, SetupError};

use crate::style;

/// A command that did what it should.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Done. Exit code 0.
    Done,
    /// Nothing in the notes answers. Exit code 1.
    NothingFound,
    /// The check that was asked for found damage. Exit code 2.
    Damaged,
}

/// A command that could not. Exit code 2.
#[derive(Debug)]
pub(crate) struct Problem(pub(crate) Failure);

impl Outcome {
    pub(crate) fn exit_code(self) -> ExitCode {
        match self {
            Outcome::Done => ExitCode::SUCCESS,
            Outcome::NothingFound => ExitCode::from(1),
            Outcome::Damaged => ExitCode::from(2),
        }
    }
}

impl Problem {
    /// Says what is wrong: as data with `--json`, else as talk.
    pub(crate) fn report(self, json: bool) -> ExitCode {
        if json {
            let error = ErrorJson { error: self.0 };
            let text = serde_json::to_string(&error).unwrap_or_default();
            style::print_data(&text);
        } else {
            style::fail(&self.0.message, &self.0.hint);
        }
        ExitCode::from(2)
    }

    /// The command was used wrongly.
    pub(crate) fn wrong_use(message: impl Into<String>, hint: impl Into<String>) -> Problem {
        Problem(Failure::wrong_use(message, hint))
    }
}

/// Words that make no command, or a request for help. Help is data; all else is wrong use.
pub(crate) fn refused_arguments(error: &clap::Error, json: bool) -> ExitCode {
    let help = matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    );
    if help || !json {
        // A reader that goes away is no error.
        let _ = error.print();
        return if help {
            ExitCode::SUCCESS
        } else {
            ExitCode::from(2)
        };
    }
    let text = error.render().to_string();
    let mut paragraphs = text.split("\n\n").map(one_line);
    let message = paragraphs.next().unwrap_or_default();
    let hint = paragraphs
        .find(|paragraph| paragraph.starts_with("tip:"))
        .unwrap_or_else(|| "See `lorewell --help`.".to_string());
    Problem::wrong_use(
        message.trim_start_matches("error: "),
        hint.trim_start_matches("tip: "),
    )
    .report(json)
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Problem {
        Problem(failure)
    }
}

impl From<AgentsError> for Problem {
    fn from(error: AgentsError) -> Problem {
        Problem(error.into())
    }
}

impl From<SetupError> for Problem {
    fn from(error: SetupError) -> Problem {
        Problem(Failure {
            code: error.code().to_string(),
            message: error.to_string(),
            hint: error.hint().unwrap_or_default(),
        })
    }
}

impl From<EngineError> for Problem {
    fn from(error: EngineError) -> Problem {
        Problem(Failure::from(error))
    }
}

impl From<OpenError> for Problem {
    fn from(error: OpenError) -> Problem {
        match error {
            OpenError::Setup(error) => error.into(),
            OpenError::Engine(error) => error.into(),
        }
    }
}
