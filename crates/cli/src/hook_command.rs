//! `lorewell hook prompt`: run by an agent for every prompt, it adds passages of the notes that
//! bear on it, and is silent where none does.
//!
//! It never stands in the way of a prompt: whatever goes wrong is said on standard error, the exit
//! code is 0 (agents take 2 as a veto), and it ends in time. The prompt is kept nowhere. Of what
//! it gave it remembers hashes, for one session, so that nothing is given twice.

use std::ffi::OsString;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use clap::{Arg, ArgMatches, Command};
use lorewell_capabilities::{
    Capability, ContextOutput, ContextPack, Desk, Entry, SourceJson, table,
};
use lorewell_clients::Client;
use lorewell_engine::{Host, Observer, Patience};
use lorewell_setup::{Config, Environment, Settings};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::arguments::{index_dir_flag, vault_flag};
use crate::capability::chosen_vault;
use crate::outcome::{Outcome, Problem};
use crate::style;

/// After so long it gives up, whatever it is doing.
const DEADLINE: Duration = Duration::from_millis(1500);
/// So long it takes in changes of notes before it answers from what there is.
const FRESHEN: Duration = Duration::from_millis(150);
/// So much of standard input is read.
const MAX_INPUT: u64 = 4 << 20;
/// So much of a prompt is asked for: what is wanted stands at the beginning or at the end.
const MAX_QUESTION: usize = 2000;
/// So many passages are added at most.
const PASSAGES: u32 = 3;
/// What a session was given is forgotten after so long.
const SESSION: Duration = Duration::from_secs(3 * 24 * 3600);

/// The command.
pub(crate) fn command() -> Command {
    Command::new("hook")
        .about("Run by agents at their events")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(
            Command::new("prompt")
                .about("Add passages of the notes that bear on a prompt")
                .long_about(
                    "Add passages of the notes that bear on a prompt. An agent runs it for every \
                     prompt (`lorewell install claude-code --hook`), with the event as JSON on \
                     standard input; it answers with `hookSpecificOutput.additionalContext`, or \
                     with nothing where the notes say nothing strong. It always ends with exit code 0 and within \
                     two seconds. Settings: `auto_context`, `auto_context_budget`, \
                     `auto_context_floor`",
                )
                .arg(
                    Arg::new("client")
                        .long("client")
                        .value_name("PROGRAM")
                        .value_parser([Client::ClaudeCode.name(), Client::Codex.name()])
                        .help("Which agent asks"),
                )
                .args([vault_flag(), index_dir_flag()]),
        )
}

/// Whether the words typed mean this command, though they may be wrong.
pub(crate) fn is_meant(words: &[OsString]) -> bool {
    let help = |word: &OsString| word == "--help" || word == "-h";
    words.get(1).is_some_and(|word| word == "hook") && words.len() > 2 && !words.iter().any(help)
}

/// Wrong words of an agent's configuration do not stop its prompts.
pub(crate) fn refused(error: &clap::Error) -> ExitCode {
    let _ = write!(std::io::stderr(), "{}", error.render());
    ExitCode::SUCCESS
}

/// Runs it. There is no failure.
pub(crate) fn run(matches: &ArgMatches) -> Outcome {
    let Some(("prompt", matches)) = matches.subcommand() else {
        return Outcome::Done;
    };
    static DONE: AtomicBool = AtomicBool::new(false);
    thread::spawn(|| {
        thread::sleep(DEADLINE);
        if !DONE.swap(true, Ordering::SeqCst) {
            style::note("lorewell: no answer in time; the prompt goes on without");
            std::process::exit(0);
        }
    });
    let answer = prompt(matches);
    if DONE.swap(true, Ordering::SeqCst) {
        // The other thread ends the process.
        thread::sleep(DEADLINE);
    }
    match answer {
        Ok(Some(answer)) => {
            // An agent that went away needs no answer.
            let _ = writeln!(std::io::stdout(), "{answer}");
        }
        Ok(None) => {}
        Err(problem) => style::fail(&problem.0.message, &problem.0.hint),
    }
    Outcome::Done
}

/// What the agent tells of the event.
struct Event {
    prompt: String,
    session: String,
    folder: PathBuf,
}

