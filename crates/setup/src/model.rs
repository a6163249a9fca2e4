//! The model that the settings name, ready to embed.

use std::fmt::Display;
use std::path::PathBuf;
use std::sync::Arc;

use lorewell_engine::{Embedder, ModelsByName, Reranker, StaticModel};
use lorewell_models::{ModelError, RerankSession, Session, Store, vetted};

use crate::endpoint::{endpoint, endpoint_memory};
use crate::environment::Environment;
use crate::layers::Settings;

/// The value of the setting `model` that means an endpoint.
const ENDPOINT: &str = "endpoint";

/// The value of the setting `reranker` that means none.
const OFF: &str = "off";

/// What the settings ask for: a model of the trait `M`.
pub(crate) enum Wanted<M: ?Sized + 'static> {
    /// A model that can be asked; whether it can answer is seen then.
    Model(&'static M),
    /// One that cannot be asked at all; what answers without it says why every time.
    Unusable {
        /// Its name.
        model: String,
        /// Why, for people.
        reason: String,
    },
}

/// The models of this user: `lorewell/models` in the user's data folder.
#[must_use]
pub fn model_store(environment: &Environment) -> Store {
    Store::new(&environment.data_dir.join("lorewell").join("models"))
}

/// The files whose change means that a model of these settings is another now, or can be used by
/// now; a model that comes with the program has none.
#[must_use]
pub fn model_files(environment: &Environment, settings: &Settings) -> Vec<PathBuf> {
    let store = model_store(environment);
    let manifest = |name: &str| {
        let name = vetted(name).map_or(name, |model| model.name);
        store.manifest_file(name).ok()
    };
    let (model, reranker) = (settings.model(), settings.reranker());
    let model = match model.as_str() {
        name if is_built_in(name) => None,
        ENDPOINT => Some(endpoint_memory(environment)),
        name => manifest(name),
    };
    let reranker = Some(reranker).filter(|name| !is_off(name));
    let reranker = reranker.and_then(|name| manifest(&name));
    model.into_iter().chain(reranker).collect()
}

/// Lets the model go that is loaded in this process, unless it is in use.
pub fn rest_models() {
    lorewell_models::rest();
}

/// The model that the settings name. The same settings give the same one for as long as the process
/// lives.
pub(crate) fn wanted(environment: &Environment, settings: &Settings) -> Wanted<dyn Embedder> {
    let name = settings.model();
    if is_built_in(&name) {
        return Wanted::Model(StaticModel::built_in());
    }
    if name == ENDPOINT {
        return match endpoint(environment, settings) {
            Ok(endpoint) => Wanted::Model(endpoint),
            Err(error) => Wanted::Unusable {
                reason: said(&error, error.hint().as_ref()),
                model: settings.endpoint_model().unwrap_or(name),
            },
        };
    }
    let store = model_store(environment);
    match Session::of(&store, &name, &settings.precision(), &settings.device()) {
        Ok(session) => Wanted::Model(session),
        Err(error) => Wanted::Unusable {
            reason: said(&error, error.hint().as_ref()),
            model: name,
        },
    }
}

/// Finds the fetched model that another program made its vectors with, by the name that it gives it.
pub(crate) fn models_by_name(environment: &Environment, settings: &Settings) -> ModelsByName {
    let store = model_store(environment);
    let (precision, device) = (settings.precision(), settings.device());
    Arc::new(move |name| {
        let because = |error: ModelError| said(&error, error.hint().as_ref());
        let Some(name) = store.name_of(name).map_err(because)? else {
            return Ok(None);
        };
        let session = Session::of(&store, &name, &precision, &device).map_err(because)?;
        Ok(Some(session as &'static dyn Embedder))
    })
}

/// The reranker that the settings name, if they name one.
pub(crate) fn wanted_reranker(
    environment: &Environment,
    settings: &Settings,
) -> Option<Wanted<dyn Reranker>> {
    let name = settings.reranker();
    if is_off(&name) {
        return None;
    }
    let store = model_store(environment);
    let session = RerankSession::of(&store, &name, &settings.precision(), &settings.device());
    Some(match session {
        Ok(session) => Wanted::Model(session),
        Err(error) => Wanted::Unusable {
            reason: said(&error, error.hint().as_ref()),
            model: name,
        },
    })
}

/// An error and its hint as one text, which others go on from.
fn said(error: &dyn Display, hint: &str) -> String {
    format!("{error}. {}", hint.trim_end_matches('.'))
}

fn is_off(reranker: &str) -> bool {
    reranker.is_empty() || reranker.eq_ignore_ascii_case(OFF)
}

fn is_built_in(name: &str) -> bool {
    name.eq_ignore_ascii_case(StaticModel::built_in().model())
}
