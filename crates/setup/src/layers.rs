//! The layers of settings, laid over one another; every value knows its origin.

use std::path::Path;

use crate::config::{Config, Entry, ListedVault, read_entry, shortened};
use crate::environment::Environment;
use crate::error::{SetupError, Warning};
use crate::in_vault;
use crate::nearest::nearest;
use crate::origin::Origin;
use crate::settings::{Key, Reach, SETTINGS, Setting};
use crate::value::{Bases, Value};
use crate::vaults::VaultRef;

/// Settings given on the command line, as text.
#[derive(Debug, Clone, Default)]
pub struct Flags(Vec<(Key, String, String)>);

/// All settings for one vault (or for none), after every layer.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    values: Vec<Resolved>,
    warnings: Vec<Warning>,
}

/// One setting after every layer.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolved {
    /// The value; `None` where it is not set and has no default.
    pub value: Option<Value>,
    /// The layer that decided it.
    pub origin: Origin,
    /// Variables, flags and files inside the vault that added to the list.
    pub added_by: Vec<Origin>,
}

impl Flags {
    /// No flags.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives `key` the value that `text` means, under the setting's own flag name.
    pub fn set(&mut self, key: Key, text: impl Into<String>) {
        self.set_as(key, &key.setting().flag(), text);
    }

    /// The same under another flag name (without dashes), for the origin.
    pub fn set_as(&mut self, key: Key, flag: &str, text: impl Into<String>) {
        self.0.push((key, flag.to_owned(), text.into()));
    }
}

impl Config {
    /// Lays the layers over one another: defaults, the file, the vault's table in
    /// the file, environment, flags; then adds what the vault itself excludes. Environment and
    /// flags, too, only add to exclusions and fences: whoever starts the program chooses them.
    /// Relative paths start at the file's folder, or at the current folder where
    /// they come from a variable or flag.
    ///
    /// # Errors
    /// A value of a variable or flag that does not fit, values that do not fit
    /// one another, or a `.lorewell/config.toml` in the vault whose exclusions
    /// cannot be read (to go on would show notes that were to be left out).
    pub fn settings(
        &self,
        vault: Option<&VaultRef>,
        flags: &Flags,
    ) -> Result<Settings, SetupError> {
        let mut settings = self.in_files(vault);
        settings.overlay_or_add(from_environment(&self.environment)?);
        settings.overlay_or_add(from_flags(&self.environment, flags)?);
        if let Some(vault) = vault {
            let (added, warnings) = in_vault::exclusions(&vault.path)?;
            settings.add(added);
            settings.warnings.extend(warnings);
        }
        settings.check_together()?;
        Ok(settings)
    }

    /// Defaults, the file and the vault's table in it.
    fn in_files(&self, vault: Option<&VaultRef>) -> Settings {
        let mut settings = Settings::defaults();
        settings.overlay(self.entries.iter().cloned());
        let listed = vault.and_then(|vault| self.listed(vault));
        settings.overlay(listed.into_iter().flat_map(|listed| listed.entries.clone()));
        settings
    }

    /// Whether `settings`, which were made for `vault`, may hold for an agent that reads elsewhere:
    /// those of which [`Key::is_the_owners`] says so are as the user's file has them.
    ///
    /// # Errors
    /// A variable or flag changes one of these.
    pub fn check_remote(
        &self,
        settings: &Settings,
        vault: Option<&VaultRef>,
    ) -> Result<(), SetupError> {
        let in_files = self.in_files(vault);
        for (setting, resolved) in settings.iter() {
            let by_caller = matches!(
                resolved.origin,
                Origin::Environment { .. } | Origin::Flag { .. }
            );
            let is_other = resolved.value != in_files.get(setting.key).value;
            if setting.key.is_the_owners() && by_caller && is_other {
                return Err(SetupError::NotForRemote {
                    origin: Box::new(resolved.origin.clone()),
                    key: setting.name,
                });
            }
        }
        Ok(())
    }

    /// The table of that vault, if it is listed.
    #[must_use]
    pub fn listed(&self, vault: &VaultRef) -> Option<&ListedVault> {
        let same = |listed: &&ListedVault| listed.vault.path == vault.path;
        self.vaults.iter().find(same)
    }
}

impl Settings {
    /// The built-in values alone.
    #[must_use]
    pub fn defaults() -> Self {
        let bases = Bases {
            home: Path::new(""),
            base: Path::new(""),
        };
        let default = |setting: &Setting| Resolved {
            value: setting.default.and_then(|text| {
                let value = setting.kind.toml_from_text(text);
                setting.kind.read(&value, bases)
            }),
            origin: Origin::Default,
            added_by: Vec::new(),
        };
        Self {
            values: SETTINGS.iter().map(default).collect(),
            warnings: Vec::new(),
        }
    }

    /// One setting with its origin. The accessors (`limit()` and so on) give the bare value.
    #[must_use]
    pub fn get(&self, key: Key) -> &Resolved {
        &self.values[key as usize]
    }

    /// One setting by name, as `config get` asks for it.
    ///
    /// # Errors
    /// No setting has that name.
    pub fn named(&self, name: &str) -> Result<(&'static Setting, &Resolved), SetupError> {
        let setting = find(name)?;
        Ok((setting, self.get(setting.key)))
    }

