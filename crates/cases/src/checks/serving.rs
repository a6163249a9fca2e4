//! Checks of servers: what they say of themselves, what they answer over HTTP, and what becomes of
//! the index beside them.

use std::fs;

use serde_json::Value;

use super::{expect, items, result, text};
use crate::Check;
use crate::actions::store_identity;
use crate::processes::Processes;
use crate::world::World;

fn processes(world: &World) -> Result<&Processes, String> {
    let processes = world.processes.as_ref();
    processes.ok_or_else(|| "no process was started".to_string())
}

/// The tools of the last list.
fn tools(world: &World) -> Result<&Vec<Value>, String> {
    let about = processes(world)?.about.as_ref();
    let tools = about.and_then(|(_, tools)| tools["tools"].as_array());
    tools
        .filter(|tools| !tools.is_empty())
        .ok_or_else(|| "no tools were listed".to_string())
}

/// Nothing but messages of the protocol came, and the server ended well.
pub(super) fn stdout_only_jsonrpc(world: &World, _: &Check) -> Result<(), String> {
    let well = processes(world)?.ended_well && !world.panicked;
    expect(well, "messages alone, to the end", "something else")
}

/// A step's text for the model has at most so many tokens of four characters, and is an answer.
pub(super) fn result_tokens(world: &World, check: &Check) -> Result<(), String> {
    let name = check.text("after")?;
    world.output(name)?;
    let call = processes(world)?
        .calls
        .get(name)
        .ok_or("no call is called so")?;
    let said = call.result["content"][0]["text"]
        .as_str()
        .unwrap_or_default();
    let (tokens, most) = (said.chars().count().div_ceil(4), check.number("max")?);
    let fits = tokens > 0 && tokens as u64 <= most;
    expect(fits, format!("1 to {most} tokens"), format!("{tokens}"))
}

/// Followed pages are together the file.
pub(super) fn concatenation_equals_file(world: &World, check: &Check) -> Result<(), String> {
    let path = check.text("path")?;
    let came = text(result(world, check)?, "text");
    let file = fs::read(world.path(path)).map_err(|error| error.to_string())?;
    let same = came.as_bytes() == file;
    expect(
        same,
        format!("{} bytes of {path}", file.len()),
        format!("{} bytes", came.len()),
    )
}

/// What the tool says is one JSON value, the same twice, and text of notes is in texts alone.
pub(super) fn frame_not_broken(world: &World, check: &Check) -> Result<(), String> {
    let name = check.text("after")?;
    let output = world.output(name)?;
    let call = processes(world)?
        .calls
        .get(name)
        .ok_or("no call is called so")?;
    let blocks = items(&call.result, "content").count();
    let said = call.result["content"][0]["text"]
        .as_str()
        .unwrap_or_default();
    let read: Value = serde_json::from_str(said).map_err(|error| format!("{error}: {said}"))?;
    expect(
        blocks == 1 && read == *output,
        "the answer, once, as JSON",
        said,
    )?;
    let inert = !said.chars().any(|c| c.is_control() && c != '\n');
    expect(inert, "no control characters", said)?;
    let quoted = items(output, "passages").all(|passage| {
        let note = fs::read_to_string(world.path(text(passage, "note"))).unwrap_or_default();
        note.contains(text(passage, "text"))
    });
    let some = items(output, "passages").next().is_some();
    expect(
        quoted && some,
        "passages that are slices of their files",
        said,
    )
}

/// Every tool says that it only reads.
pub(super) fn tools_read_only(world: &World, _: &Check) -> Result<(), String> {
    for tool in tools(world)? {
        let hints = &tool["annotations"];
        let reads = hints["readOnlyHint"] == true && hints["destructiveHint"] == false;
        expect(reads, "a tool that only reads", tool.to_string())?;
    }
    Ok(())
}

