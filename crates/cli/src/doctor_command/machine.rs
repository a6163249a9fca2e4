//! Checks of the machine: permissions, watching, the disk.

use std::fs;
use std::path::{Path, PathBuf};

use lorewell_setup::{index_root, vaults};

use super::{Check, Patient, State};
use crate::render::counted;

/// Looks at permissions, watch limits and the disk.
pub(super) fn look(patient: &mut Patient<'_>) {
    permissions(patient);
    watching(patient);
    disk(patient);
}

/// What is derived from private notes is private; so are backups of settings.
fn permissions(patient: &mut Patient<'_>) {
    let data = patient.environment.data_dir.join("lorewell");
    let mut folders: Vec<PathBuf> = vec![
        data.join("clients"),
        data.join("bridge"),
        data.join("agents"),
    ];
    let indexes = index_root(patient.environment, &patient.settings);
    let inside = fs::read_dir(indexes).into_iter().flatten().flatten();
    folders.extend(inside.map(|entry| entry.path()));
    folders.retain(|folder| folder.is_dir());
    folders.sort();
    let mut open = Vec::new();
    for folder in &folders {
        if let Some(found) = fault(folder) {
            open.push((folder.display().to_string(), found));
        }
    }
    let name = data.display().to_string();
    if open.is_empty() {
        let found = match folders.len() {
            0 => "nothing is kept yet".to_string(),
            n => format!("{} only you may enter", counted(n as u64, "folder")),
        };
        return patient.note(Check::ok("permissions", name, found));
    }
    for (folder, (state, found)) in open {
        let check = Check::new("permissions", folder.clone(), state, found);
        patient.note(check.todo(format!("`chmod 700 '{folder}'`.")));
    }
}

#[cfg(unix)]
fn fault(folder: &Path) -> Option<(State, String)> {
    use std::os::unix::fs::PermissionsExt;
    let mode = folder.metadata().ok()?.permissions().mode() & 0o777;
    if fs::read_dir(folder).is_err() {
        return Some((State::Fail, "cannot be entered".to_string()));
    }
    if mode & 0o300 != 0o300 {
        return Some((
            State::Fail,
            format!("nothing can be written in it (mode {mode:03o})"),
        ));
    }
    (mode & 0o077 != 0).then(|| {
        let found = format!("others may look into it (mode {mode:03o})");
        (State::Warn, found)
    })
}

#[cfg(not(unix))]
fn fault(folder: &Path) -> Option<(State, String)> {
    fs::read_dir(folder)
        .err()
        .map(|error| (State::Fail, format!("cannot be entered: {error}")))
}

/// Linux gives each user so many watches, one a folder.
fn watching(patient: &mut Patient<'_>) {
    let number = |name: &str| -> Option<u64> {
        let text = fs::read_to_string(Path::new("/proc/sys/fs/inotify").join(name)).ok()?;
        text.trim().parse().ok()
    };
    let (Some(watches), Some(instances)) =
        (number("max_user_watches"), number("max_user_instances"))
    else {
        return patient.note(Check::ok(
            "watching",
            "limits",
            "this system sets none that matter",
        ));
    };
    let vaults: Vec<PathBuf> = patient
        .config
        .iter()
        .flat_map(vaults::list)
        .filter(|vault| !vault.missing)
        .map(|vault| vault.path.clone())
        .collect();
    let folders: u64 = vaults.iter().map(|vault| folders_in(vault, watches)).sum();
    patient.note(limits((vaults.len() as u64, folders), (instances, watches)));
}

/// Whether so many vaults with so many folders can be watched with so many watchers and watches;
/// other programs need some too.
fn limits((vaults, folders): (u64, u64), (instances, watches): (u64, u64)) -> Check {
    let found = format!(
        "{} in all vaults; the system gives {watches} watches and {instances} watchers",
        counted(folders, "folder")
    );
    if folders * 10 <= watches * 8 && instances >= vaults + 8 {
        return Check::ok("watching", "limits", found);
    }
    let wanted = (folders * 4).max(524_288);
    Check::warn("watching", "limits", found).todo(format!(
        "`sudo sysctl fs.inotify.max_user_watches={wanted} fs.inotify.max_user_instances=512`; until then `lorewell watch` looks at the folder now and then."
    ))
}

/// The folders of a vault, hidden ones left out, up to `most`.
fn folders_in(root: &Path, most: u64) -> u64 {
    let mut count = 0;
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        count += 1;
        if count >= most {
            break;
        }
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let hidden = entry.file_name().to_string_lossy().starts_with('.');
            if !hidden && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(entry.path());
            }
        }
    }
    count
}

/// An update writes beside what is there, so some room must be left.
#[cfg(unix)]
fn disk(patient: &mut Patient<'_>) {
    const FAIL: u64 = 100_000_000;
    const WARN: u64 = 1_000_000_000;
    let root = index_root(patient.environment, &patient.settings);
    let Some(there) = root.ancestors().find(|folder| folder.is_dir()) else {
        return;
    };
    let name = there.display().to_string();
    let free = match rustix::fs::statvfs(there) {
        Ok(disk) => disk.f_bavail.saturating_mul(disk.f_frsize),
        Err(error) => {
            let found = format!("the system does not say how much is free: {error}");
            return patient.note(Check::warn("disk", name, found));
        }
    };
    let found = format!("{:.1} GB are free for indexes", free as f64 / 1e9);
    let todo = "Make room, or move the indexes: setting `index_dir`.";
    patient.note(match free {
        free if free < FAIL => Check::new("disk", name, State::Fail, found).todo(todo),
        free if free < WARN => Check::warn("disk", name, found).todo(todo),
        _ => Check::ok("disk", name, found),
    });
}

#[cfg(not(unix))]
fn disk(patient: &mut Patient<'_>) {
    patient.note(Check::ok(
        "disk",
        "indexes",
        "free room is not checked on this system",
    ));
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::doctor_command::State;

    #[test]
    fn too_few_watches_or_watchers_are_told_with_a_limit_that_suffices() {
        let state = |of_vaults, of_system| limits(of_vaults, of_system).state;
        assert_eq!(state((2, 800), (128, 1_000)), State::Ok);
        assert_eq!(state((2, 801), (128, 1_000)), State::Warn);
        assert_eq!(state((120, 800), (128, 1_000)), State::Ok);
        assert_eq!(state((121, 800), (128, 1_000)), State::Warn);
        let told = limits((1, 200_000), (128, 8_192)).todo.unwrap();
        assert!(told.contains("max_user_watches=800000"), "{told}");
        assert_eq!(limits((1, 1), (128, 8_192)).todo, None);
    }
}
