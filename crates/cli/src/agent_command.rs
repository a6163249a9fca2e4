//! `lorewell agent`: who may ask what.

use std::collections::BTreeMap;

use clap::{Arg, ArgAction, ArgMatches, Command};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use lorewell_agents::{
    Agent, Approval, Change, LastUses, Reader, Register, ScopedVault, Token, VaultScope, end_of,
    shown_time, tool_groups,
};
use lorewell_setup::{Config, Environment, Flags, agents_dir, vaults};
use serde_json::{Value, json};

use crate::arguments::switch;
use crate::outcome::{Outcome, Problem};
use crate::style::{self, FAINT, TITLE, inert_line, styled};

/// The command and its subcommands.
pub(crate) fn command() -> Command {
    let name = || {
        Arg::new("name")
            .required(true)
            .value_name("NAME")
            .help("Its name; `lorewell agent list` shows it")
    };
    let group = |long: &'static str, help: &'static str| {
        Arg::new(long)
            .long(long)
            .value_name("GROUP")
            .action(ArgAction::Append)
            .help(help)
    };
    let expires = |help: &'static str| {
        Arg::new("expires")
            .long("expires")
            .value_name("WHEN")
            .help(help)
    };
    Command::new("agent")
        .about("Approve agents by name, and say what they may ask")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(
            Command::new("approve")
                .about("Approve an agent and show its token, once")
                .long_about(
                    "Approve an agent and show its token, once. With the token it may ask the \
                     bridge; only a hash of it is kept. Without more flags it may read the \
                     default vault, counts as reading elsewhere, so that notes behind fences are \
                     kept from it, and is approved until it is revoked",
                )
                .arg(name().help("What it is called: letters, digits, spaces, `.`, `-`, `_`"))
                .arg(
                    Arg::new("vault")
                        .long("vault")
                        .value_name("NAME_OR_DIR")
                        .action(ArgAction::Append)
                        .help(
                            "A vault that it may ask; may be repeated (default: the default vault)",
                        ),
                )
                .arg(
                    switch(
                        "all-vaults",
                        "It may ask every vault, also those listed later",
                    )
                    .conflicts_with("vault"),
                )
                .arg(switch("manage", "It may also have an index built anew"))
                .arg(
                    switch(
                        "local",
                        "It reads on this machine, so notes behind fences are not kept from it",
                    )
                    .conflicts_with("remote"),
                )
                .arg(switch("remote", "It reads elsewhere (default)"))
                .arg(expires(
                    "When the approval ends: 12h, 30d, 8w, 2027-01-31, never (default)",
                ))
                .arg(group(
                    "without",
                    "A tool group that is turned off for it; may be repeated",
                )),
        )
        .subcommand(Command::new("list").about("Show the approved agents"))
        .subcommand(Command::new("show").about("Show one agent").arg(name()))
        .subcommand(
            Command::new("tools")
                .about("Turn tool groups on or off for an agent, at once")
                .arg(name())
                .arg(group("on", "A tool group to turn on; may be repeated"))
                .arg(group("off", "A tool group to turn off; may be repeated")),
        )
        .subcommand(
            Command::new("renew")
                .about("Let an approval go on, or give it another token")
                .long_about(
                    "Let an approval go on, or give it another token. Without --expires it goes \
                     on for as long again as it was given before, from now. The token stays the \
                     same unless --new-token asks for another, which is shown once; the old one \
                     is worth nothing from then on",
                )
                .arg(name())
                .arg(expires("When it ends: 12h, 30d, 8w, 2027-01-31, never"))
                .arg(switch("new-token", "Give it another token")),
        )
        .subcommand(
            Command::new("revoke")
                .about("Take an approval away, at once")
                .arg(name()),
        )
}

/// Runs one of its subcommands.
pub(crate) fn run(environment: &Environment, matches: &ArgMatches) -> Result<Outcome, Problem> {
    let register = Register::at(agents_dir(environment));
    match matches.subcommand() {
        Some(("approve", matches)) => approve(environment, &register, matches),
        Some(("show", matches)) => {
            let agent = register.agent(named(matches))?;
            let uses = LastUses::at(register.folder()).read();
            let words = described(&agent, uses.get(&agent.id).copied());
            say(matches, &json!({"agent": as_json(&agent, &uses)}), &words)
        }
        Some(("tools", matches)) => tools(&register, matches),
        Some(("renew", matches)) => renew(&register, matches),
        Some(("revoke", matches)) => {
            let agent = register.revoke(named(matches))?;
            let words = format!("{} is revoked; its token opens nothing.\n", agent.name);
            say(matches, &json!({"revoked": agent.name}), &words)
        }
        Some((_, matches)) => list(&register, matches),
        None => Ok(Outcome::Done),
    }
}

