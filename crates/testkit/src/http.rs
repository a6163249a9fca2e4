//! A request over HTTP written by hand, so that a test can send what no client would.

#![expect(clippy::disallowed_types, reason = "tests connect to this machine")]

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// Whatever may happen on a busy machine, it does not take so long.
const DEADLINE: Duration = Duration::from_secs(120);

/// An answer over HTTP.
#[derive(Debug)]
pub struct HttpAnswer {
    /// The status.
    pub status: u16,
    /// The headers, with names in small letters.
    pub headers: Vec<(String, String)>,
    /// The body, as it was sent.
    pub body: String,
}

/// Sends one request and reads its answer to the end. `Host` and `Content-Length` are the right ones
/// unless they are given.
///
/// # Panics
/// If nobody listens, or what comes back is no answer.
pub fn http(
    address: SocketAddr,
    (method, path): (&str, &str),
    headers: &[(&str, &str)],
    body: &str,
) -> HttpAnswer {
    let mut stream = TcpStream::connect(address).expect("somebody listens");
    stream.set_read_timeout(Some(DEADLINE)).expect("a limit");
    let head = HttpAnswer::head(address, (method, path), headers, body.len());
    stream.write_all(head.as_bytes()).expect("it is sent");
    // A server that refuses by the head alone may have closed before the body is sent.
    let _ = stream.write_all(body.as_bytes());
    let mut text = Vec::new();
    let _ = stream.read_to_end(&mut text);
    HttpAnswer::read(&text)
}

impl HttpAnswer {
    /// The head of a request with a body of so many bytes.
    pub fn head(
        address: SocketAddr,
        (method, path): (&str, &str),
        headers: &[(&str, &str)],
        length: usize,
    ) -> String {
        let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        let given = |name: &str| {
            let mut names = headers.iter().map(|(other, _)| other);
            names.any(|other| other.eq_ignore_ascii_case(name))
        };
        if !given("host") {
            head += &format!("Host: {address}\r\n");
        }
        if !given("content-length") && !given("transfer-encoding") {
            head += &format!("Content-Length: {length}\r\n");
        }
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        head + "\r\n"
    }

    /// The answer that these bytes are.
    ///
    /// # Panics
    /// If they are none.
    pub fn read(text: &[u8]) -> HttpAnswer {
        let text = String::from_utf8_lossy(text);
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let mut lines = head.lines();
        let status = lines.next().and_then(|line| line.split(' ').nth(1));
        let status = status.and_then(|status| status.parse().ok());
        HttpAnswer {
            status: status.unwrap_or_else(|| panic!("no answer: {text:?}")),
            headers: lines
                .filter_map(|line| line.split_once(": "))
                .map(|(name, value)| (name.to_ascii_lowercase(), value.to_string()))
                .collect(),
            body: body.to_string(),
        }
    }

    /// A header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let named = self.headers.iter().find(|(other, _)| other == name);
        named.map(|(_, value)| value.as_str())
    }

    /// The body as JSON.
    ///
    /// # Panics
    /// If it is none.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }

    /// The code of an error.
    ///
    /// # Panics
    /// If the body is no JSON.
    pub fn code(&self) -> String {
        let json = self.json();
        json["error"]["code"]
            .as_str()
            .unwrap_or_default()
            .to_string()
    }
}
