//! A client of the Model Context Protocol that starts the program and speaks to it over its
//! standard input and output. Whatever comes out must be a message.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::Program;

/// `lorewell mcp` as a process, with a conversation that is open.
pub struct McpProcess {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    last_id: u64,
}

impl McpProcess {
    /// Starts `lorewell mcp` with these words besides, and opens the conversation.
    ///
    /// # Panics
    /// If it cannot be started, or does not answer.
    pub fn start(program: &Program, words: &[&str]) -> McpProcess {
        let mut server = McpProcess::spawn(program, words);
        server.open();
        server
    }

    /// Opens the conversation of one that was only started; what the server says it is.
    ///
    /// # Panics
    /// If it does not answer.
    pub fn open(&mut self) -> Value {
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"}});
        self.result("initialize", &params)
    }

    /// Starts `lorewell mcp` with these words besides.
    ///
    /// # Panics
    /// If it cannot be started.
    pub fn spawn(program: &Program, words: &[&str]) -> McpProcess {
        let mut child = program
            .command(&[&["mcp"], words].concat())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the server is started");
        McpProcess {
            input: child.stdin.take(),
            output: BufReader::new(child.stdout.take().expect("it is piped")),
            child,
            last_id: 0,
        }
    }

    /// The result of a request.
    ///
    /// # Panics
    /// If there is none, or something else than messages came.
    pub fn result(&mut self, method: &str, params: &Value) -> Value {
        let message = self.message(method, params);
        assert!(message.get("error").is_none(), "{message}");
        message["result"].clone()
    }

    /// The message that answers a request.
    ///
    /// # Panics
    /// If there is none, or something else than messages came.
    pub fn message(&mut self, method: &str, params: &Value) -> Value {
        self.last_id += 1;
        let id = self.last_id;
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let input = self.input.as_mut().expect("it is open");
        writeln!(input, "{request}").expect("it listens");
        loop {
            let mut line = String::new();
            let read = self.output.read_line(&mut line);
            assert!(read.is_ok_and(|read| read > 0), "no answer to {request}");
            let message: Value =
                serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line:?}"));
            assert_eq!(message["jsonrpc"], "2.0", "{line}");
            if message["id"] == json!(id) {
                return message;
            }
        }
    }

    /// The result of a tool.
    ///
    /// # Panics
    /// As [`McpProcess::result`].
    pub fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.result("tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    /// What a tool that does its work has for the model, as it is written.
    ///
    /// # Panics
    /// As [`McpProcess::result`]; and if the tool does not.
    pub fn bytes(&mut self, tool: &str, arguments: &Value) -> String {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], false, "{result}");
        result["structuredContent"].to_string()
    }

    /// Closes its input, at which it must end well; what it said on standard error.
    ///
    /// # Panics
    /// If it does not, or wrote anything more.
    pub fn end(mut self) -> String {
        drop(self.input.take());
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).expect("its output");
        assert_eq!(rest, "");
        let mut said = String::new();
        if let Some(mut stderr) = self.child.stderr.take() {
            stderr.read_to_string(&mut said).expect("what it said");
        }
        let status = self.child.wait().expect("it ends");
        assert_eq!(status.code(), Some(0), "{said}");
        said
    }
}

impl Drop for McpProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
