//! `lorewell serve`: the bridge, a warm process for every client of one user.

use std::net::IpAddr;
use std::time::Duration;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use lorewell_bridge::{
    BridgeError, Client, Doing, Level, Limits, Options, Places, Request, State, wait_until_gone,
};
use lorewell_capabilities::{Failure, table};
use lorewell_setup::{Config, Environment, Flags, vaults};
use serde_json::json;

use crate::outcome::{Outcome, Problem};
use crate::render::counted;
use crate::style;

/// What is kept warm is let go after so long without a request.
const REST_AFTER: Duration = Duration::from_secs(600);

/// How long a bridge that was told to stop may take.
const STOPPING: Duration = Duration::from_secs(60);

/// The command's arguments.
pub(crate) fn command() -> Command {
    let flag = |name: &'static str, help: &'static str| {
        Arg::new(name)
            .long(name)
            .action(ArgAction::SetTrue)
            .help(help)
    };
    let value = |name: &'static str, shown: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(shown).help(help)
    };
    Command::new("serve")
        .about("Keep vaults warm and answer programs of this machine")
        .long_about(
            "Keep vaults warm and answer programs of this machine, until it is stopped with \
             Ctrl-C, SIGTERM or --stop. Commands with --bridge and the MCP server reach it over a \
             socket that only you can use; approved agents reach it over HTTP on this machine, \
             with their token. A vault is opened when it is first asked. There is one bridge a \
             user; for a second one this ends with exit code 2 and the error `bridge_running`",
        )
        .arg(
            value(
                "vault",
                "NAME_OR_DIR",
                "Open this vault at once; may be repeated",
            )
            .action(ArgAction::Append),
        )
        .arg(
            value(
                "port",
                "PORT",
                "The port for HTTP; the next free one is taken (setting `http_port`)",
            )
            .value_parser(value_parser!(u16)),
        )
        .arg(
            value(
                "address",
                "IP",
                "Listen for HTTP at this address (default: 127.0.0.1 and ::1)",
            )
            .value_parser(value_parser!(IpAddr)),
        )
        .arg(flag(
            "beyond-this-machine",
            "That address may be one that other machines reach; nothing is encrypted",
        ))
        .arg(
            value(
                "exit-after",
                "TIME",
                "End after so long without a request: 90s, 30m, 8h",
            )
            .value_parser(duration),
        )
        .arg(flag("status", "Show the bridge that runs").conflicts_with_all(["stop", "vault"]))
        .arg(flag("stop", "End the bridge that runs").conflicts_with("vault"))
}

/// Serves, or looks after the bridge that does.
pub(crate) fn run(environment: &Environment, matches: &ArgMatches) -> Result<Outcome, Problem> {
    let places = Places::of_process(environment);
    let json = matches.get_flag("json");
    if matches.get_flag("status") {
        return status(&places, json);
    }
    if matches.get_flag("stop") {
        return stop(&places, json);
    }
    let config = Config::load(environment)?;
    let settings = config.settings(None, &Flags::new())?;
    for warning in config.warnings().iter().chain(settings.warnings()) {
        style::warn(&warning.message);
    }
    style::set_color(&settings.color());
    let named = matches.get_many::<String>("vault").unwrap_or_default();
    let named: Result<Vec<_>, _> = named
        .map(|name| vaults::resolve(&config, &Flags::new(), Some(name)))
        .collect();
    let port = matches.get_one::<u16>("port").copied();
    let beyond_this_machine = matches.get_flag("beyond-this-machine");
    let options = Options {
        environment: environment.clone(),
        places,
        table: table(),
        vaults: named?,
        port: port.unwrap_or_else(|| u16::try_from(settings.http_port()).unwrap_or(0)),
        address: matches.get_one::<IpAddr>("address").copied(),
        beyond_this_machine,
        exit_after: matches.get_one::<Duration>("exit-after").copied(),
        rest_after: REST_AFTER,
        silent_panics: true,
        level: level(environment),
        limits: Limits::default(),
    };
    lorewell_bridge::serve(options, |state| {
        if beyond_this_machine {
            style::warn("other machines can ask, and nothing is encrypted on the way");
        }
        started(state, json);
    })
    .map_err(Failure::from)?;
    if json {
        style::print_data(&json!({ "contract": 1, "event": "stopped" }).to_string());
    } else {
        style::note("stopped");
    }
    Ok(Outcome::Done)
}

fn started(state: &State, json: bool) {
    if json {
        let line = json!({
            "contract": 1,
            "event": "serving",
            "pid": state.pid,
            "version": state.version,
            "addresses": state.addresses,
            "socket": state.socket.display().to_string(),
        });
        style::print_data(&line.to_string());
    } else {
        style::note(&format!(
            "serving at {} and {}",
            addresses(&state.addresses),
            state.socket.display()
        ));
    }
}