/// Names of tools are letters, digits, `_` and `-`, 1 to 64 of them.
pub(super) fn tool_names_match(world: &World, check: &Check) -> Result<(), String> {
    if check.text("pattern")? != "^[a-zA-Z0-9_-]{1,64}$" {
        return Err("this pattern is not known here".to_string());
    }
    for tool in tools(world)? {
        let name = text(tool, "name");
        let good = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
        expect(
            (1..=64).contains(&name.len()) && name.chars().all(good),
            "a plain name",
            name,
        )?;
    }
    Ok(())
}

/// Schemas use known keywords of the draft, each with the right kind of value.
pub(super) fn schemas_valid(world: &World, check: &Check) -> Result<(), String> {
    if check.text("dialect")? != "2020-12" {
        return Err("this dialect is not known here".to_string());
    }
    let schemas = |tool: &Value| [tool["inputSchema"].clone(), tool["outputSchema"].clone()];
    tools(world)?
        .iter()
        .flat_map(schemas)
        .try_for_each(|schema| match schema {
            Value::Null => Ok(()),
            schema => valid(&schema),
        })
}

fn valid(schema: &Value) -> Result<(), String> {
    const KINDS: [&str; 7] = [
        "string", "number", "integer", "boolean", "array", "object", "null",
    ];
    let Some(fields) = schema.as_object() else {
        return expect(schema.is_boolean(), "a schema", schema.to_string());
    };
    for (keyword, value) in fields {
        let is_kind = |value: &Value| value.as_str().is_some_and(|kind| KINDS.contains(&kind));
        let right = match keyword.as_str() {
            "type" => {
                is_kind(value)
                    || value
                        .as_array()
                        .is_some_and(|kinds| kinds.iter().all(is_kind))
            }
            "title" | "description" | "format" | "pattern" | "$schema" | "$ref" => {
                value.is_string()
            }
            "contentMediaType" => value.is_string(),
            "required" => value
                .as_array()
                .is_some_and(|names| names.iter().all(Value::is_string)),
            "enum" | "examples" => value.is_array(),
            "default" | "const" => true,
            "minimum" | "maximum" => value.is_number(),
            "minLength" | "maxLength" | "minItems" | "maxItems" => value.is_u64(),
            "properties" | "$defs" => {
                let schemas = value.as_object().ok_or("no object of schemas")?;
                schemas.values().try_for_each(valid)?;
                true
            }
            "items" | "additionalProperties" => valid(value).map(|()| true)?,
            "anyOf" | "oneOf" | "allOf" => {
                value
                    .as_array()
                    .ok_or("no list of schemas")?
                    .iter()
                    .try_for_each(valid)?;
                true
            }
            _ => false,
        };
        expect(right, format!("a right {keyword}"), value.to_string())?;
    }
    Ok(())
}

/// Schemas that every client takes: an object with properties, without references, lists of types,
/// choices at the top, or another draft's mark.
pub(super) fn schemas_portable(world: &World, _: &Check) -> Result<(), String> {
    for tool in tools(world)? {
        let input = &tool["inputSchema"];
        let plain = input["type"] == "object" && input["properties"].is_object();
        let choices = ["anyOf", "oneOf", "allOf"]
            .iter()
            .any(|key| input.get(key).is_some());
        expect(
            plain && !choices,
            "an object with properties",
            input.to_string(),
        )?;
        let written = format!("{input}{}", tool["outputSchema"]);
        for foreign in ["\"$ref\"", "draft-07", "\"type\":["] {
            expect(
                !written.contains(foreign),
                format!("nothing of {foreign}"),
                &written,
            )?;
        }
    }
    Ok(())
}

/// A bridge came up.
pub(super) fn started(world: &World, check: &Check) -> Result<(), String> {
    let came = result(world, check)?;
    expect(came["event"] == "serving", "a bridge", came.to_string())
}

/// The status of an answer over HTTP.
pub(super) fn http_status(world: &World, check: &Check) -> Result<(), String> {
    let came = &result(world, check)?["status"];
    let holds = match (check.get("equals"), check.get("one_of")) {
        (Some(wanted), _) => came == wanted,
        (_, Some(Value::Array(several))) => several.contains(came),
        _ => return Err("the check names no status".to_string()),
    };
    expect(holds, "another status", came.to_string())
}

