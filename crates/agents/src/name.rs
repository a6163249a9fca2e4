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

/// Whether two names are one.
pub(crate) fn same(one: &str, other: &str) -> bool {
    name_key(one) == name_key(other)
}

#[cfg(test)]
mod tests {
    use super::*;

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
