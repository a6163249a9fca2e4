//! From settings and a vault to a running engine.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use lorewell_engine::{
    EngineError, EngineSettings, EvidenceRules, FenceSettings, FieldWeights, Fusion, Host,
    IndexError, IndexSettings, LaneWeights, PassageSettings, Patience, PortableVectors, Quiet,
    RuleSettings, Rules, SearchSettings, Standing, Tokens,
};

use crate::config::Config;
use crate::environment::Environment;
use crate::error::SetupError;
use crate::index_dir::{index_dir_for, index_root, remote_index_dir};
use crate::layers::Settings;
use crate::model::{Wanted, models_by_name, wanted, wanted_reranker};
use crate::tokenizer::TokenizerFile;
use crate::vaults::VaultRef;

/// A few new vectors wait so long before they are carried into the vault: sync programs send each
/// file, and a note that is being written is embedded many times.
const REST: Duration = Duration::from_secs(600);

/// Why a vault could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The settings.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// The folder of notes, or an exclusion that cannot be understood.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// Opens `vault` as `settings` say. Nothing of it is read yet.
///
/// # Errors
/// The folder is missing or no folder, or an exclusion cannot be understood.
pub fn open(config: &Config, settings: &Settings, vault: &VaultRef) -> Result<Host, OpenError> {
    let folder = index_folder(config, settings, vault);
    let portable = PortableVectors {
        device_file: config
            .environment()
            .data_dir
            .join("lorewell")
            .join("device"),
        carry: settings.index_storage() == "vault",
        rest: REST,
    };
    let engine = EngineSettings {
        portable: Some(portable),
        index_root: Some(index_root(config.environment(), settings)),
        ..engine_settings(settings, FenceSettings::default())?
    };
    let host = Host::open(&vault.name, &vault.path, &folder, engine)?;
    Ok(with_models(host, config.environment(), settings))
}

/// With the models that the settings name.
fn with_models(host: Host, environment: &Environment, settings: &Settings) -> Host {
    let host = match wanted(environment, settings) {
        Wanted::Model(embedder) => host.with_embedder(embedder),
        Wanted::Unusable { model, reason } => host.without_model(&model, &reason),
    };
    let host = host.finding_models(models_by_name(environment, settings));
    match wanted_reranker(environment, settings) {
        None => host,
        Some(Wanted::Model(reranker)) => host.with_reranker(reranker),
        Some(Wanted::Unusable { model, reason }) => host.without_reranker(&model, &reason),
    }
}

/// Opens `vault` for a reader that is not on this machine: without the notes behind its fences.
/// Where it has fences that is an index of its own beside the usual one, made when it is first
/// brought up to date; where it has none it is the usual one ([`has_fences`] tells).
///
/// # Errors
/// As [`open`].
pub fn open_remote(
    config: &Config,
    settings: &Settings,
    vault: &VaultRef,
) -> Result<Host, OpenError> {
    let fences = fences(settings);
    if fences.is_empty() {
        return open(config, settings, vault);
    }
    let folder = remote_index_dir(&index_folder(config, settings, vault));
    // What this device carries in the vault is the usual index's business alone. Vectors of the
    // same text are taken from there: nothing else is learnt of it.
    let engine = EngineSettings {
        index_root: Some(index_root(config.environment(), settings)),
        ..engine_settings(settings, fences)?
    };
    let host = Host::open(&vault.name, &vault.path, &folder, engine)?;
    Ok(with_models(host, config.environment(), settings))
}

/// Whether notes of the vault of these settings are kept from remote readers.
#[must_use]
pub fn has_fences(settings: &Settings) -> bool {
    !fences(settings).is_empty()
}

/// Whether there is an index for remote readers that nobody asks any more, since the last fence
/// went; [`follow_in_remote`] deletes it.
#[must_use]
pub fn remote_is_left_over(config: &Config, settings: &Settings, vault: &VaultRef) -> bool {
    !has_fences(settings) && remote_index_dir(&index_folder(config, settings, vault)).exists()
}

