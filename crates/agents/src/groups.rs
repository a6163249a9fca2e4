//! Tool groups: what can be turned off for an agent, by one word.

use lorewell_capabilities::Entry;

use crate::AgentsError;

/// Capabilities that belong together for who gives them or takes them away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolGroup {
    /// Its word: `search`.
    pub name: &'static str,
    /// What is in it, by [`Entry::id`].
    pub capabilities: &'static [&'static str],
    /// What it is for, as the end of a sentence.
    pub about: &'static str,
}

const GROUPS: &[ToolGroup] = &[
    ToolGroup {
        name: "search",
        capabilities: &["knowledge.search", "knowledge.context", "knowledge.pulse"],
        about: "find passages for a question",
    },
    ToolGroup {
        name: "read",
        capabilities: &["knowledge.read"],
        about: "read a note",
    },
    ToolGroup {
        name: "related",
        capabilities: &["knowledge.related", "knowledge.links"],
        about: "go from a note to others",
    },
    ToolGroup {
        name: "verify",
        capabilities: &["knowledge.verify"],
        about: "check quotations",
    },
    ToolGroup {
        name: "status",
        capabilities: &["knowledge.status"],
        about: "see what is indexed",
    },
    ToolGroup {
        name: "manage",
        capabilities: &["knowledge.rebuild"],
        about: "build the index anew",
    },
];

/// All groups.
pub fn tool_groups() -> &'static [ToolGroup] {
    GROUPS
}

/// The word of a capability's group. One that no group names is a group of its own, so that it can
/// be turned off too.
pub fn group_of(entry: &Entry) -> &'static str {
    let group = GROUPS
        .iter()
        .find(|group| group.capabilities.contains(&entry.id));
    group.map_or(entry.name(), |group| group.name)
}

/// The group of that word.
///
/// # Errors
/// [`AgentsError::UnknownGroup`], which names all.
pub(crate) fn named(word: &str) -> Result<&'static ToolGroup, AgentsError> {
    let word = word.trim();
    let found = GROUPS.iter().find(|group| group.name == word);
    found.ok_or_else(|| AgentsError::UnknownGroup {
        asked: word.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_capability_is_in_one_group() {
        for entry in lorewell_capabilities::table() {
            let groups: Vec<_> = GROUPS
                .iter()
                .filter(|group| group.capabilities.contains(&entry.id))
                .collect();
            assert_eq!(
                groups.len(),
                1,
                "{} is in no tool group, or in several",
                entry.id
            );
        }
    }
}
