//! Checks of who may ask: the bridge, and approved agents.

use jiff::{Timestamp, ToSpan};
use lorewell_agents::{Agent, AuditFilter, Register, VaultScope};
use lorewell_bridge::{BridgeError, Client, Places, State as BridgeState, VERSION, is_running};
use lorewell_capabilities::Failure;
use lorewell_direct::audit_log;
use lorewell_setup::{agents_dir, audit_dir};

use super::{Check, Patient, State};
use crate::render::counted;

/// Looks at the bridge and at the register of agents.
pub(super) fn look(patient: &mut Patient<'_>) {
    bridge(patient);
    agents(patient);
    log(patient);
}

/// The log of what agents receive: what cannot be written down is not given to them.
fn log(patient: &mut Patient<'_>) {
    let folder = audit_dir(patient.environment);
    let name = folder.display().to_string();
    if !folder.exists() {
        return patient.note(Check::ok("agents", name, "no agent received anything yet"));
    }
    let newest = AuditFilter {
        limit: 1,
        ..AuditFilter::default()
    };
    let check = match audit_log(patient.environment).read(&newest) {
        Err(error) => Check::failed("agents", name, error),
        Ok(view) if view.unreadable_lines > 0 => {
            let lines = counted(view.unreadable_lines as u64, "line");
            Check::warn("agents", name, format!("{lines} of the log cannot be read"))
                .todo("They may be from a loss of power; `lorewell audit` takes them out.")
        }
        Ok(view) => match view.entries.last() {
            None => Check::ok("agents", name, "no agent received anything yet"),
            Some(entry) => Check::ok(
                "agents",
                name,
                format!("the last answer left at {}", entry.time),
            ),
        },
    };
    patient.note(check);
}

/// The lock decides whether one runs; its file says which, and the process must prove it.
fn bridge(patient: &mut Patient<'_>) {
    let places = Places::of_process(patient.environment);
    let name = places.folder().display().to_string();
    let runs = is_running(&places);
    let state = match BridgeState::read(&places) {
        Ok(state) => Some(state),
        Err(BridgeError::NotRunning) => None,
        Err(_) if !runs && !places.state().exists() => None,
        Err(error) => return patient.note(Check::failed("bridge", name, Failure::from(error))),
    };
    let check = match (runs, state) {
        (false, None) => Check::ok("bridge", name, "does not run; every command answers itself"),
        (false, Some(state)) => {
            let found = format!("does not run; process {} was the last", state.pid);
            Check::ok("bridge", name, found)
        }
        (true, None) => Check::warn(
            "bridge",
            name,
            "a process holds its lock and does not say which it is",
        )
        .todo("If that lasts, `lorewell serve --stop`."),
        (true, Some(_)) => match Client::of_any_version(&places) {
            Ok(client) if client.state().version == VERSION => {
                let (pid, port) = (client.state().pid, client.state().port);
                Check::ok(
                    "bridge",
                    name,
                    format!("process {pid} answers, HTTP at port {port}"),
                )
            }
            Ok(client) => {
                let theirs = &client.state().version;
                let found = format!(
                    "process {} is of version {theirs}, not {VERSION}",
                    client.state().pid
                );
                Check::warn("bridge", name, found)
                    .todo("`lorewell serve --stop`, then start it again with this program.")
            }
            Err(error) => Check::failed("bridge", name, Failure::from(error)),
        },
    };
    patient.note(check);
}

fn agents(patient: &mut Patient<'_>) {
    let register = Register::at(agents_dir(patient.environment));
    let name = register.folder().display().to_string();
    let agents = match register.agents() {
        Ok(agents) => agents,
        Err(error) => return patient.note(Check::failed("agents", name, error)),
    };
    if agents.is_empty() {
        return patient.note(Check::ok("agents", name, "no agent is approved"));
    }
    let found = format!("{} approved", counted(agents.len() as u64, "agent"));
    patient.note(Check::ok("agents", name, found));
    for agent in &agents {
        one(patient, agent);
    }
}

fn one(patient: &mut Patient<'_>, agent: &Agent) {
    let name = &agent.name;
    let now = Timestamp::now();
    let soon = now.checked_add((7 * 24).hours()).unwrap_or(now);
    let renew = format!("`lorewell agent renew {name:?}`, or `lorewell agent revoke {name:?}`.");
    if agent.is_expired(now) {
        let check = Check::warn("agents", name.clone(), "the approval has ended");
        patient.note(check.with_code("expired").todo(renew));
    } else if agent.is_expired(soon) {
        let check = Check::warn("agents", name.clone(), "the approval ends within a week");
        patient.note(check.todo(renew));
    }
    if let VaultScope::These(vaults) = &agent.vaults {
        for vault in vaults.iter().filter(|vault| !vault.path.is_dir()) {
            let found = format!(
                "may ask “{}”, which is not there: {}",
                vault.name,
                vault.path.display()
            );
            let check = Check::new("agents", name.clone(), State::Warn, found);
            patient.note(
                check.todo("Connect its drive, or approve the agent anew for another vault."),
            );
        }
    }
}
