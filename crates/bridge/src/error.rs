//! What can go wrong with the bridge itself, and what it refuses; with stable codes.

use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lorewell_capabilities::Failure;

/// Why there is no bridge, or none that can be trusted.
#[derive(Debug, thiserror::Error)]
pub enum BridgeError {
    /// Another process of the same user serves.
    #[error("a bridge is running already{}", of_process(.0))]
    Running(Option<u32>),
    /// There is none to ask.
    #[error("no bridge is running")]
    NotRunning,
    /// A folder, socket or file that others could have put there or may write.
    #[error("{} is not to be trusted: {reason}", .path.display())]
    Unsafe {
        /// Which.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// What answers is not the process that the state file names.
    #[error("what answers at {place} is not the bridge that the state file names")]
    Impostor {
        /// Where it was asked.
        place: String,
    },
    /// It is of another version than this program.
    #[error("the bridge that runs is version {theirs}, and this program is version {ours}")]
    OtherVersion {
        /// Its version.
        theirs: String,
        /// Ours.
        ours: &'static str,
    },
    /// It did not start in time.
    #[error("the bridge did not start")]
    NotStarted,
    /// An address that others reach, without the flag that says so.
    #[error("{0} can be reached from other machines")]
    BeyondThisMachine(IpAddr),
    /// An address that is none in particular.
    #[error("{0} is no particular address")]
    NoAddress(IpAddr),
    /// No port is free.
    #[error("port {first} and the {tried} after it are taken")]
    NoFreePort {
        /// The first that was tried.
        first: u16,
        /// How many more were.
        tried: u16,
    },
    /// The socket's path is longer than the system takes.
    #[error("the path of the socket is too long for the system: {}", .0.display())]
    LongPath(PathBuf),
    /// This system has no service manager that is known here.
    #[error("there is no service manager here that lorewell knows")]
    NoServiceManager,
    /// The system.
    #[error("{}: {source}", .path.display())]
    Io {
        /// About which file, folder or address.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
}

/// Why a request is not answered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The bridge is about to end.
    #[error("the bridge is stopping")]
    Stopping,
    /// No capability has that name.
    #[error("there is no ability “{0}”")]
    NoSuchAbility(String),
    /// No route.
    #[error("there is nothing at this path")]
    NoSuchRoute,
    /// The route takes another method.
    #[error("this path does not take {0}")]
    WrongMethod(String),
    /// The body's type.
    #[error("the body must be JSON, and its type must say so")]
    WrongContentType,
    /// The body.
    #[error("the request is not JSON: {0}")]
    NotJson(String),
    /// The `Host` header names another machine.
    #[error("the request was sent to another host than this")]
    ForeignHost,
    /// It comes from a web page.
    #[error("the request comes from a web page")]
    ForeignOrigin,
    /// The body or line is too long.
    #[error("the request is larger than {0} bytes")]
    RequestTooLarge(usize),
    /// The question is too long.
    #[error("the question is longer than {0} characters")]
    QuestionTooLong(usize),
    /// The answer is too long.
    #[error("the answer is larger than {0} bytes")]
    AnswerTooLarge(usize),
    /// Too much at once.
    #[error("{0} requests at once are too many")]
    TooMany(usize),
    /// It took too long.
    #[error("the answer was not there after {} s", .0.as_secs())]
    TookTooLong(Duration),
    /// A client's settings are not the bridge's.
    #[error("this program was called with other settings than the bridge has")]
    OtherSettings,
}

impl BridgeError {
    /// From what the system said of `path`.
    pub(crate) fn io(path: &Path, source: io::Error) -> BridgeError {
        let path = path.to_path_buf();
        BridgeError::Io { path, source }
    }

    /// A stable word for programs.
    pub fn code(&self) -> &'static str {
        match self {
            BridgeError::Running(_) => "bridge_running",
            BridgeError::NotRunning => "bridge_not_running",
            BridgeError::Unsafe { .. } => "bridge_unsafe",
            BridgeError::Impostor { .. } => "bridge_impostor",
            BridgeError::OtherVersion { .. } => "bridge_other_version",
            BridgeError::NotStarted => "bridge_not_started",
            BridgeError::BeyondThisMachine(_) | BridgeError::NoAddress(_) => "address_refused",
            BridgeError::NoFreePort { .. } => "no_free_port",
            BridgeError::LongPath(_) => "socket_path_too_long",
            BridgeError::NoServiceManager => "no_service_manager",
            BridgeError::Io { .. } => "bridge_failed",
        }
    }