/// An answer over HTTP lacks a header.
pub(super) fn header_absent(world: &World, check: &Check) -> Result<(), String> {
    let headers = &result(world, check)?["headers"];
    let name = check.text("name")?.to_ascii_lowercase();
    let lacks = headers.is_object() && headers.get(&name).is_none();
    expect(lacks, format!("no {name}"), headers.to_string())
}

/// A process listens on this machine alone, and does listen. Addresses as `/proc/net` has them.
pub(super) fn only_loopback(world: &World, check: &Check) -> Result<(), String> {
    const LOOPBACK: [&str; 2] = ["0100007F", "00000000000000000000000001000000"];
    let came = result(world, check)?;
    let addresses = came.as_array().map_or(&[][..], Vec::as_slice);
    let local = |address: &Value| address.as_str().is_some_and(|it| LOOPBACK.contains(&it));
    let holds = !addresses.is_empty() && addresses.iter().all(local);
    expect(holds, "this machine's own addresses", came.to_string())
}

/// So many calls failed.
pub(super) fn failures(world: &World, check: &Check) -> Result<(), String> {
    let came = result(world, check)?;
    let made = came["calls"].as_u64() > Some(0);
    let holds = made && came["failures"].as_u64() == Some(check.number("equals")?);
    expect(holds, "calls that do not fail", came.to_string())
}

/// Ninety-nine of a hundred calls were faster.
pub(super) fn latency(world: &World, check: &Check) -> Result<(), String> {
    let came = &result(world, check)?["p99_ms"];
    let most = check.number("p99_ms")?;
    let holds = came.as_u64().is_some_and(|came| came <= most);
    expect(holds, format!("at most {most} ms"), came.to_string())
}

/// The index is the one that it was, and none was set aside.
pub(super) fn store_not_replaced(world: &World, check: &Check) -> Result<(), String> {
    let before = processes(world)?.store.ok_or("no lock was held")?;
    let now = store_identity(world)?;
    expect(before == now, "the same catalogue", "another")?;
    let names = result(world, check)?.to_string();
    let aside = ["damaged", "corrupt", ".old", ".bak", "broken"];
    let none = !aside.iter().any(|word| names.contains(word));
    expect(none, "no index set aside", names)
}

/// Steps found the same index.
pub(super) fn same_index(world: &World, check: &Check) -> Result<(), String> {
    let mut folders = Vec::new();
    for name in check.texts("after")? {
        let output = world.output(&name)?;
        folders.push(output["index"]["folder"].to_string());
    }
    let first = folders.first().cloned().unwrap_or_default();
    let same = folders.len() > 1 && first.len() > 4 && folders.iter().all(|it| *it == first);
    expect(same, "one index", format!("{folders:?}"))
}

/// Paths of hits are relative to the vault, with `/`.
pub(super) fn path_relative(world: &World, check: &Check) -> Result<(), String> {
    let answer = result(world, check)?;
    let notes: Vec<&str> = items(answer, "passages")
        .map(|hit| text(hit, "note"))
        .collect();
    let relative =
        |note: &&str| !note.starts_with('/') && !note.contains('\\') && world.path(note).is_file();
    let holds = !notes.is_empty() && notes.iter().all(relative);
    expect(holds, "paths in the vault", format!("{notes:?}"))
}

/// Nothing that the bridge says could load or run anything.
pub(super) fn no_remote_fetch(world: &World, check: &Check) -> Result<(), String> {
    let answers = result(world, check)?;
    for answer in items(answers, "answers") {
        let inert = text(answer, "kind") == "application/json"
            && text(answer, "policy").contains("default-src 'none'");
        expect(inert, "an answer that loads nothing", answer.to_string())?;
    }
    expect(
        items(answers, "answers").next().is_some(),
        "answers",
        "none",
    )
}
