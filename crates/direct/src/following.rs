//! Notes that are out of an index go out of everything else that is kept of the vault: the index
//! for remote readers, and the log of what agents received.

use std::cell::RefCell;
use std::collections::HashMap;

use lorewell_agents::{AuditLimits, AuditLog};
use lorewell_capabilities::Failure;
use lorewell_engine::{Freshness, Host, Patience, Quiet};
use lorewell_setup::{
    Config, Environment, Flags, Settings, VaultRef, audit_dir, follow_in_remote, open,
};

use crate::of_opening;

/// The log of what agents receive, as large as the user's settings say. Where these cannot be
/// read, as large as it is without any: the log is needed then too.
pub fn audit_log(environment: &Environment) -> AuditLog {
    let settings = Config::load(environment)
        .and_then(|config| config.settings(None, &Flags::new()))
        .unwrap_or_else(|_| Settings::defaults());
    let limits = AuditLimits {
        file_bytes: settings.audit_file_bytes(),
        files: settings.audit_files(),
    };
    AuditLog::new(audit_dir(environment), limits)
}

/// Whether an update may have taken notes out of the index.
pub fn took_out(freshness: &Freshness) -> bool {
    let report = freshness.report.as_ref();
    report.is_some_and(|report| report.removed > 0 || report.skipped > 0)
}

/// Takes out of the log what the vault of `host`, which is its usual index, excludes by now; how
/// many lines were no entries and went as well. See [`AuditLog::forget`].
///
/// # Errors
/// The index or the log cannot be read, or the log not be written.
pub fn forget(log: &AuditLog, host: &Host) -> Result<usize, Failure> {
    if !log.exists() {
        return Ok(0);
    }
    let view = host.view()?;
    let known: RefCell<HashMap<String, bool>> = RefCell::default();
    let dropped = log.forget(host.root(), &|note| {
        let mut known = known.borrow_mut();
        // What cannot be known is not named.
        let unnamed = || !view.may_name(note).unwrap_or(false);
        *known.entry(note.to_owned()).or_insert_with(unnamed)
    })?;
    Ok(dropped)
}

/// To be called after an update took notes out of the index of `host`, be it the usual one or that
/// for remote readers: they go out of the other index and out of the log. How many lines of the log
/// were no entries and went as well.
///
/// # Errors
/// The other index cannot be brought up to date; as [`forget`].
pub fn follow(
    config: &Config,
    settings: &Settings,
    vault: &VaultRef,
    host: &Host,
    log: &AuditLog,
) -> Result<usize, Failure> {
    if !host.has_fences() {
        follow_in_remote(config, settings, vault).map_err(of_opening)?;
        return forget(log, host);
    }
    if !log.exists() {
        return Ok(0);
    }
    // What lies behind a fence may be named in the log; only the usual index can tell.
    let usual = open(config, settings, vault).map_err(of_opening)?;
    usual.refresh(Patience::Read, &Quiet)?;
    forget(log, &usual)
}
