//! Checks of the vaults and of what is derived from them: indexes, models, locks.

use std::fs;
use std::path::{Path, PathBuf};

use lorewell_engine::{EngineError, Host, IndexError, StaticModel, Status, StatusRequest};
use lorewell_setup::{Config, VaultRef, index_dir_for, index_root, remote_index_dir, vaults};

use super::{Check, Patient};
use crate::render::counted;

/// Looks at every listed vault, and at the folder of all indexes.
pub(super) fn look(patient: &mut Patient<'_>) {
    let Some(config) = patient.config.clone() else {
        let check = Check::warn(
            "vaults",
            "list",
            "the settings cannot be read, so no vault is known",
        );
        return patient.note(check.todo("Mend the settings first."));
    };
    let listed: Vec<VaultRef> = vaults::list(&config).cloned().collect();
    list(patient, &config, &listed);
    for vault in &listed {
        one(patient, &config, vault);
    }
    strangers(patient, &listed);
    tokenizer(patient);
}

fn list(patient: &mut Patient<'_>, config: &Config, listed: &[VaultRef]) {
    if listed.is_empty() {
        let check = Check::warn("vaults", "list", "no vault is listed");
        return patient.note(check.todo("`lorewell vault add DIR` lists a folder of notes."));
    }
    match vaults::resolve(config, &patient.flags, None) {
        Ok(vault) => {
            let found = format!("“{}” is meant where none is named", vault.name);
            patient.note(Check::ok("vaults", "default", found));
        }
        Err(error) => {
            let mut check = Check::failed("vaults", "default", error);
            if check.code.as_deref() == Some("which_vault") {
                // It works as long as a vault is named.
                check.state = super::State::Warn;
            }
            patient.note(check);
        }
    }
    for (at, vault) in listed.iter().enumerate() {
        for other in &listed[..at] {
            if vault.path == other.path {
                let found = format!("is listed twice: also as “{}”", other.name);
                let check = Check::warn("vaults", vault.name.clone(), found);
                patient.note(check.todo(format!("`lorewell vault remove {:?}`.", vault.name)));
            } else if vault.path.starts_with(&other.path) || other.path.starts_with(&vault.path) {
                let (inner, outer) = if vault.path.starts_with(&other.path) {
                    (vault, other)
                } else {
                    (other, vault)
                };
                let found = format!("lies inside “{}”; its notes belong to both", outer.name);
                let check = Check::warn("vaults", inner.name.clone(), found);
                patient.note(check.todo(
                    "Leave it, or exclude its folder from the outer one (setting `exclude_folders`).",
                ));
            }
        }
    }
}

/// One vault: its folder, its index, its locks.
fn one(patient: &mut Patient<'_>, config: &Config, vault: &VaultRef) {
    let name = || vault.name.clone();
    if vault.missing {
        let found = format!("there is no folder {}", vault.path.display());
        let check = Check::new("vaults", name(), super::State::Fail, found);
        return patient.note(check.with_code("vault_missing").todo(
            "Connect its drive, or correct its path: `lorewell vault remove` and `lorewell vault add`. Nothing is lost.",
        ));
    }
    let settings = match config.settings(Some(vault), &patient.flags) {
        Ok(settings) => settings,
        Err(error) => return patient.note(Check::failed("vaults", name(), error)),
    };
    for warning in settings.warnings() {
        let check = Check::warn("vaults", name(), warning.message.clone());
        patient.note(check.with_code(warning.code));
    }
    let host = match lorewell_setup::open(config, &settings, vault) {
        Ok(host) => host,
        Err(error) => return patient.note(Check::failed("vaults", name(), error)),
    };
    let request = StatusRequest {
        list_limit: 3,
        verify: !patient.quick,
        ..StatusRequest::default()
    };
    let status = match host.status(&request) {
        Ok(status) => status,
        Err(error) => return trouble(patient, vault, error),
    };
    folder(patient, vault, &status);
    index(patient, vault, &status);
    models(patient, vault, &status);
    locks(patient, vault, &host, &status);
}

