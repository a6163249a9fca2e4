//! A road to the bridge for clients that cannot send a token: it passes every request on, with the
//! token of an approved agent in its head, and changes nothing else but its own address as the
//! host. What names another host stays as it is, and is the bridge's to refuse.

#![expect(clippy::disallowed_types, reason = "from this machine to itself")]

use std::io::{Read, Write, copy};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread;

use anyhow::{Context as _, Result};

/// The longest head that is passed on.
const MAX_HEAD: usize = 64 << 10;

/// Opens the road; the address at which it begins. It stays open until the program ends.
pub(crate) fn open(bridge: SocketAddr, token: String) -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").context("no port is free")?;
    let own = listener.local_addr()?;
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let token = token.clone();
            // A client that goes away is no error.
            thread::spawn(move || pass_on(client, (own, bridge), &token));
        }
    });
    Ok(own)
}

/// One request and its answer; then both sides end, so that no second request comes.
fn pass_on(
    mut client: TcpStream,
    (own, bridge): (SocketAddr, SocketAddr),
    token: &str,
) -> std::io::Result<()> {
    let mut begun = Vec::new();
    let end = loop {
        if let Some(end) = begun.windows(4).position(|four| four == b"\r\n\r\n") {
            break end;
        }
        let mut part = [0; 4096];
        let read = client.read(&mut part)?;
        if read == 0 || begun.len() > MAX_HEAD {
            return Ok(());
        }
        begun.extend_from_slice(part.get(..read).unwrap_or_default());
    };
    let (head, body) = begun.split_at(end);
    let mut server = TcpStream::connect(bridge)?;
    server.write_all(told(&String::from_utf8_lossy(head), (own, bridge), token).as_bytes())?;
    server.write_all(body)?;
    let (mut from_client, mut to_server) = (client.try_clone()?, server.try_clone()?);
    let sending = thread::spawn(move || {
        let _ = copy(&mut from_client, &mut to_server);
    });
    copy(&mut server, &mut client)?;
    let _ = client.shutdown(Shutdown::Both);
    let _ = sending.join();
    Ok(())
}

/// The head as the bridge is to see it.
fn told(head: &str, (own, bridge): (SocketAddr, SocketAddr), token: &str) -> String {
    let port = |address: SocketAddr| format!(":{}", address.port());
    let mut lines = head.split("\r\n");
    let mut told = lines.next().unwrap_or_default().to_string();
    for line in lines {
        let name = line
            .split(':')
            .next()
            .unwrap_or_default()
            .to_ascii_lowercase();
        match name.as_str() {
            "connection" => {}
            // Whoever asks by the name of this road means the bridge.
            "host" | "origin" => {
                told += &format!("\r\n{}", line.replace(&port(own), &port(bridge)))
            }
            _ => told += &format!("\r\n{line}"),
        }
    }
    told + &format!("\r\nConnection: close\r\nAuthorization: Bearer {token}")
}

#[cfg(test)]
mod tests {
    use super::told;

    #[test]
    fn only_the_port_of_the_host_and_the_token_are_other() {
        let (own, bridge) = (
            "127.0.0.1:40".parse().unwrap(),
            "127.0.0.1:50".parse().unwrap(),
        );
        let head =
            "POST /mcp HTTP/1.1\r\nHost: localhost:40\r\nConnection: keep-alive\r\nX: 127.0.0.1:40";
        assert_eq!(
            told(head, (own, bridge), "t"),
            "POST /mcp HTTP/1.1\r\nHost: localhost:50\r\nX: 127.0.0.1:40\r\nConnection: close\r\n\
             Authorization: Bearer t"
        );
        let foreign = told("GET / HTTP/1.1\r\nHost: evil.example", (own, bridge), "t");
        assert!(foreign.contains("\r\nHost: evil.example\r\n"), "{foreign}");
    }
}
