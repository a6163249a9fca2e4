//! `lorewell fuse`: joins ranked lists into one by weighted reciprocal rank fusion. The same lists
//! give the same ranking, byte for byte. It reads no notes and needs no vault. Of what it reads it
//! gives names alone, and of what is no list nothing: agents run it on files of their choice.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use lorewell_capabilities::rounded;
use lorewell_engine::{Fusion, FusionInput, Lane, Voice, fuse};
use serde_json::{Value, json};

use crate::outcome::{Outcome, Problem};
use crate::style::{self, FAINT, TITLE, inert_line, styled};

/// So many bytes of a file or of standard input are read at most.
const MAX_BYTES: u64 = 64 << 20;
/// So many lists can be joined.
const MAX_LISTS: usize = 1000;
/// A name is one line of so many characters at most; a longer text is no name.
const MAX_NAME: usize = 1000;

/// The command.
pub(crate) fn command() -> Command {
    Command::new("fuse")
        .about("Join ranked lists into one")
        .long_about(
            "Join ranked lists into one by weighted reciprocal rank fusion: an item is worth the \
             sum of weight / (k + rank) over the lists that have it. Items of equal worth stay in \
             the order of the first list that has them. Each file, or standard input, holds JSON: \
             answers of `lorewell search --json`, lists of names or objects (`id`, or `note` and \
             `byte_range`), or `{\"lists\": [{\"name\", \"weight\", \"items\"}]}`; docs/fuse.md says all",
        )
        .arg(
            Arg::new("file")
                .value_name("FILE")
                .num_args(0..)
                .help("Files of lists; `-`, or none, is standard input"),
        )
        .arg(
            Arg::new("k")
                .long("k")
                .value_name("N")
                .value_parser(value_parser!(u16).range(1..=1000))
                .help("The larger, the less the first ranks stand out, 1 to 1000 (60)"),
        )
        .arg(
            Arg::new("weight")
                .long("weight")
                .value_name("W")
                .action(ArgAction::Append)
                .help("What a list counts: `0.5` for the next list in order, `NAME=0.5` for one by name (1)"),
        )
        .arg(
            Arg::new("limit")
                .long("limit")
                .value_name("N")
                .value_parser(value_parser!(u32).range(1..))
                .help("At most so many items (all)"),
        )
}

/// One list that was read.
struct Ranked {
    name: String,
    weight: f32,
    items: Vec<String>,
    duplicates: usize,
}

/// Reads, joins, prints.
pub(crate) fn run(matches: &ArgMatches) -> Result<Outcome, Problem> {
    let mut k = None;
    let mut lists = Vec::new();
    let files: Vec<&str> = match matches.get_many::<String>("file") {
        Some(files) => files.map(String::as_str).collect(),
        None => vec!["-"],
    };
    for file in files {
        let text = text_of(file)?;
        let source = if file == "-" { "standard input" } else { file };
        for document in serde_json::Deserializer::from_str(&text).into_iter::<Value>() {
            let document =
                document.map_err(|error| shape(source, format!("this is not JSON: {error}")))?;
            if let Some(found) = document.get("k") {
                k = Some(constant(source, found)?);
            }
            take(&mut lists, source, document)?;
        }
    }
    if let Some(given) = matches.get_one::<u16>("k") {
        k = Some(f32::from(*given));
    }
    if lists.len() > MAX_LISTS {
        let message = format!("there are {} lists; {MAX_LISTS} can be joined", lists.len());
        return Err(Problem::wrong_use(message, ""));
    }
    weigh(&mut lists, matches)?;
    let limit = matches.get_one::<u32>("limit").map(|limit| *limit as usize);
    let answer = joined(&lists, k.unwrap_or(60.0), limit);
    let is_empty = answer["fused"].as_array().is_none_or(Vec::is_empty);
    if matches.get_flag("json") {
        style::print_data(&answer.to_string());
    } else {
        style::print_text(&words(&answer));
    }
    Ok(if is_empty {
        Outcome::NothingFound
    } else {
        Outcome::Done
    })
}

