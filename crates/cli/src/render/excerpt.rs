//! The part of a passage that is shown to people: what is hidden in notes taken out, the stretch
//! with the most matched words, those marked, broken into lines.

use std::collections::HashSet;
use std::ops::Range;

use lorewell_text::Question;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::style::{MATCH, inert, styled};

/// So much of a passage is shown, in columns of text; `lorewell read` shows the rest.
const BUDGET: usize = 320;

/// What a new line takes of it, so that a table is not shown whole.
const LINE: usize = 30;

/// Less than this of a last line is not shown.
const SCRAP: usize = 16;

/// Lines are no longer than this, however wide the terminal is: longer ones are hard to read.
const LONGEST: usize = 100;

/// The lines to show, at most `width` columns each (no limit without one).
///
/// `above` is what stands above the passage: its headings, and the note's title.
pub(super) fn lines(
    text: &str,
    above: &[&str],
    question: &Question,
    width: Option<usize>,
) -> Vec<String> {
    let text = inert(&visible(text, above)).into_owned();
    let matches = question.matches(&text);
    let shown = window(&text, &matches);
    let width = width.map_or(usize::MAX, |width| width.clamp(20, LONGEST));
    let mut lines: Vec<String> = Vec::new();
    let mut from = shown.start;
    for line in text[shown.clone()].split('\n') {
        for piece in wrapped(line, width) {
            let at = from + piece.start..from + piece.end;
            lines.push(marked(&text, at, &matches));
        }
        from += line.len() + 1;
    }
    if let Some(first) = lines.first_mut().filter(|_| shown.start > 0) {
        first.insert(0, '…');
    }
    if let Some(last) = lines.last_mut().filter(|_| shown.end < text.len()) {
        last.push('…');
    }
    lines
}

/// A passage as it is read: without comments, block ids, embedded data, rules of tables and
/// marks of fences, links by what they show, and each paragraph on one line. The headings that
/// open it are left out where they stand above.
fn visible(text: &str, above: &[&str]) -> String {
    let text = without(text, "%%", "%%");
    let text = without(&text, "<!--", "-->");
    let text = text.replace("\r\n", "\n");
    let stands_above = |line: &str| {
        let heading = line.trim_start_matches('#');
        heading.len() < line.len() && above.contains(&heading.trim())
    };
    let opening = text
        .lines()
        .take_while(|line| line.trim().is_empty() || stands_above(line))
        .count();
    let opening = if opening == text.lines().count() {
        0
    } else {
        opening
    };
    let mut lines: Vec<String> = Vec::new();
    let (mut joins, mut is_code) = (false, false);
    for line in text.lines().skip(opening) {
        let line = without_block_id(line).trim();
        let quoted = line.trim_start_matches(['>', ' ']);
        let (line, is_title) = match callout_title(quoted) {
            Some(title) if !is_code => (title, true),
            _ if !is_code && line.starts_with('>') => (quoted, false),
            _ => (line, false),
        };
        joins &= !is_title;
        is_code ^= is_fence(line);
        if line.is_empty() || is_rule(line) {
            joins = false;
            continue;
        }
        let line = links(line);
        let stands_alone = is_code
            || line.starts_with(['#', '|', '>', '-', '*', '+'])
            || line
                .trim_start_matches(|c: char| c.is_ascii_digit())
                .starts_with(['.', ')']);
        match lines.last_mut() {
            Some(last) if joins && !stands_alone => {
                last.push(' ');
                last.push_str(&line);
            }
            _ => lines.push(line),
        }
        joins = !is_title
            && !lines
                .last()
                .is_some_and(|line| line.starts_with(['#', '|']));
    }
    lines.join("\n")
}

/// The title of a callout (`[!note]- Title`), if the line opens one.
fn callout_title(line: &str) -> Option<&str> {
    let (kind, title) = line.strip_prefix("[!")?.split_once(']')?;
    let title = title.trim_start_matches(['+', '-']).trim();
    kind.bytes()
        .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'|'))
        .then_some(title)
}

/// A line that draws: under the head of a table, between sections, around code.
fn is_rule(line: &str) -> bool {
    is_fence(line)
        || (line.len() > 2
            && line
                .chars()
                .all(|c| matches!(c, '-' | '|' | ':' | ' ' | '=')))
}

