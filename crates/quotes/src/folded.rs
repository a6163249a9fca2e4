//! A text folded for comparison, with the way back to its bytes.
//!
//! Two texts fold to the same if they differ only in white space (how much of it stands between
//! two words, and whether any stands beside a sign or in an unspaced script), letter case, diacritics and forms of letters ([`lorewell_text::fold`]), the
//! style of quotation marks and dashes, and the signs of Markdown that a reader does not see.

use std::ops::Range;

use lorewell_text::fold;
use unicode_segmentation::UnicodeSegmentation;

use crate::markup;

/// A folded text.
#[derive(Debug, Default)]
pub(crate) struct Folded {
    pub(crate) text: String,
    /// For each byte of `text`: where the piece that gave it begins and ends in the original.
    starts: Vec<u32>,
    ends: Vec<u32>,
}

impl Folded {
    /// Folds a text. Of one longer than 4 GiB only the beginning is read.
    pub(crate) fn new(text: &str) -> Folded {
        let text = &text[..text.floor_char_boundary(u32::MAX as usize - 1)];
        let mut folding = Folding {
            out: Folded::default(),
            in_words: false,
            blank: None,
            opening: None,
        };
        let mut at = 0;
        for skip in markup::skips(text) {
            folding.stretch(text, at..skip.range.start);
            if skip.blank {
                folding.blank_at(skip.range.clone());
            } else {
                folding.mark_at(&skip.range);
            }
            at = skip.range.end;
        }
        folding.stretch(text, at..text.len());
        folding.out
    }

    /// Where a stretch of the folded text stands in the original.
    pub(crate) fn range(&self, folded: Range<usize>) -> Range<usize> {
        let (Some(start), Some(last)) = (
            self.starts.get(folded.start),
            folded
                .end
                .checked_sub(1)
                .and_then(|last| self.ends.get(last)),
        ) else {
            return 0..0;
        };
        *start as usize..(*last).max(*start) as usize
    }

    /// Where the folded text begins of what stands from a byte of the original on.
    pub(crate) fn begin_of(&self, original: usize) -> usize {
        let begin = self
            .starts
            .partition_point(|start| (*start as usize) < original);
        self.text.floor_char_boundary(begin)
    }
}

struct Folding {
    out: Folded,
    /// Whether what was folded last is a word of a script with blanks: only between two of them
    /// a blank counts.
    in_words: bool,
    /// White space that was passed and is not written yet.
    blank: Option<Range<usize>>,
    /// Where marks begin that belong to what comes next.
    opening: Option<usize>,
}

impl Folding {
    fn stretch(&mut self, text: &str, range: Range<usize>) {
        let mut at = range.start;
        while at < range.end {
            let end = at + cluster(&text[at..range.end]);
            self.cluster(&text[at..end], at..end);
            at = end;
        }
    }

    fn cluster(&mut self, cluster: &str, range: Range<usize>) {
        let Some(first) = cluster.chars().next() else {
            return;
        };
        if first.is_whitespace() {
            self.blank_at(range);
        } else if is_dash(first) {
            self.dash(range);
        } else if is_quotation_mark(first) {
            self.write("'", range, false);
        } else if first.is_ascii() && cluster.len() == 1 {
            let mut buffer = [first.to_ascii_lowercase() as u8];
            let lower = std::str::from_utf8_mut(&mut buffer).map_or("", |s| s);
            self.write(lower, range, first.is_ascii_alphanumeric());
        } else if is_plain(first) && cluster.len() == first.len_utf8() {
            self.write(cluster, range, false);
        } else {
            let folded = fold(cluster);
            let is_word = !is_unspaced(first) && folded.starts_with(char::is_alphanumeric);
            // Wide forms of marks fold to ASCII ones.
            match folded.chars().next() {
                Some(c) if is_quotation_mark(c) => self.write("'", range, false),
                Some(c) if is_dash(c) => self.dash(range),
                _ => self.write(&folded, range, is_word),
            }
        }
    }

    fn blank_at(&mut self, range: Range<usize>) {
        match &mut self.blank {
            Some(blank) => blank.end = range.end,
            None => self.blank = Some(range),
        }
    }

    /// Marks behind a word are part of its place, others of the next one's.
    fn mark_at(&mut self, range: &Range<usize>) {
        match self.out.ends.last_mut() {
            Some(end) if self.blank.is_none() && self.opening.is_none() => {
                *end = position(range.end);
            }
            _ => _ = self.opening.get_or_insert(range.start),
        }
    }

    /// Dashes in a row are one, and blanks beside it do not count.
    fn dash(&mut self, range: Range<usize>) {
        if self.out.text.ends_with('-') {
            self.blank = None;
            if let Some(end) = self.out.ends.last_mut() {
                *end = position(range.end);
            }
            return;
        }
        self.write("-", range, false);
    }

