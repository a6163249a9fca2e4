//! `models use`: writes the vault's setting, and has its passages embedded.

#![expect(
    clippy::disallowed_types,
    reason = "the process that embeds in the background is this program"
)]

use std::process::{Command, Stdio};

use clap::ArgMatches;
use lorewell_capabilities::Failure;
use lorewell_engine::{
    Cost, Embedded, Embedder, Host, Patience, StaticModel, StatusRequest, Watcher,
};
use lorewell_models::{ModelError, Session, vetted};
use lorewell_setup::{
    Config, Environment, Settings, VaultRef, check_endpoint, edit, model_store, program,
};
use serde_json::json;

use super::{endpoint, given, rerank, upgrade};
use crate::capability::chosen_vault;
use crate::outcome::{Outcome, Problem};
use crate::progress::Progress;
use crate::style::{self, inert_line};

/// Gives a vault a model.
pub(super) fn run(environment: &Environment, matches: &ArgMatches) -> Result<Outcome, Problem> {
    let config = Config::load(environment)?;
    let (vault, before) = chosen_vault(&config, matches)?;
    let listed = listed(&config, &vault)?;
    let name = if endpoint::give(&config, &vault, matches)? {
        endpoint::NAME
    } else {
        let asked = given(matches, "name");
        let name = vetted(asked).map_or(asked, |model| model.name);
        if rerank::is_meant(environment, name) {
            return rerank::give(environment, matches, (&listed, &before), name);
        }
        let precision = matches.get_one::<String>("precision").map(String::as_str);
        check(environment, &before, name, precision)?;
        write(environment, &listed, name, precision)?;
        name
    };

    let config = Config::load(environment)?;
    let (vault, settings) = chosen_vault(&config, matches)?;
    let model = &settings.get(lorewell_setup::Key::Model);
    if settings.model() != name {
        let said = format!("{} decides: it says `{}`", model.origin, settings.model());
        style::warn(&said);
    }
    style::set_color(&settings.color());
    let progress = Progress::new(&settings.progress());
    let host = lorewell_setup::open(&config, &settings, &vault)?;
    let freshness = progress.unless_waiting(&host, || host.refresh(Patience::Wait, &progress))?;
    if progress.interrupted() {
        return Err(Failure::interrupted(freshness.pending as u64).into());
    }
    let how = if host.embedder().cost() == Cost::Cheap || missing(&host)? == 0 {
        How::Done
    } else if matches.get_flag("wait") {
        let wanted = upgrade::StillWanted::new(environment, matches, &settings);
        upgrade::embed(&host, &progress, &wanted)?;
        How::Done
    } else if let Some(watcher) = Watcher::of(host.index_folder()) {
        How::Watcher(watcher.process)
    } else {
        How::Background(begin(&vault, matches)?)
    };
    say(matches, &host, &how)
}

/// What a model is tried with before anything is written.
const PROBE: &str = "Is anybody there?";

/// Who embeds what waits.
enum How {
    /// Nothing waits.
    Done,
    /// The process that watches the vault.
    Watcher(Option<u32>),
    /// A process that was begun for it.
    Background(u32),
}

/// Whether the model can be used at all, before anything is written.
fn check(
    environment: &Environment,
    settings: &Settings,
    name: &str,
    precision: Option<&str>,
) -> Result<(), Problem> {
    if name.eq_ignore_ascii_case(StaticModel::NAME) {
        return Ok(());
    }
    if name == endpoint::NAME {
        return Ok(check_endpoint(environment, settings)?);
    }
    let (store, usual) = (model_store(environment), settings.precision());
    let session = Session::of(
        &store,
        name,
        precision.unwrap_or(&usual),
        &settings.device(),
    )?;
    if let Embedded::Failed { reason } = session.embed_question(PROBE) {
        let name = session.model().to_string();
        return Err(ModelError::Damaged { name, reason }.into());
    }
    Ok(())
}

/// The vault's name on the list, under which its settings are kept.
fn listed(config: &Config, vault: &VaultRef) -> Result<String, Problem> {
    let Some(listed) = config.listed(vault) else {
        let path = vault.path.display();
        return Err(Problem(Failure {
            code: "unknown_vault".to_string(),
            message: format!(
                "{path} is not on the list of vaults, so no setting can be kept for it"
            ),
            hint: format!("List it with `lorewell vault add {path}`."),
        }));
    };
    Ok(listed.vault.name.clone())
}

fn write(
    environment: &Environment,
    vault: &str,
    name: &str,
    precision: Option<&str>,
) -> Result<(), Problem> {
    let vault = Some(vault);
    if let Some(precision) = precision {
        edit::set(environment, vault, "precision", precision)?;
    }
    edit::set(environment, vault, "model", name)?;
    Ok(())
}

/// How many passages wait for the wanted model.
fn missing(host: &Host) -> Result<u64, Problem> {
    let status = host.status(&StatusRequest::default())?;
    let wanted = host.embedder().fingerprint().as_str();
    let of = status
        .models
        .iter()
        .find(|model| model.fingerprint == wanted);
    Ok(of.map_or(status.totals.passages, |model| model.missing))
}

/// Begins a process that embeds what waits and goes on by itself; its number.
fn begin(vault: &VaultRef, matches: &ArgMatches) -> Result<u32, Problem> {
    let failed = |error: std::io::Error| {
        Problem(Failure::internal(format!(
            "no process can be begun in the background: {error}"
        )))
    };
    let mut command = Command::new(program().map_err(failed)?);
    command
        .args(["models", "upgrade", "--vault"])
        .arg(&vault.path)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    if let Some(folder) = matches.get_one::<String>("index-dir") {
        command.arg("--index-dir").arg(folder);
    }
    // Its own group: what ends this command does not end it.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    Ok(command.spawn().map_err(failed)?.id())
}

fn say(matches: &ArgMatches, host: &Host, how: &How) -> Result<Outcome, Problem> {
    let waiting = missing(host)?;
    let waiting = if matches!(how, How::Done) && host.embedder().cost() == Cost::Cheap {
        0
    } else {
        waiting
    };
    let model = host.embedder().model();
    let (by, process) = match how {
        How::Done => ("none", None),
        How::Watcher(process) => ("watcher", *process),
        How::Background(process) => ("background", Some(*process)),
    };
    if matches.get_flag("json") {
        let mut json = json!({
            "contract": 1, "vault": host.name(), "model": model, "waiting": waiting,
            "embedding": by,
        });
        if let Some(process) = process {
            json["process"] = json!(process);
        }
        if let Some(target) = host.embedder().network_target() {
            json["network_target"] = json!(target);
        }
        style::print_data(&json.to_string());
        return Ok(Outcome::Done);
    }
    let vault = inert_line(host.name());
    let follow = format!("`lorewell status --vault {vault}` shows how far it is");
    style::print_text(&match how {
        How::Done => format!("{vault} uses {model}.\n"),
        How::Watcher(_) => format!(
            "{vault} uses {model}: the process that watches it embeds {waiting} passages; {follow}.\n"
        ),
        How::Background(id) => format!(
            "{vault} uses {model}: process {id} embeds {waiting} passages in the background; {follow}.\n"
        ),
    });
    if let Some(target) = host.embedder().network_target() {
        style::print_text(&format!(
            "Text of its notes and of questions is sent to {}.\n",
            inert_line(&target)
        ));
    }
    Ok(Outcome::Done)
}
