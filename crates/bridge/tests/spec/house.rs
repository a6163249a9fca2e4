//! A user's home with notes, and a bridge that runs in it.

use std::fs;
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use lorewell_agents::{Approval, Reader, Register, VaultScope};
use lorewell_bridge::{
    As, BridgeError, Client, Doing, Level, Limits, Options, Places, Request, State, serve,
    wait_until_gone,
};
use lorewell_capabilities::{Desk, Entry, Failure, table};
use lorewell_engine::Quiet;
use lorewell_setup::{Environment, agents_dir};
pub(crate) use lorewell_testkit::HttpAnswer as Answer;
use lorewell_testkit::{TempVault, http};
use serde_json::{Value, json};

/// Whatever may happen on a busy machine, it does not take so long.
pub(crate) const DEADLINE: Duration = Duration::from_secs(120);

pub(crate) const NOTES: &str = "
=== Kiln.md ===
---
aliases: [Oven]
tags: [ceramics/firing]
---
# Kiln
## Firing
Cone 6, slow, eleven hours.
## Cooling
Never open it above 120 degrees.
=== Glazes/Celadon.md ===
The celadon glaze needs a reduction firing in the [[Kiln]].
";

/// What a client of the Model Context Protocol sends besides.
pub(crate) const MCP_HEADERS: &[(&str, &str)] = &[
    ("Content-Type", "application/json"),
    ("Accept", "application/json, text/event-stream"),
    ("MCP-Protocol-Version", "2025-11-25"),
];

/// A home in which a bridge runs until it is dropped.
pub(crate) struct House {
    pub(crate) vault: TempVault,
    pub(crate) environment: Environment,
    pub(crate) places: Places,
    pub(crate) state: State,
    thread: Option<JoinHandle<Result<(), BridgeError>>>,
}

impl House {
    pub(crate) fn new(notes: &str) -> House {
        House::with(notes, |_| {})
    }

    /// A bridge with other options than the usual ones.
    pub(crate) fn with(notes: &str, change: impl FnOnce(&mut Options)) -> House {
        let vault = TempVault::new(notes);
        House::around(vault, "", change).unwrap()
    }

    /// The same over a vault that is there, with these settings; the vault is listed as `Notes`.
    pub(crate) fn around(
        vault: TempVault,
        settings: &str,
        change: impl FnOnce(&mut Options),
    ) -> Result<House, BridgeError> {
        let environment = environment(&vault);
        write_config(&environment, &vault, settings);
        let places = Places::new(&environment, Some(&environment.home.join("run")));
        let mut options = options(&environment, &places);
        change(&mut options);
        let (send, started) = mpsc::channel();
        let thread =
            thread::spawn(move || serve(options, |state| send.send(state.clone()).unwrap()));
        match started.recv() {
            Ok(state) => Ok(House {
                vault,
                environment,
                places,
                state,
                thread: Some(thread),
            }),
            Err(_) => Err(thread.join().unwrap().unwrap_err()),
        }
    }

    /// Sets other settings.
    pub(crate) fn set(&self, settings: &str) {
        write_config(&self.environment, &self.vault, settings);
    }

    pub(crate) fn register(&self) -> Register {
        Register::at(agents_dir(&self.environment))
    }

    /// Approves an agent; its token.
    pub(crate) fn approve(&self, name: &str, change: impl FnOnce(&mut Approval)) -> String {
        let mut approval = Approval {
            name: name.to_string(),
            vaults: VaultScope::All,
            manage: false,
            reader: Reader::Local,
            off: Vec::new(),
            expires_at: None,
        };
        change(&mut approval);
        let approved = self.register().approve(approval, Timestamp::now());
        approved.unwrap().1.reveal().to_string()
    }

    pub(crate) fn client(&self) -> Client {
        Client::connect(&self.places).unwrap()
    }

    /// Asks over the socket as the owner.
    pub(crate) fn ask(&self, capability: &str, input: Value) -> Result<Value, Failure> {
        self.ask_as(As::Owner, capability, input)
    }

    pub(crate) fn ask_as(
        &self,
        caller: As,
        capability: &str,
        input: Value,
    ) -> Result<Value, Failure> {
        let request = request(caller, capability, input);
        let output = self.client().send(&request, &Quiet)?;
        Ok(serde_json::from_str(output.get()).unwrap())
    }

    /// Asks again until the answer is as wanted.
    pub(crate) fn ask_until(
        &self,
        capability: &str,
        input: &Value,
        wanted: impl Fn(&Value) -> bool,
    ) -> Value {
        let until = Instant::now() + DEADLINE;
        loop {
            let answer = self.ask(capability, input.clone()).unwrap();
            if wanted(&answer) {
                return answer;
            }
            assert!(Instant::now() < until, "{answer}");
        }
    }

