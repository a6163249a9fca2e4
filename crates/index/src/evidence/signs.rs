//! Signs in the text of a note.

use memchr::memmem;

/// Names between braces that a program replaces when a note is made: Obsidian's templates and the
/// QuickAdd plugin.
const BRACED: [&str; 5] = ["date", "time", "title", "value", "vdate"];

/// A line with more words beside a placeholder speaks of it rather than waiting for it.
const MOST_WORDS: usize = 6;

/// The first placeholder of a template in a text, outside of code and running prose: `{{date}}`,
/// `{{title}}` (Obsidian), `<% tp.` and `<%*` (Templater), `<% today %>` (Logseq).
pub(super) fn placeholder(text: &str) -> Option<&str> {
    let braced = memmem::find_iter(text.as_bytes(), "{{").filter_map(|at| braced(text, at));
    let command = memmem::find_iter(text.as_bytes(), "<%").filter_map(|at| command(text, at));
    braced
        .chain(command)
        .find(|(at, _)| !is_prose(text, *at) && !is_code(text, *at))
        .map(|(_, shown)| shown)
}

fn braced(text: &str, at: usize) -> Option<(usize, &str)> {
    let inside = text.get(at + 2..)?;
    let end = inside.find("}}").filter(|end| *end <= 40)?;
    let inside = inside.get(..end)?;
    let name = inside.split(':').next().unwrap_or(inside).trim();
    let known = BRACED.iter().any(|known| name.eq_ignore_ascii_case(known));
    known.then_some((at, text.get(at..at + 2 + end + 2)?))
}

fn command(text: &str, at: usize) -> Option<(usize, &str)> {
    let inside = text.get(at + 2..)?;
    if inside.starts_with('*') {
        return Some((at, text.get(at..at + 3)?));
    }
    let start = inside.trim_start_matches(['-', '_', '+', ' ']);
    if start.starts_with("tp.") {
        return Some((at, "<% tp."));
    }
    let logseq = ["today", "yesterday", "tomorrow", "time", "current page"];
    let found = logseq.into_iter().find(|word| {
        start
            .strip_prefix(word)
            .is_some_and(|rest| rest.trim_start().starts_with("%>"))
    });
    found.map(|word| (at, word))
}

/// Whether the line of a place has many words outside of braces and commands.
fn is_prose(text: &str, at: usize) -> bool {
    let (before, behind) = text.split_at(at);
    let before = before.rsplit('\n').next().unwrap_or_default();
    let behind = behind.split('\n').next().unwrap_or_default();
    let mut inside = false;
    let words = [before, behind].into_iter().flat_map(str::split_whitespace);
    let outside = words.filter(|word| {
        let begins = word.contains("{{") || word.contains("<%");
        let ends = word.contains("}}") || word.contains("%>");
        let counts = !inside && !begins && word.chars().any(char::is_alphanumeric);
        inside = (inside || begins) && !ends;
        counts
    });
    outside.count() > MOST_WORDS
}

/// Whether a place lies in a code block or between the backticks of its line.
fn is_code(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    let ticks = |line: &str| line.bytes().filter(|b| *b == b'`').count();
    if ticks(before.get(line_start..).unwrap_or_default()) % 2 == 1 {
        return true;
    }
    let mut open: Option<&str> = None;
    for line in before.get(..line_start).unwrap_or_default().lines() {
        let line = line.trim_start_matches([' ', '\t', '>', '-']);
        let fence = ["```", "~~~"].into_iter().find(|f| line.starts_with(f));
        match (open, fence) {
            (None, Some(fence)) => open = Some(fence),
            (Some(opened), Some(fence)) if opened == fence => open = None,
            _ => {}
        }
    }
    open.is_some()
}

#[cfg(test)]
mod tests {
    use super::placeholder;

    #[test]
    fn placeholders_outside_of_code() {
        for (text, found) in [
            ("---\ndate: {{date}}\n---\n", Some("{{date}}")),
            ("# {{title}}\n", Some("{{title}}")),
            ("on {{ date:YYYY-MM-DD }}", Some("{{ date:YYYY-MM-DD }}")),
            ("<% tp.file.title %>", Some("<% tp.")),
            ("<%* const a = 1 %>", Some("<%*")),
            ("- <% today %>", Some("today")),
            ("Write `{{date}}` to have the day.", None),
            ("```\n{{date}}\n```\n", None),
            ("```\ncode\n```\n{{date}}", Some("{{date}}")),
            (
                "You can now use {{date:FORMAT}} in the templates of your daily notes.",
                None,
            ),
            (
                "Created on {{date}} at {{time}} by <% tp.user.name() + ' of the house' %>",
                Some("{{date}}"),
            ),
            ("{{ user.name }} and <%= erb %>", None),
            ("{{date", None),
            ("{{", None),
        ] {
            assert_eq!(placeholder(text), found, "{text}");
        }
    }
}
