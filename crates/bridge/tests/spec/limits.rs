//! How much one caller gets, and for how long: nobody can take what others need.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use lorewell_bridge::Limits;
use lorewell_testkit::HttpAnswer;
use serde_json::{Value, json};

use crate::house::{Answer, House, MCP_HEADERS, NOTES};

#[test]
fn what_is_too_much_is_refused() {
    let house = House::with(NOTES, |options| {
        options.limits = Limits {
            body: 2000,
            question: 20,
            answer: 3000,
            ..Limits::default()
        };
    });
    let token = house.approve("scribe", |_| {});
    let code = |answer: Answer| (answer.status, answer.code());
    let long = json!({"query": "x".repeat(3000)});
    let refused = code(house.post(&token, "/v1/search", &long));
    assert_eq!(refused, (413, "request_too_large".to_string()));
    // A body that does not say how long it is.
    let bearer = format!("Bearer {token}");
    let headers = [
        ("Authorization", bearer.as_str()),
        ("Content-Type", "application/json"),
        ("Transfer-Encoding", "chunked"),
    ];
    let chunk = format!("bb8\r\n{}\r\n0\r\n\r\n", "x".repeat(3000));
    let refused = code(house.http("POST", "/v1/search", &headers, &chunk));
    assert_eq!(refused, (413, "request_too_large".to_string()));

    let question = json!({"query": "q".repeat(21)});
    let refused = code(house.post(&token, "/v1/search", &question));
    assert_eq!(refused, (413, "question_too_long".to_string()));
    // Characters are counted, not bytes.
    let just = house.post(&token, "/v1/search", &json!({"query": "窯".repeat(20)}));
    assert_eq!(just.status, 200, "{just:?}");

    house.vault.write("Long.md", "zircon ".repeat(2000));
    let long = house.ask_until("knowledge.status", &json!({}), |status| {
        status["index"]["notes"] == 3
    });
    assert_eq!(long["index"]["pending"], 0);
    let refused = code(house.post(&token, "/v1/read", &json!({"note": "Long"})));
    assert_eq!(refused, (400, "answer_too_large".to_string()));
    // The owner's own programs are not held to that.
    assert!(house.ask("knowledge.read", json!({"note": "Long"})).is_ok());

    // All the same over the Model Context Protocol.
    let listed = house.mcp(&token, "tools/list", &json!({"pad": "x".repeat(3000)}));
    assert_eq!(listed.status, 413, "{listed:?}");
    let code = |result: Value| result["structuredContent"]["error"]["code"].clone();
    let refused = code(house.tool(&token, "search_notes", &question));
    assert_eq!(refused, "question_too_long");
    let read = json!({"note": "Long", "max_chars": 6000});
    assert_eq!(
        code(house.tool(&token, "read_note", &read)),
        "answer_too_large"
    );
}

#[test]
fn a_caller_has_so_many_requests_at_once_and_so_much_time() {
    let house = House::with(NOTES, |options| options.limits.of_agent = 0);
    let token = house.approve("scribe", |_| {});
    let answer = house.post(&token, "/v1/search", &json!({"query": "kiln"}));
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (429, "too_many_requests")
    );
    assert_eq!(answer.header("retry-after"), Some("1"));
    let answer = house.mcp(&token, "tools/list", &json!({}));
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (429, "too_many_requests")
    );
    assert!(
        house
            .ask("knowledge.search", json!({"query": "kiln"}))
            .is_ok()
    );

    let house = House::with(NOTES, |options| options.limits.time = Duration::ZERO);
    let token = house.approve("scribe", |_| {});
    let answer = house.post(&token, "/v1/search", &json!({"query": "kiln"}));
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (504, "took_too_long")
    );
    let call = json!({"name": "search_notes", "arguments": {"query": "kiln"}});
    let answer = house.mcp(&token, "tools/call", &call);
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (504, "took_too_long")
    );
}