    /// What to try.
    pub fn hint(&self) -> &'static str {
        match self {
            BridgeError::Running(_) => {
                "`lorewell serve --status` shows it, `lorewell serve --stop` ends it."
            }
            BridgeError::NotRunning => "Start one with `lorewell serve`.",
            BridgeError::Unsafe { .. } => {
                "Find out who made it. It must be yours, and nobody else may enter it."
            }
            BridgeError::Impostor { .. } => {
                "Find out which program it is. `lorewell serve` starts a bridge at another port."
            }
            BridgeError::OtherVersion { .. } => {
                "End the old one with `lorewell serve --stop`, then start it anew."
            }
            BridgeError::NotStarted => {
                "Start it by hand with `lorewell serve` to see what is wrong."
            }
            BridgeError::BeyondThisMachine(_) => {
                "If that is what you want, say --beyond-this-machine as well; requests then travel \
                 unencrypted."
            }
            BridgeError::NoAddress(_) => "Name one address of this machine.",
            BridgeError::NoFreePort { .. } => "Choose another with --port.",
            BridgeError::LongPath(_) => {
                "Set XDG_RUNTIME_DIR to a folder of yours with a short path."
            }
            BridgeError::NoServiceManager => {
                "Have `lorewell serve` started by whatever starts your programs at login."
            }
            BridgeError::Io { .. } => "Check the permissions of the folder, and the disk.",
        }
    }
}

impl Refusal {
    /// A stable word for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Refusal::Stopping => "stopping",
            Refusal::NoSuchAbility(_) => "no_such_ability",
            Refusal::NoSuchRoute => "no_such_route",
            Refusal::WrongMethod(_) => "wrong_method",
            Refusal::WrongContentType => "wrong_content_type",
            Refusal::NotJson(_) => "not_json",
            Refusal::ForeignHost => "foreign_host",
            Refusal::ForeignOrigin => "foreign_origin",
            Refusal::RequestTooLarge(_) => "request_too_large",
            Refusal::QuestionTooLong(_) => "question_too_long",
            Refusal::AnswerTooLarge(_) => "answer_too_large",
            Refusal::TooMany(_) => "too_many_requests",
            Refusal::TookTooLong(_) => "took_too_long",
            Refusal::OtherSettings => "other_settings",
        }
    }

    fn hint(&self) -> &'static str {
        match self {
            Refusal::Stopping => "Ask again in a moment; another may be starting.",
            Refusal::NoSuchAbility(_) | Refusal::NoSuchRoute => {
                "GET /v1/openapi.json lists what there is."
            }
            Refusal::WrongMethod(_) => "Abilities are asked with POST.",
            Refusal::WrongContentType => "Send the header Content-Type: application/json.",
            Refusal::NotJson(_) => "Send an object: {\"query\": \"…\"}.",
            Refusal::ForeignHost => "Ask 127.0.0.1, [::1] or localhost, with the port.",
            Refusal::ForeignOrigin => "Web pages of others may not ask.",
            Refusal::RequestTooLarge(_) => "Send less at once.",
            Refusal::QuestionTooLong(_) => "Ask in fewer words.",
            Refusal::AnswerTooLarge(_) => "Ask for less at once: a lower `limit`, or a part.",
            Refusal::TooMany(_) => "Wait for some of the answers, then ask again.",
            Refusal::TookTooLong(_) => "Ask again; what was read for the index by then is kept.",
            Refusal::OtherSettings => "Ask without the bridge: --bridge never.",
        }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Failure {
        Failure {
            code: refusal.code().to_string(),
            message: refusal.to_string(),
            hint: refusal.hint().to_string(),
        }
    }
}

impl From<BridgeError> for Failure {
    fn from(error: BridgeError) -> Failure {
        Failure {
            code: error.code().to_string(),
            message: error.to_string(),
            hint: error.hint().to_string(),
        }
    }
}

fn of_process(id: &Option<u32>) -> String {
    id.map_or(String::new(), |id| format!(" (process {id})"))
}
