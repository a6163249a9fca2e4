//! Steps that run the program as processes: a server for one client, the bridge, commands.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use lorewell_index::{Layout, Lock, LockAttempt};
use lorewell_testkit::{McpProcess, http};
use serde_json::{Map, Value, json};

use super::asking::arguments_of;
use super::running::fields_of;
use crate::Step;
use crate::processes::{Processes, failure, tool_named};
use crate::vault_copy;
use crate::world::{Trouble, World};

/// Starts a server on standard input and output.
pub(super) fn mcp_start(world: &mut World, step: &Step) -> Result<Value, Trouble> {
    let given = step.get("env").and_then(Value::as_object);
    let mut variables: Vec<(String, String)> = given
        .into_iter()
        .flatten()
        .map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_string()))
        .collect();
    if !variables.is_empty() {
        // The most talkative that there is.
        variables.push(("LOREWELL_LOG".to_string(), "debug".to_string()));
        variables.push(("RUST_LOG".to_string(), "trace".to_string()));
    }
    world.processes()?.start_server(&variables);
    Ok(Value::Null)
}

/// Opens the conversation.
pub(super) fn mcp_initialize(world: &mut World, _: &Step) -> Result<Value, Trouble> {
    let processes = world.processes()?;
    processes.server()?;
    Ok(processes.about.clone().unwrap_or_default().0)
}

/// The tools.
pub(super) fn mcp_list_tools(world: &mut World, _: &Step) -> Result<Value, Trouble> {
    Ok(world
        .processes()?
        .server()?
        .result("tools/list", &json!({})))
}

/// Closes the server's input, at which it ends.
pub(super) fn mcp_stop(world: &mut World, _: &Step) -> Result<Value, Trouble> {
    world.processes()?.end_server()?;
    Ok(Value::Null)
}

/// A tool: of the server, where one was started; else the capability of its name, in this process.
pub(super) fn tool(world: &mut World, step: &Step) -> Result<Value, Trouble> {
    let (tool, arguments) = (step.text("tool")?, arguments_of(step));
    let server = world.processes.as_mut().filter(|p| p.has_server());
    let Some(processes) = server else {
        return world.ask(tool, arguments);
    };
    let call = processes.call(tool, arguments)?;
    if let Some(name) = &step.name {
        processes.calls.insert(name.clone(), call.clone());
    }
    let mut output = call.output()?;
    if tool == "status" {
        output["fields"] = fields_of(world, &output)?;
    }
    Ok(output)
}

/// The rest of what a call began: its cursor is followed to the end. Text of all pages.
pub(super) fn follow_cursor(world: &mut World, step: &Step) -> Result<Value, Trouble> {
    let processes = world.processes()?;
    let first = processes.calls.get(step.text("after")?).cloned();
    let mut call = first.ok_or_else(|| "no such call".to_string())?;
    let (mut text, mut pages) = (String::new(), 0);
    loop {
        let output = call.output()?;
        text += output["text"].as_str().unwrap_or_default();
        pages += 1;
        let Some(next) = output["next"].as_str() else {
            return Ok(json!({ "text": text, "pages": pages }));
        };
        let mut arguments = call.arguments.clone();
        arguments["cursor"] = next.into();
        call = processes.call(&call.tool, arguments)?;
    }
}

/// `lorewell search`.
pub(super) fn cli_search(world: &mut World, step: &Step) -> Result<Value, Trouble> {
    said(
        world
            .processes()?
            .program
            .json(&["search", step.text("query")?]),
    )
}

/// What the program prints: an answer, or an error.
fn said(output: Value) -> Result<Value, Trouble> {
    match output.get("error") {
        Some(error) => Err(Trouble::Said(failure(error))),
        None => Ok(output),
    }
}

/// Starts the bridge.
pub(super) fn daemon_start(world: &mut World, _: &Step) -> Result<Value, Trouble> {
    let processes = world.processes()?;
    let bridge = processes.program.try_serve(&[]);
    let bridge = bridge.map_err(|said| {
        let error: Value = serde_json::from_str(&said).unwrap_or_default();
        Trouble::Said(failure(&error["error"]))
    })?;
    let state = bridge.state.clone();
    processes.bridge = Some(bridge);
    Ok(state)
}

/// Asks the bridge to end, and waits for it.
pub(super) fn daemon_stop(world: &mut World, _: &Step) -> Result<Value, Trouble> {
    let processes = world.processes()?;
    processes.program.done(&["serve", "--stop"]);
    processes.bridge = None;
    Ok(Value::Null)
}

