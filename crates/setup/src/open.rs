//! From settings and a vault to a running engine.

use std::sync::Arc;
use std::time::Duration;

use lorewell_engine::{
    EngineError, EngineSettings, EvidenceRules, FieldWeights, Fusion, Host, IndexSettings,
    LaneWeights, PassageSettings, PortableVectors, RuleSettings, Rules, SearchSettings, Standing,
    Tokens,
};

use crate::config::Config;
use crate::error::SetupError;
use crate::index_dir::{index_dir_for, index_root};
use crate::layers::Settings;
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
    let root = index_root(config.environment(), settings);
    let folder = index_dir_for(&root, &vault.path);
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
        ..engine_settings(settings)?
    };
    Ok(Host::open(&vault.name, &vault.path, &folder, engine)?)
}

/// The settings that the engine itself needs.
fn engine_settings(settings: &Settings) -> Result<EngineSettings, EngineError> {
    let rules = Rules::new(RuleSettings {
        folders: settings.exclude_folders(),
        globs: settings.exclude_globs(),
        tags: settings.exclude_tags(),
        properties: settings.exclude_properties(),
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
    let dense = settings
        .weight_dense()
        .map_or(defaults.weights.dense, |weight| weight as f32);
    SearchSettings {
        fusion,
        weights: LaneWeights {
            text: settings.weight_text() as f32,
            title: settings.weight_title() as f32,
            dense,
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
        ..defaults
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_here_are_the_engines() {
        let settings = engine_settings(&Settings::defaults()).expect("defaults open");
        assert_eq!(settings.search, SearchSettings::default());
        assert_eq!(settings.index.passages, PassageSettings::default());
    }
}
