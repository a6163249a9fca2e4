//! The programs that Lorewell can be registered with, and where each keeps its registrations.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::error::ClientError;

/// The name that Lorewell is registered under everywhere.
pub const SERVER: &str = "lorewell";

/// A program that Lorewell can be registered with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Client {
    /// Anthropic's agent for the terminal.
    ClaudeCode,
    /// Anthropic's desktop application.
    ClaudeDesktop,
    /// OpenAI's agent for the terminal.
    Codex,
    /// The editor Cursor.
    Cursor,
    /// Visual Studio Code.
    VsCode,
    /// The editor Zed.
    Zed,
}

/// Whose registration it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// The user's: in all their projects.
    User,
    /// That of the project in a folder.
    Project(PathBuf),
}

/// What a file of a client is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// JSON, comments and trailing commas allowed.
    Json,
    Toml,
}

/// The kinds of systems whose programs keep their files in different places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    /// Linux and other Unix systems.
    Unix,
    /// macOS.
    Mac,
    /// Windows.
    Windows,
}

impl System {
    /// The one that this program runs on.
    pub fn here() -> System {
        if cfg!(windows) {
            System::Windows
        } else if cfg!(target_os = "macos") {
            System::Mac
        } else {
            System::Unix
        }
    }
}

/// Where the programs keep their files: handed in, never looked up here.
#[derive(Clone, Debug)]
pub struct Places {
    /// The system.
    pub system: System,
    /// The user's home folder.
    pub home: PathBuf,
    /// Variables of the environment by which programs move their files ([`VARIABLES`]).
    pub variables: BTreeMap<String, OsString>,
}

/// The variables that matter to [`Places`].
pub const VARIABLES: &[&str] = &[
    "APPDATA",
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "FLATPAK_XDG_CONFIG_HOME",
    "XDG_CONFIG_HOME",
];

impl Client {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Client; 6] = [
        Client::ClaudeCode,
        Client::ClaudeDesktop,
        Client::Codex,
        Client::Cursor,
        Client::VsCode,
        Client::Zed,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Client::ClaudeCode => "claude-code",
            Client::ClaudeDesktop => "claude-desktop",
            Client::Codex => "codex",
            Client::Cursor => "cursor",
            Client::VsCode => "vscode",
            Client::Zed => "zed",
        }
    }

    /// Its name for people.
    pub fn title(self) -> &'static str {
        match self {
            Client::ClaudeCode => "Claude Code",
            Client::ClaudeDesktop => "Claude Desktop",
            Client::Codex => "Codex",
            Client::Cursor => "Cursor",
            Client::VsCode => "VS Code",
            Client::Zed => "Zed",
        }
    }

    /// The client of that name.
    pub fn named(name: &str) -> Option<Client> {
        Client::ALL.into_iter().find(|client| client.name() == name)
    }

    /// Whether it can run a command for every prompt.
    pub fn has_hooks(self) -> bool {
        matches!(self, Client::ClaudeCode | Client::Codex)
    }

    /// Whether it takes up registrations only when it starts.
    pub fn must_restart(self) -> bool {
        matches!(self, Client::ClaudeDesktop)
    }

    pub(crate) fn format(self) -> Format {
        match self {
            Client::Codex => Format::Toml,
            _ => Format::Json,
        }
    }

    /// The member that holds its servers by name.
    pub(crate) fn holder(self) -> &'static str {
        match self {
            Client::Codex => "mcp_servers",
            Client::VsCode => "servers",
            Client::Zed => "context_servers",
            _ => "mcpServers",
        }
    }

    /// Whether an entry says by which way it is spoken to.
    pub(crate) fn says_type(self) -> bool {
        matches!(self, Client::ClaudeCode | Client::VsCode)
    }
}

impl Places {
    /// The file that holds a client's servers.
    ///
    /// # Errors
    /// The client has no such place.
    pub fn servers(&self, client: Client, reach: &Reach) -> Result<PathBuf, ClientError> {
        match reach {
            Reach::Project(folder) => match client {
                Client::ClaudeCode => Ok(folder.join(".mcp.json")),
                Client::Codex => Ok(folder.join(".codex").join("config.toml")),
                Client::Cursor => Ok(folder.join(".cursor").join("mcp.json")),
                Client::VsCode => Ok(folder.join(".vscode").join("mcp.json")),
                Client::Zed => Ok(folder.join(".zed").join("settings.json")),
                Client::ClaudeDesktop => Err(ClientError::NoPlace(
                    "Claude Desktop knows no registrations of a project".to_string(),
                )),
            },
            Reach::User => match client {
                Client::ClaudeCode => Ok(match self.folder("CLAUDE_CONFIG_DIR") {
                    Some(folder) => folder.join(".claude.json"),
                    None => self.home.join(".claude.json"),
                }),
                Client::ClaudeDesktop => {
                    let folder = self.applications("Claude")?;
                    Ok(folder.join("claude_desktop_config.json"))
                }
                Client::Codex => Ok(self.codex().join("config.toml")),
                Client::Cursor => Ok(self.home.join(".cursor").join("mcp.json")),
                Client::VsCode => Ok(self.applications("Code")?.join("User").join("mcp.json")),
                Client::Zed => Ok(self.zed()?.join("settings.json")),
            },
        }
    }

