//! The endpoint that the settings name.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use lorewell_endpoint::{
    Address, Endpoint, EndpointError, EndpointSettings, Key, Prefixes, usual_prefixes,
};

use crate::environment::{Environment, variables};
use crate::error::SetupError;
use crate::layers::Settings;

/// What a setting says that means no prefix, or no key, at all, whatever is said for all vaults.
pub(crate) const NONE: &str = "none";

/// Why the settings give no endpoint.
#[derive(Debug, thiserror::Error)]
pub enum EndpointSetupError {
    /// The address or the model is not named.
    #[error("the setting `{0}` is not set")]
    Missing(&'static str),
    /// Notes would leave this machine, and nobody allowed it.
    #[error("{host} is not this machine, and the text of notes and questions would be sent to it")]
    NotAllowed {
        /// The host that is not among the allowed ones.
        host: String,
    },
    /// The settings themselves.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// The endpoint itself.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
}

impl EndpointSetupError {
    /// A stable word for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Missing(_) => "endpoint_incomplete",
            Self::NotAllowed { .. } => "endpoint_not_allowed",
            Self::Setup(error) => error.code(),
            Self::Endpoint(EndpointError::Address { .. }) => "endpoint_address",
            Self::Endpoint(EndpointError::Provider { .. }) => "endpoint_provider",
            Self::Endpoint(EndpointError::Key(_)) => "endpoint_key",
            Self::Endpoint(EndpointError::Trial(_)) => "endpoint_failed",
            Self::Endpoint(EndpointError::Memory { .. }) => "endpoint_memory",
        }
    }

    /// What to try.
    #[must_use]
    pub fn hint(&self) -> String {
        let hint = match self {
            Self::Missing(_) => "`lorewell models use --endpoint URL --endpoint-model NAME`.",
            Self::NotAllowed { .. } => {
                "To allow it, once for this host: `lorewell models use --endpoint … --allow-remote`."
            }
            Self::Setup(error) => return error.hint().unwrap_or_default(),
            Self::Endpoint(EndpointError::Address { .. }) => {
                "For Ollama it is http://localhost:11434, for LM Studio http://localhost:1234, for \
                 OpenAI https://api.openai.com."
            }
            Self::Endpoint(EndpointError::Provider { .. }) => {
                "Name a server that has embeddings in the OpenAI form."
            }
            Self::Endpoint(EndpointError::Key(_)) => {
                "Set the variable that `endpoint_key_env` names, or the file of `endpoint_key_file`."
            }
            Self::Endpoint(EndpointError::Trial(_)) => {
                "An answer of 401 or 403 is about the key, 404 about the address or the model's name, \
                 429 asks for patience; else see whether the server runs, and has the model under \
                 that name."
            }
            Self::Endpoint(EndpointError::Memory { .. }) => {
                "Check the permissions of the user's data folder."
            }
        };
        hint.to_string()
    }
}

/// The file that remembers which models endpoints were found to have.
pub(crate) fn endpoint_memory(environment: &Environment) -> PathBuf {
    environment.data_dir.join("lorewell").join("endpoints.json")
}

/// What the settings say of an endpoint. Whether its host is allowed is not asked here.
///
/// # Errors
/// Something is missing; no address; a server that cannot be used.
pub(crate) fn endpoint_settings(
    environment: &Environment,
    settings: &Settings,
) -> Result<EndpointSettings, EndpointSetupError> {
    let missing = EndpointSetupError::Missing;
    let url = settings.endpoint_url().ok_or(missing("endpoint_url"))?;
    let model = settings.endpoint_model().ok_or(missing("endpoint_model"))?;
    let usual = usual_prefixes(&model);
    Ok(EndpointSettings {
        address: Address::read(&url)?,
        key: key(settings).map_err(|error| match error {
            EndpointError::Key(why) => why,
            other => other.to_string(),
        }),
        prefixes: Prefixes {
            question: prefix(settings.endpoint_question_prefix(), usual.question),
            passage: prefix(settings.endpoint_passage_prefix(), usual.passage),
        },
        model,
        batch: settings.endpoint_batch() as usize,
        timeout: Duration::from_secs(settings.endpoint_timeout_seconds()),
        memory: endpoint_memory(environment),
    })
}

