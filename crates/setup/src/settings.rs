//! The one table of settings. Validation, `config list`, the reference page and
//! the names of environment variables derive from it.

use std::path::PathBuf;

use crate::layers::Settings;
use crate::value::{Kind, Value};

/// Where a setting may be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// Top level of the file, environment, flag: it concerns this machine or the person.
    Machine,
    /// Also in a `[vaults.NAME]` table: it may differ from vault to vault.
    Vault,
    /// Also in the vault's own `.lorewell/config.toml`, which can only add to it.
    Notes,
}

/// One row of [`SETTINGS`].
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// Which setting.
    pub key: Key,
    /// Its name in the file.
    pub name: &'static str,
    /// Type and range.
    pub kind: Kind,
    /// Default as a person would type it; `None` where it is not set.
    pub default: Option<&'static str>,
    /// Where it may be given.
    pub reach: Reach,
    /// What it does, in one sentence.
    pub doc: &'static str,
}

impl Setting {
    /// The environment variable, such as `LOREWELL_MAX_PER_NOTE`.
    #[must_use]
    pub fn variable(&self) -> String {
        format!(
            "{}{}",
            crate::environment::PREFIX,
            self.name.to_ascii_uppercase()
        )
    }

    /// The command-line flag without its dashes, such as `max-per-note`.
    #[must_use]
    pub fn flag(&self) -> String {
        self.name.replace('_', "-")
    }

    /// The row of that name, if there is one.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        SETTINGS.iter().find(|setting| setting.name == name)
    }
}

impl Key {
    /// The key's row of the table.
    #[must_use]
    pub fn setting(self) -> &'static Setting {
        &SETTINGS[self as usize]
    }

    /// Whether, for an agent that reads elsewhere, only the user's file says it: where indexes are,
    /// where the text of notes may be sent, what other files are read, how much of the log is kept.
    #[must_use]
    pub fn is_the_owners(self) -> bool {
        matches!(
            self,
            Self::Model
                | Self::Reranker
                | Self::EndpointUrl
                | Self::EndpointModel
                | Self::EndpointKeyEnv
                | Self::EndpointKeyFile
                | Self::EndpointQuestionPrefix
                | Self::EndpointPassagePrefix
                | Self::EndpointBatch
                | Self::EndpointTimeoutSeconds
                | Self::EndpointAllowedHosts
                | Self::TokenizerFile
                | Self::IndexDir
                | Self::IndexStorage
                | Self::AuditFileBytes
                | Self::AuditFiles
        )
    }
}

/// Makes the key type, the table and one typed accessor a row, so that a setting
/// is written down once.
macro_rules! settings {
    ($($name:ident $key:ident: $type:ty = $default:expr, $kind:expr, $reach:ident, $doc:literal;)*) => {
        /// Names a setting.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Key { $(#[doc = $doc] $key,)* }

        /// Every setting, in the order in which people read about them.
        pub const SETTINGS: &[Setting] = &[$(Setting {
            key: Key::$key,
            name: stringify!($name),
            kind: $kind,
            default: $default,
            reach: Reach::$reach,
            doc: $doc,
        },)*];

        impl Settings {
            $(#[doc = $doc]
            #[must_use]
            pub fn $name(&self) -> $type {
                <$type as Typed>::of(self.get(Key::$key).value.as_ref()).unwrap_or_default()
            })*
        }

        /// Names of settings whose accessor does not fit their kind. A test holds it empty.
        #[cfg(test)]
        fn misfits(settings: &Settings) -> Vec<&'static str> {
            let mut names = Vec::new();
            $(if <$type as Typed>::of(settings.get(Key::$key).value.as_ref()).is_none() {
                names.push(stringify!($name));
            })*
            names
        }
    };
}

const LANES: &[&str] = &["text", "title", "dense", "vocab", "link", "tag", "recent"];
const WHEN: &[&str] = &["auto", "always", "never"];
const WEIGHT: Kind = Kind::Float {
    min: 0.0,
    max: 100.0,
};

const SHARE: Kind = Kind::Float { min: 0.0, max: 1.0 };

