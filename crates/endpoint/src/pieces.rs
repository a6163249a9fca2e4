//! Texts that are too long for a model: cut in pieces, and their vectors joined.

/// A text of fewer characters is not cut any more.
const SHORTEST: usize = 32;

/// About how many tokens a text has. Letters of words count a quarter, digits a half, signs and
/// characters of scripts without spaces one each: it only has to tell long from short in the same
/// way for tables, prose and Chinese.
pub(crate) fn tokens(text: &str) -> usize {
    let quarters = text.chars().map(|c| match c {
        ' ' => 0,
        c if c.is_ascii_alphabetic() => 1,
        c if c.is_ascii_digit() => 2,
        c if c.is_alphabetic() && u32::from(c) < 0x0900 => 2,
        _ => 4,
    });
    quarters.sum::<usize>().div_ceil(4)
}

/// Two pieces of about the same length, cut at the end of a line, a sentence or a word near the
/// middle; nothing where the text is too short to be cut.
pub(crate) fn halves(text: &str) -> Option<(&str, &str)> {
    let text = text.trim();
    let count = text.chars().count();
    if count < SHORTEST {
        return None;
    }
    let at = |chars: usize| {
        text.char_indices()
            .nth(chars)
            .map_or(text.len(), |(at, _)| at)
    };
    let (from, middle, to) = (at(count / 3), at(count / 2), at(count - count / 3));
    let window = text.get(from..to)?;
    let nearest = |is_end: fn(char) -> bool| {
        let ends = window.char_indices().filter(|(_, c)| is_end(*c));
        let after = ends.map(|(place, c)| from + place + c.len_utf8());
        after.min_by_key(|place| place.abs_diff(middle))
    };
    let place = nearest(|c| c == '\n')
        .or_else(|| nearest(|c| matches!(c, '.' | '!' | '?' | '。' | '！' | '？')))
        .or_else(|| nearest(char::is_whitespace))
        .unwrap_or(middle);
    let (first, second) = text.split_at_checked(place)?;
    let (first, second) = (first.trim_end(), second.trim_start());
    (!first.is_empty() && !second.is_empty()).then_some((first, second))
}

/// The vector of a text whose pieces were embedded, each with its length in characters: their mean
/// weighted by length, of unit length. Nothing where the pieces cancel each other out.
pub(crate) fn join(mut pieces: Vec<(Vec<f32>, usize)>) -> Option<Vec<f32>> {
    if pieces.len() < 2 {
        return pieces.pop().map(|(vector, _)| vector);
    }
    let mut sum = vec![0.0_f64; pieces.first().map_or(0, |(vector, _)| vector.len())];
    for (vector, length) in &pieces {
        for (sum, number) in sum.iter_mut().zip(vector) {
            *sum += *length as f64 * f64::from(*number);
        }
    }
    let length = sum.iter().map(|number| number * number).sum::<f64>().sqrt();
    (length > 1e-12).then(|| sum.iter().map(|number| (number / length) as f32).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_near_its_middle_where_something_ends() {
        let cut = |text| halves(text).expect("cut");
        assert_eq!(
            cut("The first sentence is here. The second one is there."),
            ("The first sentence is here.", "The second one is there.")
        );
        assert_eq!(
            cut("one two. three four\nfive six seven eight nine"),
            ("one two. three four", "five six seven eight nine")
        );
        let unbroken = "窯".repeat(40);
        let (first, second) = cut(&unbroken);
        assert_eq!((first.chars().count(), second.chars().count()), (20, 20));
        assert_eq!(halves("too short"), None);
        assert_eq!(halves(&" ".repeat(400)), None);
    }

    #[test]
    fn pieces_are_joined_by_their_length() {
        let joined = join(vec![(vec![1.0, 0.0], 30), (vec![0.0, 1.0], 40)]).expect("joined");
        assert!(
            (joined[0] - 0.6).abs() < 1e-6 && (joined[1] - 0.8).abs() < 1e-6,
            "{joined:?}"
        );
        assert_eq!(join(vec![(vec![1.0], 5), (vec![-1.0], 5)]), None);
        assert_eq!(join(Vec::new()), None);
    }

    #[test]
    fn tables_and_scripts_without_spaces_weigh_more_than_prose() {
        assert_eq!(tokens("four"), 1);
        assert!(tokens("0x0000, 0x0007") > tokens("a few small words"));
        assert_eq!(tokens("窯元"), 2);
    }
}
