//! A server that answers `POST /v1/embeddings` in the OpenAI form with a hashed bag of words, and
//! misbehaves as it is told. On this machine only, on a port of its own.

#![expect(
    clippy::disallowed_types,
    reason = "a server for tests must listen; it does so on this machine alone"
)]

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Numbers in a vector, unless `dims` says otherwise.
const DIMS: u64 = 256;

/// What [`StubEndpoint::set`] takes:
///
/// | key | what it does |
/// | --- | --- |
/// | `dims`, `seed` | the model: length of vectors, and which words lie where; they stay until named again |
/// | `status` | every call ends so |
/// | `error` `{status, body, retry_after_s, retry_after}` | what the limits below answer |
/// | `max_tokens` with `tokens_per_char` | a longer input is an error |
/// | `max_batch`, `max_body_bytes` | more inputs or bytes are an error |
/// | `reject_blank` `{status, body}` | an input without characters is an error |
/// | `poison` `{contains, status, body}` | an input that holds the text is an error |
/// | `values` `{piece: "null" or "inf" or "zeros"}` | inputs that hold the piece get such a vector |
/// | `slips` `{calls, dims, seed}` | so many calls are answered by another model |
/// | `order` | `reversed`, `no_index`, `same_index`, `too_few` |
/// | `script` | a list of errors (or `{"ok": true}`), one a call; the last repeats |
/// | `rate` `{per_window, window_ms, status, retry_after_s}` | so many inputs in a window |
/// | `fail_after` | after so many inputs, an error |
/// | `delay_ms`, `hang` | answers late, or never |
/// | `refuse` | closes every connection |
/// | `routes`, `other_routes` `{status, body}` | the paths that are served, and what others answer |
/// | `redirect` | every call leads on to this address |
/// | `ok` | back to normal |
pub struct StubEndpoint {
    address: SocketAddr,
    shared: Arc<Mutex<Shared>>,
}

/// A request that the server saw.
#[derive(Clone, Debug)]
pub struct StubCall {
    /// The path.
    pub path: String,
    /// The model that was asked for.
    pub model: String,
    /// The inputs, without the one that is not counted.
    pub inputs: Vec<String>,
    /// The status that it was answered with.
    pub status: u16,
    /// When it came.
    pub at: Instant,
    /// The `Authorization` header.
    pub authorization: Option<String>,
    /// For how long it asked not to be asked again.
    pub pause: Option<Duration>,
}

struct Shared {
    options: Value,
    dims: u64,
    seed: u64,
    /// An input that is answered like any other, and not counted.
    uncounted: String,
    calls: Vec<StubCall>,
    /// Calls since the options were set.
    turn: usize,
    /// Inputs served since the options were set.
    served: u64,
    window: Option<(Instant, u64)>,
    stopped: bool,
}

/// What came over a connection.
struct Request {
    path: String,
    authorization: Option<String>,
    body: Vec<u8>,
}

/// What a call is answered with.
#[derive(Default)]
struct Reply {
    status: u16,
    body: String,
    headers: String,
    pause: Option<Duration>,
}

impl StubEndpoint {
    /// Starts it. `uncounted` is an input that clients send to learn which model is there: it is
    /// answered and does not count.
    ///
    /// # Panics
    /// The system gives no port.
    pub fn start(uncounted: &str) -> StubEndpoint {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let address = listener.local_addr().expect("an address");
        let shared = Arc::new(Mutex::new(Shared {
            options: json!({}),
            dims: DIMS,
            seed: 0,
            uncounted: uncounted.to_string(),
            calls: Vec::new(),
            turn: 0,
            served: 0,
            window: None,
            stopped: false,
        }));
        let of_thread = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if lock(&of_thread).stopped {
                    break;
                }
                let shared = Arc::clone(&of_thread);
                thread::spawn(move || drop(converse(&stream, &shared)));
            }
        });
        StubEndpoint { address, shared }
    }

    /// Its address, without a path.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Behaves in another way from now on; see [`StubEndpoint`].
    pub fn set(&self, options: &Value) {
        let mut shared = lock(&self.shared);
        shared.dims = options["dims"].as_u64().unwrap_or(shared.dims);
        shared.seed = options["seed"].as_u64().unwrap_or(shared.seed);
        shared.options = options.clone();
        (shared.turn, shared.served, shared.window) = (0, 0, None);
    }

    /// Every call so far.
    pub fn calls(&self) -> Vec<StubCall> {
        lock(&self.shared).calls.clone()
    }

    /// Inputs served since it was set last.
    pub fn served(&self) -> u64 {
        lock(&self.shared).served
    }

    /// The vector that its present model has of a text, of unit length.
    pub fn vector(&self, text: &str) -> Vec<f64> {
        let shared = lock(&self.shared);
        bag_of_words(text, shared.dims, shared.seed)
    }
}