/// Leaves a file as a process that died may have left it: `lock`, or `port`.
pub(super) fn write_state_file(world: &mut World, step: &Step) -> Result<Value, Trouble> {
    let folder = world
        .processes()?
        .program
        .home()
        .join(".local/share/lorewell/bridge");
    let name = match step.text("name")? {
        "lock" => "bridge.lock",
        "port" => "state.json",
        other => return Err(format!("the bridge has no file “{other}”").into()),
    };
    fs::create_dir_all(&folder)?;
    private(&folder, 0o700)?;
    fs::write(folder.join(name), step.text("content")?)?;
    private(&folder.join(name), 0o600)?;
    Ok(Value::Null)
}

#[cfg(unix)]
fn private(path: &std::path::Path, mode: u32) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn private(_: &std::path::Path, _: u32) -> std::io::Result<()> {
    Ok(())
}

/// A request over HTTP: to what needs no token, or with POST to the search. `{port}` is the bridge's.
pub(super) fn request(world: &mut World, step: &Step) -> Result<Value, Trouble> {
    let bridge = world.processes()?.bridge.as_ref();
    let address = bridge
        .ok_or_else(|| "no bridge runs".to_string())?
        .address();
    let method = step.text("method").unwrap_or("GET");
    let path = step.text("path").unwrap_or(match method {
        "GET" => "/v1/health",
        _ => "/v1/search",
    });
    let given = step.get("headers").and_then(Value::as_object);
    let headers: Vec<(String, String)> = given
        .into_iter()
        .flatten()
        .map(|(name, value)| {
            let value = value.as_str().unwrap_or_default();
            (
                name.clone(),
                value.replace("{port}", &address.port().to_string()),
            )
        })
        .collect();
    let headers: Vec<(&str, &str)> = headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    let answer = http(
        address,
        (method, path),
        &headers,
        step.text("body").unwrap_or(""),
    );
    let headers: Map<String, Value> = answer
        .headers
        .into_iter()
        .map(|(name, value)| (name, value.into()))
        .collect();
    Ok(json!({ "status": answer.status, "headers": headers, "body": answer.body }))
}

/// The addresses at which the bridge's process listens, as the system says.
pub(super) fn listening_addresses(world: &mut World, _: &Step) -> Result<Value, Trouble> {
    let bridge = world.processes()?.bridge.as_ref();
    let process = bridge
        .ok_or_else(|| "no bridge runs".to_string())?
        .child
        .id();
    let mut sockets = Vec::new();
    for entry in fs::read_dir(format!("/proc/{process}/fd"))? {
        let Ok(target) = fs::read_link(entry?.path()) else {
            continue;
        };
        let target = target.to_string_lossy().into_owned();
        sockets.extend(
            target
                .strip_prefix("socket:[")
                .map(|rest| rest.trim_end_matches(']').to_string()),
        );
    }
    let mut addresses = Vec::new();
    for table in ["tcp", "tcp6"] {
        // Columns: number, local address, remote address, state (0A listens), …, inode.
        for line in fs::read_to_string(format!("/proc/net/{table}"))?
            .lines()
            .skip(1)
        {
            let columns: Vec<&str> = line.split_whitespace().collect();
            let is_ours = columns
                .get(9)
                .is_some_and(|inode| sockets.iter().any(|s| s == inode));
            if is_ours && columns.get(3) == Some(&"0A") {
                let address = columns.get(1).and_then(|address| address.split(':').next());
                addresses.push(Value::from(address.unwrap_or_default()));
            }
        }
    }
    Ok(Value::Array(addresses))
}

/// Several clients, each with a process of its own, and what they had to wait for.
pub(super) fn parallel_clients(world: &mut World, step: &Step) -> Result<Value, Trouble> {
    let (tool, arguments) = (tool_named(step.text("tool")?), arguments_of(step));
    let calls = step.number_or("calls", 1);
    let program = world.processes()?.program.clone();
    let beside = step.get("while_step").and_then(|step| step["do"].as_str());
    let outcome: Vec<(u64, Vec<Duration>)> = std::thread::scope(|scope| {
        let client = || {
            let mut server = McpProcess::start(&program, &["--bridge", "never"]);
            let (mut failures, mut times) = (0, Vec::new());
            for _ in 0..calls {
                let began = Instant::now();
                let result = server.call(tool, &arguments);
                times.push(began.elapsed());
                let found = result["structuredContent"]["passages"].as_array();
                failures += u64::from(found.is_none_or(Vec::is_empty));
            }
            server.end();
            (failures, times)
        };
        let clients: Vec<_> = (0..step.number_or("count", 1))
            .map(|_| scope.spawn(client))
            .collect();
        while let Some(command) = beside {
            program.done(&[command]);
            if clients.iter().all(|client| client.is_finished()) {
                break;
            }
        }
        clients
            .into_iter()
            .filter_map(|client| client.join().ok())
            .collect()
    });
    let clients = step.number_or("count", 1);
    let lost = clients.saturating_sub(outcome.len() as u64) * calls;
    let failures: u64 = outcome.iter().map(|(failures, _)| failures).sum();
    let mut times: Vec<Duration> = outcome.into_iter().flat_map(|(_, times)| times).collect();
    times.sort();
    let p99 = times.get(times.len().saturating_sub(1) * 99 / 100);
    let p99 = p99.map_or(u64::MAX, |time| time.as_millis() as u64);
    Ok(json!({ "failures": failures + lost, "p99_ms": p99, "calls": times.len() }))
}