settings! {
    limit Limit: u64 = Some("6"), Kind::Integer { min: 1, max: 50 }, Vault,
        "How many passages an answer holds.";
    max_per_note MaxPerNote: u64 = Some("2"), Kind::Integer { min: 1, max: 50 }, Vault,
        "How many passages of one note an answer holds at most.";
    passage_chars PassageChars: u64 = Some("1200"), Kind::Integer { min: 64, max: 8000 }, Vault,
        "The length of a passage at most, in characters; a change rebuilds the index.";
    overlap_chars OverlapChars: u64 = Some("0"), Kind::Integer { min: 0, max: 4000 }, Vault,
        "How many characters a passage repeats of the one before it, fewer than `passage_chars`; a change rebuilds the index.";
    lanes Lanes: Vec<String> = Some("text, title, dense, vocab"), Kind::ListOf(LANES), Vault,
        "The lanes that a question runs: words, note names, meaning, words that go together in the vault, links, shared tags, newer notes.";
    fusion Fusion: String = Some("convex"), Kind::Choice(&["rrf", "convex"]), Vault,
        "How the lanes' rankings become one: by rank (`rrf`) or by normalized score (`convex`).";
    rrf_k RrfK: u64 = Some("60"), Kind::Integer { min: 1, max: 1000 }, Vault,
        "The constant of Reciprocal Rank Fusion: the larger, the less the first ranks stand out.";
    weight_text WeightText: f64 = Some("1.0"), WEIGHT, Vault,
        "The weight of the text lane in the fusion.";
    weight_title WeightTitle: f64 = Some("0.5"), WEIGHT, Vault,
        "The weight of the title lane in the fusion.";
    weight_dense WeightDense: Option<f64> = None, WEIGHT, Vault,
        "The weight of the dense lane in the fusion; not set, it is the one that suits the embedding model.";
    weight_vocab WeightVocab: f64 = Some("0.2"), WEIGHT, Vault,
        "The weight of the vocab lane in the fusion.";
    weight_link WeightLink: f64 = Some("0.1"), WEIGHT, Vault,
        "The weight of the link lane in the fusion.";
    weight_tag WeightTag: f64 = Some("0.1"), WEIGHT, Vault,
        "The weight of the tag lane in the fusion.";
    weight_recent WeightRecent: f64 = Some("0.5"), WEIGHT, Vault,
        "The weight of the recent lane in the fusion, where it runs.";
    standing_clipping StandingClipping: f64 = Some("0.9"), SHARE, Vault,
        "What a passage of a clipping counts beside the person's own words, unless `--evidence` asks for a class.";
    standing_generated StandingGenerated: f64 = Some("0.8"), SHARE, Vault,
        "The same for text that a program made, backups included.";
    standing_template StandingTemplate: f64 = Some("0.5"), SHARE, Vault,
        "The same for templates.";
    exclude_folders ExcludeFolders: Vec<String> = Some(""), Kind::List, Notes,
        "Folders, from the vault's root, whose notes are left out.";
    exclude_globs ExcludeGlobs: Vec<String> = Some(""), Kind::List, Notes,
        "Path patterns, such as `**/Private *.md`, whose notes are left out.";
    exclude_tags ExcludeTags: Vec<String> = Some(""), Kind::List, Notes,
        "Tags whose notes are left out, nested tags included.";
    exclude_properties ExcludeProperties: Vec<String> = Some(""), Kind::List, Notes,
        "Properties whose notes are left out: `name` for any true value, or `name=value`.";
    fence_folders FenceFolders: Vec<String> = Some(""), Kind::List, Notes,
        "Folders whose notes are kept from agents that read elsewhere (`lorewell agent approve` without `--local`); on this machine they are searched as ever.";
    fence_tags FenceTags: Vec<String> = Some(""), Kind::List, Notes,
        "Tags whose notes are kept from agents that read elsewhere, nested tags included.";
    fence_properties FenceProperties: Vec<String> = Some(""), Kind::List, Notes,
        "Properties whose notes are kept from agents that read elsewhere: `name` for any true value, or `name=value`.";
    evidence_rules EvidenceRules: Vec<String> = Some(""), Kind::EvidenceRules, Vault,
        "Which class of evidence notes have, before the built-in rules: `folder:Inbox/Web=clipping`, `tag:llm=generated`, `property:kind=interview=transcript`, `name:Interview *=transcript`; the classes are own, daily, transcript, clipping, generated, draft and template.";
    model Model: String = Some("static-en-256"), Kind::Text, Vault,
        "The model that says which texts are alike in meaning: the built-in `static-en-256`, one that was fetched (`lorewell models`), or `endpoint`.";
    precision Precision: String = Some("q8"), Kind::Choice(&["q8", "f16", "f32"]), Vault,
        "The numbers that a fetched model is computed in: bytes (`q8`), floats of 32 bits whose weights are kept in 16 (`f16`), or floats of 32 bits (`f32`).";
    device Device: String = Some("cpu"), Kind::Text, Vault,
        "What a fetched model is computed on: `cpu` is all that there is today.";
    reranker Reranker: String = Some("off"), Kind::Text, Vault,
        "A fetched model that reads the question beside each of the first twenty passages and judges which answers (`lorewell models list`), or `off`: it takes a third of a second and more, and what it gains is small (docs/models.md).";
    weight_rerank WeightRerank: f64 = Some("0.2"), SHARE, Vault,
        "What the reranker's judgement counts in the order of these passages beside all else, where there is one.";
    endpoint_url EndpointUrl: Option<String> = None, Kind::Text, Vault,
        "The address of the embedding server that is meant by `model = \"endpoint\"`: `http://localhost:11434` for Ollama (docs/endpoints.md).";
    endpoint_model EndpointModel: Option<String> = None, Kind::Text, Vault,
        "The model's name, as that server knows it.";
    endpoint_key_env EndpointKeyEnv: Option<String> = None, Kind::Text, Vault,
        "The name of the environment variable that holds the server's key, if it wants one; `none` for a vault whose server is to get no key.";
    endpoint_key_file EndpointKeyFile: Option<PathBuf> = None, Kind::Path, Vault,
        "A file that holds the server's key, and that only its owner may read; the variable goes before it, and `none` is no file.";
    endpoint_question_prefix EndpointQuestionPrefix: Option<String> = None, Kind::Text, Vault,
        "What is put before a question that the server embeds; not set, what the model is known to want, and `none` for nothing.";
    endpoint_passage_prefix EndpointPassagePrefix: Option<String> = None, Kind::Text, Vault,
        "The same for passages; a change embeds them anew.";
    endpoint_batch EndpointBatch: u64 = Some("64"), Kind::Integer { min: 1, max: 2048 }, Vault,
        "How many texts are sent to the server at once, at most; fewer where it refuses so many.";
    endpoint_timeout_seconds EndpointTimeoutSeconds: u64 = Some("60"), Kind::Integer { min: 1, max: 3600 }, Vault,
        "How long the server may take for one request, in seconds; for a question at most 10.";
    endpoint_allowed_hosts EndpointAllowedHosts: Vec<String> = Some(""), Kind::List, Machine,
        "Hosts beyond this machine to which the text of notes and questions may be sent; `lorewell models use --allow-remote` adds one.";
    max_note_bytes MaxNoteBytes: u64 = Some("64 MiB"),
        Kind::Bytes { min: 1 << 10, max: 4 << 30 }, Vault,
        "The size of a note at most; a larger file is skipped and said to be.";
    tokenizer_file TokenizerFile: Option<PathBuf> = None, Kind::Path, Vault,
        "A Hugging Face `tokenizer.json` by which `context` counts tokens exactly; not set, they are estimated, 4 characters of ASCII a token.";
    smart_connections SmartConnections: String = Some("off"), Kind::Choice(&["off", "on"]), Vault,
        "Whether vectors of notes that the plugin Smart Connections left in the vault say which notes are alike (docs/smart-connections.md). They are only read.";
    auto_context AutoContext: String = Some("on"), Kind::Choice(&["on", "off"]), Vault,
        "Whether `lorewell hook prompt` adds passages to prompts, where an agent is told to run it (`lorewell install claude-code --hook`).";
    auto_context_budget AutoContextBudget: u64 = Some("800"), Kind::Integer { min: 50, max: 2400 }, Vault,
        "How many tokens such an addition has at most.";
    auto_context_floor AutoContextFloor: f64 = Some("0.6"), SHARE, Vault,
        "The score that the best passage must have for anything to be added.";
    default_vault DefaultVault: Option<String> = None, Kind::Text, Machine,
        "The vault that is meant where none is named: a name from the list, or a folder.";
    index_dir IndexDir: Option<PathBuf> = None, Kind::Path, Machine,
        "The folder under which all indexes are kept; not set, `lorewell/indexes` in the user's data folder.";
    audit_file_bytes AuditFileBytes: u64 = Some("8 MiB"),
        Kind::Bytes { min: 64 << 10, max: 1 << 30 }, Machine,
        "The size of a file of the log of what agents received; then another is begun.";
    audit_files AuditFiles: u64 = Some("8"), Kind::Integer { min: 1, max: 1000 }, Machine,
        "How many files of that log are kept; the oldest goes first.";
    index_storage IndexStorage: String = Some("local"), Kind::Choice(&["local", "vault"]), Vault,
        "Where this device keeps the vectors of its index: in the index (`local`), or a copy of them also in `.lorewell/vectors` of the vault (`vault`), so that the vault's own sync carries them and other devices with the same model need not embed again; back to `local`, this device removes what it wrote there. Nothing else is ever written into a vault.";
    color Color: String = Some("auto"), Kind::Choice(WHEN), Machine,
        "Colours in the terminal; `auto` is only on a terminal.";
    progress Progress: String = Some("auto"), Kind::Choice(WHEN), Machine,
        "Progress bars on standard error; `auto` is only on a terminal.";
    links Links: String = Some("auto"), Kind::Choice(WHEN), Machine,
        "Clickable links in the terminal; `auto` is only where the terminal is known to show them.";
    watch Watch: String = Some("auto"), Kind::Choice(&["auto", "events", "poll"]), Vault,
        "How `lorewell watch` learns of changes: by the system's events, by looking every `watch_poll_seconds` seconds, or (`auto`) by events and by looking where they do not come, such as on network drives.";
    watch_poll_seconds WatchPollSeconds: u64 = Some("10"), Kind::Integer { min: 1, max: 3600 }, Vault,
        "How often `lorewell watch` looks at the folder where events do not come, in seconds.";
    watch_check_minutes WatchCheckMinutes: u64 = Some("10"), Kind::Integer { min: 1, max: 1440 }, Vault,
        "After how many minutes `lorewell watch` compares the whole folder, whatever events came.";
    bridge Bridge: String = Some("never"), Kind::Choice(&["never", "running", "auto", "require"]), Machine,
        "Whether a command is answered by the bridge (`lorewell serve`): never; `running`, where one runs; `auto`, which starts one if none runs, that ends after half an hour without a request; or `require`, which fails where none runs.";
    http_port HttpPort: u64 = Some("7313"), Kind::Integer { min: 0, max: 65535 }, Machine,
        "The port of the bridge on this machine; the next free one is taken where it is not, and 0 takes any.";
}