/// The endpoint of the settings, as it is known; the same for the same settings, for as long as its
/// server has the same model.
pub(crate) fn endpoint(
    environment: &Environment,
    settings: &Settings,
) -> Result<&'static Endpoint, EndpointSetupError> {
    let wanted = endpoint_settings(environment, settings)?;
    check_allowed(settings, &wanted.address)?;
    let open = lock(&OPEN);
    let is_it = |open: &&&Endpoint| !open.is_outdated() && *open.settings() == wanted;
    let found = open.iter().rev().find(is_it).copied();
    drop(open);
    Ok(found.unwrap_or_else(|| kept(Endpoint::open(wanted))))
}

/// Those that were opened in this process: hosts keep them for as long as it lives.
static OPEN: Mutex<Vec<&'static Endpoint>> = Mutex::new(Vec::new());

fn lock(
    open: &'static Mutex<Vec<&'static Endpoint>>,
) -> std::sync::MutexGuard<'static, Vec<&'static Endpoint>> {
    open.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn kept(endpoint: Endpoint) -> &'static Endpoint {
    let endpoint: &'static Endpoint = Box::leak(Box::new(endpoint));
    lock(&OPEN).push(endpoint);
    endpoint
}

pub(crate) fn check_allowed(
    settings: &Settings,
    address: &Address,
) -> Result<(), EndpointSetupError> {
    let host = address.host();
    let is_named = |allowed: &String| allowed.eq_ignore_ascii_case(host);
    if address.is_loopback() || settings.endpoint_allowed_hosts().iter().any(is_named) {
        return Ok(());
    }
    let host = host.to_string();
    Err(EndpointSetupError::NotAllowed { host })
}

/// Whether the settings name an endpoint that may be used. It is not asked.
///
/// # Errors
/// See [`EndpointSetupError`].
pub fn check_endpoint(
    environment: &Environment,
    settings: &Settings,
) -> Result<(), EndpointSetupError> {
    let wanted = endpoint_settings(environment, settings)?;
    check_allowed(settings, &wanted.address)?;
    match wanted.key {
        Err(why) => Err(EndpointError::Key(why).into()),
        Ok(_) => Ok(()),
    }
}

/// The key, from the variable or the file that the settings name.
fn key(settings: &Settings) -> Result<Option<Key>, EndpointError> {
    let variable = settings.endpoint_key_env().filter(|name| name != NONE);
    if let Some(name) = variable {
        let lacking = |why: &str| EndpointError::Key(format!("the variable {name} {why}"));
        let value = variables(&[&name]).remove(&name);
        let value = value.ok_or_else(|| lacking("is not set"))?;
        let value = value.into_string().map_err(|_| lacking("is not Unicode"))?;
        return Ok(Some(Key::new(&value)?));
    }
    let is_one = |path: &PathBuf| path.file_name().is_none_or(|name| name != NONE);
    let file = settings.endpoint_key_file().filter(is_one);
    file.map(|path| Key::from_file(&path)).transpose()
}

/// A prefix as it is sent: a space follows a colon.
fn prefix(set: Option<String>, usual: String) -> String {
    match set {
        None => usual,
        Some(text) if text == NONE => String::new(),
        Some(text) if text.ends_with(':') => text + " ",
        Some(text) => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_the_users_or_the_familys() {
        let usual = || "query: ".to_string();
        assert_eq!(prefix(None, usual()), "query: ");
        assert_eq!(prefix(Some("Q:".to_string()), usual()), "Q: ");
        assert_eq!(prefix(Some("Q: ".to_string()), usual()), "Q: ");
        assert_eq!(prefix(Some("none".to_string()), usual()), "");
    }
}