/// Whose fault an error is: the folder's or the index's.
fn trouble(patient: &mut Patient<'_>, vault: &VaultRef, error: EngineError) {
    let group = match &error {
        EngineError::Index(_) => "index",
        _ => "vaults",
    };
    let older = matches!(&error, EngineError::Index(IndexError::Older { .. }));
    let mut check = Check::failed(group, vault.name.clone(), error);
    if older {
        check.state = super::State::Warn;
        check.todo = Some("Nothing: the next question makes it anew.".to_string());
    } else if group == "index" && check.todo.is_none() {
        check.todo = Some(format!(
            "`lorewell rebuild --vault {:?}` makes it anew.",
            vault.name
        ));
    }
    patient.note(check);
}

fn folder(patient: &mut Patient<'_>, vault: &VaultRef, status: &Status) {
    let path = vault.path.display();
    let count = status.unreadable.len() as u64;
    if count > 0 {
        let first: Vec<&str> = status
            .unreadable
            .iter()
            .take(3)
            .map(|f| f.path.as_str())
            .collect();
        let found = format!(
            "{} cannot be read: {}",
            counted(count, "file"),
            first.join(", ")
        );
        let check = Check::warn("vaults", vault.name.clone(), found);
        patient.note(check.todo("Check their permissions; their last content answers meanwhile."));
    } else {
        patient.note(Check::ok(
            "vaults",
            vault.name.clone(),
            format!("{path} can be read"),
        ));
    }
    if status.warnings_total > 0 {
        let found = format!("{} about notes", counted(status.warnings_total, "warning"));
        let check = Check::ok("vaults", vault.name.clone(), found);
        patient.note(check.todo(format!(
            "`lorewell status --vault {:?}` lists them.",
            vault.name
        )));
    }
}

fn index(patient: &mut Patient<'_>, vault: &VaultRef, status: &Status) {
    let name = vault.name.clone();
    if !status.built {
        let check = Check::ok(
            "index",
            name,
            "there is none yet; the first question builds it",
        );
        return patient.note(check);
    }
    let totals = &status.totals;
    let bytes = status.sizes.catalogue + status.sizes.segments + status.sizes.vectors;
    let about = format!(
        "{}, generation {}, {:.1} MB",
        counted(totals.notes, "note"),
        totals.generation,
        bytes as f64 / 1e6
    );
    match &status.verified {
        Some(Err(error)) => {
            let check = Check::new(
                "index",
                name,
                super::State::Fail,
                format!("is damaged: {error}"),
            );
            let todo = format!("`lorewell rebuild --vault {:?}` makes it anew.", vault.name);
            return patient.note(check.with_code("index_damaged").todo(todo));
        }
        Some(Ok(())) => {
            patient.note(Check::ok(
                "index",
                name.clone(),
                format!("{about}; every checksum holds"),
            ));
        }
        None => patient.note(Check::ok("index", name.clone(), about)),
    }
    if totals.unfinished {
        let check = Check::warn("index", name.clone(), "the last build was cut short");
        patient.note(check.todo("Nothing: the next question goes on with it."));
    }
    if status.pending_total > 0 {
        let pending = counted(status.pending_total, "changed note");
        let check = Check::ok("index", name, format!("{pending} to be taken in"));
        patient.note(
            check.todo(
                "Nothing: the next question takes them in; `lorewell watch` does so at once.",
            ),
        );
    }
}

fn models(patient: &mut Patient<'_>, vault: &VaultRef, status: &Status) {
    let wanted = (&status.embedding.wanted, &status.embedding.trouble);
    let reranker = status.reranker.as_ref().map(|(name, why)| (name, why));
    for (model, trouble) in std::iter::once(wanted).chain(reranker) {
        if let Some(trouble) = trouble {
            let name = format!("{model} in {}", vault.name);
            let check = Check::warn("models", name, format!("it cannot be used: {trouble}"));
            patient.note(check.todo(
                "Until then the built-in model answers in the place of one that embeds, and nothing \
                 judges in the place of a reranker. `lorewell models use NAME --vault NAME` gives \
                 another, `lorewell models use off` no reranker.",
            ));
        }
    }
    for model in &status.models {
        let all = model.embedded + model.outside + model.missing;
        let name = format!("{} in {}", model.model, vault.name);
        let found = format!(
            "{} of {} have a vector",
            model.embedded,
            counted(all, "passage")
        );
        let check = if model.missing > 0 {
            let vault = &vault.name;
            let todo = match model.model == StaticModel::NAME {
                true => format!("`lorewell rebuild --update --vault {vault:?}`."),
                false => format!(
                    "`lorewell models use {} --vault {vault:?} --wait`.",
                    model.model
                ),
            };
            Check::warn("models", name, found).todo(todo)
        } else if all > 0 && model.outside * 2 > all {
            let found = format!("{found}; most are in words that the model does not know");
            Check::warn("models", name, found)
                .todo("Words answer alone there; the built-in model knows English.")
        } else {
            Check::ok("models", name, found)
        };
        patient.note(check);
    }
}

