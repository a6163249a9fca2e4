//! `lorewell models`: which models there are, fetching them, and giving one to a vault.

mod bench;
mod endpoint;
mod list;
mod pull;
mod rerank;
mod search;
mod switch_to;
mod upgrade;

use clap::{Arg, ArgMatches, Command, value_parser};
use lorewell_capabilities::Failure;
use lorewell_models::{Hub, ModelError, USUAL_HUB};
use lorewell_setup::{Config, Environment, Flags, VaultRef, variables, vaults};

use crate::arguments::{index_dir_flag, switch, vault_flag};
use crate::outcome::{Outcome, Problem};

#[cfg(test)]
pub(crate) use upgrade::NOT_EMBEDDED;

/// The code of the error where a model that is to go is used.
pub(crate) const MODEL_IN_USE: &str = "model_in_use";

/// The command and its subcommands.
pub(crate) fn command() -> Command {
    let name = |help: &'static str| {
        Arg::new("name")
            .required(true)
            .value_name("NAME")
            .help(help)
    };
    let option = |name: &'static str, shown: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(shown).help(help)
    };
    let precision = || {
        option(
            "precision",
            "P",
            "The numbers that it is computed in: q8, f16 or f32 (setting `precision`)",
        )
        .value_parser(["q8", "f16", "f32"])
    };
    Command::new("models")
        .about("Fetch models that know meaning better, and give one to a vault")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(
            Command::new("list")
                .about("Show the models that there are: built in, fetched, and worth fetching")
                .arg(switch("check", "Read the files of fetched models through, and say whether they are as they came")),
        )
        .subcommand(
            Command::new("search")
                .about("Look for models on the hub; what is found there was not looked at by anybody here")
                .arg(
                    Arg::new("words")
                        .required(true)
                        .num_args(1..)
                        .value_name("WORDS")
                        .help("Words of its name"),
                )
                .arg(
                    option("limit", "N", "How many are shown at most")
                        .value_parser(value_parser!(u64).range(1..=50))
                        .default_value("8"),
                ),
        )
        .subcommand(
            Command::new("pull")
                .about("Fetch a model, so that vaults can use it without a network")
                .long_about(
                    "Fetch a model, so that vaults can use it without a network from then on. What came \
                     before an interruption is not fetched again, and every file is compared with the \
                     hub's checksum. The hub is HF_ENDPOINT, else huggingface.co; HF_TOKEN is sent to it \
                     alone; proxies are those of HTTPS_PROXY. With --from the files are taken from a \
                     folder and nothing is asked of the network",
                )
                .arg(name("One of the shortlist (`lorewell models list`), or OWNER/NAME on the hub"))
                .arg(option("from", "DIR", "Take it from this folder: config.json, tokenizer.json, model.safetensors"))
                .arg(option("revision", "REV", "A branch, tag or commit of the repository (default: main)").conflicts_with("from")),
        )
        .subcommand(
            Command::new("use")
                .about("Give a vault a model; its passages are embedded behind everything else")
                .long_about(
                    "Give a vault a model. Search goes on with the model of before until the new one has \
                     all passages, and every answer says how far it is. A watcher or the bridge embeds, \
                     if it watches the vault, else a process in the background; with --wait this command does, and \
                     can be stopped and repeated at any time. To go back to a model embeds nothing that \
                     it embedded before. With --endpoint the model is at a server that embeds in the \
                     OpenAI form (Ollama, LM Studio, llama.cpp, OpenAI): it is tried first, and nothing \
                     is changed if it does not work. A reranker embeds nothing: it judges the first \
                     passages of each answer from the next question on, beside the model that embeds, \
                     until `lorewell models use off`",
                )
                .arg(
                    name("A fetched model, or the built-in `static-en-256`; `off` for no reranker")
                        .required(false)
                        .required_unless_present("endpoint"),
                )
                .arg(precision())
                .args(endpoint::arguments())
                .arg(switch("wait", "Embed now, and show how far it is"))
                .args([vault_flag(), index_dir_flag()]),
        )
        .subcommand(
            Command::new("upgrade")
                .about("Embed what still waits, until it is done or stopped")
                .args([vault_flag(), index_dir_flag()]),
        )
        .subcommand(
            Command::new("remove")
                .about("Delete a fetched model")
                .arg(name("Its name"))
                .arg(switch("force", "Even if a vault uses it; the built-in model answers there from then on")),
        )
        .subcommand(
            Command::new("bench")
                .about("Measure how fast fetched models are on this machine")
                .arg(Arg::new("name").value_name("NAME").help("This one alone"))
                .arg(precision()),
        )
}

/// Runs one of its subcommands.
pub(crate) fn run(environment: &Environment, matches: &ArgMatches) -> Result<Outcome, Problem> {
    match matches.subcommand() {
        Some(("list", matches)) => list::run(environment, matches),
        Some(("search", matches)) => search::run(environment, matches),
        Some(("pull", matches)) => pull::run(environment, matches),
        Some(("use", matches)) => switch_to::run(environment, matches),
        Some(("upgrade", matches)) => upgrade::run(environment, matches),
        Some(("remove", matches)) => list::remove(environment, matches),
        Some(("bench", matches)) => bench::run(environment, matches),
        _ => Ok(Outcome::Done),
    }
}

/// The hub that the environment names.
fn hub() -> Result<Hub, Problem> {
    let said = variables(&["HF_ENDPOINT", "HF_TOKEN"]);
    let text = |name: &str| {
        let value = said.get(name)?.to_string_lossy();
        Some(value.trim().to_string()).filter(|value| !value.is_empty())
    };
    let address = text("HF_ENDPOINT").unwrap_or_else(|| USUAL_HUB.to_string());
    Ok(Hub::new(&address, text("HF_TOKEN"))?)
}

/// The vaults of the list, each with the models that its settings name.
fn uses(config: &Config) -> Vec<(VaultRef, [String; 2])> {
    let models = |vault: &VaultRef| {
        let settings = config.settings(Some(vault), &Flags::new()).ok()?;
        Some((vault.clone(), [settings.model(), settings.reranker()]))
    };
    vaults::list(config).filter_map(models).collect()
}

fn given<'m>(matches: &'m ArgMatches, name: &str) -> &'m str {
    matches.get_one::<String>(name).map_or("", String::as_str)
}

impl From<ModelError> for Problem {
    fn from(error: ModelError) -> Problem {
        Problem(Failure {
            code: error.code().to_string(),
            message: error.to_string(),
            hint: error.hint(),
        })
    }
}