impl Drop for StubEndpoint {
    fn drop(&mut self) {
        lock(&self.shared).stopped = true;
        // Wakes the thread that listens.
        drop(TcpStream::connect(self.address));
    }
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Answers the requests of one connection until it is closed.
fn converse(stream: &TcpStream, shared: &Mutex<Shared>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    loop {
        let is_closed = |shared: &Shared| shared.stopped || shared.options["refuse"] == true;
        if is_closed(&lock(shared)) {
            return Ok(());
        }
        let Some(request) = read_request(&mut reader)? else {
            return Ok(());
        };
        if is_closed(&lock(shared)) {
            return Ok(());
        }
        let reply = answer(shared, request);
        while lock(shared).options["hang"] == true && !lock(shared).stopped {
            thread::sleep(Duration::from_millis(10));
        }
        let Reply {
            status,
            body,
            headers,
            ..
        } = reply;
        let length = body.len();
        write!(
            &mut &*stream,
            "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\n{headers}content-length: {length}\r\n\r\n{body}"
        )?;
    }
}

/// The next request; nothing where there is none.
fn read_request(reader: &mut BufReader<TcpStream>) -> io::Result<Option<Request>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let path = line.split(' ').nth(1).unwrap_or_default().to_string();
    let (mut length, mut authorization) = (0, None);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().unwrap_or(0),
            "authorization" => authorization = Some(value.trim().to_string()),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Some(Request {
        path,
        authorization,
        body,
    }))
}

/// The answer to a request, which is noted.
fn answer(shared: &Mutex<Shared>, request: Request) -> Reply {
    let at = Instant::now();
    let json: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let inputs = json["input"].as_array().into_iter().flatten();
    let inputs: Vec<String> = { inputs.filter_map(Value::as_str) }
        .map(str::to_string)
        .collect();
    let delay = lock(shared).options["delay_ms"].as_u64().unwrap_or(0);
    thread::sleep(Duration::from_millis(delay));
    let mut shared = lock(shared);
    let shared = &mut *shared;
    let counted: Vec<String> = { inputs.iter() }
        .filter(|input| **input != shared.uncounted)
        .cloned()
        .collect();
    let reply = shared
        .error(&request, &inputs, counted.len() as u64)
        .unwrap_or_else(|| {
            shared.served += counted.len() as u64;
            Reply {
                status: 200,
                body: shared.vectors(&inputs),
                ..Reply::default()
            }
        });
    shared.turn += 1;
    shared.calls.push(StubCall {
        path: request.path,
        model: json["model"].as_str().unwrap_or_default().to_string(),
        inputs: counted,
        status: reply.status,
        at,
        authorization: request.authorization,
        pause: reply.pause,
    });
    reply
}

impl Shared {
    /// The error that a call ends with, if any.
    fn error(&mut self, request: &Request, inputs: &[String], counted: u64) -> Option<Reply> {
        let options = &self.options;
        let limit = |key: &str| options[key].as_u64();
        if let Some(to) = options["redirect"].as_str() {
            return Some(Reply {
                status: 307,
                headers: format!("location: {to}\r\n"),
                ..Reply::default()
            });
        }
        let is_served = |routes: &Vec<Value>| routes.iter().any(|route| *route == request.path);
        if options["routes"]
            .as_array()
            .is_some_and(|routes| !is_served(routes))
        {
            return Some(error_reply(&options["other_routes"], 404));
        }
        if let Some(status) = limit("status") {
            return Some(error_reply(&options["error"], status));
        }
        let script = options["script"].as_array().and_then(|entries| {
            let last = entries.len().checked_sub(1)?;
            entries.get(self.turn.min(last))
        });
        if let Some(entry) = script.filter(|entry| entry["ok"] != true) {
            return Some(error_reply(entry, 500));
        }
        let rate = &options["rate"];
        if let Some(most) = rate["per_window"].as_u64() {
            let length = Duration::from_millis(rate["window_ms"].as_u64().unwrap_or(1000));
            let now = Instant::now();
            let window = self
                .window
                .filter(|(began, _)| now.duration_since(*began) < length);
            let (began, used) = window.unwrap_or((now, 0));
            if used + counted > most {
                return Some(error_reply(rate, 429));
            }
            self.window = Some((began, used + counted));
        }
        if limit("fail_after").is_some_and(|most| self.served + counted > most) {
            return Some(error_reply(&options["error"], 500));
        }
        let rate = options["tokens_per_char"].as_f64().unwrap_or(0.25);
        let tokens = |input: &String| (input.chars().count() as f64 * rate).ceil() as u64;
        let is_too_long = |most: u64| inputs.iter().any(|input| tokens(input) > most);
        let exceeds = limit("max_tokens").is_some_and(is_too_long)
            || limit("max_batch").is_some_and(|most| inputs.len() as u64 > most)
            || limit("max_body_bytes").is_some_and(|most| request.body.len() as u64 > most);
        if exceeds {
            return Some(error_reply(&options["error"], 400));
        }
        let blank = &options["reject_blank"];
        if blank.is_object() && inputs.iter().any(|input| input.trim().is_empty()) {
            return Some(error_reply(blank, 400));
        }
        let poison = &options["poison"];
        let piece = poison["contains"].as_str()?;
        let poisoned = inputs.iter().any(|input| input.contains(piece));
        poisoned.then(|| error_reply(poison, 500))
    }