/// Keeps the index for remote readers, if one was made, as free of excluded notes as the usual
/// one. To be called after an update took notes out of that. Without fences it is deleted: nobody
/// asks it.
///
/// # Errors
/// As [`open`]; the index cannot be brought up to date or deleted.
pub fn follow_in_remote(
    config: &Config,
    settings: &Settings,
    vault: &VaultRef,
) -> Result<(), OpenError> {
    let folder = remote_index_dir(&index_folder(config, settings, vault));
    if !folder.exists() {
        return Ok(());
    }
    if has_fences(settings) {
        open_remote(config, settings, vault)?.refresh(Patience::Read, &Quiet)?;
        return Ok(());
    }
    std::fs::remove_dir_all(&folder).map_err(|source| {
        EngineError::from(IndexError::Io {
            path: folder,
            source,
        })
    })?;
    Ok(())
}

fn index_folder(config: &Config, settings: &Settings, vault: &VaultRef) -> PathBuf {
    let root = index_root(config.environment(), settings);
    index_dir_for(&root, &vault.path)
}

fn fences(settings: &Settings) -> FenceSettings {
    FenceSettings {
        folders: settings.fence_folders(),
        tags: settings.fence_tags(),
        properties: settings.fence_properties(),
    }
}

/// The settings that the engine itself needs.
fn engine_settings(
    settings: &Settings,
    fences: FenceSettings,
) -> Result<EngineSettings, EngineError> {
    let rules = Rules::new(RuleSettings {
        folders: settings.exclude_folders(),
        globs: settings.exclude_globs(),
        tags: settings.exclude_tags(),
        properties: settings.exclude_properties(),
        fences,
        ..RuleSettings::default()
    })?;
    let passages = PassageSettings {
        passage_chars: settings.passage_chars() as usize,
        overlap_chars: settings.overlap_chars() as usize,
    };
    Ok(EngineSettings {
        index: IndexSettings {
            passages,
            weights: FieldWeights::default(),
            // Checked when they were read.
            evidence: EvidenceRules::new(settings.evidence_rules()).unwrap_or_default(),
            rules,
        },
        search: search_settings(settings),
        max_note_bytes: Some(settings.max_note_bytes()),
        portable: None,
        tokens: settings
            .tokenizer_file()
            .map(|path| Arc::new(TokenizerFile::at(path)) as Arc<dyn Tokens>),
        index_root: None,
        smart_connections: settings.smart_connections() == "on",
    })
}

fn search_settings(settings: &Settings) -> SearchSettings {
    let defaults = SearchSettings::default();
    let fusion = match settings.fusion().as_str() {
        "convex" => Fusion::Convex,
        _ => Fusion::Rrf {
            k: settings.rrf_k() as f32,
        },
    };
    SearchSettings {
        fusion,
        weights: LaneWeights {
            text: settings.weight_text() as f32,
            title: settings.weight_title() as f32,
            dense: settings.weight_dense().map(|weight| weight as f32),
            vocab: settings.weight_vocab() as f32,
            link: settings.weight_link() as f32,
            tag: settings.weight_tag() as f32,
            recent: settings.weight_recent() as f32,
        },
        limit: settings.limit() as usize,
        lanes: settings
            .lanes()
            .iter()
            .filter_map(|name| name.parse().ok())
            .collect(),
        max_per_note: settings.max_per_note() as usize,
        standing: Standing {
            clipping: settings.standing_clipping() as f32,
            generated: settings.standing_generated() as f32,
            template: settings.standing_template() as f32,
        },
        rerank: settings.weight_rerank() as f32,
        ..defaults
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_here_are_the_engines() {
        let none = FenceSettings::default();
        let settings = engine_settings(&Settings::defaults(), none).expect("defaults open");
        assert_eq!(settings.search, SearchSettings::default());
        assert_eq!(settings.index.passages, PassageSettings::default());
    }
}
