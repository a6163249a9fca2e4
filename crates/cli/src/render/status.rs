//! The state of a vault.

use std::fmt::Write;

use lorewell_capabilities::{FileJson, PortableJson, StatusOutput, WatcherJson};

use super::{counted, grouped};
use crate::style::{FAINT, TITLE, WARN, inert, inert_line, styled};

/// So many files and warnings are asked for, unless `--list N` says.
pub(super) const SHOWN: usize = 12;

pub(crate) fn text(status: &StatusOutput) -> String {
    let mut out = String::new();
    if let Some(file) = &status.file {
        let _ = writeln!(
            out,
            "{} {}.",
            inert_line(&file.path),
            inert_line(&file.reason)
        );
        return out;
    }
    let index = &status.index;
    let _ = writeln!(
        out,
        "{}  {}",
        styled(TITLE, &inert(&status.vault)),
        styled(FAINT, &inert(&status.root))
    );
    if status.built {
        let _ = writeln!(
            out,
            "{}, {}; generation {}{}",
            counted(index.notes, "note"),
            counted(index.passages, "passage"),
            index.generation,
            if index.updated_at.is_empty() {
                String::new()
            } else {
                format!(" of {}", index.updated_at)
            }
        );
    } else {
        out += "There is no index yet; the first question builds it.\n";
    }
    if index.pending > 0 {
        let pending = counted(index.pending, "new or changed note");
        let what = format!("{pending} not taken in yet:");
        out += &listed(&styled(WARN, &what), &status.pending, index.pending);
    } else if status.built {
        out += "The index is up to date.\n";
    }
    if index.unfinished && status.built {
        out += &styled(
            WARN,
            "The last build was cut short; the next question goes on with it.\n",
        );
    }
    if index.being_written {
        out += &styled(WARN, "A process is writing the index now.\n");
    }
    if let Some(watcher) = &status.watcher {
        out += &watched(watcher);
    }
    let bytes = index.catalogue_bytes + index.segments_bytes + index.vectors_bytes;
    let _ = writeln!(
        out,
        "{:.1} MB in {}  {}",
        bytes as f64 / 1e6,
        inert(&index.folder),
        styled(
            FAINT,
            &format!(
                "(catalogue {}, words {}, vectors {})",
                grouped(index.catalogue_bytes),
                grouped(index.segments_bytes),
                grouped(index.vectors_bytes)
            )
        )
    );
    if let Some(carried) = &status.portable {
        out += &portable(carried);
    }
    out += &super::models::lines(status);
    let targets = if status.network_targets.is_empty() {
        "none".to_string()
    } else {
        status.network_targets.join(", ")
    };
    let _ = writeln!(out, "network targets: {targets}");
    if let Some(verified) = &status.verified {
        let _ = writeln!(out, "checked: {}", inert(verified));
    }
    out += &files("left out", &status.left_out, status.left_out_total);
    out += &files(
        "could not be read",
        &status.unreadable,
        status.unreadable.len() as u64,
    );
    out += &others(status);
    out += &warnings(status);
    out
}

/// Who keeps the index up to date, and how.
fn watched(watcher: &WatcherJson) -> String {
    let process = watcher
        .process
        .map_or(String::new(), |id| format!(" ({id})"));
    match (&watcher.every_seconds, &watcher.reason) {
        (Some(seconds), Some(reason)) => {
            let words = format!(
                "looked at every {seconds} s{process}: {}\n",
                inert_line(reason)
            );
            styled(WARN, &words)
        }
        (Some(seconds), None) => format!("looked at every {seconds} s{process}\n"),
        _ => format!("watched{process}\n"),
    }
}

fn portable(carried: &PortableJson) -> String {
    let device = carried.device.as_deref().unwrap_or("has no name yet");
    let mut out = format!(
        "vectors in the vault: {} in {} of {}, {:.1} MB  {}\n",
        grouped(carried.vectors),
        counted(carried.segments, "file"),
        counted(carried.devices, "device"),
        carried.portable_bytes as f64 / 1e6,
        styled(
            FAINT,
            &format!(
                "(this device {}: {})",
                inert(device),
                counted(carried.own_segments, "file")
            )
        )
    );
    if carried.storage == "local" && carried.own_segments > 0 {
        out +=
            "  this device takes its files back when the index is whole (index_storage is local)\n";
    }
    if carried.waiting > 0 {
        let waiting = counted(carried.waiting, "vector");
        let _ = writeln!(out, "  {waiting} of this index not written there yet");
    }
    if let Some(trouble) = &carried.trouble {
        let trouble = format!(
            "  they could not be brought up to date: {}",
            inert_line(trouble)
        );
        let _ = writeln!(out, "{}", styled(WARN, &trouble));
    }
    out + &files("passed over", &carried.skipped, carried.skipped_total)
}

fn files(what: &str, files: &[FileJson], total: u64) -> String {
    if total == 0 {
        return String::new();
    }
    listed(&format!("{} {what}:", grouped(total)), files, total)
}

fn listed(heading: &str, files: &[FileJson], total: u64) -> String {
    let mut out = format!("{heading}\n");
    for file in files {
        let slash = if file.folder { "/" } else { "" };
        let path = inert_line(&file.path);
        let _ = writeln!(
            out,
            "  {path}{slash} {}",
            styled(FAINT, &inert_line(&file.reason))
        );
    }
    out + &rest(total, files.len())
}

fn others(status: &StatusOutput) -> String {
    if status.other_files.is_empty() {
        return String::new();
    }
    let kinds: Vec<String> = status
        .other_files
        .iter()
        .map(|(extension, count)| {
            let extension = if extension.is_empty() {
                "without extension"
            } else {
                extension
            };
            format!("{} {}", grouped(*count), inert(extension))
        })
        .collect();
    format!("files that are no notes: {}\n", kinds.join(", "))
}

fn warnings(status: &StatusOutput) -> String {
    if status.warnings_total == 0 {
        return String::new();
    }
    let mut out = format!("{}:\n", counted(status.warnings_total, "warning"));
    for warning in &status.warnings {
        let line = warning
            .line
            .map(|line| format!(":{line}"))
            .unwrap_or_default();
        let _ = writeln!(
            out,
            "  {}{line}: {}",
            inert_line(&warning.path),
            inert_line(&warning.message)
        );
    }
    out + &rest(status.warnings_total, status.warnings.len())
}

fn rest(total: u64, shown: usize) -> String {
    match total.saturating_sub(shown as u64) {
        0 => String::new(),
        rest => styled(
            FAINT,
            &format!("  … and {} more (--list N)\n", grouped(rest)),
        ),
    }
}