fn is_fence(line: &str) -> bool {
    line.starts_with("```") || line.starts_with("~~~")
}

/// A text without what stands between two marks, the marks included. A mark that is never
/// closed is text.
fn without(text: &str, open: &str, close: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(open) {
        let inside = &rest[start + open.len()..];
        let Some(end) = inside.find(close) else { break };
        out.push_str(&rest[..start]);
        rest = &inside[end + close.len()..];
    }
    out.push_str(rest);
    out
}

fn without_block_id(line: &str) -> &str {
    let end = line.trim_end();
    let is_id = |word: &str| {
        word.strip_prefix('^').is_some_and(|id| {
            !id.is_empty() && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
        })
    };
    match end.rfind(char::is_whitespace) {
        Some(at) if is_id(end[at..].trim_start()) => &end[..at],
        None if is_id(end) => "",
        _ => line,
    }
}

/// Links and embeds as the words that they show: `[[Note|words]]`, `[words](address)`.
fn links(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(start) = rest.find('[') {
        let Some((words, after)) = link(&rest[start..]) else {
            out.push_str(&rest[..=start]);
            rest = &rest[start + 1..];
            continue;
        };
        let before = &rest[..start];
        out.push_str(before.strip_suffix('!').unwrap_or(before));
        out.push_str(words);
        rest = after;
    }
    out.push_str(rest);
    out
}

/// The words of a link that `text` begins with, and what follows it.
fn link(text: &str) -> Option<(&str, &str)> {
    if let Some(inside) = text.strip_prefix("[[") {
        let (target, after) = inside.split_once("]]")?;
        let words = target.split_once('|').map_or(target, |(_, words)| words);
        return Some((words, after));
    }
    let (words, rest) = text.strip_prefix('[')?.split_once("](")?;
    let (_, after) = rest.split_once(')')?;
    (!words.contains(['[', ']'])).then_some((words, after))
}

/// The stretch to show: it begins at a line or word and holds as many different matched words as
/// it can, then as many matches.
fn window(text: &str, matches: &[Range<usize>]) -> Range<usize> {
    let end_of = |start: usize| {
        let mut columns = 0;
        let past = text[start..].char_indices().find(|(_, c)| {
            columns += if *c == '\n' {
                LINE
            } else {
                c.width().unwrap_or(0)
            };
            columns > BUDGET
        });
        past.map_or(text.len(), |(at, _)| start + at)
    };
    if end_of(0) == text.len() {
        return 0..text.len();
    }
    let held = |start: usize| {
        let end = end_of(start);
        let inside = matches.iter().filter(|m| m.start >= start && m.end <= end);
        let words: Vec<String> = inside.map(|m| text[m.clone()].to_lowercase()).collect();
        let different: HashSet<&String> = words.iter().collect();
        (different.len(), words.len())
    };
    // Where a line or a sentence begins reads better than the middle of one.
    let starts = matches.iter().flat_map(|m| {
        let line = text[..m.start].rfind('\n').map_or(0, |at| at + 1);
        let sentence = sentence_start(&text[line..m.start]).map(|at| (line + at, true));
        let near = text.floor_char_boundary(m.start.saturating_sub(80));
        [Some((line, true)), sentence, Some((near.max(line), false))]
    });
    let best = std::iter::once((0, true))
        .chain(starts.flatten())
        .max_by_key(|(start, begins)| {
            let (different, all) = held(*start);
            (different, *begins, all, std::cmp::Reverse(*start))
        })
        .map_or(0, |(start, _)| start);
    let start = word_start(text, best);
    let end = end_of(start);
    let end = if end == text.len() {
        end
    } else {
        let shown = &text[start..end];
        shown
            .rfind(char::is_whitespace)
            .filter(|at| *at > shown.len() / 2)
            .map_or(end, |at| start + at)
    };
    // The first word of a line says nothing.
    let line = text[start..end].rfind('\n').map(|at| start + at);
    let end = match line {
        Some(line) if end < text.len() && text[line..end].width() < SCRAP => line,
        _ => end,
    };
    start..end
}

/// Where the last sentence of a text begins, if it is not the first.
fn sentence_start(text: &str) -> Option<usize> {
    let spaced = [". ", "! ", "? "].map(|end| text.rfind(end).map(|at| at + end.len()));
    let unspaced = text.rfind('。').map(|at| at + '。'.len_utf8());
    spaced.into_iter().chain([unspaced]).flatten().max()
}

