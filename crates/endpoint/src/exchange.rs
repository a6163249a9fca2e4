//! One request and its answer, checked.

use std::io::ErrorKind;
use std::time::{Duration, SystemTime};

use serde::Deserialize;
use serde_json::{Value, json};
use ureq::{Agent, Timeout};

use crate::fault::{Fault, Kind, kind_of, words_of};
use crate::key::masked;
use crate::wait::retry_after;
use crate::{Address, Key};

/// More than an answer has beside its vectors, and more than a vector has: some 12,000 numbers.
const MOST_BYTES: u64 = 1 << 20;
const MOST_BYTES_A_VECTOR: u64 = 256 << 10;
/// More than any batch answers.
const MOST_BYTES_AT_ALL: u64 = 256 << 20;
/// A server that takes longer to be reached is not there.
const CONNECT: Duration = Duration::from_secs(5);

/// A vector as it came, or why it is none.
pub(crate) type Numbers = Result<Vec<f32>, String>;

/// The way to one server and model.
pub(crate) struct Wire {
    agent: Agent,
    address: Address,
    model: String,
    key: Option<Key>,
}

#[derive(Deserialize)]
struct AnswerJson {
    data: Vec<ItemJson>,
}

#[derive(Deserialize)]
struct ItemJson {
    index: Option<usize>,
    embedding: Vec<Option<f64>>,
}

impl Wire {
    pub(crate) fn new(address: Address, model: String, key: Option<Key>) -> Wire {
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            // A redirect is told and not followed: notes and key go where the user said.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_connect(Some(CONNECT))
            .user_agent(concat!("lorewell/", env!("CARGO_PKG_VERSION")));
        if address.is_loopback() {
            config = config.proxy(None);
        }
        Wire {
            agent: config.build().into(),
            address,
            model,
            key,
        }
    }

    /// The vectors of some texts, in their order, each checked by itself. The texts are sent as they
    /// are; there must be one at least.
    pub(crate) fn ask(&self, texts: &[&str], timeout: Duration) -> Result<Vec<Numbers>, Fault> {
        let body = json!({ "model": self.model, "input": texts }).to_string();
        let most = MOST_BYTES + MOST_BYTES_A_VECTOR * texts.len() as u64;
        let most = most.min(MOST_BYTES_AT_ALL);
        let mut outcome = self.send(&body, timeout, most);
        if outcome.as_ref().is_err_and(is_stale) {
            // The server closed a connection that was kept; nothing was read of it.
            outcome = self.send(&body, timeout, most);
        }
        let (status, retry_after, body) = outcome.map_err(|error| self.unreached(&error))?;
        let words = || masked(&words_of(&body), self.key.as_ref());
        if status != 200 {
            let said = format!(
                "{} answered {status}{}",
                self.address.url(),
                after(&words())
            );
            let kind = kind_of(status, &body, retry_after);
            return Err(Fault { kind, said });
        }
        let items: AnswerJson = serde_json::from_str(&body).map_err(|error| {
            let json: Value = serde_json::from_str(&body).unwrap_or_default();
            let why = match json.get("error") {
                Some(_) => after(&words()),
                None => format!(" with what is no list of vectors: {error}"),
            };
            let said = format!("{} answered{why}", self.address.url());
            let kind = match json.get("error") {
                Some(_) => kind_of(200, &words(), None),
                None => Kind::Texts,
            };
            Fault { kind, said }
        })?;
        self.in_order(items.data, texts.len())
    }

    /// Status, wait and body of an answer, which has at most `most` bytes.
    fn send(
        &self,
        body: &str,
        timeout: Duration,
        most: u64,
    ) -> Result<(u16, Option<Duration>, String), ureq::Error> {
        let mut request = self
            .agent
            .post(self.address.url())
            .header("content-type", "application/json")
            .header("accept", "application/json");
        if let Some(key) = &self.key {
            request = request.header("authorization", key.header());
        }
        let config = request.config().timeout_global(Some(timeout));
        let mut answer = config.build().send(body)?;
        let header = |name: &str| answer.headers().get(name)?.to_str().ok();
        let wait = header("retry-after").and_then(|text| retry_after(text, SystemTime::now()));
        let status = answer.status().as_u16();
        let to = header("location").map(str::to_string);
        let reading = answer.body_mut().with_config().limit(most);
        let text = String::from_utf8_lossy(&reading.read_to_vec()?).into_owned();
        match (status, to) {
            (300..=399, Some(to)) => Ok((status, wait, format!("it leads on to {to}"))),
            _ => Ok((status, wait, text)),
        }
    }

    fn unreached(&self, error: &ureq::Error) -> Fault {
        let (kind, why) = match error {
            ureq::Error::Timeout(Timeout::Connect | Timeout::Resolve) => {
                (Kind::Down, "it does not answer".to_string())
            }
            ureq::Error::Timeout(_) => (Kind::Slow, "no answer came in time".to_string()),
            ureq::Error::HostNotFound => (Kind::Down, "no host has that name".to_string()),
            ureq::Error::Io(error) => (Kind::Down, error.to_string()),
            other => (Kind::Down, other.to_string()),
        };
        let why = masked(&why, self.key.as_ref());
        let said = format!("{} cannot be asked: {why}", self.address.url());
        Fault { kind, said }
    }

    /// The items in the order of the texts: each index once, none left out.
    fn in_order(&self, items: Vec<ItemJson>, wanted: usize) -> Result<Vec<Numbers>, Fault> {
        let fault = |why: String| {
            let said = format!("{} answered with {why}", self.address.url());
            let kind = Kind::Unordered;
            Fault { kind, said }
        };
        if items.len() != wanted {
            return Err(fault(format!("{} vectors for {wanted} texts", items.len())));
        }
        let mut ordered: Vec<Option<Numbers>> = Vec::new();
        ordered.resize_with(wanted, || None);
        for item in items {
            let index = match item.index {
                Some(index) => index,
                None if wanted == 1 => 0,
                None => return Err(fault("vectors that bear no index".to_string())),
            };
            let place = ordered.get_mut(index);
            let place = place
                .ok_or_else(|| fault(format!("a vector of text {index}, which was not sent")))?;
            if place.replace(numbers(item.embedding)).is_some() {
                return Err(fault(format!("two vectors of text {index}")));
            }
        }
        Ok(ordered.into_iter().flatten().collect())
    }
}

/// The numbers of a vector, made one of unit length; or why that cannot be.
fn numbers(given: Vec<Option<f64>>) -> Numbers {
    let mut squares = 0.0;
    for number in &given {
        match number {
            Some(number) if number.is_finite() => squares += number * number,
            _ => return Err("a number of its vector is none".to_string()),
        }
    }
    let length = squares.sqrt();
    if !length.is_finite() || length < 1e-12 {
        return Err("its vector has no direction".to_string());
    }
    let unit = given
        .into_iter()
        .flatten()
        .map(|number| (number / length) as f32);
    Ok(unit.collect())
}

fn is_stale(error: &ureq::Error) -> bool {
    let gone = [
        ErrorKind::ConnectionReset,
        ErrorKind::ConnectionAborted,
        ErrorKind::BrokenPipe,
        ErrorKind::UnexpectedEof,
    ];
    matches!(error, ureq::Error::Io(error) if gone.contains(&error.kind()))
}

/// A server's words, as the end of a sentence.
fn after(words: &str) -> String {
    match words {
        "" => String::new(),
        words => format!(": {words}"),
    }
}
