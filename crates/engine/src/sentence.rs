//! The sentence around a place in a note, and text as plain words.

use std::ops::Range;

/// No sentence is longer than this, in characters; a longer one is cut around the place.
const LONGEST: usize = 300;

/// The sentence, heading, list item or table row of `text` that holds the bytes of `place`: its
/// range, without white space at its ends. A link within `place` never ends a sentence.
pub(crate) fn around(text: &str, place: Range<usize>) -> Range<usize> {
    let start = text.floor_char_boundary(place.start.min(text.len()));
    let end = text.ceil_char_boundary(place.end.clamp(start, text.len()));
    let block = block_around(text, start..end);
    let from = text[block.start..start]
        .char_indices()
        .rfind(|(at, _)| ends_sentence(&text[block.start..start], *at))
        .map_or(block.start, |(at, c)| block.start + at + c.len_utf8());
    let to = text[end..block.end]
        .char_indices()
        .find(|(at, _)| ends_sentence(&text[end..block.end], *at))
        .map_or(block.end, |(at, c)| end + at + c.len_utf8());
    trimmed(text, shortened(text, from..to, &(start..end)))
}

/// The line of `text` that holds a byte, without white space at its ends.
pub(crate) fn line(text: &str, at: usize) -> Range<usize> {
    let at = text.floor_char_boundary(at.min(text.len()));
    trimmed(text, line_start(text, at)..line_end(text, at))
}

