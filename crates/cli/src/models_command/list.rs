//! `models list` and `models remove`.

use clap::ArgMatches;
use lorewell_capabilities::Failure;
use lorewell_engine::StaticModel;
use lorewell_models::{Manifest, ModelError, Origin, SHORTLIST, Task, Vetted, vetted};
use lorewell_setup::{Config, Environment, VaultRef, model_store};
use serde_json::{Value, json};

use super::{MODEL_IN_USE, given, uses};
use crate::outcome::{Outcome, Problem};
use crate::style::{self, FAINT, TITLE, WARN, inert_line, styled};

/// Shows the models that there are.
pub(super) fn run(environment: &Environment, matches: &ArgMatches) -> Result<Outcome, Problem> {
    let config = Config::load(environment)?;
    let store = model_store(environment);
    let used = uses(&config);
    let mut fetched = store.list()?;
    if matches.get_flag("check") {
        for (_, manifest) in &mut fetched {
            if let Ok(read) = manifest
                && let Err(error) = store.verify(read)
            {
                *manifest = Err(error);
            }
        }
    }
    let mut rows = vec![Row::built_in()];
    rows.extend(
        fetched
            .into_iter()
            .map(|(name, manifest)| Row::fetched(name, manifest)),
    );
    let there: Vec<String> = rows.iter().map(|row| row.name.clone()).collect();
    let worth = SHORTLIST
        .iter()
        .filter(|model| !there.iter().any(|name| name == model.name));
    rows.extend(worth.map(Row::worth_fetching));
    for row in &mut rows {
        let uses_it = |(_, models): &&(VaultRef, [String; 2])| are_called(models, &row.name);
        row.used_by = used
            .iter()
            .filter(uses_it)
            .map(|(vault, _)| vault.name.clone())
            .collect();
    }
    let is_damaged = rows.iter().any(|row| row.trouble.is_some());
    if matches.get_flag("json") {
        let models: Vec<Value> = rows.iter().map(Row::json).collect();
        let folder = store.folder().display().to_string();
        style::print_data(
            &json!({ "contract": 1, "folder": folder, "models": models }).to_string(),
        );
    } else {
        let text: String = rows.iter().map(Row::text).collect();
        style::print_text(&text);
    }
    Ok(if is_damaged {
        Outcome::Damaged
    } else {
        Outcome::Done
    })
}

/// Deletes a fetched model.
pub(super) fn remove(environment: &Environment, matches: &ArgMatches) -> Result<Outcome, Problem> {
    let asked = given(matches, "name");
    let name = vetted(asked).map_or(asked, |model| model.name);
    // The built-in model, say, which nobody can delete.
    model_store(environment).place(name)?;
    let config = Config::load(environment)?;
    let used: Vec<String> = uses(&config)
        .into_iter()
        .filter(|(_, models)| are_called(models, name))
        .map(|(vault, _)| vault.name)
        .collect();
    if !used.is_empty() && !matches.get_flag("force") {
        return Err(Problem(Failure {
            code: MODEL_IN_USE.to_string(),
            message: format!("the model `{name}` is used by {}", used.join(", ")),
            hint: format!(
                "`lorewell models use {} --vault NAME` gives a vault another model, `models use off` takes a reranker away; --force deletes it all the same.",
                StaticModel::NAME
            ),
        }));
    }
    model_store(environment).remove(name)?;
    if matches.get_flag("json") {
        let json = json!({ "contract": 1, "model": name, "removed": true, "used_by": used });
        style::print_data(&json.to_string());
    } else {
        style::print_text(&format!("{} is deleted.\n", inert_line(name)));
    }
    Ok(Outcome::Done)
}

fn are_called(models: &[String], name: &str) -> bool {
    models.iter().any(|model| is_called(model, name))
}

fn is_called(model: &str, name: &str) -> bool {
    vetted(model)
        .map_or(model, |model| model.name)
        .eq_ignore_ascii_case(name)
}

/// A model in the list.
struct Row {
    name: String,
    /// `built-in`, `fetched` or `shortlist`.
    state: &'static str,
    task: Task,
    vetted: bool,
    bytes: Option<u64>,
    dimension: Option<usize>,
    languages: Option<&'static str>,
    licence: Option<&'static str>,
    measured: Option<&'static str>,
    origin: Option<String>,
    recipe: Option<Value>,
    trouble: Option<String>,
    used_by: Vec<String>,
}

