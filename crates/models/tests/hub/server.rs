//! A hub on this machine that speaks the routes of a real one: the list of a repository's files,
//! small files from itself, weights by a redirect to another address, ranges, entity tags.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, SHA256, digest};
use serde_json::{Value, json};

/// The commit that the repository is at.
pub(crate) const COMMIT: &str = "1234567890abcdef1234567890abcdef12345678";
pub(crate) const REPOSITORY: &str = "potters/kiln-small";

/// A request as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) range: Option<String>,
    pub(crate) token: bool,
    /// It came to the address that weights lie at.
    pub(crate) far: bool,
}

/// What goes wrong with one request.
#[derive(Debug, Clone)]
pub(crate) enum Fault {
    /// Another status, with these headers.
    Status(u16, &'static str),
    /// The connection is cut after so many bytes of the content.
    Cut(usize),
    /// Other bytes come than those that were told of.
    OtherBytes,
    /// The whole file comes, whatever part was asked for.
    NoRanges,
}

#[derive(Default)]
struct State {
    files: BTreeMap<String, Vec<u8>>,
    /// Of the next requests whose path has this in it.
    faults: Vec<(&'static str, Fault)>,
    seen: Vec<Seen>,
    far: String,
}

/// The hub; it ends with the process.
pub(crate) struct Server {
    pub(crate) address: String,
    state: Arc<Mutex<State>>,
}

impl Server {
    pub(crate) fn start(files: BTreeMap<String, Vec<u8>>) -> Server {
        let bind = || TcpListener::bind("127.0.0.1:0").unwrap();
        let (near, far) = (bind(), bind());
        let address = |listener: &TcpListener| format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(Mutex::new(State {
            files,
            far: address(&far),
            ..State::default()
        }));
        let server = Server {
            address: address(&near),
            state: Arc::clone(&state),
        };
        for (listener, is_far) in [(near, false), (far, true)] {
            let state = Arc::clone(&state);
            thread::spawn(move || {
                for stream in listener.incoming().flatten() {
                    let _ = answer(stream, &state, is_far);
                }
            });
        }
        server
    }

    /// Lets the next request whose path has `part` in it go wrong.
    pub(crate) fn fail(&self, part: &'static str, fault: Fault) {
        self.state.lock().unwrap().faults.push((part, fault));
    }

    pub(crate) fn put(&self, path: &str, content: Vec<u8>) {
        self.state
            .lock()
            .unwrap()
            .files
            .insert(path.to_string(), content);
    }

    /// The requests since the last look.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        std::mem::take(&mut self.state.lock().unwrap().seen)
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn sha256(content: &[u8]) -> String {
    hex(digest(&SHA256, content).as_ref())
}

fn git(content: &[u8]) -> String {
    let mut blob = format!("blob {}\0", content.len()).into_bytes();
    blob.extend(content);
    hex(digest(&SHA1_FOR_LEGACY_USE_ONLY, &blob).as_ref())
}

fn answer(stream: TcpStream, state: &Mutex<State>, far: bool) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split_whitespace().map(str::to_string);
    let (method, path) = (
        words.next().unwrap_or_default(),
        words.next().unwrap_or_default(),
    );
    let (mut range, mut token) = (None, false);
    loop {
        let mut header = String::new();
        if reader.read_line(&mut header)? == 0 || header.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = header.split_once(':') {
            match name.to_ascii_lowercase().as_str() {
                "range" => range = Some(value.trim().to_string()),
                "authorization" => token = value.contains("hf_secret"),
                _ => {}
            }
        }
    }
    let mut state = state.lock().unwrap();
    state.seen.push(Seen {
        method: method.clone(),
        path: path.clone(),
        range: range.clone(),
        token,
        far,
    });
    let fault = (state.faults.iter())
        .position(|(part, fault)| {
            // A cut is of what has a content.
            path.contains(part) && (method == "GET" || matches!(fault, Fault::Status(..)))
        })
        .map(|at| state.faults.remove(at).1);
    let stream = reader.get_mut();
    if let Some(Fault::Status(status, headers)) = &fault {
        return write!(
            stream,
            "HTTP/1.1 {status} No\r\n{headers}content-length: 0\r\nconnection: close\r\n\r\n"
        );
    }
    let reply = reply(&state, &path, far);
    let Some((headers, content)) = reply else {
        return write!(
            stream,
            "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        );
    };
    if headers.contains("location:") {
        return write!(
            stream,
            "HTTP/1.1 302 Found\r\n{headers}content-length: 0\r\nconnection: close\r\n\r\n"
        );
    }
    let from = range
        .as_deref()
        .filter(|_| !matches!(fault, Some(Fault::NoRanges)))
        .and_then(|range| {
            range
                .strip_prefix("bytes=")?
                .strip_suffix('-')?
                .parse::<usize>()
                .ok()
        });
    let (status, begin) = match from {
        Some(from) if from >= content.len() => {
            return write!(
                stream,
                "HTTP/1.1 416 No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            );
        }
        Some(from) => ("206 Partial Content", from),
        None => ("200 OK", 0),
    };
    let mut part = content[begin..].to_vec();
    write!(
        stream,
        "HTTP/1.1 {status}\r\n{headers}content-length: {}\r\nconnection: close\r\n",
        part.len()
    )?;
    if from.is_some() {
        write!(
            stream,
            "content-range: bytes {begin}-{}/{}\r\n",
            content.len() - 1,
            content.len()
        )?;
    }
    write!(stream, "\r\n")?;
    if method == "HEAD" {
        return Ok(());
    }
    match fault {
        Some(Fault::Cut(after)) => part.truncate(after),
        Some(Fault::OtherBytes) => part.iter_mut().for_each(|byte| *byte ^= 1),
        _ => {}
    }
    stream.write_all(&part)
}

/// Headers and content of what lies at a path.
fn reply(state: &State, path: &str, far: bool) -> Option<(String, Vec<u8>)> {
    let path = path.split('?').next()?;
    let json = |value: Value| {
        Some((
            "content-type: application/json\r\n".to_string(),
            value.to_string().into_bytes(),
        ))
    };
    if let Some(hash) = path.strip_prefix("/cdn/").filter(|_| far) {
        let content = state
            .files
            .values()
            .find(|content| sha256(content) == hash)?;
        return Some(("accept-ranges: bytes\r\n".to_string(), content.clone()));
    }
    let files = || -> Vec<Value> {
        state
            .files
            .keys()
            .map(|path| json!({ "rfilename": path }))
            .collect()
    };
    let about = json!({
        "id": REPOSITORY, "sha": COMMIT, "siblings": files(), "downloads": 7, "gated": false,
        "tags": ["license:mit"],
    });
    if path == "/api/models" {
        return json(json!([about]));
    }
    if path == format!("/api/models/{REPOSITORY}/revision/main") {
        return json(about);
    }
    let file = path.strip_prefix(&format!("/{REPOSITORY}/resolve/{COMMIT}/"))?;
    let content = state.files.get(file)?;
    if file.ends_with(".safetensors") {
        let hash = sha256(content);
        let headers = format!(
            "location: {}/cdn/{hash}\r\nx-repo-commit: {COMMIT}\r\nx-linked-etag: \"{hash}\"\r\nx-linked-size: {}\r\n",
            state.far,
            content.len()
        );
        return Some((headers, Vec::new()));
    }
    let headers = format!(
        "etag: \"{}\"\r\nx-repo-commit: {COMMIT}\r\naccept-ranges: bytes\r\n",
        git(content)
    );
    Some((headers, content.clone()))
}
