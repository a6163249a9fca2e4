//! Text in quotation marks, of every common style.

use std::ops::Range;

use super::Leaf;

/// A quotation in running text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Quotation {
    /// With its marks.
    pub(crate) outer: Range<usize>,
    /// Without them.
    pub(crate) inner: Range<usize>,
}

/// Opening marks and what closes each. „…“ and “…” share a mark, and so do «…» and »…«: a mark
/// opens where none is open.
const MARKS: &[(char, &[char])] = &[
    ('"', &['"']),
    ('＂', &['＂']),
    ('“', &['”', '"']),
    ('„', &['“', '”', '"']),
    ('‟', &['”']),
    ('”', &['”']),
    ('«', &['»']),
    ('»', &['«', '»']),
    ('‹', &['›']),
    ('›', &['‹', '›']),
    ('「', &['」']),
    ('『', &['』']),
    ('｢', &['｣']),
    ('〝', &['〟', '〞']),
    ('‘', &['’']),
    ('‚', &['‘', '’']),
    ('\'', &['\'']),
];

/// A quotation in running text is no longer, in bytes.
const LONGEST: usize = 4096;
/// So many characters are looked at for closing marks before the rest is taken to have none: a
/// text of nothing but opening marks is read in time as well.
const STEPS: usize = 20_000_000;

/// The outermost quotations of a text, in order. A mark that is never closed is none.
pub(crate) fn find(leaf: &Leaf) -> Vec<Quotation> {
    let mut found = Vec::new();
    let mut steps = STEPS;
    let mut at = 0;
    while let Some(c) = leaf.text[at..].chars().next() {
        let after = at + c.len_utf8();
        let closers = MARKS
            .iter()
            .find(|(open, _)| *open == c)
            .map(|(_, close)| *close);
        let close = closers
            .filter(|_| !leaf.is_code(at) && opens(&leaf.text, at, c))
            .and_then(|closers| closing(leaf, after, c, closers, &mut steps));
        match close {
            Some((start, end)) if !leaf.text[after..start].trim().is_empty() => {
                found.push(Quotation {
                    outer: at..end,
                    inner: after..start,
                });
                at = end;
            }
            _ => at = after,
        }
    }
    found
}

/// Whether a mark can open a quotation here. Marks that look the same on both sides, or that are
/// apostrophes as well, open only before a word and behind a blank or a bracket.
fn opens(text: &str, at: usize, mark: char) -> bool {
    let before = text[..at].chars().next_back();
    let after = text[at + mark.len_utf8()..].chars().next();
    let in_word = before.is_some_and(char::is_alphanumeric);
    match mark {
        '"' | '＂' | '”' | '»' | '›' => {
            after.is_some_and(|c| !c.is_whitespace())
                && !before.is_some_and(|c| c.is_ascii_alphanumeric())
        }
        '\'' | '‘' => after.is_some_and(|c| !c.is_whitespace()) && !in_word,
        _ => true,
    }
}

/// Where the mark that closes a quotation begins and ends.
fn closing(
    leaf: &Leaf,
    from: usize,
    open: char,
    closers: &[char],
    steps: &mut usize,
) -> Option<(usize, usize)> {
    let text = &leaf.text;
    let mut depth = 0;
    let near = &text[from..text.floor_char_boundary(from + LONGEST)];
    for (at, c) in near.char_indices() {
        *steps = steps.checked_sub(1)?;
        let at = from + at;
        let end = at + c.len_utf8();
        let is_same_on_both_sides = closers.contains(&open);
        if c == open && !is_same_on_both_sides && !closers.contains(&c) {
            depth += 1;
        } else if closers.contains(&c) && !leaf.is_code(at) && closes(text, at, end, c) {
            if depth == 0 {
                let words = text[from..at].split_whitespace().count();
                // 'tis and rock 'n' roll are no quotations.
                return (open != '\'' || words > 1).then_some((at, end));
            }
            depth -= 1;
        }
    }
    None
}

fn closes(text: &str, at: usize, end: usize, mark: char) -> bool {
    let before = text[..at].chars().next_back();
    let after = text[end..].chars().next();
    match mark {
        // Within a word it is an apostrophe.
        '\'' | '’' => {
            !after.is_some_and(char::is_alphanumeric) && before.is_some_and(|c| !c.is_whitespace())
        }
        '"' => before.is_some_and(|c| !c.is_whitespace()),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_common_style() {
        for (text, quoted) in [
            ("He said \"a b\" and \"c\".", &["a b", "c"][..]),
            (
                "“a ‘b’ c” – „d“ „e” «f» »g« 「h『i』j」 ‹k›",
                &["a ‘b’ c", "d", "e", "f", "g", "h『i』j", "k"],
            ),
            ("« oui, bien sûr »", &[" oui, bien sûr "]),
            (
                "‘it’s so’ and 'don't do it' but dogs' tails 'tis",
                &["it’s so", "don't do it"],
            ),
            ("a 6\" pot and a 7\" pot", &[]),
            ("他说「很慢」。她说“很快”", &["很慢", "很快"]),
            ("”så är det” sade hon", &["så är det"]),
            ("an “open one", &[]),
            ("\"\" and “ ”", &[]),
        ] {
            let leaf = Leaf {
                text: text.to_string(),
                ..Leaf::default()
            };
            let found: Vec<&str> = find(&leaf).into_iter().map(|q| &text[q.inner]).collect();
            assert_eq!(found, quoted, "{text}");
        }
    }
}