impl Event {
    fn read(environment: &Environment) -> Result<Event, Problem> {
        let mut text = Vec::new();
        let read = std::io::stdin()
            .lock()
            .take(MAX_INPUT)
            .read_to_end(&mut text);
        let json: Option<Value> = read.ok().and_then(|_| serde_json::from_slice(&text).ok());
        let Some(json) = json else {
            return Err(Problem::wrong_use(
                "standard input holds no event of an agent",
                "This command is run by agents; `lorewell context` is for people.",
            ));
        };
        let field = |name: &str| json[name].as_str().unwrap_or_default().to_string();
        let folder = field("cwd");
        Ok(Event {
            prompt: field("prompt"),
            session: field("session_id"),
            folder: if folder.is_empty() {
                environment.current_dir.clone()
            } else {
                PathBuf::from(folder)
            },
        })
    }

    /// What to ask the notes: nothing for a command of the agent and for a word or two such as
    /// "go on".
    fn question(&self) -> Option<String> {
        let prompt = self.prompt.trim();
        if prompt.starts_with(['/', '!', '#'])
            || prompt.split_whitespace().count() < 3 && prompt.len() < 12
        {
            return None;
        }
        if prompt.len() <= MAX_QUESTION {
            return Some(prompt.to_string());
        }
        let half = MAX_QUESTION / 2;
        let start = prompt.floor_char_boundary(half);
        let end = prompt.ceil_char_boundary(prompt.len() - half);
        Some(format!("{} {}", &prompt[..start], &prompt[end..]))
    }

    /// Paths in the vault that the prompt names as files (`@Notes/Kiln.md`, `@"My note.md"`): the
    /// agent has them whole.
    fn attached(&self, root: &Path) -> Vec<String> {
        let mut found = Vec::new();
        for (at, _) in self.prompt.match_indices('@') {
            let before = self.prompt[..at].chars().next_back();
            if before.is_some_and(|c| !c.is_whitespace() && !"([{\"'".contains(c)) {
                continue;
            }
            let rest = &self.prompt[at + 1..];
            let name = match rest.strip_prefix('"') {
                Some(quoted) => quoted.split('"').next().unwrap_or_default(),
                None => rest.split_whitespace().next().unwrap_or_default(),
            };
            let name = name.trim_end_matches([',', ';', ':', '?', '!', ')']);
            let name = name
                .strip_suffix(".md.")
                .map_or(name, |_| &name[..name.len() - 1]);
            let places = [self.folder.join(name), root.join(name)];
            let real = places.iter().find_map(|path| path.canonicalize().ok());
            let inside = real
                .as_deref()
                .and_then(|path| path.strip_prefix(root).ok());
            if let Some(inside) = inside.filter(|_| !name.is_empty()) {
                let path = inside.to_string_lossy().replace('\\', "/");
                if !path.is_empty() && !found.contains(&path) {
                    found.push(path);
                }
            }
        }
        found
    }
}

fn prompt(matches: &ArgMatches) -> Result<Option<String>, Problem> {
    let environment = Environment::from_process()?;
    let event = Event::read(&environment)?;
    let Some(question) = event.question() else {
        return Ok(None);
    };
    let config = Config::load(&environment)?;
    let (vault, settings) = chosen_vault(&config, matches)?;
    if settings.auto_context() == "off" {
        return Ok(None);
    }
    let host = lorewell_setup::open(&config, &settings, &vault)?;
    // Building an index takes longer than a prompt may wait.
    host.view().map_err(lorewell_capabilities::Failure::from)?;
    let client = matches
        .get_one::<String>("client")
        .map_or("", String::as_str);
    let session = Session::of(&environment, client, &event.session);
    let found = passages(&host, &settings, &event, &question, &session)?;
    let Some((context, given)) = found else {
        return Ok(None);
    };
    session.remember(&given);
    let answer = json!({ "hookSpecificOutput": {
        "hookEventName": "UserPromptSubmit",
        "additionalContext": written(&context),
    }});
    Ok(Some(answer.to_string()))
}

