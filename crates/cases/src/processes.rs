//! The program as processes, for cases that are about servers and several of them: in a home beside
//! the vault, over the same index that the other steps use.

use std::collections::HashMap;
use std::path::Path;

use lorewell_capabilities::Failure;
use lorewell_testkit::{McpProcess, Program, Serving};
use serde_json::{Value, json};

use crate::world::Trouble;

/// The program and what runs of it.
pub(crate) struct Processes {
    pub(crate) program: Program,
    /// The bridge, while there is one.
    pub(crate) bridge: Option<Serving>,
    /// A server on standard input and output, while there is one.
    server: Option<McpProcess>,
    /// What its client said first, and the tools that it told of.
    pub(crate) about: Option<(Value, Value)>,
    /// Calls by the name of their result: tool, arguments, and the result as it came.
    pub(crate) calls: HashMap<String, Call>,
    /// Whether a server ended well, having written nothing but messages.
    pub(crate) ended_well: bool,
    /// What told the index apart before somebody held its lock.
    pub(crate) store: Option<u64>,
}

/// One call of a tool.
#[derive(Clone)]
pub(crate) struct Call {
    pub(crate) tool: String,
    pub(crate) arguments: Value,
    pub(crate) result: Value,
}

/// Steps that need the program as a process.
pub(crate) const STEPS: &[&str] = &[
    "cli_search",
    "daemon_start",
    "daemon_stop",
    "http",
    "mcp_start",
    "parallel_clients",
    "start_with_vault",
    "write_state_file",
];

impl Processes {
    /// The program in `file`, in a home in `place` with these settings and the vault listed as
    /// `vault`; and the folder of its index.
    pub(crate) fn begin(
        file: &Path,
        place: &Path,
        root: &Path,
        settings: &[(&str, String)],
    ) -> Result<(Processes, String), String> {
        let program = Program::new(file, place.join("home"));
        for (name, value) in settings {
            program.done(&["config", "set", name, value]);
        }
        program.done(&[
            "vault",
            "add",
            &root.display().to_string(),
            "--name",
            "vault",
        ]);
        let processes = Processes {
            program,
            bridge: None,
            server: None,
            about: None,
            calls: HashMap::new(),
            ended_well: false,
            store: None,
        };
        let status = processes.program.json(&["status"]);
        let index = status["index"]["folder"].as_str();
        let index = index
            .ok_or_else(|| format!("no index: {status}"))?
            .to_string();
        Ok((processes, index))
    }

    /// Starts a server for one client, with these variables.
    pub(crate) fn start_server(&mut self, variables: &[(String, String)]) {
        let mut program = self.program.clone();
        for (name, value) in variables {
            program = program.with(name, value);
        }
        self.about = None;
        self.server = Some(McpProcess::spawn(&program, &["--bridge", "never"]));
    }

    /// Whether a server was started.
    pub(crate) fn has_server(&self) -> bool {
        self.server.is_some()
    }

    /// The server, with its conversation open.
    pub(crate) fn server(&mut self) -> Result<&mut McpProcess, String> {
        let server = self.server.as_mut().ok_or("no server was started")?;
        if self.about.is_none() {
            let about = server.open();
            let tools = server.result("tools/list", &json!({}));
            self.about = Some((about, tools));
        }
        Ok(server)
    }

    /// Ends the server, which must have written nothing but messages.
    pub(crate) fn end_server(&mut self) -> Result<(), String> {
        self.server()?;
        if let Some(server) = self.server.take() {
            server.end();
            self.ended_well = true;
        }
        Ok(())
    }

    /// Calls a tool by the name of its capability.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Result<Call, Trouble> {
        let tool = tool_named(tool);
        let result = self.server()?.call(tool, &arguments);
        Ok(Call {
            tool: tool.to_string(),
            arguments,
            result,
        })
    }
}

impl Call {
    /// What the tool has for the model.
    pub(crate) fn output(&self) -> Result<Value, Trouble> {
        let content = &self.result["structuredContent"];
        if self.result["isError"] == true {
            return Err(Trouble::Said(failure(&content["error"])));
        }
        Ok(content.clone())
    }
}

/// An error as it is written everywhere.
pub(crate) fn failure(error: &Value) -> Failure {
    serde_json::from_value(error.clone())
        .unwrap_or_else(|_| Failure::internal(format!("no error: {error}")))
}

/// The tool that stands for a capability.
pub(crate) fn tool_named(name: &str) -> &str {
    match name {
        "search" => "search_notes",
        "context" => "vault_context",
        "related" => "related_notes",
        "read" => "read_note",
        "verify" => "verify_quotes",
        "status" => "vault_status",
        other => other,
    }
}