fn text_of(file: &str) -> Result<String, Problem> {
    let mut text = String::new();
    let read = if file == "-" {
        std::io::stdin()
            .lock()
            .take(MAX_BYTES + 1)
            .read_to_string(&mut text)
    } else {
        File::open(file).and_then(|file| file.take(MAX_BYTES + 1).read_to_string(&mut text))
    };
    let shown = if file == "-" { "standard input" } else { file };
    match read {
        Ok(bytes) if bytes as u64 > MAX_BYTES => Err(Problem::wrong_use(
            format!("{shown} is larger than 64 MiB"),
            "",
        )),
        Ok(_) => Ok(text),
        Err(error) => {
            let message = format!("{shown} cannot be read: {error}");
            Err(Problem::wrong_use(message, "Name a file of JSON, or `-`."))
        }
    }
}

fn shape(source: &str, what: impl std::fmt::Display) -> Problem {
    Problem::wrong_use(
        format!("{source}: {what}"),
        "A list is an array of names or objects, an answer of `lorewell search --json`, or an object with “items”; docs/fuse.md shows each.",
    )
}

fn constant(source: &str, value: &Value) -> Result<f32, Problem> {
    match value.as_f64() {
        Some(k) if (1.0..=1000.0).contains(&k) => Ok(k as f32),
        _ => Err(shape(source, "“k” must be a number from 1 to 1000")),
    }
}

/// Takes the lists out of one document.
fn take(lists: &mut Vec<Ranked>, source: &str, document: Value) -> Result<(), Problem> {
    if let Some(many) = document.get("lists") {
        let Some(many) = many.as_array() else {
            return Err(shape(source, "“lists” is no array"));
        };
        for list in many {
            take_one(lists, source, list)?;
        }
        return Ok(());
    }
    match document.as_array() {
        Some(many) if !many.is_empty() && many.iter().all(Value::is_array) => {
            for list in many {
                take_one(lists, source, list)?;
            }
            Ok(())
        }
        _ => take_one(lists, source, &document),
    }
}

fn take_one(lists: &mut Vec<Ranked>, source: &str, list: &Value) -> Result<(), Problem> {
    let number = lists.len() + 1;
    let at = |what: &str| shape(source, format!("list {number}: {what}"));
    let items = if list.is_array() {
        list
    } else if let Some(items) = list.get("items").or_else(|| list.get("passages")) {
        items
    } else {
        return Err(at(
            "it is neither an array nor has it “items” or “passages”",
        ));
    };
    let Some(items) = items.as_array() else {
        return Err(at("its items are no array"));
    };
    let name = match list.get("name").or_else(|| list.get("query")) {
        None => format!("list {number}"),
        Some(Value::String(name)) if is_name(name) => name.clone(),
        // A question may be long, and have several lines.
        Some(Value::String(_)) if list.get("name").is_none() => format!("list {number}"),
        Some(_) => return Err(at("its name is no line of text")),
    };
    let weight = match list.get("weight") {
        None => 1.0,
        Some(weight) => {
            let number = weight.as_f64().filter(|w| *w >= 0.0 && *w <= 1e6);
            number.ok_or_else(|| at("its weight must be a number from 0 on"))? as f32
        }
    };
    let mut seen = std::collections::HashSet::new();
    let mut kept = Vec::with_capacity(items.len());
    for (place, item) in items.iter().enumerate() {
        let id = id_of(item).ok_or_else(|| {
            at(&format!(
                "item {}: it is no name (a line of at most {MAX_NAME} characters, or a number), and has none as “id” or “note”",
                place + 1
            ))
        })?;
        if seen.insert(id.clone()) {
            kept.push(id);
        }
    }
    lists.push(Ranked {
        name,
        weight,
        duplicates: items.len() - kept.len(),
        items: kept,
    });
    Ok(())
}

fn is_name(text: &str) -> bool {
    text.chars().count() <= MAX_NAME && !text.contains(['\n', '\r'])
}