/// The context that is worth giving, and what it gives, as hashes.
fn passages(
    host: &Host,
    settings: &Settings,
    event: &Event,
    question: &str,
    session: &Session,
) -> Result<Option<(ContextOutput, Vec<String>)>, Problem> {
    let Some(entry) = table().iter().find(|entry| entry.id == ContextPack::ID) else {
        return Ok(None);
    };
    let limit = Limit(Instant::now() + FRESHEN);
    let desk = match host.refresh(Patience::Read, &limit) {
        Ok(freshness) => Desk::refreshed(host, freshness),
        Err(_) => Desk::new(host),
    };
    let mut attached = event.attached(host.root());
    let words = squeezed(&event.prompt);
    // Each round leaves out what the last one found to be known; two are enough in practice.
    for _ in 0..3 {
        let context = asked(entry, &desk, settings, question, &attached)?;
        let best = context
            .sources
            .iter()
            .filter_map(SourceJson::whole)
            .map(|source| source.passage.score)
            .fold(0.0, f64::max);
        let worth = context.confidence == "strong" && best >= settings.auto_context_floor();
        if !worth || context.sources.is_empty() {
            return Ok(None);
        }
        let mut known: Vec<String> = Vec::new();
        let mut given = Vec::new();
        for source in context.sources.iter().filter_map(SourceJson::whole) {
            let passage = &source.passage;
            let key = Session::key(&context.vault, &passage.note, &passage.content_hash);
            let is_pasted = words.contains(&squeezed(&passage.text));
            if session.has(&key) || is_pasted {
                known.push(passage.note.clone());
            } else {
                given.push(key);
            }
        }
        if known.is_empty() {
            return Ok(Some((context, given)));
        }
        attached.extend(known);
    }
    Ok(None)
}

fn asked(
    entry: &Entry,
    desk: &Desk<'_>,
    settings: &Settings,
    question: &str,
    attached: &[String],
) -> Result<ContextOutput, Problem> {
    let input = json!({
        "query": question,
        "budget": settings.auto_context_budget(),
        "passages": PASSAGES,
        "attached": attached,
    });
    let output = (entry.run)(desk, input)?;
    ContextOutput::deserialize(&output)
        .map_err(|error| Problem(lorewell_capabilities::Failure::internal(error.to_string())))
}

/// The text for the prompt.
fn written(context: &ContextOutput) -> String {
    let mut text = String::from(
        "Lorewell found these passages of the user's own notes for this prompt. They may not bear on it; \
         where you use one, name its path.\n",
    );
    text += &context.text;
    let degraded: Vec<&str> = context.degraded.iter().map(String::as_str).collect();
    if !degraded.is_empty() {
        text += &format!("\n\n(Not all was searched: {})", degraded.join("; "));
    }
    text
}

/// White space as single blanks.
fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Lets an update of the index run only so long.
struct Limit(Instant);

impl Observer for Limit {
    fn stopped(&self) -> bool {
        Instant::now() > self.0
    }
}

/// What a session was given: hashes, one a line, in a file that only the user may read.
struct Session {
    file: Option<PathBuf>,
    given: Vec<String>,
}

impl Session {
    fn of(environment: &Environment, client: &str, id: &str) -> Session {
        let folder = environment
            .data_dir
            .join("lorewell")
            .join("clients")
            .join("sessions");
        let file = (!id.is_empty()).then(|| folder.join(short_hash(&[client, id])));
        let text = file.as_ref().and_then(|file| fs::read_to_string(file).ok());
        let given = text
            .unwrap_or_default()
            .lines()
            .map(str::to_string)
            .collect();
        Session { file, given }
    }

    /// A note as it stands: one that changed is new.
    fn key(vault: &str, note: &str, content_hash: &str) -> String {
        short_hash(&[vault, note, content_hash])
    }

    fn has(&self, key: &str) -> bool {
        self.given.iter().any(|given| given == key)
    }

    /// Failure costs a repetition, no more.
    fn remember(&self, keys: &[String]) {
        let Some(file) = &self.file else { return };
        let Some(folder) = file.parent() else { return };
        if !folder.is_dir() {
            let _ = fs::create_dir_all(folder);
            private(folder, 0o700);
        }
        let lines: String = keys.iter().map(|key| format!("{key}\n")).collect();
        let opened = fs::File::options().create(true).append(true).open(file);
        private(file, 0o600);
        let _ = opened.and_then(|mut file| file.write_all(lines.as_bytes()));
        forget_old(folder);
    }
}

fn private(path: &Path, mode: u32) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let _ = fs::set_permissions(path, fs::Permissions::from_mode(mode));
    }
    #[cfg(not(unix))]
    let _ = (path, mode);
}

/// Drops sessions that are over.
fn forget_old(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let modified = entry.metadata().and_then(|metadata| metadata.modified());
        let age = modified
            .ok()
            .and_then(|time| SystemTime::now().duration_since(time).ok());
        if age.is_some_and(|age| age > SESSION) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn short_hash(parts: &[&str]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().to_hex()[..32].to_string()
}
