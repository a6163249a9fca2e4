//! Names of agents: unique whatever the case, and inert wherever they are shown.

use lorewell_text::name_key;

use crate::AgentsError;

/// The longest name, in characters.
const MAX_CHARS: usize = 64;

/// Names that the log uses for callers that are no approved agents.
const RESERVED: &[&str] = &["owner", "client"];

/// The name, if an agent can have it: letters and digits of any script, and between them spaces
/// and `. - _`. So a name holds nothing that could move a terminal or pass for a flag or a path.
///
/// # Errors
/// [`AgentsError::BadName`] with the reason.
pub(crate) fn checked(name: &str) -> Result<&str, AgentsError> {
    let inner = |c: char| c.is_alphanumeric() || " .-_".contains(c);
    let ends = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let reason = if name.is_empty() {
        "it is empty"
    } else if name.chars().count() > MAX_CHARS {
        "it has more than 64 characters"
    } else if !name.chars().all(inner) {
        "it may hold letters, digits, spaces and the signs `.`, `-` and `_`"
    } else if !ends(name.chars().next()) || !ends(name.chars().next_back()) {
        "it must begin and end with a letter or digit"
    } else if RESERVED.iter().any(|reserved| same(reserved, name)) {
        "the log uses it for something else"
    } else {
        return Ok(name);
    };
    Err(AgentsError::BadName {
        name: name.to_owned(),
        reason,
    })
}

/// What a program that calls itself so is called in the log: its name without what no name may
/// hold. Nothing where nothing is left of it.
pub(crate) fn of_program(given: &str) -> Option<String> {
    let kept = |c: char| {
        if c.is_alphanumeric() || " .-_".contains(c) {
            c
        } else {
            '-'
        }
    };
    let is_edge = |c: char| !c.is_alphanumeric();
    let short: String = given
        .trim_matches(is_edge)
        .chars()
        .take(MAX_CHARS)
        .collect();
    let name: String = short.trim_end_matches(is_edge).chars().map(kept).collect();
    checked(&name).is_ok().then_some(name)
}

/// Whether two names are one.
pub(crate) fn same(one: &str, other: &str) -> bool {
    name_key(one) == name_key(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_calls_itself_is_made_a_name() {
        for (given, name) in [
            ("claude-code", Some("claude-code")),
            ("Visual Studio Code", Some("Visual Studio Code")),
            ("@scope/client\u{1b}[31m", Some("scope-client--31m")),
            ("", None),
            ("\u{202e}//", None),
            ("Owner", None),
        ] {
            assert_eq!(of_program(given).as_deref(), name, "{given:?}");
        }
        let long = of_program(&format!("{} b", "a".repeat(63))).unwrap();
        assert_eq!(long, "a".repeat(63));
    }

    #[test]
    fn a_name_is_inert() {
        for good in ["claude", "Claude Code", "v1.2_x-y", "釉薬", "Ärger"] {
            assert_eq!(checked(good).unwrap(), good);
        }
        for bad in [
            "",
            " a",
            "a ",
            "-a",
            "a/b",
            "..",
            "a\u{1b}[31m",
            "a\nb",
            "a\u{202e}b",
            "a\u{200b}b",
            "owner",
            "CLIENT",
            "a\"b",
            "$(x)",
            &"a".repeat(65),
        ] {
            let error = checked(bad).unwrap_err();
            assert_eq!(error.code(), "bad_agent_name", "{bad:?}");
        }
    }
}
