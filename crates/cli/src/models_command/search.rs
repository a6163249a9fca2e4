//! `models search`.

use clap::ArgMatches;
use lorewell_models::{Fit, Found, Task};
use lorewell_setup::Environment;
use serde_json::{Value, json};

use super::hub;
use super::pull::Bar;
use crate::outcome::{Outcome, Problem};
use crate::style::{self, FAINT, TITLE, inert_line, styled};

/// Looks for models on the hub.
pub(super) fn run(_environment: &Environment, matches: &ArgMatches) -> Result<Outcome, Problem> {
    let words: Vec<&str> = matches
        .get_many::<String>("words")
        .into_iter()
        .flatten()
        .map(String::as_str)
        .collect();
    let limit = matches.get_one::<u64>("limit").copied().unwrap_or(8);
    let hub = hub()?;
    let bar = Bar::new("never");
    let found = hub.search(&words.join(" "), limit as usize, &bar);
    bar.end();
    let found = found?;
    if matches.get_flag("json") {
        let models: Vec<Value> = found.iter().map(as_json).collect();
        let json = json!({ "contract": 1, "hub": hub.address(), "models": models });
        style::print_data(&json.to_string());
    } else {
        let text: String = found.iter().map(in_words).collect();
        style::print_text(&text);
    }
    Ok(match found.is_empty() {
        true => Outcome::NothingFound,
        false => Outcome::Done,
    })
}

fn as_json(found: &Found) -> Value {
    let mut json = json!({
        "repository": found.repository,
        "vetted": found.vetted,
        "gated": found.gated,
        "downloads": found.downloads,
    });
    if let Some(licence) = &found.licence {
        json["licence"] = json!(licence);
    }
    match &found.fit {
        Fit::Fits(recipe) => {
            json["fits"] = json!(true);
            json["task"] = json!(Task::Embed);
            json["recipe"] = json!({
                "pooling": recipe.pooling.name(),
                "question_prefix": recipe.question_prefix,
                "passage_prefix": recipe.passage_prefix,
                "longest": recipe.longest,
            });
        }
        Fit::Reranks => {
            json["fits"] = json!(true);
            json["task"] = json!(Task::Rerank);
        }
        Fit::Unfit { reason } => {
            json["fits"] = json!(false);
            json["reason"] = json!(reason);
        }
    }
    json
}

fn in_words(found: &Found) -> String {
    let mut facts = vec![format!("{} downloads", found.downloads)];
    facts.extend(found.licence.clone());
    if found.gated {
        facts.push("gated".to_string());
    }
    facts.push(if found.vetted { "vetted" } else { "not vetted" }.to_string());
    let how = match &found.fit {
        Fit::Fits(recipe) => format!(
            "would be used with the pooling `{}`, “{}” before questions and “{}” before passages",
            recipe.pooling.name(),
            inert_line(&recipe.question_prefix),
            inert_line(&recipe.passage_prefix)
        ),
        Fit::Reranks => "would be used as a reranker".to_string(),
        Fit::Unfit { reason } => format!("cannot be used: {}", inert_line(reason)),
    };
    format!(
        "{}  {}\n  {how}\n",
        styled(TITLE, &inert_line(&found.repository)),
        styled(FAINT, &inert_line(&facts.join(", ")))
    )
}