/// Who writes and who watches. A lock decides, never the number in its file.
fn locks(patient: &mut Patient<'_>, vault: &VaultRef, host: &Host, status: &Status) {
    let by = |process: Option<u32>| process.map_or(String::new(), |id| format!(" by process {id}"));
    let writer = match status.writer {
        Some(process) => format!("the index is written now{}", by(process)),
        None => "nobody writes the index".to_string(),
    };
    let watcher = match held(&host.index_folder().join("watcher.lock")) {
        Some(process) => format!("the vault is watched{}", by(process)),
        None => "nobody watches the vault".to_string(),
    };
    let found = format!("{writer}; {watcher}");
    patient.note(Check::ok("locks", vault.name.clone(), found));
}

/// Whether a lock is held, and by which process, if its file says. The file is only read.
pub(super) fn held(path: &Path) -> Option<Option<u32>> {
    let file = fs::File::open(path).ok()?;
    match file.try_lock_shared() {
        Err(fs::TryLockError::WouldBlock) => {
            let text = fs::read_to_string(path).unwrap_or_default();
            Some(text.trim().parse().ok())
        }
        _ => None,
    }
}

/// Indexes of folders that are not listed: of `--vault DIR`, or of vaults that were removed.
fn strangers(patient: &mut Patient<'_>, listed: &[VaultRef]) {
    let root = index_root(patient.environment, &patient.settings);
    let known: Vec<PathBuf> = listed
        .iter()
        .map(|vault| index_dir_for(&root, &vault.path))
        .flat_map(|index| [remote_index_dir(&index), index])
        .collect();
    let entries = match fs::read_dir(&root) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return,
        Err(error) => {
            let found = format!("the folder of all indexes cannot be read: {error}");
            let check = Check::new(
                "index",
                root.display().to_string(),
                super::State::Fail,
                found,
            );
            return patient.note(check.todo("Check its permissions."));
        }
    };
    let mut strangers = Vec::new();
    let mut bytes = 0;
    for entry in entries.flatten() {
        let path = entry.path();
        if path.join("catalogue.sqlite").is_file() && !known.contains(&path) {
            bytes += size(&path);
            strangers.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    strangers.sort();
    if strangers.is_empty() {
        return;
    }
    let mut found = format!(
        "{} of folders that are not listed ({:.1} MB): {}",
        if strangers.len() == 1 {
            "1 index".to_string()
        } else {
            format!("{} indexes", strangers.len())
        },
        bytes as f64 / 1e6,
        strangers
            .iter()
            .take(3)
            .cloned()
            .collect::<Vec<_>>()
            .join(", ")
    );
    if strangers.len() > 3 {
        found += ", …";
    }
    let check = Check::ok("index", root.display().to_string(), found);
    patient.note(check.todo("They hold derived data only; delete those that you do not need."));
}

/// The bytes of a folder's files, two levels deep at most more than an index is.
fn size(folder: &Path) -> u64 {
    let mut total = 0;
    let mut folders = vec![(folder.to_path_buf(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(metadata) if metadata.is_file() => total += metadata.len(),
                Ok(metadata) if metadata.is_dir() && depth < 4 => {
                    folders.push((entry.path(), depth + 1));
                }
                _ => {}
            }
        }
    }
    total
}

fn tokenizer(patient: &mut Patient<'_>) {
    let Some(path) = patient.settings.tokenizer_file() else {
        return;
    };
    let name = path.display().to_string();
    if path.is_file() {
        return patient.note(Check::ok("models", name, "the tokenizer's file is there"));
    }
    let check = Check::new(
        "models",
        name,
        super::State::Fail,
        "there is no such file of a tokenizer",
    );
    patient.note(
        check
            .with_code("tokenizer_unusable")
            .todo("Correct the setting `tokenizer_file`, or unset it to count by estimate."),
    );
}