/// A Rust type that a [`Value`] can be read as; `None` is a misfit.
trait Typed: Sized {
    fn of(value: Option<&Value>) -> Option<Self>;
}

impl Typed for u64 {
    fn of(value: Option<&Value>) -> Option<Self> {
        match value? {
            Value::Integer(number) => Some(*number),
            _ => None,
        }
    }
}

impl Typed for f64 {
    fn of(value: Option<&Value>) -> Option<Self> {
        match value? {
            Value::Float(number) => Some(*number),
            _ => None,
        }
    }
}

impl Typed for String {
    fn of(value: Option<&Value>) -> Option<Self> {
        match value? {
            Value::Text(text) => Some(text.clone()),
            _ => None,
        }
    }
}

impl Typed for PathBuf {
    fn of(value: Option<&Value>) -> Option<Self> {
        match value? {
            Value::Path(path) => Some(path.clone()),
            _ => None,
        }
    }
}

impl Typed for Vec<String> {
    fn of(value: Option<&Value>) -> Option<Self> {
        match value? {
            Value::List(list) => Some(list.clone()),
            _ => None,
        }
    }
}

impl<T: Typed> Typed for Option<T> {
    fn of(value: Option<&Value>) -> Option<Self> {
        match value {
            None => Some(None),
            Some(value) => T::of(Some(value)).map(Some),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;
    use crate::value::Bases;

    /// A value that every kind accepts, for the rows without a default.
    fn sample(kind: Kind) -> &'static str {
        match kind {
            Kind::Integer { .. } | Kind::Bytes { .. } | Kind::Float { .. } => "1",
            _ => "x",
        }
    }

    #[test]
    fn every_row_is_sound() {
        let bases = Bases {
            home: Path::new("/h"),
            base: Path::new("/b"),
        };
        let mut names = BTreeSet::new();
        for (position, setting) in SETTINGS.iter().enumerate() {
            assert_eq!(setting.key as usize, position, "{}", setting.name);
            assert!(names.insert(setting.name), "{} twice", setting.name);
            assert!(setting.doc.ends_with('.'), "{}", setting.name);
            assert!(!setting.doc.contains('|'), "{}", setting.name);
            let text = setting.default.unwrap_or_else(|| sample(setting.kind));
            let value = setting.kind.read(&setting.kind.toml_from_text(text), bases);
            assert!(value.is_some(), "{} = {text}", setting.name);
        }
    }

    #[test]
    fn every_accessor_fits_its_kind() {
        let defaults = Settings::defaults();
        assert_eq!(misfits(&defaults), Vec::<&str>::new());
        let filled = Settings::filled_for_tests(sample);
        assert_eq!(misfits(&filled), Vec::<&str>::new());
        assert_eq!(defaults.limit(), 6);
        assert_eq!(defaults.max_note_bytes(), 64 * 1024 * 1024);
        assert_eq!(defaults.lanes(), ["text", "title", "dense", "vocab"]);
        assert_eq!(filled.weight_dense(), Some(1.0));
    }
}
