//! How much one caller may ask for, and how much is done at once.

use std::time::Duration;

/// The limits of a bridge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of an HTTP request's body.
    pub body: usize,
    /// Bytes of a line on the socket, which only the user's own programs send.
    pub line: usize,
    /// Characters of a question.
    pub question: usize,
    /// Bytes of an answer to an agent.
    pub answer: usize,
    /// Requests of one agent at once.
    pub of_agent: usize,
    /// Requests of the user's own programs at once.
    pub of_owner: usize,
    /// Requests that are worked on at once; more wait. All agents together have one less, which is
    /// kept for the owner, and one agent has two less.
    pub at_work: usize,
    /// How long an agent's request may take, from its head to its answer; over the socket, without
    /// a word of progress.
    pub time: Duration,
    /// The same for a request that builds an index, and over the socket for any of the owner's.
    pub build_time: Duration,
    /// Connections at once, of HTTP (all addresses together) and of the socket each.
    pub connections: usize,
    /// How long a client may take for the head of a request over HTTP.
    pub head_time: Duration,
    /// Listeners to news and to changes of the tools at once.
    pub listeners: usize,
    /// Those of one agent.
    pub listeners_of_agent: usize,
    /// How long somebody may listen; then it has to come again.
    pub listen_time: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        let threads = std::thread::available_parallelism().map_or(2, usize::from);
        Limits {
            body: 1 << 20,
            line: 64 << 20,
            question: 10_000,
            answer: 4 << 20,
            of_agent: 16,
            of_owner: 256,
            at_work: threads.clamp(2, 16) + 2,
            time: Duration::from_secs(30),
            build_time: Duration::from_secs(600),
            connections: connections(),
            head_time: Duration::from_secs(10),
            listeners: 32,
            listeners_of_agent: 4,
            listen_time: Duration::from_secs(3600),
        }
    }
}

/// So many connections of a kind that those of both kinds together leave half of the files that
/// this process may open to the vaults.
fn connections() -> usize {
    const MOST: usize = 512;
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit};
        let files = getrlimit(Resource::Nofile).current;
        let quarter = files.and_then(|files| usize::try_from(files / 4).ok());
        quarter.unwrap_or(MOST).clamp(16, MOST)
    }
    #[cfg(not(unix))]
    MOST
}
