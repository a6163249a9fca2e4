//! Words that stand side by side in the question and in a passage: `cold frame` is more than
//! `cold` and `frame`.

use lorewell_lexical::TermScore;
use lorewell_text::{Question, TokenKind, Tokenizer};

use crate::lanes::text::Terms;

/// Neighbouring words of a question that the index has.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pairs {
    pairs: Vec<Pair>,
    /// The worth of all of them.
    total: f32,
}

#[derive(Clone, Debug)]
struct Pair {
    /// Their places among the terms of the question.
    places: [usize; 2],
    terms: [String; 2],
    /// The sum of their inverse document frequencies.
    worth: f32,
}

impl Pairs {
    /// The pairs of a question; `text` is what it was made of. Signs of scripts without blanks
    /// are terms in pairs already.
    pub(crate) fn of(question: &Question, text: &str, terms: &Terms) -> Pairs {
        let words: Vec<_> = question
            .terms
            .iter()
            .filter(|term| term.kind == TokenKind::Word)
            .collect();
        let mut found = Pairs::default();
        for pair in words.windows(2) {
            let [one, two] = pair else { continue };
            let gap = text.get(one.range.end..two.range.start);
            if gap.is_none_or(|gap| gap.contains(char::is_alphanumeric)) {
                continue;
            }
            let place = |term: &str| terms.found.iter().position(|found| found.term == term);
            if let (Some(first), Some(second)) = (place(&one.term), place(&two.term)) {
                let idf = |place: usize| terms.found.get(place).map_or(0.0, |found| found.idf);
                let worth = idf(first) + idf(second);
                found.total += worth;
                found.pairs.push(Pair {
                    places: [first, second],
                    terms: [one.term.clone(), two.term.clone()],
                    worth,
                });
            }
        }
        found
    }

    /// Whether a passage that has these terms may have a pair.
    pub(crate) fn may_stand_in(&self, terms: &[TermScore]) -> bool {
        let has = |place: &usize| terms.get(*place).is_some_and(|term| term.tf > 0);
        self.pairs.iter().any(|pair| pair.places.iter().all(has))
    }

    /// The share of the pairs that stand side by side in a text, by their worth, 0 to 1.
    pub(crate) fn share_in(&self, text: &str) -> f32 {
        let mut stands = vec![false; self.pairs.len()];
        let mut last: Option<(String, usize)> = None;
        Tokenizer::new().tokens(text, &mut |token| {
            if token.kind != TokenKind::Word {
                return;
            }
            if let Some((before, end)) = &last
                && *end <= token.range.start
                && is_narrow(text.get(*end..token.range.start).unwrap_or_default())
            {
                for (pair, stands) in self.pairs.iter().zip(&mut stands) {
                    *stands |= pair.terms[0] == *before && pair.terms[1] == token.term;
                }
            }
            match &mut last {
                Some((word, end)) => {
                    word.clear();
                    word.push_str(token.term);
                    *end = token.range.end;
                }
                None => last = Some((token.term.to_string(), token.range.end)),
            }
        });
        let worth = self.pairs.iter().zip(stands).filter(|(_, stands)| *stands);
        let sum: f32 = worth.map(|(pair, _)| pair.worth).sum();
        if self.total > 0.0 {
            sum / self.total
        } else {
            0.0
        }
    }
}

/// Whether words on both sides of it stand side by side: one line break at most, and few signs.
fn is_narrow(gap: &str) -> bool {
    gap.len() <= 8 && gap.matches('\n').count() < 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::text::FoundTerm;

    fn share(question: &str, text: &str) -> f32 {
        let asked = Question::new(question);
        let found = |term: &lorewell_text::QuestionTerm| FoundTerm {
            term: term.term.clone(),
            document_frequency: 1,
            idf: 1.0,
        };
        let terms = Terms {
            found: asked.terms.iter().map(found).collect(),
            ..Terms::default()
        };
        Pairs::of(&asked, question, &terms).share_in(text)
    }

    #[test]
    fn words_side_by_side() {
        for (question, text, expected) in [
            ("cold frame", "The cold frames stand.", 1.0),
            ("cold frame", "a **cold** frame", 1.0),
            ("cold frame", "cold\n\nframe", 0.0),
            ("cold frame", "a frame, cold", 0.0),
            ("cold frame lid", "the cold frame; its lid", 0.5),
            ("lid of the frame", "lid frame", 0.0),
            ("frame", "frame", 0.0),
            ("", "", 0.0),
        ] {
            assert_eq!(share(question, text), expected, "{question} in {text}");
        }
    }
}
