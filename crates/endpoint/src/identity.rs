//! Which model an endpoint really has. A name and a length do not tell: a server may load another
//! model, or another version, under the same name. So a fixed text is embedded, and its vector is
//! what a model is known by.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

/// The fixed text. Words, names, figures and a second script, so that any change of a model shows.
pub const PROBE: &str = "Lorewell probe: the harbour pilot's ledger of 1873 names seventeen tides, \
                         two wrecks and one debt. 潮の帳簿、ключ от маяка.";

/// Vectors of the probe that are at least so near are of one model: what differs is rounding.
const SAME: f32 = 0.999;
/// More than anybody uses.
const MOST: usize = 64;

/// A model as an endpoint was found to have it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Identity {
    /// The address that was asked.
    pub url: String,
    /// The name by which the model was asked for.
    pub model: String,
    /// The probe's vector when the model was first seen, of unit length.
    pub probe: Vec<f32>,
}

impl Identity {
    /// How many numbers its vectors have.
    pub fn dimension(&self) -> usize {
        self.probe.len()
    }

    /// What tells it from others of its name: the length, and a hash of the probe's vector in
    /// 8-bit numbers.
    pub fn revision(&self) -> String {
        let largest = self
            .probe
            .iter()
            .fold(f32::MIN_POSITIVE, |most, x| most.max(x.abs()));
        let coarse: Vec<u8> = { self.probe.iter() }
            .map(|number| ((number / largest * 127.0).round() as i8).to_le_bytes()[0])
            .collect();
        let hash = blake3::hash(&coarse).to_hex();
        format!("{}-{}", self.probe.len(), &hash[..16])
    }

    /// Whether a vector of the probe is of this model.
    pub fn is_same(&self, probe: &[f32]) -> bool {
        let near: f32 = self.probe.iter().zip(probe).map(|(a, b)| a * b).sum();
        probe.len() == self.probe.len() && near >= SAME
    }
}

/// The models that endpoints were found to have, in a file of the user's own.
#[derive(Clone, Debug)]
pub struct Identities {
    path: PathBuf,
}

#[derive(Default, Serialize, Deserialize)]
struct FileJson {
    /// The newest last.
    identities: Vec<Identity>,
}

impl Identities {
    /// Those in a file, which need not exist.
    pub fn at(path: &Path) -> Identities {
        Identities {
            path: path.to_path_buf(),
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The model that an address was last found to have under a name.
    pub fn of(&self, url: &str, model: &str) -> Option<Identity> {
        let known = self.read().identities;
        let mut of = known.into_iter().rev().filter(|id| id.model == model);
        of.find(|identity| identity.url == url)
    }

    /// Notes what was found, and gives the identity that it has from now on. A model that was seen
    /// before, at this address or another, keeps the probe of that time, so that its vectors go on
    /// being its own.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn learn(&self, url: &str, model: &str, probe: Vec<f32>) -> io::Result<Identity> {
        let mut file = self.read();
        let same = |known: &&Identity| known.model == model && known.is_same(&probe);
        let seen = { file.identities.iter() }.rev().find(same);
        let probe = seen.map_or(probe.clone(), |known| known.probe.clone());
        let identity = Identity {
            url: url.to_string(),
            model: model.to_string(),
            probe,
        };
        if file.identities.last() == Some(&identity) {
            return Ok(identity);
        }
        file.identities.retain(|known| *known != identity);
        file.identities.push(identity.clone());
        let surplus = file.identities.len().saturating_sub(MOST);
        file.identities.drain(..surplus);
        self.write(&file)?;
        Ok(identity)
    }

    /// A file that cannot be understood knows nothing: what it said is found out anew.
    fn read(&self) -> FileJson {
        let text = fs::read_to_string(&self.path).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    fn write(&self, file: &FileJson) -> io::Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let mut new = NamedTempFile::new_in(folder)?;
        serde_json::to_writer(&mut new, file)?;
        new.as_file().sync_all()?;
        new.persist(&self.path)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_known_again_by_its_probe_and_another_of_its_name_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let known = Identities::at(&folder.path().join("sub/endpoints.json"));
        assert_eq!(known.of("u", "m"), None);
        let first = known.learn("u", "m", vec![0.6, 0.8]).expect("kept");
        let rounded = known.learn("u", "m", vec![0.6001, 0.7999]).expect("kept");
        assert_eq!(first, rounded);
        let other = known.learn("u", "m", vec![0.8, 0.6]).expect("kept");
        assert_ne!(first.revision(), other.revision());
        assert_eq!(known.of("u", "m"), Some(other));
        // Back, and elsewhere: the same model as before.
        let back = known.learn("u", "m", vec![0.6, 0.8]).expect("kept");
        assert_eq!(known.of("u", "m").as_ref(), Some(&back));
        assert_eq!(back.revision(), first.revision());
        let moved = known.learn("v", "m", vec![0.6, 0.8]).expect("kept");
        assert_eq!(moved.revision(), first.revision());
        assert!(!first.is_same(&[0.6, 0.8, 0.0]));
    }

    #[test]
    fn a_damaged_file_knows_nothing_and_is_written_anew() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("endpoints.json");
        fs::write(&path, "{ not json").expect("written");
        let known = Identities::at(&path);
        assert_eq!(known.of("u", "m"), None);
        known.learn("u", "m", vec![1.0]).expect("kept");
        assert!(known.of("u", "m").is_some());
    }
}
