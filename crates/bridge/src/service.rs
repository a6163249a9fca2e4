//! Having a bridge started at login: what is written where, for the user's own service manager.
//!
//! Nothing is started here and no other program is called: the files are written, and the words
//! that start it at once are given to whoever asked. Units of systemd are tried in tests; agents
//! of launchd are only written.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use lorewell_setup::Environment;

use crate::BridgeError;

/// The name of the unit.
const UNIT: &str = "lorewell.service";

/// The name of the agent.
const LABEL: &str = "org.lorewell.bridge";

/// A service manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manager {
    /// The user's systemd.
    Systemd,
    /// The user's launchd.
    Launchd,
}

/// What stands or would stand where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Whose.
    pub manager: Manager,
    /// The file.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
    /// A link to the file that has it started at login, where that is how.
    pub link: Option<PathBuf>,
    /// What to type to start it now.
    pub start: String,
    /// What to type to end it now.
    pub stop: String,
}

/// How the files stand to a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// There is none.
    Absent,
    /// As planned.
    Installed,
    /// There is another text, or it is not started at login.
    Different,
}

impl Manager {
    /// The manager of this system.
    ///
    /// # Errors
    /// [`BridgeError::NoServiceManager`]
    pub fn here() -> Result<Manager, BridgeError> {
        if cfg!(target_os = "macos") {
            Ok(Manager::Launchd)
        } else if cfg!(target_os = "linux") {
            Ok(Manager::Systemd)
        } else {
            Err(BridgeError::NoServiceManager)
        }
    }
}

impl Plan {
    /// For `program` (its absolute path), started with `words` after `serve`.
    pub fn new(
        environment: &Environment,
        manager: Manager,
        program: &Path,
        words: &[String],
    ) -> Plan {
        let mut call = vec![program.display().to_string(), "serve".to_string()];
        call.extend_from_slice(words);
        match manager {
            Manager::Systemd => {
                let folder = environment.config_dir.join("systemd").join("user");
                Plan {
                    manager,
                    path: folder.join(UNIT),
                    text: unit(&call),
                    link: Some(folder.join("default.target.wants").join(UNIT)),
                    start: format!(
                        "systemctl --user daemon-reload && systemctl --user start {UNIT}"
                    ),
                    stop: format!("systemctl --user stop {UNIT}"),
                }
            }
            Manager::Launchd => {
                let folder = environment.home.join("Library").join("LaunchAgents");
                let path = folder.join(format!("{LABEL}.plist"));
                Plan {
                    manager,
                    text: agent(&call),
                    link: None,
                    start: format!("launchctl load -w '{}'", path.display()),
                    stop: format!("launchctl unload '{}'", path.display()),
                    path,
                }
            }
        }
    }

    /// How what is there stands to it.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn standing(&self) -> Result<Standing, BridgeError> {
        let text = match fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Standing::Absent),
            Err(source) => return Err(BridgeError::io(&self.path, source)),
        };
        let is_linked = self.link.as_ref().is_none_or(|link| link.exists());
        Ok(match text == self.text && is_linked {
            true => Standing::Installed,
            false => Standing::Different,
        })
    }

    /// Writes it.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn install(&self) -> Result<(), BridgeError> {
        write(&self.path, &self.text)?;
        if let Some(link) = &self.link {
            let fail = |source| BridgeError::io(link, source);
            make_folder_of(link)?;
            match fs::remove_file(link) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(fail(error)),
                _ => {}
            }
            #[cfg(unix)]
            std::os::unix::fs::symlink(&self.path, link).map_err(fail)?;
        }
        Ok(())
    }

    /// Takes it away; whether there was one.
    ///
    /// # Errors
    /// A file cannot be removed.
    pub fn uninstall(&self) -> Result<bool, BridgeError> {
        let mut was_there = false;
        for path in self.link.iter().chain([&self.path]) {
            match fs::remove_file(path) {
                Ok(()) => was_there = true,
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(source) => return Err(BridgeError::io(path, source)),
            }
        }
        Ok(was_there)
    }
}

fn write(path: &Path, text: &str) -> Result<(), BridgeError> {
    make_folder_of(path)?;
    let draft = path.with_extension("new");
    fs::write(&draft, text)
        .and_then(|()| fs::rename(&draft, path))
        .map_err(|source| BridgeError::io(path, source))
}

fn make_folder_of(path: &Path) -> Result<(), BridgeError> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder).map_err(|source| BridgeError::io(folder, source))
}