    /// The body with the vectors of some inputs.
    fn vectors(&self, inputs: &[String]) -> String {
        let order = self.options["order"].as_str().unwrap_or_default();
        let mut items: Vec<String> = { inputs.iter().enumerate() }
            .map(|(index, input)| {
                let index = match order {
                    "no_index" => String::new(),
                    "same_index" => "\"index\":0,".to_string(),
                    _ => format!("\"index\":{index},"),
                };
                format!(
                    "{{{index}\"object\":\"embedding\",\"embedding\":{}}}",
                    self.numbers(input)
                )
            })
            .collect();
        match order {
            "reversed" => items.reverse(),
            "too_few" => drop(items.pop()),
            _ => {}
        }
        format!("{{\"object\":\"list\",\"data\":[{}]}}", items.join(","))
    }

    fn numbers(&self, input: &str) -> String {
        let bad = self.options["values"].as_object();
        let mut bad = bad.into_iter().flatten();
        let bad = bad.find(|(piece, _)| input.contains(*piece));
        let slips = &self.options["slips"];
        let slips = slips["calls"].as_u64().map(|calls| (calls, slips));
        let (dims, seed) = match slips {
            Some((calls, other)) if (self.turn as u64) < calls => (
                other["dims"].as_u64().unwrap_or(self.dims),
                other["seed"].as_u64().unwrap_or(self.seed),
            ),
            _ => (self.dims, self.seed),
        };
        let vector = bag_of_words(input, dims, seed);
        match bad.and_then(|(_, how)| how.as_str()) {
            Some("zeros") => json!(vec![0.0; vector.len()]).to_string(),
            Some(how) => {
                let first = if how == "inf" { "1e999" } else { "null" };
                let others = json!(&vector[1..]).to_string();
                format!("[{first},{}", &others[1..])
            }
            None => json!(vector).to_string(),
        }
    }
}

fn error_reply(of: &Value, usual: u64) -> Reply {
    let status = of["status"].as_u64().unwrap_or(usual);
    let header = |value: String| format!("retry-after: {value}\r\n");
    let headers = match (of["retry_after_s"].as_f64(), of["retry_after"].as_str()) {
        (Some(seconds), _) => header(seconds.to_string()),
        (_, Some(text)) => header(text.to_string()),
        _ => String::new(),
    };
    Reply {
        status: u16::try_from(status).unwrap_or(500),
        body: of["body"].as_str().unwrap_or_default().to_string(),
        headers,
        pause: of["retry_after_s"].as_f64().map(Duration::from_secs_f64),
    }
}

/// The sum of the words' own directions, of unit length. A word's direction follows from its
/// letters and the seed alone.
fn bag_of_words(text: &str, dims: u64, seed: u64) -> Vec<f64> {
    let mut sum = vec![0.0; usize::try_from(dims).unwrap_or(1)];
    let lower = text.to_lowercase();
    let words = lower
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    for word in words {
        add_word(&mut sum, word, seed);
    }
    if sum.iter().all(|number| *number == 0.0) {
        add_word(&mut sum, &lower, seed);
    }
    let length = sum.iter().map(|number| number * number).sum::<f64>().sqrt();
    sum.iter().map(|number| number / length).collect()
}

fn add_word(sum: &mut [f64], word: &str, seed: u64) {
    // FNV-1a over the letters; its bits, stirred, are the signs.
    let start = 0xcbf2_9ce4_8422_2325 ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let hash = word.bytes().fold(start, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    for (at, number) in (1..).zip(sum) {
        let mut bits = hash.wrapping_add(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(at));
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        *number += if (bits ^ (bits >> 31)) & 1 == 0 {
            1.0
        } else {
            -1.0
        };
    }
}
