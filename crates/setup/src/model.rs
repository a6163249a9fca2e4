//! The model that the settings name, ready to embed.

use std::path::PathBuf;

use lorewell_engine::{Embedder, StaticModel};
use lorewell_models::{Session, Store, vetted};

use crate::endpoint::{endpoint, endpoint_memory};
use crate::environment::Environment;
use crate::layers::Settings;

/// The value of the setting `model` that means an endpoint.
const ENDPOINT: &str = "endpoint";

/// What the settings ask for.
pub(crate) enum Wanted {
    /// A model that can be asked; whether it can answer is seen then.
    Model(&'static dyn Embedder),
    /// One that cannot be asked at all; the built-in one answers, and every answer says why.
    Unusable {
        /// Its name.
        model: String,
        /// Why, for people.
        reason: String,
    },
}

impl Wanted {
    /// What the dense lane counts with the model that will answer.
    pub(crate) fn weight(&self) -> f32 {
        match self {
            Wanted::Model(embedder) => embedder.weight(),
            Wanted::Unusable { .. } => StaticModel::built_in().weight(),
        }
    }
}

/// The models of this user: `lorewell/models` in the user's data folder.
#[must_use]
pub fn model_store(environment: &Environment) -> Store {
    Store::new(&environment.data_dir.join("lorewell").join("models"))
}

/// The file whose change means that the model of these settings is another now, or can be used by
/// now; nothing for a model that comes with the program.
#[must_use]
pub fn model_file(environment: &Environment, settings: &Settings) -> Option<PathBuf> {
    let name = settings.model();
    if is_built_in(&name) {
        return None;
    }
    if name == ENDPOINT {
        return Some(endpoint_memory(environment));
    }
    let name = vetted(&name).map_or(name.as_str(), |model| model.name);
    model_store(environment).manifest_file(name).ok()
}

/// Lets the model go that is loaded in this process, unless it is in use.
pub fn rest_models() {
    lorewell_models::rest();
}

/// The model that the settings name. The same settings give the same one for as long as the process
/// lives.
pub(crate) fn wanted(environment: &Environment, settings: &Settings) -> Wanted {
    let name = settings.model();
    if is_built_in(&name) {
        return Wanted::Model(StaticModel::built_in());
    }
    if name == ENDPOINT {
        return match endpoint(environment, settings) {
            Ok(endpoint) => Wanted::Model(endpoint),
            Err(error) => Wanted::Unusable {
                reason: format!("{error}. {}", error.hint()),
                model: settings.endpoint_model().unwrap_or(name),
            },
        };
    }
    let store = model_store(environment);
    match Session::of(&store, &name, &settings.precision(), &settings.device()) {
        Ok(session) => Wanted::Model(session),
        Err(error) => Wanted::Unusable {
            reason: format!("{error}. {}", error.hint()),
            model: name,
        },
    }
}

fn is_built_in(name: &str) -> bool {
    name.eq_ignore_ascii_case(StaticModel::built_in().model())
}
