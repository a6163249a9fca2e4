//! Whether a link's heading names a heading of a note.

use lorewell_text::name_key;

/// Whether the headings of a link (`[[Note#A#B]]` is `["A", "B"]`) name the heading whose path
/// from the top of its note is `path` (itself last).
///
/// The comparison is as lax as Obsidian's: ASCII punctuation that cannot stand in a link counts
/// as a blank, blanks are collapsed, case and Unicode form do not matter. The last wanted heading
/// is the last of the path; the earlier ones are among its ancestors, in order, and levels may be
/// left out. Several wanted headings may also be a single one that holds `#`. Nothing wanted
/// matches nothing.
pub fn heading_matches(wanted: &[String], path: &[String]) -> bool {
    let (Some((last, above)), Some((heading, ancestors))) =
        (wanted.split_last(), path.split_last())
    else {
        return false;
    };
    let key = heading_key(heading);
    if heading_key(last) != key {
        // `#` is also a sign within headings, and a link's text cannot tell.
        return wanted.len() > 1 && heading_key(&wanted.join(" ")) == key;
    }
    let mut ancestors = ancestors.iter();
    above.iter().all(|w| {
        let key = heading_key(w);
        ancestors.any(|a| heading_key(a) == key)
    })
}

/// A heading as links are compared; one of punctuation only stays as it is.
fn heading_key(heading: &str) -> String {
    let plain = heading.replace(is_ignored, " ");
    let key = name_key(&plain);
    if key.is_empty() {
        name_key(heading)
    } else {
        key
    }
}

/// The signs that Obsidian drops when it compares headings; `-`, `_` and `'` count.
fn is_ignored(c: char) -> bool {
    matches!(
        c,
        '!' | '"'
            | '#'
            | '$'
            | '%'
            | '&'
            | '('
            | ')'
            | '*'
            | '+'
            | ','
            | '.'
            | ':'
            | ';'
            | '<'
            | '='
            | '>'
            | '?'
            | '@'
            | '^'
            | '`'
            | '{'
            | '|'
            | '}'
            | '~'
            | '/'
            | '['
            | ']'
            | '\\'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_are_compared_laxly_but_not_loosely() {
        let path = |text: &str| text.split(" > ").map(str::to_owned).collect::<Vec<_>>();
        for (wanted, heading, matches) in [
            ("Toll", "Toll", true),
            ("toll", "Roads > Toll", true),
            ("Roads > Toll", "Roads > Toll", true),
            ("Roads > Toll", "Map > Roads > Toll", true),
            ("Map > Toll", "Map > Roads > Toll", true),
            ("Roads > Map > Toll", "Map > Roads > Toll", false),
            ("Roads", "Roads > Toll", false),
            ("Toll", "Tolls", false),
            ("Issue > 12 again", "Bugs > Issue #12 again", true),
            ("a b c", "A: b|c", true),
            ("Re 2 The plan", "Re [2]: #The ^plan", true),
            ("well-known", "well known", false),
            ("cafe\u{301}  au lait", "Café au\u{a0}lait", true),
            ("🧺 Baskets", "🧺 baskets", true),
            ("???", "???", true),
            ("???", "!!!", false),
            ("STRASSE", "Straße", true),
        ] {
            assert_eq!(
                heading_matches(&path(wanted), &path(heading)),
                matches,
                "{wanted} ~ {heading}"
            );
        }
        assert!(!heading_matches(&[], &path("Toll")));
        assert!(!heading_matches(&path("Toll"), &[]));
    }
}