impl Row {
    fn empty(name: String, state: &'static str) -> Row {
        Row {
            name,
            state,
            task: Task::Embed,
            vetted: false,
            bytes: None,
            dimension: None,
            languages: None,
            licence: None,
            measured: None,
            origin: None,
            recipe: None,
            trouble: None,
            used_by: Vec::new(),
        }
    }

    fn built_in() -> Row {
        Row {
            vetted: true,
            dimension: Some(256),
            languages: Some("English"),
            ..Row::empty(StaticModel::NAME.to_string(), "built-in")
        }
    }

    fn fetched(name: String, manifest: Result<Manifest, ModelError>) -> Row {
        let row = match vetted(&name) {
            Some(model) => Row::of_vetted(model, "fetched"),
            None => Row::empty(name, "fetched"),
        };
        let manifest = match manifest {
            Ok(manifest) => manifest,
            Err(error) => {
                let trouble = Some(format!("{error}. {}", error.hint()));
                return Row { trouble, ..row };
            }
        };
        let files = manifest.files.iter().chain(&manifest.prepared);
        Row {
            task: manifest.task,
            vetted: manifest.vetted,
            bytes: Some(files.map(|file| file.bytes).sum()),
            dimension: (manifest.task == Task::Embed).then_some(manifest.dimension),
            origin: Some(match &manifest.origin {
                Origin::Hub {
                    hub,
                    repository,
                    revision,
                } => {
                    format!("{hub}/{repository} at {revision}")
                }
                Origin::Folder { folder } => folder.clone(),
            }),
            recipe: Some(match manifest.task {
                Task::Rerank => json!({ "longest": manifest.longest }),
                Task::Embed => json!({
                    "pooling": manifest.recipe.pooling,
                    "question_prefix": manifest.recipe.question_prefix,
                    "passage_prefix": manifest.recipe.passage_prefix,
                    "longest": manifest.longest,
                }),
            }),
            ..row
        }
    }

    fn of_vetted(model: &Vetted, state: &'static str) -> Row {
        Row {
            task: model.task,
            vetted: true,
            bytes: Some(model.bytes),
            dimension: (model.task == Task::Embed).then_some(model.dimension),
            languages: Some(model.languages),
            licence: Some(model.licence),
            measured: model.measured,
            ..Row::empty(model.name.to_string(), state)
        }
    }

    fn worth_fetching(model: &Vetted) -> Row {
        Row::of_vetted(model, "shortlist")
    }

    fn json(&self) -> Value {
        let mut json = json!({
            "name": self.name,
            "state": self.state,
            "task": self.task,
            "vetted": self.vetted,
            "bytes": self.bytes,
            "dimension": self.dimension,
            "languages": self.languages,
            "licence": self.licence,
            "measured": self.measured,
            "origin": self.origin,
            "recipe": self.recipe,
            "trouble": self.trouble,
            "used_by": self.used_by,
        });
        if let Some(fields) = json.as_object_mut() {
            // Absent values are left out.
            fields.retain(|_, value| !value.is_null());
        }
        json
    }

    fn text(&self) -> String {
        let mut facts = Vec::new();
        if self.task == Task::Rerank {
            facts.push(self.task.noun().to_string());
        }
        if let Some(bytes) = self.bytes {
            facts.push(format!("{:.0} MB", bytes as f64 / 1e6));
        }
        if let Some(dimension) = self.dimension {
            facts.push(format!("{dimension} numbers"));
        }
        facts.extend(self.languages.map(str::to_string));
        facts.extend(self.licence.map(str::to_string));
        if !self.vetted {
            facts.push("not vetted".to_string());
        }
        let state = match self.state {
            "shortlist" => "to be fetched",
            state => state,
        };
        let mut text = format!(
            "{}  {state}  {}\n",
            styled(TITLE, &inert_line(&self.name)),
            styled(FAINT, &facts.join(", "))
        );
        if let Some(measured) = self.measured {
            text += &format!("  {measured}\n");
        }
        if let Some(trouble) = &self.trouble {
            text += &styled(WARN, &format!("  {}\n", inert_line(trouble)));
        }
        if !self.used_by.is_empty() {
            text += &format!("  used by {}\n", inert_line(&self.used_by.join(", ")));
        }
        text
    }
}