fn approve(
    environment: &Environment,
    register: &Register,
    matches: &ArgMatches,
) -> Result<Outcome, Problem> {
    let now = Timestamp::now();
    let approval = Approval {
        name: named(matches).to_owned(),
        vaults: scope(environment, matches)?,
        manage: matches.get_flag("manage"),
        reader: if matches.get_flag("local") {
            Reader::Local
        } else {
            Reader::Remote
        },
        off: all_given(matches, "without"),
        expires_at: end(matches, now)?.flatten(),
    };
    let (agent, token) = register.approve(approval, now)?;
    let words = format!("{}{}", described(&agent, None), shown(&token));
    let mut json = json!({"agent": as_json(&agent, &BTreeMap::new())});
    json["token"] = token.reveal().into();
    say(matches, &json, &words)
}

/// The vaults of an approval.
fn scope(environment: &Environment, matches: &ArgMatches) -> Result<VaultScope, Problem> {
    if matches.get_flag("all-vaults") {
        return Ok(VaultScope::All);
    }
    let config = Config::load(environment)?;
    let flags = Flags::new();
    let asked = all_given(matches, "vault");
    let found = if asked.is_empty() {
        vec![vaults::resolve(&config, &flags, None)?]
    } else {
        let each = asked.iter();
        each.map(|asked| vaults::resolve(&config, &flags, Some(asked)))
            .collect::<Result<_, _>>()?
    };
    let scoped = found.into_iter().map(|vault| ScopedVault {
        name: vault.name,
        path: vault.path,
    });
    Ok(VaultScope::These(scoped.collect()))
}

fn list(register: &Register, matches: &ArgMatches) -> Result<Outcome, Problem> {
    let agents = register.agents()?;
    let uses = LastUses::at(register.folder()).read();
    let json: Vec<Value> = agents.iter().map(|agent| as_json(agent, &uses)).collect();
    let mut words: String = agents
        .iter()
        .map(|agent| described(agent, uses.get(&agent.id).copied()))
        .collect();
    if agents.is_empty() {
        words += "No agent is approved. Approve one with `lorewell agent approve NAME`.\n";
    }
    say(matches, &json!({"agents": json}), &words)
}

fn tools(register: &Register, matches: &ArgMatches) -> Result<Outcome, Problem> {
    let change = Change {
        on: all_given(matches, "on"),
        off: all_given(matches, "off"),
        ..Change::default()
    };
    let agent = if change == Change::default() {
        register.agent(named(matches))?
    } else {
        register.change(named(matches), &change)?.0
    };
    let state = |name: &str| !agent.off.iter().any(|off| off == name);
    let mut words = format!("{}\n", styled(TITLE, &agent.name));
    let mut groups = Vec::new();
    for group in tool_groups() {
        let is_given = group.name != "manage" || agent.manage;
        let on = state(group.name) && is_given;
        let shown = if on { "on " } else { "off" };
        words += &format!(
            "  {shown}  {:<8} {}\n",
            group.name,
            styled(FAINT, group.about)
        );
        groups.push(json!({"name": group.name, "on": on, "capabilities": group.capabilities}));
    }
    say(
        matches,
        &json!({"agent": agent.name, "groups": groups}),
        &words,
    )
}

fn renew(register: &Register, matches: &ArgMatches) -> Result<Outcome, Problem> {
    let now = Timestamp::now();
    let agent = register.agent(named(matches))?;
    let asked = end(matches, now)?;
    let new_token = matches.get_flag("new-token");
    let again = match (asked, agent.expires_at) {
        (Some(end), _) => Some(end),
        (None, Some(end)) => Some(Some(now + end.duration_since(agent.approved_at))),
        (None, None) if new_token => None,
        (None, None) => {
            return Err(Problem::wrong_use(
                format!("the approval of “{}” has no end", agent.name),
                "--expires gives it one, --new-token another token.",
            ));
        }
    };
    let change = Change {
        expires_at: again,
        approved_at: again.map(|_| now),
        new_token,
        ..Change::default()
    };
    let (agent, token) = register.change(&agent.name, &change)?;
    let uses = LastUses::at(register.folder()).read();
    let mut json = json!({"agent": as_json(&agent, &uses)});
    let mut words = described(&agent, uses.get(&agent.id).copied());
    if let Some(token) = token {
        json["token"] = token.reveal().into();
        words += &shown(&token);
    }
    say(matches, &json, &words)
}

