//! `lorewell models use --endpoint …`: an endpoint is tried, and then written down.

use lorewell_endpoint::{Endpoint, EndpointError};

use crate::config::Config;
use crate::edit::{set, unset};
use crate::endpoint::{EndpointSetupError, NONE, check_allowed, endpoint_settings, kept};
use crate::error::SetupError;
use crate::layers::Flags;
use crate::settings::Key;
use crate::vaults::VaultRef;

/// An endpoint as a person names it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndpointChoice {
    /// Its address, in any form.
    pub url: String,
    /// The model's name at the server.
    pub model: String,
    /// The variable that holds its key.
    pub key_env: Option<String>,
    /// The file that holds its key.
    pub key_file: Option<String>,
    /// Text of notes and questions may be sent to its host.
    pub allow_remote: bool,
}

/// Tries an endpoint, and makes it the model of a vault, or of all vaults without a model of their
/// own. A host that is allowed thereby is added to `endpoint_allowed_hosts`. A key that was set for
/// another endpoint is not kept: it would be sent to this one.
///
/// # Errors
/// The endpoint does not work, or may not be used; the configuration cannot be written. Nothing is
/// written then.
pub fn use_endpoint(
    config: &Config,
    vault: Option<&VaultRef>,
    choice: &EndpointChoice,
) -> Result<&'static Endpoint, EndpointSetupError> {
    let environment = config.environment();
    let mut flags = Flags::new();
    flags.set(Key::EndpointUrl, &choice.url);
    flags.set(Key::EndpointModel, &choice.model);
    let keys = [
        (Key::EndpointKeyEnv, &choice.key_env),
        (Key::EndpointKeyFile, &choice.key_file),
    ];
    for (key, value) in keys {
        flags.set(key, value.as_deref().unwrap_or(NONE));
    }
    let settings = config.settings(vault, &flags)?;
    let wanted = endpoint_settings(environment, &settings)?;
    if !choice.allow_remote {
        check_allowed(&settings, &wanted.address)?;
    }
    if let Err(why) = &wanted.key {
        return Err(EndpointError::Key(why.clone()).into());
    }
    let endpoint = kept(Endpoint::try_out(wanted)?);

    let address = &endpoint.settings().address;
    let mut hosts = settings.endpoint_allowed_hosts();
    if !address.is_loopback() && !hosts.iter().any(|host| host == address.host()) {
        hosts.push(address.host().to_string());
        set(
            environment,
            None,
            "endpoint_allowed_hosts",
            &hosts.join(","),
        )?;
    }
    let listed = vault.and_then(|vault| config.listed(vault));
    let table = listed.map(|listed| listed.vault.name.as_str());
    for (key, value) in keys {
        let name = key.setting().name;
        match value {
            Some(value) => drop(set(environment, table, name, value)?),
            None => forget(config, vault, table, key)?,
        }
    }
    set(environment, table, "endpoint_url", &choice.url)?;
    set(environment, table, "endpoint_model", &choice.model)?;
    set(environment, table, "model", "endpoint")?;
    Ok(endpoint)
}

/// Has no key be named by a setting; one that is said for all vaults is countermanded for this one.
fn forget(
    config: &Config,
    vault: Option<&VaultRef>,
    table: Option<&str>,
    key: Key,
) -> Result<(), SetupError> {
    let (environment, name) = (config.environment(), key.setting().name);
    unset(environment, table, name)?;
    let left = Config::load(environment)?.settings(vault, &Flags::new())?;
    if left.get(key).value.is_some() {
        set(environment, table, name, NONE)?;
    }
    Ok(())
}