    /// The file that holds the commands which a client runs at its events.
    ///
    /// # Errors
    /// The client runs none.
    pub fn hooks(&self, client: Client, reach: &Reach) -> Result<PathBuf, ClientError> {
        match (client, reach) {
            (Client::ClaudeCode, Reach::User) => Ok(self.claude().join("settings.json")),
            (Client::ClaudeCode, Reach::Project(folder)) => {
                Ok(folder.join(".claude").join("settings.json"))
            }
            (Client::Codex, Reach::User) => Ok(self.codex().join("hooks.json")),
            (Client::Codex, Reach::Project(folder)) => Ok(folder.join(".codex").join("hooks.json")),
            _ => Err(ClientError::NoPlace(format!(
                "{} runs no command for a prompt",
                client.title()
            ))),
        }
    }

    /// Whether there is any trace of the client in the user's folders.
    pub fn has(&self, client: Client) -> bool {
        let folder = match client {
            Client::ClaudeCode => {
                let file = self.servers(client, &Reach::User);
                return self.claude().is_dir() || file.is_ok_and(|file| file.is_file());
            }
            Client::ClaudeDesktop => self.applications("Claude"),
            Client::Codex => Ok(self.codex()),
            Client::Cursor => Ok(self.home.join(".cursor")),
            Client::VsCode => self.applications("Code"),
            Client::Zed => self.zed(),
        };
        folder.is_ok_and(|folder| folder.is_dir())
    }

    /// The folder of Claude Code's settings and skills.
    pub fn claude(&self) -> PathBuf {
        self.folder("CLAUDE_CONFIG_DIR")
            .unwrap_or_else(|| self.home.join(".claude"))
    }

    fn codex(&self) -> PathBuf {
        self.folder("CODEX_HOME")
            .unwrap_or_else(|| self.home.join(".codex"))
    }

    /// Zed follows the XDG folders on macOS too.
    fn zed(&self) -> Result<PathBuf, ClientError> {
        match self.system {
            System::Windows => self.applications("Zed"),
            System::Mac => Ok(self.home.join(".config").join("zed")),
            System::Unix => Ok(self
                .folder("FLATPAK_XDG_CONFIG_HOME")
                .unwrap_or_else(|| self.config())
                .join("zed")),
        }
    }

    /// The folder where an application keeps its files.
    fn applications(&self, name: &str) -> Result<PathBuf, ClientError> {
        match self.system {
            System::Unix => Ok(self.config().join(name)),
            System::Mac => Ok(self
                .home
                .join("Library")
                .join("Application Support")
                .join(name)),
            System::Windows => match self.folder("APPDATA") {
                Some(folder) => Ok(folder.join(name)),
                None => Ok(self.home.join("AppData").join("Roaming").join(name)),
            },
        }
    }

    fn config(&self) -> PathBuf {
        self.folder("XDG_CONFIG_HOME")
            .filter(|folder| folder.is_absolute())
            .unwrap_or_else(|| self.home.join(".config"))
    }

    /// A variable that names a folder; one that is empty is not set.
    fn folder(&self, variable: &str) -> Option<PathBuf> {
        let value = self.variables.get(variable)?;
        if value.is_empty() {
            return None;
        }
        match Path::new(value).strip_prefix("~") {
            Ok(rest) => Some(self.home.join(rest)),
            Err(_) => Some(PathBuf::from(value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(system: System, variables: &[(&str, &str)]) -> Places {
        let variable = |(name, value): &(&str, &str)| (name.to_string(), OsString::from(value));
        Places {
            system,
            home: PathBuf::from("/h"),
            variables: variables.iter().map(variable).collect(),
        }
    }

    fn files(places: &Places) -> Vec<String> {
        let file = |client| places.servers(client, &Reach::User).unwrap();
        let shown = |path: PathBuf| path.display().to_string().replace('\\', "/");
        Client::ALL
            .into_iter()
            .map(|client| shown(file(client)))
            .collect()
    }

    #[test]
    fn every_system_has_its_places() {
        assert_eq!(
            files(&places(System::Unix, &[])),
            [
                "/h/.claude.json",
                "/h/.config/Claude/claude_desktop_config.json",
                "/h/.codex/config.toml",
                "/h/.cursor/mcp.json",
                "/h/.config/Code/User/mcp.json",
                "/h/.config/zed/settings.json",
            ]
        );
        assert_eq!(
            files(&places(System::Mac, &[("XDG_CONFIG_HOME", "/x")])),
            [
                "/h/.claude.json",
                "/h/Library/Application Support/Claude/claude_desktop_config.json",
                "/h/.codex/config.toml",
                "/h/.cursor/mcp.json",
                "/h/Library/Application Support/Code/User/mcp.json",
                "/h/.config/zed/settings.json",
            ]
        );
        let windows = places(System::Windows, &[("APPDATA", "/roaming")]);
        assert_eq!(files(&windows)[5], "/roaming/Zed/settings.json");
    }

    #[test]
    fn variables_move_them() {
        let moved = places(
            System::Unix,
            &[
                ("CLAUDE_CONFIG_DIR", "/c"),
                ("CODEX_HOME", "~/o"),
                ("XDG_CONFIG_HOME", "/x"),
            ],
        );
        assert_eq!(
            files(&moved),
            [
                "/c/.claude.json",
                "/x/Claude/claude_desktop_config.json",
                "/h/o/config.toml",
                "/h/.cursor/mcp.json",
                "/x/Code/User/mcp.json",
                "/x/zed/settings.json",
            ]
        );
        let empty = places(
            System::Unix,
            &[("CODEX_HOME", ""), ("XDG_CONFIG_HOME", "rel")],
        );
        assert_eq!(files(&empty), files(&places(System::Unix, &[])));
    }

    #[test]
    fn names_are_unique() {
        for client in Client::ALL {
            assert_eq!(Client::named(client.name()), Some(client));
        }
        assert_eq!(Client::named("emacs"), None);
    }
}
