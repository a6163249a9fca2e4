//! Several ways to answer on the same questions: the first is what the others are compared with,
//! question by question. What is compared, and which page shows it, is the caller's matter.

use anyhow::Result;
use lorewell_engine::EngineSettings;
use lorewell_evaluation::{Difference, Outcome, Question, SHOWN, System, Table, mean};

use crate::collections::Collection;
use crate::data::Data;
use crate::workbench::Workbench;

/// One way to answer.
pub struct Variant {
    /// Its name in tables.
    pub name: String,
    system: System,
    /// Settings that ask for an index of their own.
    index: Option<EngineSettings>,
}

/// What every variant gives on the same questions.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    /// Its name in tables.
    pub name: String,
    /// The values of each variant, one for each question.
    pub columns: Vec<Vec<f64>>,
}

impl Variant {
    /// A way to answer from the usual index.
    pub fn of(system: System) -> Variant {
        Variant {
            name: system.name.clone(),
            system,
            index: None,
        }
    }

    /// The usual way to answer, from an index with these settings.
    pub fn indexed(name: impl Into<String>, settings: EngineSettings) -> Variant {
        Variant {
            name: name.into(),
            system: System::fused(),
            index: Some(settings),
        }
    }
}

impl Measure {
    /// Passage recall and note MRR of a vault set.
    ///
    /// # Errors
    /// Data that cannot be read, an index that cannot be made.
    pub fn of_set(data: &Data, name: &str, variants: &[Variant]) -> Result<[Measure; 2]> {
        let (questions, vault) = (data.questions(name)?, data.vault(name)?);
        let build = |settings| Workbench::build(name, &vault.root, settings);
        let usual = build(EngineSettings::default())?;
        Measure::of_questions(name, &questions, variants, |variant| match &variant.index {
            Some(settings) => build(settings.clone())?.ask(&questions, &variant.system),
            None => usual.ask(&questions, &variant.system),
        })
    }

    /// The same of a vault that is indexed already, for variants of the usual index.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn of_bench(
        name: &str,
        questions: &[Question],
        bench: &Workbench,
        variants: &[Variant],
    ) -> Result<[Measure; 2]> {
        Measure::of_questions(name, questions, variants, |variant| {
            bench.ask(questions, &variant.system)
        })
    }

    fn of_questions(
        name: &str,
        questions: &[Question],
        variants: &[Variant],
        ask: impl Fn(&Variant) -> Result<Vec<Outcome>>,
    ) -> Result<[Measure; 2]> {
        let (mut recall, mut rank) = (Vec::new(), Vec::new());
        for variant in variants {
            let outcomes = ask(variant)?;
            let pairs = outcomes.iter().zip(questions);
            let answerable = pairs.filter(|(_, question)| question.is_answerable());
            let (r, m): (Vec<f64>, Vec<f64>) = answerable
                .map(|(outcome, _)| (outcome.recall_at(SHOWN), outcome.reciprocal_rank()))
                .unzip();
            recall.push(r);
            rank.push(m);
        }
        let measure = |what, columns| Measure {
            name: format!("{name} {what}"),
            columns,
        };
        Ok([measure("recall@6", recall), measure("MRR", rank)])
    }

    /// nDCG@10 of a test collection, of `sample` of its queries at most.
    ///
    /// # Errors
    /// See [`Measure::of_set`].
    pub fn of_collection(
        data: &Data,
        name: &str,
        sample: Option<usize>,
        variants: &[Variant],
    ) -> Result<Measure> {
        let build = |settings| Collection::build(data, name, sample, settings);
        let usual = build(EngineSettings::default())?;
        let columns = variants.iter().map(|variant| {
            let figures = match &variant.index {
                Some(settings) => build(settings.clone())?.ask(&variant.system)?,
                None => usual.ask(&variant.system)?,
            };
            Ok(figures.into_iter().map(|(ndcg, _)| ndcg).collect())
        });
        Ok(Measure {
            name: format!("{name} nDCG@10"),
            columns: columns.collect::<Result<_>>()?,
        })
    }

    /// All questions of several measures as one.
    pub fn joined(name: &str, measures: &[&Measure]) -> Measure {
        let mut columns: Vec<Vec<f64>> = Vec::new();
        for measure in measures {
            columns.resize(measure.columns.len(), Vec::new());
            for (all, more) in columns.iter_mut().zip(&measure.columns) {
                all.extend(more);
            }
        }
        Measure {
            name: name.to_string(),
            columns,
        }
    }

    /// How many questions there are.
    pub fn questions(&self) -> usize {
        self.columns.first().map_or(0, Vec::len)
    }

    /// The mean of the first variant; of another, its paired difference from the first, in bold
    /// where the interval leaves out zero.
    pub fn cell(&self, variant: usize) -> String {
        let (Some(column), Some(first)) = (self.columns.get(variant), self.columns.first()) else {
            return "–".to_string();
        };
        if variant == 0 {
            return format!("{:.3}", mean(column));
        }
        let difference = Difference::of(column, first);
        if column == first {
            "=".to_string()
        } else if difference.low > 0.0 || difference.high < 0.0 {
            format!("**{}**", difference.shown())
        } else {
            difference.shown()
        }
    }
}

/// One row a variant, one column a measure.
pub fn table(variants: &[Variant], measures: &[Measure]) -> Table {
    let head = std::iter::once("variant").chain(measures.iter().map(|m| m.name.as_str()));
    let mut table = Table::new(&head.collect::<Vec<_>>());
    for (index, variant) in variants.iter().enumerate() {
        let cells = measures.iter().map(|measure| measure.cell(index));
        table.row(std::iter::once(variant.name.clone()).chain(cells).collect());
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measure(columns: &[&[f64]]) -> Measure {
        Measure {
            name: "m".to_string(),
            columns: columns.iter().map(|column| column.to_vec()).collect(),
        }
    }

    #[test]
    fn cells_say_what_differs_for_certain() {
        let m = measure(&[
            &[0.0, 1.0, 0.0, 1.0],
            &[0.5, 1.5, 0.5, 1.5],
            &[1.0, 0.0, 0.0, 1.0],
            &[0.0, 1.0, 0.0, 1.0],
        ]);
        let cells: Vec<String> = (0..5).map(|index| m.cell(index)).collect();
        assert_eq!(cells[0], "0.500");
        assert_eq!(cells[1], "**+0.500 [+0.500, +0.500]**");
        assert!(cells[2].starts_with("+0.000 ["), "{}", cells[2]);
        assert_eq!(cells[3..], ["=", "–"]);
        let two = Measure::joined("two", &[&m, &measure(&[&[1.0], &[2.0], &[3.0], &[4.0]])]);
        assert_eq!(two.questions(), 5);
        assert_eq!(two.columns[2], [1.0, 0.0, 0.0, 1.0, 3.0]);
    }
}
