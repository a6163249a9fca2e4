//! `lorewell hook prompt`: run by an agent for every prompt, it adds passages of the notes that
//! bear on it, and is silent where none does.
//!
//! It never stands in the way of a prompt: whatever goes wrong is said on standard error, the exit
//! code is 0 (agents take 2 as a veto), and it ends in time. The prompt is kept nowhere. Of what
//! it gave it remembers hashes, for one session, so that nothing is given twice.

mod event;
mod notes;
mod session;

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use clap::{Arg, ArgMatches, Command};
use lorewell_capabilities::{Capability as _, ContextOutput, ContextPack, SourceJson, table};
use lorewell_clients::Client;
use lorewell_setup::{Config, Environment, Settings};
use serde_json::json;

use self::event::Event;
use self::notes::Notes;
use self::session::Session;
use crate::arguments::{index_dir_flag, vault_flag};
use crate::capability::chosen_vault;
use crate::outcome::{Outcome, Problem};
use crate::style;

/// After so long it gives up, whatever it is doing.
const DEADLINE: Duration = Duration::from_millis(1500);
/// So many passages are added at most.
const PASSAGES: u32 = 3;

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
    let answer = prompt(matches, &mut |answer| {
        if DONE.swap(true, Ordering::SeqCst) {
            // The other thread ends the process.
            thread::sleep(DEADLINE);
        }
        // An agent that went away needs no answer.
        let _ = writeln!(std::io::stdout(), "{answer}");
    });
    if let Err(problem) = answer {
        style::fail(&problem.0.message, &problem.0.hint);
    }
    DONE.store(true, Ordering::SeqCst);
    Outcome::Done
}

/// Adds to one prompt: `give` gets the answer, if there is one.
fn prompt(matches: &ArgMatches, give: &mut dyn FnMut(&str)) -> Result<(), Problem> {
    let environment = Environment::from_process()?;
    let event = Event::read(&environment)?;
    let Some(question) = event.question() else {
        return Ok(());
    };
    let config = Config::load(&environment)?;
    let (vault, settings) = chosen_vault(&config, matches)?;
    config.check_remote(&settings, Some(&vault))?;
    let entry = table().iter().find(|entry| entry.id == ContextPack::ID);
    let Some(entry) = entry.filter(|_| settings.auto_context() != "off") else {
        return Ok(());
    };
    let of = lorewell_direct::Asked {
        config: &config,
        settings: &settings,
        vault: &vault,
        entry,
    };
    let client = matches
        .get_one::<String>("client")
        .map_or("", String::as_str);
    let Some(mut notes) = Notes::of(of, client)? else {
        return Ok(());
    };
    let session = Session::of(&environment, client, &event.session);
    let asked = Asked {
        event: &event,
        question: &question,
        settings: &settings,
        session: &session,
        root: &vault.path,
    };
    let found = match passages(&mut notes, &asked) {
        // Whatever keeps the bridge from answering does not keep this process from it.
        Err(_) if matches!(notes, Notes::Bridge { .. }) => {
            let Some(here) = Notes::here(of, client)? else {
                return Ok(());
            };
            notes = here;
            passages(&mut notes, &asked)?
        }
        other => other?,
    };
    if let Some((context, given)) = found {
        notes.gives()?;
        session.remember(&given);
        let answer = json!({ "hookSpecificOutput": {
            "hookEventName": "UserPromptSubmit",
            "additionalContext": written(&context),
        }});
        give(&answer.to_string());
    }
    notes.follow()
}

/// What is asked, and what is known already.
struct Asked<'a> {
    event: &'a Event,
    question: &'a str,
    settings: &'a Settings,
    session: &'a Session,
    /// The vault's folder.
    root: &'a Path,
}

/// The context that is worth giving, and what it gives, as hashes.
fn passages(
    notes: &mut Notes<'_>,
    asked: &Asked<'_>,
) -> Result<Option<(ContextOutput, Vec<String>)>, Problem> {
    let (settings, session) = (asked.settings, asked.session);
    let mut attached = asked.event.attached(asked.root);
    let words = squeezed(&asked.event.prompt);
    // Each round leaves out what the last one found to be known; two are enough in practice.
    for _ in 0..3 {
        let context = notes.context(json!({
            "query": asked.question,
            "budget": settings.auto_context_budget(),
            "passages": PASSAGES,
            "attached": attached,
        }))?;
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