/// Holds the lock of whoever writes the index, for so long, while other steps are done.
pub(super) fn hold_store_lock(world: &mut World, step: &Step) -> Result<Value, Trouble> {
    let time = Duration::from_millis(step.number_or("ms", 1000));
    let layout = Layout::new(world.index_folder());
    let lock = match Lock::attempt(&layout).map_err(|error| error.to_string())? {
        LockAttempt::Taken(lock) => lock,
        LockAttempt::HeldBy(_) => return Err("somebody else holds it".to_string().into()),
    };
    let identity = store_identity(world)?;
    world.processes()?.store = Some(identity);
    std::thread::spawn(move || {
        std::thread::sleep(time);
        drop(lock);
    });
    Ok(Value::Null)
}

/// What tells the index from one that was made anew in its place.
pub(crate) fn store_identity(world: &World) -> Result<u64, String> {
    let file = world.index_folder().join("catalogue.sqlite");
    let facts = fs::metadata(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    #[cfg(unix)]
    return Ok(std::os::unix::fs::MetadataExt::ino(&facts));
    #[cfg(not(unix))]
    return Ok(facts.len());
}

/// The files of the index, and what lies beside its folder.
pub(super) fn list_store_files(world: &mut World, _: &Step) -> Result<Value, Trouble> {
    let index = world.index_folder();
    let mut names = Vec::new();
    for folder in [index.parent().unwrap_or(index), index] {
        for entry in fs::read_dir(folder)? {
            names.push(Value::from(
                entry?.file_name().to_string_lossy().into_owned(),
            ));
        }
    }
    Ok(Value::Array(names))
}

/// Copies the vault to another place in the home, from which it is asked from then on.
pub(super) fn copy_vault_to(world: &mut World, step: &Step) -> Result<Value, Trouble> {
    let home = world.processes()?.program.home().to_path_buf();
    let target = home.join(step.text("path")?.trim_end_matches('/'));
    vault_copy::copy(&world.root, &target)?;
    world.root = target;
    Ok(Value::Null)
}

/// Starts a server with a vault's path as somebody gives it; its status.
pub(super) fn start_with_vault(world: &mut World, step: &Step) -> Result<Value, Trouble> {
    let root = world.root.clone();
    let processes = world.processes()?;
    let home = processes.program.home().to_path_buf();
    let link = home.join("link to the vault");
    #[cfg(unix)]
    if !link.exists() {
        std::os::unix::fs::symlink(&root, &link)?;
    }
    let below = root.strip_prefix(&home).unwrap_or(&root);
    let given = step
        .text("given")?
        .replace("{abs}", &root.display().to_string())
        .replace("{rel_home}", &below.display().to_string())
        .replace("{via_symlink}", &link.display().to_string());
    let words = ["--vault", &given, "--bridge", "never"];
    let mut server = McpProcess::start(&processes.program, &words);
    // A first question builds the index.
    server.call("search_notes", &json!({ "query": "anything" }));
    let result = server.call("vault_status", &json!({}));
    server.end();
    let status = &result["structuredContent"];
    if result["isError"] == true {
        return Err(Trouble::Said(failure(&status["error"])));
    }
    let index = PathBuf::from(status["index"]["folder"].as_str().unwrap_or_default());
    world.set_index(index);
    Ok(status.clone())
}

/// There is no page that shows answers: what the bridge says at every path, by which nothing could
/// be loaded or run.
pub(super) fn ui_answer(world: &mut World, step: &Step) -> Result<Value, Trouble> {
    if world.processes()?.bridge.is_none() {
        daemon_start(world, step)?;
    }
    let bridge = world.processes()?.bridge.as_ref();
    let address = bridge
        .ok_or_else(|| "no bridge runs".to_string())?
        .address();
    let paths = ["/", "/index.html", "/chat", "/v1/health", "/v1/search"];
    let answers = paths.map(|path| {
        let answer = http(address, ("GET", path), &[], "");
        let [kind, policy] = ["content-type", "content-security-policy"]
            .map(|name| answer.header(name).unwrap_or_default().to_string());
        json!({ "path": path, "kind": kind, "policy": policy })
    });
    Ok(json!({ "answers": answers }))
}

impl World {
    /// The program as processes.
    pub(crate) fn processes(&mut self) -> Result<&mut Processes, String> {
        let lacking = "this case needs the program, and it is not known where that is";
        self.processes.as_mut().ok_or_else(|| lacking.to_string())
    }
}