/// What an item is known by. A passage is known by its note and byte range.
fn id_of(item: &Value) -> Option<String> {
    let plain = |value: &Value| match value {
        Value::String(text) => is_name(text).then(|| text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    if let Some(id) = item.get("id") {
        return plain(id);
    }
    let Some(note) = item.get("note") else {
        return plain(item);
    };
    let note = note.as_str().filter(|note| is_name(note))?;
    let vault = item.get("vault").and_then(Value::as_str);
    let vault = vault.filter(|vault| is_name(vault));
    let vault = vault.map(|vault| format!("{vault}:")).unwrap_or_default();
    match item
        .get("byte_range")
        .and_then(Value::as_array)
        .map(Vec::as_slice)
    {
        Some([start, end]) => Some(format!("{vault}{note}#{start}-{end}")),
        _ => Some(format!("{vault}{note}")),
    }
}

/// Weights from the command line: those without a name go to the lists in order.
fn weigh(lists: &mut [Ranked], matches: &ArgMatches) -> Result<(), Problem> {
    let mut next = 0;
    for given in matches.get_many::<String>("weight").into_iter().flatten() {
        let (name, number) = match given.rsplit_once('=') {
            Some((name, number)) => (Some(name), number),
            None => (None, given.as_str()),
        };
        let weight: Option<f32> = number.trim().parse().ok();
        let Some(weight) = weight.filter(|w| (0.0..=1e6).contains(w)) else {
            let message = format!("“{given}” is no weight");
            return Err(Problem::wrong_use(
                message,
                "A weight is a number from 0 on.",
            ));
        };
        let found = match name {
            Some(name) => lists.iter_mut().find(|list| list.name == name),
            None => {
                next += 1;
                lists.get_mut(next - 1)
            }
        };
        let Some(list) = found else {
            let message = format!("there is no list for the weight “{given}”");
            let names: Vec<&str> = lists.iter().map(|list| list.name.as_str()).collect();
            let hint = format!("The lists are, in order: {}.", names.join(", "));
            return Err(Problem::wrong_use(message, hint));
        };
        list.weight = weight;
    }
    Ok(())
}

/// The joined list, as the command's JSON.
fn joined(lists: &[Ranked], k: f32, limit: Option<usize>) -> Value {
    let mut numbers: HashMap<&str, u32> = HashMap::new();
    let mut ids: Vec<&str> = Vec::new();
    let mut inputs = Vec::new();
    for (at, list) in lists.iter().enumerate() {
        let mut hits = Vec::with_capacity(list.items.len());
        for item in &list.items {
            let number = *numbers.entry(item.as_str()).or_insert_with(|| {
                ids.push(item);
                ids.len() as u32 - 1
            });
            hits.push((number, 0.0, 1.0));
        }
        inputs.push(FusionInput {
            // Which list it is is said by the voice; the lane does not matter to ranks.
            lane: Lane::Text,
            voice: Voice::Also(at),
            weight: list.weight,
            hits,
        });
    }
    inputs.retain(|input| input.weight > 0.0);
    let fused = fuse(Fusion::Rrf { k }, &inputs);
    let total = fused.len();
    let shown = fused.iter().take(limit.unwrap_or(total)).enumerate();
    let row = |(at, fused): (usize, &lorewell_engine::Fused)| {
        let id = ids[fused.passage as usize];
        let trace = fused.trace.iter().map(|part| {
            let list = match part.voice {
                Voice::Also(list) => lists[list].name.as_str(),
                _ => "",
            };
            json!({ "list": list, "rank": part.rank, "added": rounded(part.added, 6) })
        });
        json!({
            "rank": at + 1,
            "id": id,
            "fused": rounded(fused.value, 6),
            "trace": trace.collect::<Vec<_>>(),
        })
    };
    json!({
        "contract": 1,
        "k": rounded(k, 3),
        "lists": lists.iter().map(|list| json!({
            "name": list.name,
            "weight": rounded(list.weight, 6),
            "items": list.items.len(),
            "duplicates": list.duplicates,
        })).collect::<Vec<_>>(),
        "fused": shown.map(row).collect::<Vec<_>>(),
        "total": total,
        "truncated": limit.is_some_and(|limit| limit < total),
    })
}

fn words(answer: &Value) -> String {
    let mut text = String::new();
    for row in answer["fused"].as_array().into_iter().flatten() {
        let parts = row["trace"].as_array().into_iter().flatten().map(|part| {
            format!(
                "{} #{}",
                part["list"].as_str().unwrap_or_default(),
                part["rank"]
            )
        });
        let parts: Vec<String> = parts.collect();
        text += &format!(
            "{}. {}  {}\n",
            row["rank"],
            styled(TITLE, &inert_line(row["id"].as_str().unwrap_or_default())),
            styled(
                FAINT,
                &inert_line(&format!("{} · {}", row["fused"], parts.join(", ")))
            )
        );
    }
    if text.is_empty() {
        text += "There is nothing in the lists.\n";
    }
    text
}