fn status(places: &Places, json: bool) -> Result<Outcome, Problem> {
    let doing: Doing = match Client::of_any_version(places) {
        Ok(mut client) => client.get(&Request::State)?,
        Err(BridgeError::NotRunning) => {
            if json {
                style::print_data(&json!({ "contract": 1, "running": false }).to_string());
            } else {
                style::print_data("no bridge is running");
            }
            return Ok(Outcome::NothingFound);
        }
        Err(error) => return Err(Failure::from(error).into()),
    };
    if json {
        let line = json!({
            "contract": 1,
            "running": true,
            "pid": doing.pid,
            "version": doing.version,
            "addresses": doing.addresses,
            "socket": doing.socket,
            "log": doing.log,
            "open_vaults": doing.open,
            "requests": doing.running,
            "up_seconds": doing.up_seconds,
            "exit_after_seconds": doing.exit_after_seconds,
        });
        let mut line = line;
        // Absent values are left out.
        if doing.exit_after_seconds.is_none()
            && let Some(fields) = line.as_object_mut()
        {
            fields.shift_remove("exit_after_seconds");
        }
        style::print_data(&line.to_string());
    } else {
        shown(&doing);
    }
    Ok(Outcome::Done)
}

fn shown(doing: &Doing) {
    let mut lines = vec![
        format!("process  {} (version {})", doing.pid, doing.version),
        format!("http     {}", addresses(&doing.addresses)),
        format!("socket   {}", doing.socket.display()),
        format!("log      {}", doing.log.display()),
        format!(
            "running  {} s, {} now",
            doing.up_seconds,
            counted(doing.running as u64, "request")
        ),
    ];
    if let Some(seconds) = doing.exit_after_seconds {
        lines.push(format!("ends     after {seconds} s without a request"));
    }
    for (number, folder) in doing.open.iter().enumerate() {
        let label = if number == 0 { "open    " } else { "        " };
        lines.push(format!(
            "{label} {}",
            style::inert_line(&folder.display().to_string())
        ));
    }
    style::print_data(&lines.join("\n"));
}

fn stop(places: &Places, json: bool) -> Result<Outcome, Problem> {
    let mut client = Client::of_any_version(places).map_err(Failure::from)?;
    let doing: Doing = client.get(&Request::Stop)?;
    drop(client);
    if !wait_until_gone(places, STOPPING) {
        return Err(Failure::from(BridgeError::Running(Some(doing.pid))).into());
    }
    if json {
        let line = json!({ "contract": 1, "stopped": true, "pid": doing.pid });
        style::print_data(&line.to_string());
    } else {
        style::print_data(&format!("stopped (process {})", doing.pid));
    }
    Ok(Outcome::Done)
}

fn addresses(addresses: &[std::net::SocketAddr]) -> String {
    let addresses = addresses.iter().map(|address| format!("http://{address}"));
    addresses.collect::<Vec<_>>().join(", ")
}

/// `LOREWELL_LOG`: how much the log tells.
fn level(environment: &Environment) -> Level {
    let word = environment.vars.get("LOREWELL_LOG");
    word.and_then(|word| match word.parse() {
        Ok(level) => Some(level),
        Err(()) => {
            style::warn("LOREWELL_LOG is none of off, error, warn, info and debug; taken as info");
            None
        }
    })
    .unwrap_or_default()
}

/// `90s`, `30m`, `8h`, `2d`; bare numbers are seconds.
fn duration(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: u64 = digits
        .parse()
        .map_err(|_| format!("“{text}” is no time; write 90s, 30m or 8h"))?;
    let unit = match &text[digits.len()..] {
        "" | "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 86_400,
        other => return Err(format!("there is no unit “{other}”; write s, m, h or d")),
    };
    match number.checked_mul(unit) {
        Some(seconds) if (1..=86_400 * 365).contains(&seconds) => Ok(Duration::from_secs(seconds)),
        _ => Err("from one second to a year".to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_their_units() {
        let read = |text| duration(text).map(|time| time.as_secs());
        assert_eq!(read("90"), Ok(90));
        assert_eq!(read("90s"), Ok(90));
        assert_eq!(read(" 30m "), Ok(1800));
        assert_eq!(read("8h"), Ok(28_800));
        for wrong in [
            "",
            "m",
            "0",
            "-1",
            "1.5h",
            "3w",
            "99999999999999999999d",
            "1000d",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        assert_eq!(read(crate::bridge_client::EXIT_AFTER), Ok(1800));
    }
}