/// A unit of systemd (systemd.service(5); quoting: systemd.syntax(7)).
fn unit(call: &[String]) -> String {
    let words: Vec<String> = call.iter().map(|word| quoted_for_systemd(word)).collect();
    format!(
        "[Unit]\n\
         Description=Lorewell, a private search engine for notes\n\
         \n\
         [Service]\n\
         ExecStart={}\n\
         Restart=on-failure\n\
         RestartSec=5\n\
         NoNewPrivileges=true\n\
         Nice=5\n\
         \n\
         [Install]\n\
         WantedBy=default.target\n",
        words.join(" ")
    )
}

/// Percent signs and dollars stand for other things there.
fn quoted_for_systemd(word: &str) -> String {
    let doubled = word.replace('%', "%%").replace('$', "$$");
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-=:@%$".contains(c);
    if !doubled.is_empty() && doubled.chars().all(is_plain) {
        return doubled;
    }
    let escaped = doubled.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", escaped.replace('\n', "\\n"))
}

/// An agent of launchd (launchd.plist(5)).
fn agent(call: &[String]) -> String {
    let words: String = call
        .iter()
        .map(|word| format!("        <string>{}</string>\n", escaped_for_xml(word)))
        .collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n\
         <plist version=\"1.0\">\n\
         <dict>\n    \
         <key>Label</key>\n    <string>{LABEL}</string>\n    \
         <key>ProgramArguments</key>\n    <array>\n{words}    </array>\n    \
         <key>RunAtLoad</key>\n    <true/>\n    \
         <key>KeepAlive</key>\n    <dict>\n        <key>SuccessfulExit</key>\n        <false/>\n    </dict>\n    \
         <key>ProcessType</key>\n    <string>Background</string>\n\
         </dict>\n\
         </plist>\n"
    )
}

fn escaped_for_xml(word: &str) -> String {
    word.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(home: &Path) -> Environment {
        Environment {
            home: home.to_path_buf(),
            config_dir: home.join(".config"),
            data_dir: home.join(".local/share"),
            vars: Default::default(),
            current_dir: home.to_path_buf(),
        }
    }

    #[test]
    fn words_are_quoted_as_systemd_reads_them() {
        let quoted = |word| quoted_for_systemd(word);
        assert_eq!(quoted("/usr/bin/lorewell"), "/usr/bin/lorewell");
        assert_eq!(quoted("/my notes"), "\"/my notes\"");
        assert_eq!(quoted("50%"), "50%%");
        assert_eq!(quoted("a\"b\\c $x"), "\"a\\\"b\\\\c $$x\"");
        assert_eq!(quoted(""), "\"\"");
    }

    #[cfg(unix)]
    #[test]
    fn a_unit_is_installed_once_and_taken_away_whole() {
        let home = tempfile::tempdir().unwrap();
        let environment = environment(home.path());
        let program = Path::new("/opt/lore well/lorewell");
        let plan = Plan::new(
            &environment,
            Manager::Systemd,
            program,
            &["--port".into(), "0".into()],
        );
        assert_eq!(plan.standing().unwrap(), Standing::Absent);
        plan.install().unwrap();
        plan.install().unwrap();
        assert_eq!(plan.standing().unwrap(), Standing::Installed);
        let text = fs::read_to_string(&plan.path).unwrap();
        assert!(
            text.contains("ExecStart=\"/opt/lore well/lorewell\" serve --port 0\n"),
            "{text}"
        );
        let other = Plan::new(&environment, Manager::Systemd, program, &[]);
        assert_eq!(other.standing().unwrap(), Standing::Different);
        assert!(plan.uninstall().unwrap());
        assert!(!plan.uninstall().unwrap());
        assert_eq!(plan.standing().unwrap(), Standing::Absent);
        assert!(!plan.link.unwrap().is_symlink());
    }

    #[test]
    fn an_agent_of_launchd_is_whole_xml() {
        let environment = environment(Path::new("/Users/ann"));
        let plan = Plan::new(
            &environment,
            Manager::Launchd,
            Path::new("/opt/a<b>&c/lorewell"),
            &[],
        );
        assert!(
            plan.path
                .ends_with("Library/LaunchAgents/org.lorewell.bridge.plist")
        );
        assert!(
            plan.text
                .contains("<string>/opt/a&lt;b&gt;&amp;c/lorewell</string>")
        );
        let opened = plan.text.matches("<dict>").count();
        assert_eq!(opened, plan.text.matches("</dict>").count());
    }
}
