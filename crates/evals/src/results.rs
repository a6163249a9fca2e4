//! Results per question, as a committed file: ids, kinds, ranks, scores. No text of anybody's.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use lorewell_evaluation::{Outcome, Question};

/// The outcomes of a set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Results {
    /// Names of the systems.
    pub systems: Vec<String>,
    /// One for each question, in the order of the set.
    pub rows: Vec<Row>,
}

/// The outcomes of a question.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The question's id.
    pub id: String,
    /// Its kind.
    pub kind: String,
    /// One for each system.
    pub outcomes: Vec<Outcome>,
}

const PARTS: [&str; 4] = ["note", "passage", "score", "confidence"];

impl Results {
    /// Joins what each system did. `columns`: one list for each system, in order of `questions`.
    pub fn new(systems: Vec<String>, questions: &[Question], columns: &[Vec<Outcome>]) -> Results {
        let row = |(index, question): (usize, &Question)| Row {
            id: question.id.clone(),
            kind: question.kind.clone(),
            outcomes: columns.iter().map(|column| column[index].clone()).collect(),
        };
        let rows = questions.iter().enumerate().map(row).collect();
        Results { systems, rows }
    }

    /// A measure of one system over the answerable questions of a kind (all, if none is named).
    pub fn values(
        &self,
        system: &str,
        kind: Option<&str>,
        measure: impl Fn(&Outcome) -> f64,
    ) -> Vec<f64> {
        let answerable = |row: &&Row| row.kind != "none" && kind.is_none_or(|k| k == row.kind);
        self.of(system, answerable)
            .iter()
            .map(|outcome| measure(outcome))
            .collect()
    }

    /// The outcomes of one system for the rows that are wanted.
    pub fn of(&self, system: &str, wanted: impl Fn(&&Row) -> bool) -> Vec<&Outcome> {
        let Some(at) = self.systems.iter().position(|name| name == system) else {
            return Vec::new();
        };
        self.rows
            .iter()
            .filter(wanted)
            .filter_map(|row| row.outcomes.get(at))
            .collect()
    }

    /// As lines of cells between tabs.
    pub fn tsv(&self) -> String {
        let mut head = vec!["id".to_string(), "kind".to_string()];
        for system in &self.systems {
            head.extend(PARTS.map(|part| format!("{system}.{part}")));
        }
        let mut out = head.join("\t") + "\n";
        for row in &self.rows {
            let mut cells = vec![row.id.clone(), row.kind.clone()];
            cells.extend(row.outcomes.iter().flat_map(Outcome::cells));
            out += &(cells.join("\t") + "\n");
        }
        out
    }

    /// Reads a file that [`Results::write`] wrote.
    ///
    /// # Errors
    /// There is none, or it is something else.
    pub fn read(path: &Path) -> Result<Results> {
        let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
        Results::parse(&text).with_context(|| format!("{}: not a table of results", path.display()))
    }

    fn parse(text: &str) -> Option<Results> {
        let mut lines = text.lines();
        let head: Vec<&str> = lines.next()?.split('\t').collect();
        let systems = head.get(2..)?.chunks(PARTS.len()).map(|cells| {
            let name = cells[0].strip_suffix(".note")?;
            Some(name.to_string())
        });
        let systems: Vec<String> = systems.collect::<Option<_>>()?;
        let row = |line: &str| {
            let cells: Vec<&str> = line.split('\t').collect();
            let outcomes = cells
                .get(2..)?
                .chunks(PARTS.len())
                .map(|cells| Outcome::from_cells(<[&str; 4]>::try_from(cells).ok()?));
            Some(Row {
                id: cells[0].to_string(),
                kind: cells[1].to_string(),
                outcomes: outcomes.collect::<Option<_>>()?,
            })
        };
        let rows = lines.map(row).collect::<Option<_>>()?;
        Some(Results { systems, rows })
    }

    /// Writes the file; its folder is made.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, path: &Path) -> Result<()> {
        write(path, &self.tsv())
    }
}

/// Writes a file whole; its folder is made.
///
/// # Errors
/// It cannot be written.
pub fn write(path: &Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    fs::write(path, text).with_context(|| path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_read_back() {
        let text = "id\tkind\tfused.note\tfused.passage\tfused.score\tfused.confidence\n\
                    a\texact\t1\t2\t0.80\tstrong\n\
                    b\tmulti\t1,-\t-,-\t0.40\tweak\n\
                    c\tnone\t.\t.\t0.20\tnone\n";
        let results = Results::parse(text).unwrap();
        assert_eq!(results.tsv(), text);
        assert_eq!(results.values("fused", None, |o| o.note_at(1)), [1.0, 0.5]);
        assert_eq!(
            results.values("fused", Some("multi"), |o| o.recall_at(6)),
            [0.0]
        );
        assert!(Results::parse("id\tkind\tx\n").is_none());
    }
}