    fn write(&mut self, folded: &str, range: Range<usize>, is_word: bool) {
        if folded.is_empty() {
            return;
        }
        if self.out.text.is_empty() {
            self.blank = None;
        }
        if let Some(blank) = self.blank.take()
            && is_word
            && self.in_words
        {
            self.push(" ", blank);
        }
        let start = self.opening.take().unwrap_or(range.start);
        self.push(folded, start..range.end);
        self.in_words = is_word;
    }

    fn push(&mut self, folded: &str, range: Range<usize>) {
        self.out.text.push_str(folded);
        let length = self.out.text.len();
        self.out.starts.resize(length, position(range.start));
        self.out.ends.resize(length, position(range.end));
    }
}

fn position(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}

/// The length of the first character with the signs that belong to it.
fn cluster(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    if bytes[0] < 0x80 && bytes.get(1).is_none_or(|next| *next < 0x80) {
        return 1;
    }
    let mut chars = rest.chars();
    let first = chars.next();
    let joins = |next: char| !(next.is_ascii() || is_plain(next) || is_cjk_sign(next));
    match first {
        Some(first) if is_plain(first) && !chars.next().is_some_and(joins) => first.len_utf8(),
        _ => rest.graphemes(true).next().map_or(1, str::len),
    }
}

/// Common Chinese characters and kana, which fold to themselves.
fn is_plain(c: char) -> bool {
    matches!(c, '\u{3041}'..='\u{3096}' | '\u{30A1}'..='\u{30FA}' | '\u{4E00}'..='\u{9FFF}')
}

fn is_cjk_sign(c: char) -> bool {
    matches!(c, '\u{3000}'..='\u{3029}' | '\u{FF01}'..='\u{FF60}')
}

/// Scripts that are written without blanks, and their punctuation.
pub(crate) fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{0E01}'..='\u{0EFF}' | '\u{0F00}'..='\u{0FBC}' | '\u{1000}'..='\u{109F}'
        | '\u{1780}'..='\u{17E9}' | '\u{3001}'..='\u{30FF}' | '\u{31F0}'..='\u{31FF}'
        | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}'
        | '\u{FF01}'..='\u{FF0F}' | '\u{FF1A}'..='\u{FF20}' | '\u{FF3B}'..='\u{FF40}'
        | '\u{FF5B}'..='\u{FF9F}' | '\u{20000}'..='\u{3FFFF}')
}

fn is_dash(c: char) -> bool {
    matches!(
        c,
        '-' | '\u{2010}'
            ..='\u{2015}'
                | '\u{2212}'
                | '\u{2E3A}'
                | '\u{2E3B}'
                | '\u{FE58}'
                | '\u{FE63}'
                | '\u{FF0D}'
    )
}

fn is_quotation_mark(c: char) -> bool {
    matches!(c,
        '"' | '\'' | '`' | '´' | '«' | '»' | '\u{2018}'..='\u{201F}' | '\u{2032}' | '\u{2033}'
        | '\u{2039}' | '\u{203A}' | '\u{300C}'..='\u{300F}' | '\u{301D}'..='\u{301F}'
        | '\u{FF02}' | '\u{FF07}' | '\u{FF62}' | '\u{FF63}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_folds_together() {
        for (text, folded) in [
            ("Cone 6,\r\n\t slow", "cone 6,slow"),
            ("„Re\u{301}sume\u{301}“ – ‘it’s’", "'resume'-'it's'"),
            ("« oui » !", "'oui'!"),
            ("word—word -- two--three", "word-word-two-three"),
            ("-5 °C", "-5°c"),
            ("釉薬の\n色 は、\n青", "釉薬の色は、青"),
            ("6 % (of  all)", "6%(of all)"),
            ("用 Rust 写", "用rust写"),
            ("か\u{3099}ラ", "がラ"),
            ("한국어\n검색", "한국어 검색"),
            ("**Ｋｉｌｎ**: ﬁre", "kiln:fire"),
            ("  ", ""),
            ("", ""),
        ] {
            assert_eq!(Folded::new(text).text, folded, "{text}");
        }
    }

    #[test]
    fn the_way_back() {
        let text = "A **ﬁne**\r\n— Öl";
        let folded = Folded::new(text);
        assert_eq!(folded.text, "a fine-ol");
        for (piece, original) in [("fine", "**ﬁne**"), ("i", "**ﬁ"), ("ol", "Öl"), ("-", "—")]
        {
            let at = folded.text.find(piece).unwrap();
            assert_eq!(&text[folded.range(at..at + piece.len())], original);
        }
    }
}
