//! The parts of a wiki-link's inner text.

/// What stands between `[[` and `]]`, in parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// The note: a name or path; empty for a place in the linking note itself.
    pub target: String,
    /// The headings after `#`, outermost first.
    pub headings: Vec<String>,
    /// The block id after `#^`, without the signs.
    pub block: Option<String>,
    /// The text to show, after `|`.
    pub shown: Option<String>,
}

/// Splits the raw inner text of a wiki-link: `Note#Heading#Sub|shown`, `Note#^block`, `#Heading`.
///
/// The pipe may be escaped (`\|`), as it must be in a table. White space around the parts is
/// dropped, and so are empty headings. Never fails: what has no signs is a target.
pub fn split_target(raw: &str) -> Target {
    let (link, shown) = match raw.split_once('|') {
        Some((link, shown)) => (link.strip_suffix('\\').unwrap_or(link), Some(shown.trim())),
        None => (raw, None),
    };
    let mut parts = link.split('#').map(str::trim);
    let mut target = Target {
        target: parts.next().unwrap_or_default().to_owned(),
        shown: shown.map(str::to_owned),
        ..Target::default()
    };
    for part in parts.filter(|p| !p.is_empty()) {
        match part.strip_prefix('^') {
            Some(id) => target.block = Some(id.trim().to_owned()),
            None => target.headings.push(part.to_owned()),
        }
    }
    target
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_falls_into_its_parts() {
        for (raw, target, headings, block, shown) in [
            ("Note", "Note", &[][..], None, None),
            (
                "Pass Road\\|the pass",
                "Pass Road",
                &[],
                None,
                Some("the pass"),
            ),
            (
                "Valley Road#Toll\\|toll",
                "Valley Road",
                &["Toll"],
                None,
                Some("toll"),
            ),
            (
                "a/B.md#One#Two|x|y",
                "a/B.md",
                &["One", "Two"],
                None,
                Some("x|y"),
            ),
            ("Ledger#^q3-total", "Ledger", &[], Some("q3-total"), None),
            ("Ledger#Sum#^q3", "Ledger", &["Sum"], Some("q3"), None),
            ("#Here", "", &["Here"], None, None),
            ("#^b", "", &[], Some("b"), None),
            (" Note # H ", "Note", &["H"], None, None),
            ("Note#", "Note", &[], None, None),
            ("Note|", "Note", &[], None, Some("")),
            ("", "", &[], None, None),
        ] {
            let got = split_target(raw);
            assert_eq!(got.target, target, "{raw}");
            assert_eq!(got.headings, headings, "{raw}");
            assert_eq!(got.block.as_deref(), block, "{raw}");
            assert_eq!(got.shown.as_deref(), shown, "{raw}");
        }
    }
}