#[test]
fn a_list_or_text_of_any_length_is_refused_before_any_work_on_every_road() {
    let house = House::new(NOTES);
    let token = house.approve("scribe", |_| {});
    let many = |count: usize| json!(vec!["the"; count]);
    for (route, tool, field, most) in [
        ("search", "search_notes", "must", 50),
        ("search", "search_notes", "folder", 50),
        ("search", "search_notes", "tag", 50),
        ("search", "search_notes", "also", 8),
        ("context", "vault_context", "attached", 200),
        ("read", "read_note", "heading", 50),
    ] {
        let mut input = json!({field: many(most + 1)});
        input[if route == "read" { "note" } else { "query" }] = "kiln".into();
        let refused = house.post(&token, &format!("/v1/{route}"), &input);
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (400, "wrong_use")
        );
        let message = refused.json()["error"]["message"].to_string();
        assert!(message.contains(&format!("“{field}”")), "{message}");
        let refused = house.tool(&token, tool, &input);
        assert_eq!(refused["structuredContent"]["error"]["code"], "wrong_use");
        let refused = house.ask(route, input).unwrap_err();
        assert_eq!(refused.code, "wrong_use", "{field}");
    }
    let quotes = json!({"quotes": vec![json!({"quote": "x"}); 201]});
    let answer = json!({"answer": "x".repeat(100_001)});
    for input in [quotes, answer] {
        let refused = house.post(&token, "/v1/verify", &input);
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (400, "wrong_use")
        );
    }
}

/// The beginning of a request whose body does not come.
fn begun(house: &House, token: &str, path: &str) -> TcpStream {
    let bearer = format!("Bearer {token}");
    let headers = [MCP_HEADERS, &[("Authorization", bearer.as_str())]].concat();
    let head = HttpAnswer::head(house.address(), ("POST", path), &headers, 100);
    let mut stream = house.connect();
    stream.write_all(format!("{head}{{").as_bytes()).unwrap();
    stream
}

fn rest(mut stream: TcpStream) -> Answer {
    let mut text = Vec::new();
    let _ = stream.read_to_end(&mut text);
    Answer::read(&text)
}

#[test]
fn a_body_that_does_not_come_ends_with_the_time_of_its_request_and_holds_its_callers_place_alone() {
    let house = House::with(NOTES, |options| {
        options.limits.time = Duration::from_secs(6);
        options.limits.of_agent = 2;
    });
    let (slow, other) = (
        house.approve("slow", |_| {}),
        house.approve("other", |_| {}),
    );
    house.ask("search", json!({"query": "kiln"})).unwrap();
    for path in ["/v1/search", "/mcp"] {
        let began = Instant::now();
        let open: Vec<TcpStream> = (0..8).map(|_| begun(&house, &slow, path)).collect();
        // Others are answered meanwhile; this one is refused before any work.
        let nothing = json!({"nothing": 1});
        assert_eq!(house.post(&other, "/v1/search", &nothing).status, 400);
        let mut statuses: Vec<u16> = open.into_iter().map(|it| rest(it).status).collect();
        statuses.sort_unstable();
        // Places are taken as soon as heads are read, and held until the time is over.
        assert_eq!(statuses, [429, 429, 429, 429, 429, 429, 504, 504], "{path}");
        assert!(began.elapsed() >= Duration::from_secs(6), "{path}");
        assert_eq!(house.post(&slow, "/v1/search", &nothing).status, 400);
    }
}

/// A request to listen: to news, or to changes of the tools.
fn listening(house: &House, token: &str, path: &str) -> TcpStream {
    let bearer = format!("Bearer {token}");
    let authorization = ("Authorization", bearer.as_str());
    let (method, headers, body) = match path {
        "/mcp" => {
            let params = json!({"notifications": {"toolsListChanged": true}, "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {}
            }});
            let body = json!({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params});
            let headers = vec![
                authorization,
                ("Content-Type", "application/json"),
                ("Accept", "application/json, text/event-stream"),
                ("MCP-Protocol-Version", "2026-07-28"),
                ("Mcp-Method", "subscriptions/listen"),
            ];
            ("POST", headers, body.to_string())
        }
        _ => ("GET", vec![authorization], String::new()),
    };
    let head = HttpAnswer::head(house.address(), (method, path), &headers, body.len());
    let mut stream = house.connect();
    stream
        .write_all(format!("{head}{body}").as_bytes())
        .unwrap();
    stream
}