/// Text as it would be read aloud, on one line: without marks, link destinations, comments, tags
/// of HTML. Cells of a table are parted by ` · `.
pub(crate) fn plain(text: &str) -> String {
    let is_row = text.trim_start().starts_with('|');
    let parsed = lorewell_markdown::parse(text, &lorewell_markdown::Settings::default());
    let prose = parsed.note.passages.iter().map(|p| p.prose(text));
    let prose = prose.collect::<Vec<_>>().join(" ");
    let cells = prose.split('|').map(|cell| {
        let words: Vec<&str> = cell.split_whitespace().collect();
        words.join(" ")
    });
    if is_row {
        let cells: Vec<String> = cells.filter(|cell| !cell.is_empty()).collect();
        cells.join(" · ")
    } else {
        // Emphasis may begin or end outside of a sentence.
        let words = prose.trim_matches(|c: char| c.is_whitespace() || "*_~`".contains(c));
        words.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// The lines that belong together around a place: a paragraph, or one item, row or heading.
fn block_around(text: &str, place: Range<usize>) -> Range<usize> {
    let mut start = line_start(text, place.start);
    while start > 0 && !begins_block(&text[start..]) {
        let above = line_start(text, start - 1);
        let (line, below) = (&text[above..start], &text[start..]);
        if is_blank(line) || is_alone(line) || is_quoted(line) != is_quoted(below) {
            break;
        }
        start = above;
    }
    let mut end = line_end(text, place.end);
    if is_alone(&text[line_start(text, place.start)..]) {
        return start..end;
    }
    while end < text.len() {
        let below = end + 1;
        let next = line_end(text, below.min(text.len()));
        let line = text.get(below..next).unwrap_or_default();
        let quoted = is_quoted(&text[start..]);
        if is_blank(line) || begins_block(line) || is_quoted(line) != quoted {
            break;
        }
        end = next;
    }
    start..end
}

/// Whether a line begins something of its own: an item, a heading, a row.
fn begins_block(line: &str) -> bool {
    let line = unquoted(line);
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let is_numbered = (1..10).contains(&digits)
        && line[digits..].starts_with(['.', ')'])
        && line[digits + 1..].starts_with([' ', '\t']);
    let is_item = line.starts_with(['-', '*', '+']) && line[1..].starts_with([' ', '\t']);
    is_numbered || is_item || is_alone(line) || line.starts_with("```")
}

/// Whether a line is a whole by itself: a heading, a row of a table, the title of a callout.
fn is_alone(line: &str) -> bool {
    let line = unquoted(line);
    let level = line.len() - line.trim_start_matches('#').len();
    line.starts_with('|')
        || line.starts_with("[!")
        || ((1..=6).contains(&level) && line[level..].starts_with([' ', '\t']))
}

fn unquoted(line: &str) -> &str {
    line.trim_start_matches([' ', '\t', '>'])
}

fn is_quoted(line: &str) -> bool {
    line.trim_start_matches([' ', '\t']).starts_with('>')
}

/// Whether nothing stands before the end of the line.
fn is_blank(line: &str) -> bool {
    unquoted(line.lines().next().unwrap_or_default())
        .trim()
        .is_empty()
}

/// Whether the character at `at` is the last of a sentence.
fn ends_sentence(text: &str, at: usize) -> bool {
    let rest = &text[at..];
    let Some(sign) = rest.chars().next() else {
        return false;
    };
    match sign {
        '。' | '！' | '？' => true,
        // A full stop behind a single letter or within an abbreviation ends nothing.
        '.' if is_abbreviated(&text[..at]) => false,
        '.' | '!' | '?' | '…' | '"' | '”' | ')' => {
            let closes = matches!(sign, '"' | '”' | ')');
            let ended = !closes || text[..at].ends_with(['.', '!', '?', '…']);
            let mut next = rest.chars().skip(1);
            let blank = next.next().is_some_and(char::is_whitespace);
            ended
                && blank
                && next
                    .find(|c| !c.is_whitespace())
                    .is_none_or(|c| !c.is_lowercase())
        }
        _ => false,
    }
}

/// Whether the word before a full stop is one that is written with it: a single letter, or one
/// that holds another full stop (`e.g`), or a usual abbreviation.
fn is_abbreviated(before: &str) -> bool {
    let word = before
        .rsplit(|c: char| c.is_whitespace() || c == '(')
        .next()
        .unwrap_or_default();
    let is_letter = word.chars().count() == 1 && word.chars().all(char::is_alphabetic);
    let has_stop = word.contains('.') && word.chars().all(|c| c.is_alphabetic() || c == '.');
    let known = [
        "Mr", "Mrs", "Ms", "Dr", "Prof", "St", "vs", "cf", "etc", "No", "Nr", "vol", "ca", "approx",
    ];
    is_letter || has_stop || known.contains(&word)
}

/// At most [`LONGEST`] characters of a sentence, around the place, broken at blanks.
fn shortened(text: &str, sentence: Range<usize>, place: &Range<usize>) -> Range<usize> {
    if text[sentence.clone()].chars().count() <= LONGEST {
        return sentence;
    }
    let before = text[sentence.start..place.start]
        .char_indices()
        .rev()
        .nth(LONGEST / 2 - 1)
        .map_or(sentence.start, |(at, _)| sentence.start + at);
    let shown = text[before..].char_indices().nth(LONGEST);
    let after = shown
        .map_or(sentence.end, |(at, _)| before + at)
        .clamp(place.end, sentence.end.max(place.end));
    let from = match text[before..place.start].find(char::is_whitespace) {
        Some(at) if before > sentence.start => before + at,
        _ => before,
    };
    let to = match text[place.end..after].rfind(char::is_whitespace) {
        Some(at) if after < sentence.end => place.end + at,
        _ => after,
    };
    from..to
}

fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let slice = &text[range.clone()];
    let start = range.start + (slice.len() - slice.trim_start().len());
    start..start.max(range.start + slice.trim_end().len())
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

fn line_end(text: &str, at: usize) -> usize {
    text[at..]
        .find('\n')
        .map_or(text.len(), |newline| at + newline)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_around_a_link() {
        for (text, sentence) in [
            ("One. See <[[Kiln]]> for more. Three.", "See Kiln for more."),
            ("<[[Kiln]]>", "Kiln"),
            ("# The <[[Kiln|old kiln]]>\nText.", "The old kiln"),
            (
                "Intro.\n- first\n- second, *as* <[[Kiln#Firing|there]]>\n  and on. More.\n- third",
                "second, as there and on.",
            ),
            ("- [ ] ask <[[Mara]]> about it\n- x", "ask Mara about it"),
            ("2. He said (see <[[Kiln]]>). Then", "He said (see Kiln)."),
            (
                "| a | b |\n|---|---|\n| x | <[[Kiln\\|k]]> |\n| y | z |",
                "x · k",
            ),
            (
                "a line\nthat goes <[on](Kiln.md)>\nand on\n\nNext",
                "a line that goes on and on",
            ),
            (
                "By e.g. Dr. J. Ash <[[Kiln]]> vs. others. No.",
                "By e.g. Dr. J. Ash Kiln vs. others.",
            ),
            ("v. 2.5 and <[[Node.js]]>! Yes", "v. 2.5 and Node.js!"),
            ("今日は<[[窯]]>を見た。明日も。", "今日は窯を見た。"),
            ("昨日。今日は<[[窯]]>", "今日は窯"),
            ("> quoted <[[Kiln]]>\n> more", "quoted Kiln more"),
            ("no\n> [!note] T\n> a <[[Kiln]]>\n>\n> more", "a Kiln"),
            ("x %%no%% <[[Kiln]]> ^id", "x Kiln"),
            ("He asked “why?” Then <[[Kiln]]>", "Then Kiln"),
        ] {
            let start = text.find("<[").unwrap();
            let bare = text.replacen("<[", "[", 1);
            let end = bare.find("]>").or(bare.find(")>")).unwrap() + 1;
            let bare = bare.replacen("]>", "]", 1).replacen(")>", ")", 1);
            let found = around(&bare, start..end);
            assert_eq!(plain(&bare[found]), sentence, "{text:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_place_of_any_text_has_a_sentence(
            text in "([a-z釉é>#|.!?\\-*\\[\\] \r\n]|\\[\\[a\\]\\]){0,80}",
            start in 0usize..100,
            length in 0usize..12,
        ) {
            let found = around(&text, start..start + length);
            proptest::prop_assert!(text.get(found.clone()).is_some(), "{found:?}");
            plain(&text[found]);
            proptest::prop_assert!(text.get(line(&text, start)).is_some());
        }
    }

    #[test]
    fn a_long_sentence_is_cut_at_words_around_the_link() {
        let text = format!("{}[[Kiln]] {}", "word ".repeat(200), "other ".repeat(200));
        let place = 1000..1008;
        let found = around(&text, place.clone());
        assert!(found.start <= place.start && found.end >= place.end);
        let shown = &text[found];
        assert!(shown.chars().count() <= LONGEST && shown.chars().count() > LONGEST / 2);
        assert!(
            shown.starts_with("word") && shown.ends_with("other"),
            "{shown}"
        );
        let solid = "釉".repeat(1000);
        let found = around(&solid, 1500..1503);
        assert!(solid[found].chars().count() <= LONGEST);
        assert_eq!(around("", 5..9), 0..0);
    }
}
