//! A machine in a temporary folder: home, configuration, data and a current folder.

#![expect(clippy::unwrap_used, reason = "fixtures of tests")]

use std::fs;
use std::path::{Path, PathBuf};

use lorewell_setup::{Config, Environment, SetupError};
use tempfile::TempDir;

pub(crate) struct World {
    root: TempDir,
    pub(crate) environment: Environment,
}

impl World {
    pub(crate) fn new() -> Self {
        let root = TempDir::new().unwrap();
        let at = root.path().canonicalize().unwrap();
        let environment = Environment {
            home: at.join("user"),
            config_dir: at.join("config"),
            data_dir: at.join("data"),
            vars: [].into(),
            current_dir: at.join("here"),
        };
        fs::create_dir_all(&environment.home).unwrap();
        fs::create_dir_all(&environment.current_dir).unwrap();
        Self { root, environment }
    }

    pub(crate) fn with_config(text: &str) -> Self {
        let world = Self::new();
        world.write_config(text);
        world
    }

    pub(crate) fn var(mut self, name: &str, value: &str) -> Self {
        self.environment.vars.insert(name.into(), value.into());
        self
    }

    pub(crate) fn write_config(&self, text: &str) {
        let path = self.environment.config_file();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn config_text(&self) -> String {
        fs::read_to_string(self.environment.config_file()).unwrap_or_default()
    }

    pub(crate) fn config(&self) -> Result<Config, SetupError> {
        Config::load(&self.environment)
    }

    /// Makes a folder under the world's root and returns its canonical path.
    pub(crate) fn folder(&self, path: &str) -> PathBuf {
        let folder = self.root().join(path);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap()
    }

    /// `text` without the world's root, so that expectations can be written down.
    pub(crate) fn plain(&self, text: &str) -> String {
        text.replace(&self.root().display().to_string(), "")
    }
}

/// Names in a folder, sorted.
pub(crate) fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}