/// The end that was given, if one was.
fn end(matches: &ArgMatches, now: Timestamp) -> Result<Option<Option<Timestamp>>, Problem> {
    let given = matches.get_one::<String>("expires");
    let end = given.map(|text| end_of(text, now, &TimeZone::system()));
    Ok(end.transpose()?)
}

fn as_json(agent: &Agent, uses: &BTreeMap<String, Timestamp>) -> Value {
    let mut json = json!({
        "name": agent.name,
        "all_vaults": agent.vaults == VaultScope::All,
        "vaults": scoped(agent)
            .map(|vault| json!({"name": vault.name, "path": vault.path.display().to_string()}))
            .collect::<Vec<_>>(),
        "manage": agent.manage,
        "reader": agent.reader.code(),
        "off": agent.off,
        "approved_at": shown_time(agent.approved_at),
        "expired": agent.is_expired(Timestamp::now()),
    });
    if let Some(end) = agent.expires_at {
        json["expires_at"] = shown_time(end).into();
    }
    if let Some(used) = uses.get(&agent.id) {
        json["last_used_at"] = shown_time(*used).into();
    }
    json
}

fn scoped(agent: &Agent) -> impl Iterator<Item = &ScopedVault> {
    match &agent.vaults {
        VaultScope::All => [].iter(),
        VaultScope::These(vaults) => vaults.iter(),
    }
}

/// An agent in words. Its name is inert by itself, a vault's is not.
fn described(agent: &Agent, used: Option<Timestamp>) -> String {
    let vaults: Vec<String> = scoped(agent).map(|v| inert_line(&v.name)).collect();
    let vaults = match agent.vaults {
        VaultScope::All => "every vault".to_owned(),
        VaultScope::These(_) => vaults.join(", "),
    };
    let may = match agent.manage {
        true => "read and manage",
        false => "read",
    };
    let reads = match agent.reader {
        Reader::Local => "on this machine",
        Reader::Remote => "elsewhere; notes behind fences are kept from it",
    };
    let ends = match agent.expires_at {
        None => "never".to_owned(),
        Some(end) if agent.is_expired(Timestamp::now()) => format!("ended {}", shown_time(end)),
        Some(end) => shown_time(end),
    };
    let mut rows = vec![
        ("asks", vaults),
        ("may", may.to_owned()),
        ("reads", reads.to_owned()),
        ("approved", shown_time(agent.approved_at)),
        ("ends", ends),
    ];
    if !agent.off.is_empty() {
        rows.insert(2, ("without", agent.off.join(", ")));
    }
    if let Some(used) = used {
        rows.push(("last use", shown_time(used)));
    }
    let lines = rows.iter().map(|(what, value)| {
        let what = format!("{what:<9}");
        format!("  {}{value}\n", styled(FAINT, &what))
    });
    format!(
        "{}\n{}",
        styled(TITLE, &agent.name),
        lines.collect::<String>()
    )
}

fn shown(token: &Token) -> String {
    format!(
        "\nIts token, shown this once:\n{}\nIt goes into the header `Authorization: Bearer …`.\n",
        token.reveal()
    )
}

fn named(matches: &ArgMatches) -> &str {
    matches.get_one::<String>("name").map_or("", String::as_str)
}

fn all_given(matches: &ArgMatches, name: &str) -> Vec<String> {
    matches
        .get_many::<String>(name)
        .map(|given| given.cloned().collect())
        .unwrap_or_default()
}

fn say(matches: &ArgMatches, json: &Value, words: &str) -> Result<Outcome, Problem> {
    if matches.get_flag("json") {
        style::print_data(&json.to_string());
    } else {
        style::print_text(words);
    }
    Ok(Outcome::Done)
}
