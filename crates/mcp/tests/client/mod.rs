//! A client that speaks the protocol line by line, over pipes in memory or a process.

#![allow(dead_code, reason = "each test file uses a part")]

use std::path::Path;
use std::sync::Arc;

use lorewell_mcp::{Backend, InProcess, StdioError, serve};
use lorewell_setup::{Environment, Flags};
use lorewell_testkit::TempVault;
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf, duplex,
    split,
};
use tokio::task::JoinHandle;

/// The revisions in which clients open the conversation differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    /// `initialize`, 2025-11-25.
    Handshake,
    /// Each request says what it is, 2026-07-28.
    Inline,
}

pub(crate) const ERAS: [Era; 2] = [Era::Handshake, Era::Inline];

pub(crate) struct Client {
    era: Era,
    write: WriteHalf<DuplexStream>,
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    pub(crate) server: JoinHandle<Result<(), StdioError>>,
    last_id: u64,
    /// Notifications that came so far.
    pub(crate) heard: Vec<Value>,
}

/// A home beside the vault, with the vault listed as `Notes`.
pub(crate) fn environment(vault: &TempVault) -> Environment {
    let home = vault.beside("home");
    std::fs::create_dir_all(&home).unwrap();
    let environment = Environment {
        config_dir: home.join(".config"),
        data_dir: home.join(".local/share"),
        vars: Default::default(),
        current_dir: home.clone(),
        home,
    };
    let root = vault.root().to_str().unwrap();
    lorewell_setup::vaults::add(&environment, Some("Notes"), root).unwrap();
    environment
}

/// Answers in this process from the vaults of the list.
pub(crate) fn in_process(vault: &TempVault) -> Arc<dyn Backend> {
    Arc::new(InProcess::new(environment(vault), Flags::new(), None))
}

/// Answers in this process from one folder.
pub(crate) fn bound(environment: &Environment, folder: &Path) -> Arc<dyn Backend> {
    let folder = folder.to_str().unwrap().to_string();
    Arc::new(InProcess::new(
        environment.clone(),
        Flags::new(),
        Some(folder),
    ))
}

impl Client {
    /// A client that has opened the conversation.
    pub(crate) async fn open(era: Era, backend: Arc<dyn Backend>) -> Client {
        let mut client = Client::silent(era, backend);
        if era == Era::Handshake {
            let about = client
                .result(
                    "initialize",
                    json!({"protocolVersion": "2025-11-25", "capabilities": {},
                        "clientInfo": {"name": "test", "version": "1"}}),
                )
                .await;
            assert_eq!(about["protocolVersion"], "2025-11-25");
            client
                .send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
                .await;
        }
        client
    }

    /// A client that has said nothing yet.
    pub(crate) fn silent(era: Era, backend: Arc<dyn Backend>) -> Client {
        let (ours, theirs) = duplex(1 << 20);
        let (read, write) = split(theirs);
        let server = tokio::spawn(serve(backend, read, write));
        let (read, write) = split(ours);
        Client {
            era,
            write,
            lines: BufReader::new(read).lines(),
            server,
            last_id: 0,
            heard: Vec::new(),
        }
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        self.send_text(&message.to_string()).await;
    }

    pub(crate) async fn send_text(&mut self, line: &str) {
        self.write.write_all(line.as_bytes()).await.unwrap();
        self.write.write_all(b"\n").await.unwrap();
    }

    /// Sends a request and says its id.
    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> u64 {
        self.last_id += 1;
        let id = self.last_id;
        let params = self.dressed(params);
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .await;
        id
    }

    fn dressed(&self, mut params: Value) -> Value {
        if self.era == Era::Inline {
            let meta = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {}
            });
            for (key, value) in meta.as_object().unwrap() {
                params["_meta"][key] = value.clone();
            }
        }
        params
    }

    /// The next message, or nothing where the server closed its side.
    pub(crate) async fn message(&mut self) -> Option<Value> {
        let line = self.lines.next_line().await.unwrap()?;
        Some(serde_json::from_str(&line).unwrap())
    }

    /// The whole answer to a request; notifications before it are kept.
    pub(crate) async fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.message().await.expect("an answer before the end");
            if message.get("id") == Some(&json!(id)) && message.get("method").is_none() {
                return message;
            }
            self.heard.push(message);
        }
    }

    /// The result of a request that succeeds.
    pub(crate) async fn result(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params).await;
        let answer = self.answer(id).await;
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// The error of a request that is refused by the protocol.
    pub(crate) async fn error(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params).await;
        let answer = self.answer(id).await;
        assert!(answer.get("result").is_none(), "{method}: {answer}");
        answer["error"].clone()
    }

    /// What a tool answers.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        self.result("tools/call", params).await
    }

    /// What a tool that does its work has for the model.
    pub(crate) async fn content(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments).await;
        assert_eq!(result["isError"], false, "{tool}: {result}");
        result["structuredContent"].clone()
    }

    /// Closes this side and waits until the server ended.
    pub(crate) async fn close(mut self) -> Result<(), StdioError> {
        self.write.shutdown().await.unwrap();
        while let Ok(Some(_)) = self.lines.next_line().await {}
        self.server.await.unwrap()
    }

    /// Goes away without a word.
    pub(crate) async fn die(self) -> Result<(), StdioError> {
        drop((self.write, self.lines));
        self.server.await.unwrap()
    }
}