/// The head and the first words of an answer that goes on.
fn first_words(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    let mut part = [0; 4096];
    let has_body = |text: &[u8]| {
        let text = String::from_utf8_lossy(text);
        let body = text.split_once("\r\n\r\n").map(|(_, body)| body.len());
        body > Some(0)
    };
    while !has_body(&text) {
        let read = stream.read(&mut part).unwrap();
        assert!(read > 0, "it ended: {}", String::from_utf8_lossy(&text));
        text.extend_from_slice(&part[..read]);
    }
    String::from_utf8_lossy(&text).into_owned()
}

const STREAMS: [&str; 2] = ["/v1/events", "/mcp"];

#[test]
fn an_agent_has_so_many_listeners_and_leaves_places_to_others() {
    let house = House::with(NOTES, |options| {
        options.limits.listeners_of_agent = 2;
        options.limits.listeners = 3;
    });
    let [one, two, three] = ["one", "two", "three"].map(|name| house.approve(name, |_| {}));
    for path in STREAMS {
        let mut open: Vec<TcpStream> = Vec::new();
        for token in [&one, &one, &two] {
            let mut stream = listening(&house, token, path);
            let head = first_words(&mut stream);
            assert!(
                head.starts_with("HTTP/1.1 200") && head.contains("text/event-stream"),
                "{head}"
            );
            open.push(stream);
        }
        for token in [&one, &two, &three] {
            assert_eq!(rest(listening(&house, token, path)).status, 429, "{path}");
        }
        // Listening takes no place of questions.
        assert_eq!(
            house
                .post(&one, "/v1/search", &json!({"query": "kiln"}))
                .status,
            200
        );
        // A place comes free when its listener goes.
        drop(open);
        let until = Instant::now() + Duration::from_secs(60);
        while !first_status(&house, &three, path).starts_with("HTTP/1.1 200") {
            assert!(Instant::now() < until, "{path}");
        }
    }
}

fn first_status(house: &House, token: &str, path: &str) -> String {
    first_words(&mut listening(house, token, path))
}

#[test]
fn listening_ends_after_its_time_and_with_the_approval() {
    let house = House::with(NOTES, |options| {
        options.limits.listen_time = Duration::from_millis(500);
    });
    let token = house.approve("scribe", |_| {});
    for path in STREAMS {
        let mut stream = listening(&house, &token, path);
        first_words(&mut stream);
        // It ends well, and by itself.
        let mut more = Vec::new();
        stream.read_to_end(&mut more).unwrap();
    }
    let house = House::new(NOTES);
    for (number, path) in (0..).zip(STREAMS) {
        let name = format!("scribe{number}");
        let token = house.approve(&name, |_| {});
        let mut stream = listening(&house, &token, path);
        first_words(&mut stream);
        let ending = thread::spawn(move || {
            let mut more = Vec::new();
            stream.read_to_end(&mut more).map(|_| ())
        });
        assert!(!ending.is_finished(), "{path}");
        house.register().revoke(&name).unwrap();
        ending.join().unwrap().unwrap();
    }
}

/// A connection to one of the bridge's addresses that says nothing.
fn silent(address: SocketAddr) -> TcpStream {
    TcpStream::connect(address).unwrap()
}

#[test]
fn connections_that_say_nothing_take_nobodys_place_for_long_and_never_the_sockets() {
    let house = House::with(NOTES, |options| {
        options.limits.connections = 2;
        options.limits.head_time = Duration::from_secs(1);
    });
    for address in house.state.addresses.clone() {
        let began = Instant::now();
        // All places, by one address, and some that wait for one; one has begun to talk.
        let mut held: Vec<TcpStream> = (0..4).map(|_| silent(address)).collect();
        held[0]
            .write_all(b"GET /v1/health HTTP/1.1\r\nHost")
            .unwrap();
        // The socket has places of its own.
        assert!(house.ask("search", json!({"query": "kiln"})).is_ok());
        // Over HTTP one comes free, at every address, when the time of a head is over.
        assert_eq!(house.get("/v1/health").status, 200);
        assert!(began.elapsed() < Duration::from_secs(100));
    }
}