    /// Waits until no request is being answered.
    pub(crate) fn wait_until_idle(&self) {
        let until = Instant::now() + DEADLINE;
        while self.client().get::<Doing>(&Request::State).unwrap().running > 0 {
            assert!(Instant::now() < until, "a request does not end");
            thread::yield_now();
        }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.state.addresses[0]
    }

    /// A request of an agent, as it should be.
    pub(crate) fn post(&self, token: &str, path: &str, body: &Value) -> Answer {
        let bearer = format!("Bearer {token}");
        let headers = [
            ("Authorization", bearer.as_str()),
            ("Content-Type", "application/json"),
        ];
        self.http("POST", path, &headers, &body.to_string())
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.http("GET", path, &[], "")
    }

    /// Any request. `Host` is the right one unless it is given.
    pub(crate) fn http(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        http(self.address(), (method, path), headers, body)
    }

    /// A message of the Model Context Protocol, as a client of the older era sends it.
    pub(crate) fn mcp(&self, token: &str, method: &str, params: &Value) -> Answer {
        let bearer = format!("Bearer {token}");
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let headers = [MCP_HEADERS, &[("Authorization", bearer.as_str())]].concat();
        self.http("POST", "/mcp", &headers, &body.to_string())
    }

    /// What a tool answers over the Model Context Protocol.
    pub(crate) fn tool(&self, token: &str, name: &str, arguments: &Value) -> Value {
        let params = json!({"name": name, "arguments": arguments});
        let answer = self.mcp(token, "tools/call", &params);
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()["result"].clone()
    }

    pub(crate) fn head(&self, what: (&str, &str), headers: &[(&str, &str)]) -> String {
        Answer::head(self.address(), what, headers, 0)
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address()).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        stream
    }

    /// What is in all files of the bridge's folder.
    pub(crate) fn files(&self) -> String {
        let mut all = String::new();
        for entry in fs::read_dir(self.places.folder()).unwrap() {
            let bytes = fs::read(entry.unwrap().path()).unwrap();
            all += &String::from_utf8_lossy(&bytes);
        }
        all
    }

    /// Waits until the bridge has ended by itself.
    pub(crate) fn ended(mut self) -> (Result<(), BridgeError>, Places, TempVault) {
        let outcome = self.thread.take().unwrap().join().unwrap();
        let vault = std::mem::replace(&mut self.vault, TempVault::empty());
        (outcome, self.places.clone(), vault)
    }

    pub(crate) fn stop(&self) {
        let mut client = Client::of_any_version(&self.places).unwrap();
        client.get::<Value>(&Request::Stop).unwrap();
    }
}

impl Drop for House {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            if let Ok(mut client) = Client::of_any_version(&self.places) {
                let _ = client.get::<Value>(&Request::Stop);
                let _ = thread.join();
            }
            assert!(wait_until_gone(&self.places, DEADLINE));
        }
    }
}

pub(crate) fn request(caller: As, capability: &str, input: Value) -> Request {
    Request::Ask {
        capability: capability.to_string(),
        vault: None,
        input,
        refresh: true,
        progress: false,
        print: None,
        caller,
    }
}

fn environment(vault: &TempVault) -> Environment {
    let home = vault.beside("home");
    fs::create_dir_all(&home).unwrap();
    Environment {
        config_dir: home.join("config"),
        data_dir: home.join("data"),
        vars: Default::default(),
        current_dir: home.clone(),
        home,
    }
}

fn write_config(environment: &Environment, vault: &TempVault, settings: &str) {
    let path = environment.config_file();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let root = vault.root().display();
    let text = format!("{settings}\n[vaults.Notes]\npath = \"{root}\"\n");
    // At once, as editors save: nobody sees half of it.
    let draft: PathBuf = path.with_extension("new");
    fs::write(&draft, text).unwrap();
    fs::rename(&draft, &path).unwrap();
}

pub(crate) fn options(environment: &Environment, places: &Places) -> Options {
    Options {
        environment: environment.clone(),
        places: places.clone(),
        table: table(),
        vaults: Vec::new(),
        port: 0,
        address: None,
        beyond_this_machine: false,
        exit_after: None,
        rest_after: Duration::from_secs(600),
        silent_panics: false,
        level: Level::Info,
        limits: Limits::default(),
    }
}

/// The usual abilities and one that ends when it is called off.
pub(crate) fn endless_table() -> &'static [Entry] {
    let mut entries = table().to_vec();
    let mut endless = entries[0];
    endless.id = "test.endless";
    endless.run = |desk: &Desk<'_>, _: Value| {
        while !desk.listener.stopped() {
            thread::yield_now();
        }
        Ok(json!({}))
    };
    entries.push(endless);
    entries.leak()
}
