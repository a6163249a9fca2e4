//! The protocol over HTTP, through a real socket.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod client;

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use client::in_process;
use lorewell_mcp::{AskedThrough, Backend, http_service};
use lorewell_testkit::TempVault;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const NOTES: &str = "=== Kiln.md ===\nCone 6, slow, eleven hours.\n";

/// Serves `/mcp`; requests with `X-Test: anonymous` come without somebody who asks.
async fn served(backend: Arc<dyn Backend>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let hosts = [address.to_string()];
    let origins = [format!("http://{address}")];
    let service = http_service(&hosts, &origins, 1 << 20);
    let let_in = move |mut request: Request, next: Next| {
        if request.headers().get("x-test").is_none() {
            let asked = AskedThrough(Arc::clone(&backend));
            request.extensions_mut().insert(asked);
        }
        next.run(request)
    };
    let router = Router::new()
        .nest_service("/mcp", service)
        .layer(from_fn(let_in));
    tokio::spawn(async move { axum::serve(listener, router).await });
    address
}

/// Status, headers and body of a request.
async fn send(
    address: SocketAddr,
    method: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> (u16, String, String) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let mut text = format!(
        "{method} /mcp HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n",
        body.len()
    );
    let given = |name: &str| {
        headers
            .iter()
            .any(|(known, _)| known.eq_ignore_ascii_case(name))
    };
    if !given("host") {
        text += &format!("Host: {address}\r\n");
    }
    if !given("accept") {
        text += "Accept: application/json, text/event-stream\r\n";
    }
    if !given("content-type") {
        text += "Content-Type: application/json\r\n";
    }
    for (name, value) in headers {
        text += &format!("{name}: {value}\r\n");
    }
    stream
        .write_all(format!("{text}\r\n{body}").as_bytes())
        .await
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, head.to_ascii_lowercase(), body.to_string())
}

fn inline(method: &str, mut params: Value) -> String {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}
    });
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string()
}

const CALL: [(&str, &str); 3] = [
    ("MCP-Protocol-Version", "2026-07-28"),
    ("Mcp-Method", "tools/call"),
    ("Mcp-Name", "search_notes"),
];

fn search() -> Value {
    json!({"name": "search_notes", "arguments": {"query": "how slow"}})
}

#[tokio::test]
async fn both_eras_are_answered_with_json_and_without_a_session() {
    let vault = TempVault::new(NOTES);
    let address = served(in_process(&vault)).await;
    let old = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params":
        {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}});
    let (status, head, body) = send(address, "POST", &[], &old.to_string()).await;
    assert_eq!(status, 200, "{body}");
    assert!(head.contains("content-type: application/json"), "{head}");
    assert!(!head.contains("mcp-session-id"), "{head}");
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": search()});
    let version = [("MCP-Protocol-Version", "2025-11-25")];
    let (status, _, old_body) = send(address, "POST", &version, &call.to_string()).await;
    assert_eq!(status, 200, "{old_body}");
    let (status, _, new_body) = send(address, "POST", &CALL, &inline("tools/call", search())).await;
    assert_eq!(status, 200, "{new_body}");
    let content = |body: &str| {
        let answer: Value = serde_json::from_str(body).unwrap();
        answer["result"]["structuredContent"].clone()
    };
    assert_eq!(content(&old_body)["passages"][0]["note"], "Kiln.md");
    assert_eq!(content(&old_body), content(&new_body));
    let discover = [
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "server/discover"),
    ];
    let (status, _, body) = send(
        address,
        "POST",
        &discover,
        &inline("server/discover", json!({})),
    )
    .await;
    assert_eq!(status, 200, "{body}");
    assert!(
        body.contains("2026-07-28") && body.contains("instructions"),
        "{body}"
    );
}

#[tokio::test]
async fn strangers_are_refused_before_any_work() {
    let vault = TempVault::new(NOTES);
    let address = served(in_process(&vault)).await;
    let body = inline("tools/call", search());
    let own = format!("http://{address}");
    for (header, value, expected) in [
        ("Host", "evil.example", 403),
        ("Host", "localhost.evil.example", 403),
        ("Origin", "https://evil.example", 403),
        ("Origin", "null", 403),
        ("Origin", own.as_str(), 200),
        ("Mcp-Method", "tools/list", 400),
        ("X-Test", "anonymous", 200),
    ] {
        let mut headers: Vec<(&str, &str)> = CALL
            .into_iter()
            .filter(|(name, _)| *name != header)
            .collect();
        headers.push((header, value));
        let (status, _, answer) = send(address, "POST", &headers, &body).await;
        assert_eq!(status, expected, "{header}: {value}: {answer}");
        if header == "X-Test" {
            // Whoever let it in did not say who asks.
            assert!(answer.contains("nobody is known to ask"), "{answer}");
        }
        assert_eq!(
            answer.contains("Kiln.md"),
            header == "Origin" && expected == 200
        );
    }
    for method in ["GET", "DELETE", "PUT"] {
        let (status, _, _) = send(address, method, &[], "").await;
        assert_eq!(status, 405, "{method}");
    }
    let (_, head, _) = send(
        address,
        "OPTIONS",
        &[("Origin", "https://evil.example")],
        "",
    )
    .await;
    assert!(!head.contains("access-control-allow-origin"), "{head}");
    let (status, _, _) = send(address, "POST", &CALL, &"x".repeat((1 << 20) + 1)).await;
    assert_eq!(status, 413);
}