/// The next place where a word begins.
fn word_start(text: &str, start: usize) -> usize {
    if start == 0 || !text[..start].ends_with(char::is_alphanumeric) {
        return start;
    }
    let ahead = &text[start..];
    match ahead.find(char::is_whitespace) {
        Some(at) if at < 40 => start + at + 1,
        _ => start,
    }
}

/// A line in pieces of at most `width` columns, broken at spaces, else anywhere.
fn wrapped(line: &str, width: usize) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut start = 0;
    while line[start..].width() > width {
        let mut columns = 0;
        let full = line[start..]
            .char_indices()
            .find(|(_, c)| {
                columns += c.width().unwrap_or(0);
                columns > width
            })
            .map_or(line.len(), |(at, _)| start + at);
        match line[start..full].rfind(' ').filter(|at| *at > 0) {
            Some(at) => {
                pieces.push(start..start + at);
                start += at + 1;
            }
            None => {
                // A letter wider than the line is shown all the same.
                let full = full.max(line.ceil_char_boundary(start + 1));
                pieces.push(start..full);
                start = full;
            }
        }
    }
    pieces.push(start..line.len());
    pieces
}

/// A piece of the text with its matches in colour.
fn marked(text: &str, piece: Range<usize>, matches: &[Range<usize>]) -> String {
    let mut out = String::new();
    let mut at = piece.start;
    for found in matches {
        let found = found.start.max(at)..found.end.min(piece.end);
        if found.start < found.end {
            out += &text[at..found.start];
            out += &styled(MATCH, &text[found.clone()]);
            at = found.end;
        }
    }
    out + &text[at..piece.end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str, question: &str, width: Option<usize>) -> Vec<String> {
        let plain = |line: String| anstream::adapter::strip_str(&line).to_string();
        let question = Question::new(question);
        lines(text, &["Kiln", "Pot"], &question, width)
            .into_iter()
            .map(plain)
            .collect()
    }

    #[test]
    fn what_is_hidden_in_a_note_is_not_shown() {
        let text = "# Kiln\n\n## Pot %%not yet%%\n\nWet the\r\n[[Wool, scoured|wool]] first. ^pot-1\n- 60 % [[Madder]], ![[x.png]] [more](https://x.test/?q=1) [ ] a[0]\n| a | b |\n|---|--:|\n| 1 | 2 |\n```sh\nls -l\npwd\n```\n![x](data:image/png;base64,AAAA)<!-- no\nmore -->\n^fast";
        assert_eq!(
            plain(text, "wool", None),
            [
                "Wet the wool first.",
                "- 60 % Madder, x.png more [ ] a[0]",
                "| a | b |",
                "| 1 | 2 |",
                "ls -l",
                "pwd",
                "x"
            ]
        );
        assert_eq!(plain("# Pot", "x", None), ["# Pot"]);
        assert_eq!(plain("## Lid\n\nNone.", "x", None), ["## Lid", "None."]);
        assert_eq!(plain("100 %% sure", "x", None), ["100 %% sure"]);
        assert_eq!(plain("", "x", None), [""]);
    }

    #[test]
    fn the_stretch_with_most_of_the_question_is_shown() {
        let text = format!(
            "{}end. The madder bath takes an hour\n{}",
            "bath bath filler words here ".repeat(60),
            "more ".repeat(100)
        );
        let shown = plain(&text, "madder bath", Some(60));
        assert!(
            shown[0].contains("The madder bath takes an hour"),
            "{shown:?}"
        );
        assert!(shown[0].starts_with('…') && shown.last().is_some_and(|l| l.ends_with('…')));
        assert!(shown.iter().all(|line| line.width() <= 61), "{shown:?}");
    }

    #[test]
    fn text_without_spaces_is_broken_by_columns() {
        let text = "釉薬の色".repeat(500);
        let shown = plain(&text, "薬の", Some(40));
        assert!(
            shown.len() <= 9 && shown.iter().all(|line| line.width() <= 41),
            "{shown:?}"
        );
        let (long, narrow) = ("x".repeat(2000), Some(0));
        assert!(
            plain(&long, "x", narrow)
                .iter()
                .all(|line| line.width() <= 21)
        );
    }
}
