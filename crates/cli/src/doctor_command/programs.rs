//! Checks of other programs: their registrations, and the skill.

use std::path::Path;

use lorewell_clients::skill::{self, SkillState};
use lorewell_clients::{Client, Part, Reach, Registrar, Server};
use lorewell_setup::vaults;

use super::{Check, Patient};
use crate::install_command::registrar;

/// Looks at every program's registration, and at the skill.
pub(super) fn look(patient: &mut Patient<'_>) {
    let registrar = registrar(patient.environment);
    for client in Client::ALL {
        server(patient, &registrar, client);
        if client.has_hooks() {
            hook(patient, &registrar, client);
        }
    }
    for folder in skill::user_folders(registrar.places(), false) {
        skill_in(patient, &folder);
    }
}

fn server(patient: &mut Patient<'_>, registrar: &Registrar, client: Client) {
    let Ok(standing) = registrar.standing(client, &Reach::User, Part::Server) else {
        return;
    };
    let path = standing.path.display().to_string();
    let again = format!("`lorewell install {}`", client.name());
    let check = match standing.registered {
        Err(error) => {
            // It is that program's file, and maybe it reads it after all.
            let mut check = Check::failed("programs", client.title(), error);
            check.state = super::State::Warn;
            check
        }
        Ok(None) if !registrar.places().has(client) => {
            Check::ok("programs", client.title(), "is not found on this machine")
        }
        Ok(None) => Check::ok("programs", client.title(), "does not ask Lorewell")
            .todo(format!("{again} registers it, if you want that.")),
        Ok(Some(server)) => match fault(&server) {
            Some((state, found)) => {
                let check = Check::new("programs", client.title(), state, found);
                check.todo(format!("{again} registers this program."))
            }
            None => match vault_fault(patient, &server) {
                Some(found) => Check::new("programs", client.title(), super::State::Fail, found)
                    .todo(format!("{again} --vault NAME registers another vault.")),
                None => Check::ok(
                    "programs",
                    client.title(),
                    format!("asks this program ({path})"),
                ),
            },
        },
    };
    patient.note(check);
}

fn hook(patient: &mut Patient<'_>, registrar: &Registrar, client: Client) {
    let Ok(standing) = registrar.standing(client, &Reach::User, Part::Hook) else {
        return;
    };
    let name = format!("{}, prompts", client.title());
    let check = match standing.registered {
        Err(error) => {
            let mut check = Check::failed("programs", name, error);
            check.state = super::State::Warn;
            check
        }
        Ok(None) => return,
        Ok(Some(server)) => match fault(&server) {
            Some((state, found)) => Check::new("programs", name, state, found).todo(format!(
                "`lorewell install {} --hook` registers this program.",
                client.name()
            )),
            None if patient.settings.auto_context() == "off" => Check::ok(
                "programs",
                name,
                "the hook is there, and the setting `auto_context` turns it off",
            ),
            None => Check::ok("programs", name, "passages are added to prompts"),
        },
    };
    patient.note(check);
}

/// What is wrong with the program that is registered.
fn fault(server: &Server) -> Option<(super::State, String)> {
    use super::State;
    let path = Path::new(&server.command);
    if !path.is_absolute() {
        let found = format!("starts “{}”, which is no whole path", server.command);
        return Some((State::Warn, found));
    }
    let Ok(real) = path.canonicalize() else {
        let found = format!("starts {}, which is not there", server.command);
        return Some((State::Fail, found));
    };
    if !is_program(&real) {
        let found = format!("starts {}, which cannot be run", server.command);
        return Some((State::Fail, found));
    }
    let here = std::env::current_exe().and_then(|path| path.canonicalize());
    match here {
        Ok(here) if here != real => {
            let found = format!("starts {}, which is not this program", server.command);
            Some((State::Warn, found))
        }
        _ => None,
    }
}

fn is_program(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        path.metadata()
            .is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
    }
    #[cfg(not(unix))]
    path.is_file()
}

/// Whether the vault that is registered is one.
fn vault_fault(patient: &Patient<'_>, server: &Server) -> Option<String> {
    let asked = server
        .args
        .iter()
        .skip_while(|arg| *arg != "--vault")
        .nth(1)?;
    let config = patient.config.as_ref()?;
    let error = vaults::resolve(config, &patient.flags, Some(asked)).err()?;
    Some(format!("asks the vault “{asked}”: {error}"))
}

fn skill_in(patient: &mut Patient<'_>, folder: &Path) {
    let name = folder.display().to_string();
    let check = match skill::state(folder) {
        Err(error) => Check::failed("skill", name, error),
        Ok(SkillState::Absent) => Check::ok("skill", name, "is not installed")
            .todo("`lorewell skill install` teaches agents how to ask, if you want that."),
        Ok(SkillState::Current) => Check::ok("skill", name, "is that of this program"),
        Ok(SkillState::Differs(files)) => {
            let found = format!("is older, newer or changed by hand: {}", files.join(", "));
            Check::warn("skill", name, found).todo(
                "`lorewell skill install` brings it up to date, and says what was changed by hand.",
            )
        }
    };
    patient.note(check);
}
