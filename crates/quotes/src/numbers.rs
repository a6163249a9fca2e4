//! Numbers and days of a sentence that its source does not have. What a number means is not read:
//! one that stands there for something else counts as there.

use std::collections::HashSet;

use lorewell_text::{Day, days_in};

/// Words for the small numbers, which notes often write out.
const WORDS: [&str; 13] = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve",
];

/// The numbers and days of a text.
#[derive(Debug, Default)]
pub struct Numbers {
    days: HashSet<Day>,
    /// As they are compared.
    numbers: HashSet<String>,
}

impl Numbers {
    /// Those of texts.
    #[must_use]
    pub fn of(texts: &[&str]) -> Numbers {
        let mut known = Numbers::default();
        for text in texts {
            known
                .days
                .extend(days_in(text, None).into_iter().map(|(_, day)| day));
            known.numbers.extend(written(text).map(|(_, key)| key));
            let words = text.split(|c: char| !c.is_alphabetic());
            for word in words.filter(|word| word.len() <= 6) {
                let number = WORDS
                    .iter()
                    .position(|known| known.eq_ignore_ascii_case(word));
                known
                    .numbers
                    .extend(number.map(|number| number.to_string()));
            }
        }
        known
    }

    /// The days and numbers of a sentence that are not among these, as they are written there, each
    /// once. `9,510` and `9510` are one number, and so are `3 May 2024` and `2024-05-03` one day.
    #[must_use]
    pub fn lacking(&self, sentence: &str) -> Vec<String> {
        let mut lacking: Vec<(usize, &str)> = Vec::new();
        let days = days_in(sentence, None);
        for (range, day) in &days {
            if !self.days.contains(day) {
                lacking.push((range.start, &sentence[range.clone()]));
            }
        }
        for (number, key) in written(sentence) {
            let at = number.as_ptr() as usize - sentence.as_ptr() as usize;
            let in_day = days.iter().any(|(range, _)| range.contains(&at));
            if !in_day && !self.numbers.contains(&key) {
                lacking.push((at, number));
            }
        }
        lacking.sort_unstable();
        let mut named: Vec<String> = Vec::new();
        for (_, text) in lacking {
            if !named.iter().any(|known| known == text) {
                named.push(text.to_string());
            }
        }
        named
    }
}

/// The numbers of a text as they are written, each with what it is compared by: its digits, without
/// the signs that group them and without leading zeros. Digits behind a letter (`H2O`) are none.
fn written(text: &str) -> impl Iterator<Item = (&str, String)> {
    let mut rest = 0;
    std::iter::from_fn(move || {
        loop {
            let start = rest + text[rest..].find(|c: char| c.is_ascii_digit())?;
            let end = end_of(text, start);
            rest = end;
            let in_word = text[..start]
                .chars()
                .next_back()
                .is_some_and(char::is_alphabetic);
            if !in_word {
                let number = &text[start..end];
                let digits: String = number.chars().filter(char::is_ascii_digit).collect();
                let key = match digits.trim_start_matches('0') {
                    "" => "0",
                    key => key,
                };
                return Some((number, key.to_string()));
            }
        }
    })
}

/// Where a number that begins at a place ends: signs that group digits stand between digits.
fn end_of(text: &str, start: usize) -> usize {
    let mut end = start;
    let mut signs = text[start..].char_indices().peekable();
    while let Some((at, c)) = signs.next() {
        let before_digit = signs.peek().is_some_and(|(_, next)| next.is_ascii_digit());
        let groups = matches!(c, ',' | '.' | '\'' | '’' | '\u{a0}' | '\u{202f}') && before_digit;
        if !c.is_ascii_digit() && !groups {
            break;
        }
        end = start + at + c.len_utf8();
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_source_does_not_have() {
        let note = "Paid 9,150 on 3 May 2024, in two parts of H2O, 1.5 l, at 14:05. Page 007.";
        let numbers = Numbers::of(&[note, "Log 2019"]);
        for (sentence, lacking) in [
            ("It cost 9,510.", &["9,510"][..]),
            ("It cost 9150 and 9'150, in 2 parts.", &[]),
            ("Paid on 2024-05-03 for 1.5 l.", &[]),
            ("Paid on 4 May 2024.", &["4 May 2024"]),
            ("At 14:05 or 14:06 in 2019?", &["06"]),
            ("B12 and H2O, 4 or 4 times on page 7", &["4"]),
            ("nothing", &[]),
        ] {
            assert_eq!(numbers.lacking(sentence), lacking, "{sentence}");
        }
    }
}