    /// Every setting in the order of [`SETTINGS`], as `config list` shows them.
    pub fn iter(&self) -> impl Iterator<Item = (&'static Setting, &Resolved)> {
        SETTINGS.iter().zip(&self.values)
    }

    /// What a person should know, such as what was ignored in the vault's own file.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    fn overlay(&mut self, entries: impl IntoIterator<Item = Entry>) {
        for entry in entries {
            self.values[entry.key as usize] = Resolved {
                value: Some(entry.value),
                origin: entry.origin,
                added_by: Vec::new(),
            };
        }
    }

    /// What leaves notes out is added to, all else is laid over.
    fn overlay_or_add(&mut self, entries: Vec<Entry>) {
        for entry in entries {
            let resolved = self.get(entry.key);
            let only_adds = entry.key.setting().reach == Reach::Notes;
            if !only_adds || resolved.origin == Origin::Default {
                self.overlay([entry]);
                continue;
            }
            let is_empty = matches!(&entry.value, Value::List(list) if list.is_empty());
            if is_empty && resolved.value.as_ref() != Some(&entry.value) {
                self.warnings.push(Warning {
                    code: "only_adds",
                    message: format!(
                        "{} is ignored: it can only add to `{}` ({})",
                        entry.origin,
                        entry.key.setting().name,
                        resolved.origin
                    ),
                });
            }
            self.add(vec![entry]);
        }
    }

    /// Lists only grow here: more can be left out, never less.
    fn add(&mut self, entries: Vec<Entry>) {
        for entry in entries {
            let resolved = &mut self.values[entry.key as usize];
            let (Some(Value::List(list)), Value::List(more)) = (&mut resolved.value, entry.value)
            else {
                continue;
            };
            let before = list.len();
            for item in more {
                if !list.contains(&item) {
                    list.push(item);
                }
            }
            if list.len() > before {
                resolved.added_by.push(entry.origin);
            }
        }
    }

    fn check_together(&self) -> Result<(), SetupError> {
        if self.overlap_chars() < self.passage_chars() {
            return Ok(());
        }
        let (overlap, passage) = (self.get(Key::OverlapChars), self.get(Key::PassageChars));
        Err(SetupError::WrongValue {
            origin: Box::new(overlap.origin.clone()),
            key: Key::OverlapChars.setting().name.to_owned(),
            found: self.overlap_chars().to_string(),
            expected: format!(
                "fewer than `passage_chars`, which is {} ({})",
                self.passage_chars(),
                passage.origin
            ),
        })
    }

    #[cfg(test)]
    pub(crate) fn filled_for_tests(sample: fn(crate::Kind) -> &'static str) -> Self {
        let mut settings = Self::defaults();
        let bases = Bases {
            home: Path::new("/h"),
            base: Path::new("/b"),
        };
        for (setting, resolved) in SETTINGS.iter().zip(&mut settings.values) {
            let text = setting.default.unwrap_or_else(|| sample(setting.kind));
            resolved.value = setting.kind.read(&setting.kind.toml_from_text(text), bases);
        }
        settings
    }
}

/// The setting of that name, or an error that names the nearest.
pub(crate) fn find(name: &str) -> Result<&'static Setting, SetupError> {
    Setting::named(name).ok_or_else(|| SetupError::UnknownSetting {
        name: name.to_owned(),
        nearest: nearest(name, SETTINGS.iter().map(|setting| setting.name)),
    })
}

fn from_environment(environment: &Environment) -> Result<Vec<Entry>, SetupError> {
    let mut entries = Vec::new();
    for setting in SETTINGS {
        let variable = setting.variable();
        let Some(text) = environment.vars.get(&variable) else {
            continue;
        };
        // An empty variable counts as not set, except that some lists can be emptied.
        let is_list = setting.kind == crate::Kind::List;
        if text.trim().is_empty() && !is_list {
            continue;
        }
        let origin = Origin::Environment { variable };
        entries.push(from_text(setting, text, origin, environment)?);
    }
    Ok(entries)
}

fn from_flags(environment: &Environment, flags: &Flags) -> Result<Vec<Entry>, SetupError> {
    let entry = |(key, flag, text): &(Key, String, String)| {
        let origin = Origin::Flag { flag: flag.clone() };
        from_text(key.setting(), text, origin, environment)
    };
    flags.0.iter().map(entry).collect()
}

/// The value that `text` means for a setting, for `config set`.
pub(crate) fn checked(
    environment: &Environment,
    setting: &Setting,
    text: &str,
) -> Result<Value, SetupError> {
    let value = setting.kind.toml_from_text(text);
    let read = setting.kind.read(&value, bases_of(environment));
    read.ok_or_else(|| SetupError::WrongInput {
        name: setting.name,
        text: shortened(text),
        expected: setting.kind.expected(&value),
    })
}

fn from_text(
    setting: &Setting,
    text: &str,
    origin: Origin,
    environment: &Environment,
) -> Result<Entry, SetupError> {
    let item = toml_edit::Item::Value(setting.kind.toml_from_text(text));
    read_entry(setting, &item, origin, bases_of(environment))
}

fn bases_of(environment: &Environment) -> Bases<'_> {
    Bases {
        home: &environment.home,
        base: &environment.current_dir,
    }
}
