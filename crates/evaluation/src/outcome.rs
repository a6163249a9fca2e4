//! What one answer was worth: the ranks of what was wanted, and the engine's own view of it.

use lorewell_engine::{Answer, Confidence};
use lorewell_text::fold_white_space;

use crate::question::Wanted;

/// Ranks are looked for among so many passages.
pub const DEPTH: usize = 10;

/// The outcome of a question with one system. Ranks count from 1; one for each thing wanted.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Rank of the first right note among the distinct notes.
    pub notes: Vec<Option<usize>>,
    /// Rank of the first right passage.
    pub passages: Vec<Option<usize>>,
    /// The best score of the first six passages.
    pub score: f32,
    /// The confidence of the answer with six passages.
    pub confidence: Confidence,
}

impl Outcome {
    /// Judges an answer. A passage that stands for copies in other notes counts for these too:
    /// the answer names them and their words are the same.
    pub fn judge(answer: &Answer, wanted: &[Wanted]) -> Outcome {
        let mut order: Vec<&str> = Vec::new();
        let mut passages = vec![None; wanted.len()];
        for (index, passage) in answer.passages.iter().enumerate() {
            let own = passage.note.path.as_str();
            let paths = std::iter::once(own).chain(passage.copies.iter().map(String::as_str));
            let text = fold_white_space(&passage.passage.text);
            for path in paths {
                if !order.contains(&path) {
                    order.push(path);
                }
                for (wish, rank) in wanted.iter().zip(&mut passages) {
                    if rank.is_none() && wish.is_passage(path, &text) {
                        *rank = Some(index + 1);
                    }
                }
            }
        }
        let rank = |wish: &Wanted| {
            order
                .iter()
                .position(|path| wish.is_note(path))
                .map(|i| i + 1)
        };
        Outcome {
            notes: wanted.iter().map(rank).collect(),
            passages,
            score: answer.passages.iter().map(|p| p.score).fold(0.0, f32::max),
            confidence: answer.confidence,
        }
    }

    /// The share of wanted notes among the first `k` notes.
    pub fn note_at(&self, k: usize) -> f64 {
        share(&self.notes, k)
    }

    /// The share of wanted passages among the first `k` passages: passage recall at `k`.
    pub fn recall_at(&self, k: usize) -> f64 {
        share(&self.passages, k)
    }

    /// One over the rank of the first right note.
    pub fn reciprocal_rank(&self) -> f64 {
        let best = self.notes.iter().flatten().min();
        best.map_or(0.0, |rank| 1.0 / *rank as f64)
    }

    /// As four cells of a table: ranks of notes, ranks of passages, score, confidence.
    pub fn cells(&self) -> [String; 4] {
        [
            ranks(&self.notes),
            ranks(&self.passages),
            format!("{:.2}", self.score),
            word(self.confidence).to_string(),
        ]
    }

    /// Reads what [`Outcome::cells`] wrote.
    pub fn from_cells(cells: [&str; 4]) -> Option<Outcome> {
        Some(Outcome {
            notes: read_ranks(cells[0])?,
            passages: read_ranks(cells[1])?,
            score: cells[2].parse().ok()?,
            confidence: [Confidence::None, Confidence::Weak, Confidence::Strong]
                .into_iter()
                .find(|confidence| word(*confidence) == cells[3])?,
        })
    }
}

/// The contract's word for a confidence.
pub fn word(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::None => "none",
        Confidence::Weak => "weak",
        Confidence::Strong => "strong",
    }
}

fn share(ranks: &[Option<usize>], k: usize) -> f64 {
    let within = ranks.iter().flatten().filter(|rank| **rank <= k).count();
    within as f64 / ranks.len().max(1) as f64
}

/// `1,4,-`; `.` where nothing is wanted.
fn ranks(ranks: &[Option<usize>]) -> String {
    if ranks.is_empty() {
        return ".".to_string();
    }
    let cell = |rank: &Option<usize>| rank.map_or("-".to_string(), |rank| rank.to_string());
    ranks.iter().map(cell).collect::<Vec<_>>().join(",")
}

fn read_ranks(cell: &str) -> Option<Vec<Option<usize>>> {
    if cell == "." {
        return Some(Vec::new());
    }
    let rank = |cell: &str| match cell {
        "-" => Some(None),
        rank => rank.parse().ok().map(Some),
    };
    cell.split(',').map(rank).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_read_back_and_measures_follow_from_them() {
        let outcome = Outcome::from_cells(["4,2,-", "7,3,-", "0.52", "weak"]).unwrap();
        assert_eq!(outcome.cells(), ["4,2,-", "7,3,-", "0.52", "weak"]);
        assert!((outcome.recall_at(6) - 1.0 / 3.0).abs() < 1e-9);
        assert!((outcome.note_at(5) - 2.0 / 3.0).abs() < 1e-9);
        assert!((outcome.reciprocal_rank() - 0.5).abs() < 1e-9);
        let none = Outcome::from_cells([".", ".", "0.10", "none"]).unwrap();
        assert!(none.notes.is_empty() && none.cells()[0] == ".");
        assert!(Outcome::from_cells(["x", "1", "0", "none"]).is_none());
    }
}
