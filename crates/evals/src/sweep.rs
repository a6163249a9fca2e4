//! What other settings would give: one setting at a time against the defaults, with intervals.

use anyhow::Result;
use lorewell_engine::{EngineSettings, FieldWeights, Fusion};
use lorewell_evaluation::{Difference, Outcome, SHOWN, System, Table, mean};

use crate::collections::Collection;
use crate::data::{Data, ENGLISH};
use crate::sets::chosen;
use crate::workbench::Workbench;

/// Values of a measure by question, for one setting on one set.
type Column = Vec<f64>;

/// One set or collection: what it is called, and the values of every variant.
struct Measured {
    name: String,
    columns: Vec<Column>,
}

/// Prints what every variant gives on the sets and collections, as difference from the defaults.
///
/// # Errors
/// Data that cannot be read, an index that cannot be made.
pub fn run(
    data: &Data,
    sets: &[String],
    collections: &[String],
    sample: Option<usize>,
) -> Result<()> {
    let fields = field_variants();
    let mut measured = Vec::new();
    let mut english = [Vec::new(), Vec::new()];
    for name in chosen(sets) {
        eprintln!("{name} …");
        let [recall, rank] = of_set(data, &name, &fields)?;
        if ENGLISH.contains(&name.as_str()) {
            extend(&mut english[0], &recall);
            extend(&mut english[1], &rank);
        }
        measured.push(Measured {
            name: format!("{name} recall@6"),
            columns: recall,
        });
        measured.push(Measured {
            name: format!("{name} MRR"),
            columns: rank,
        });
    }
    let [recall, rank] = english;
    measured.push(Measured {
        name: "English sets recall@6".into(),
        columns: recall,
    });
    measured.push(Measured {
        name: "English sets MRR".into(),
        columns: rank,
    });
    for name in collections {
        eprintln!("{name} …");
        let columns = of_collection(data, name, sample, &fields)?;
        measured.push(Measured {
            name: format!("{name} nDCG@10"),
            columns,
        });
    }
    let names = search_variants()
        .into_iter()
        .map(|s| s.name)
        .chain(fields.into_iter().map(|f| f.0));
    print(&names.collect::<Vec<_>>(), &measured);
    Ok(())
}

fn extend(all: &mut Vec<Column>, more: &[Column]) {
    all.resize(more.len(), Vec::new());
    for (column, more) in all.iter_mut().zip(more) {
        column.extend(more);
    }
}

/// The first is the defaults.
fn search_variants() -> Vec<System> {
    let mut all = vec![System::with("defaults", |_| {})];
    for weight in [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0] {
        all.push(System::with(format!("dense {weight}"), move |s| {
            s.weights.dense = weight
        }));
    }
    for weight in [0.0, 0.25, 0.5, 1.0] {
        all.push(System::with(format!("title {weight}"), move |s| {
            s.weights.title = weight
        }));
    }
    for k in [10.0, 20.0, 30.0, 100.0] {
        all.push(System::with(format!("rrf k {k}"), move |s| {
            s.fusion = Fusion::Rrf { k }
        }));
    }
    for dense in [0.1, 0.2, 0.25, 0.3, 0.4, 0.5] {
        all.push(System::with(format!("convex dense {dense}"), move |s| {
            s.fusion = Fusion::Convex;
            (s.weights.text, s.weights.dense) = (1.0 - dense, dense);
        }));
    }
    for title in [0.0, 0.1, 0.25, 1.0] {
        all.push(System::with(
            format!("convex dense 0.25 title {title}"),
            move |s| {
                s.fusion = Fusion::Convex;
                (s.weights.text, s.weights.dense, s.weights.title) = (0.75, 0.25, title);
            },
        ));
    }
    for depth in [30, 50, 200, 400] {
        all.push(System::with(format!("depth {depth}"), move |s| {
            s.depth = depth
        }));
    }
    for (name, count) in [("per note 1", 1), ("per note 3", 3), ("per note 6", 6)] {
        all.push(System::with(name, move |s| s.max_per_note = count));
    }
    all
}

type FieldVariant = (String, EngineSettings);

fn field_variants() -> Vec<FieldVariant> {
    type Change = fn(&mut FieldWeights, u8);
    let changes: [(&str, Change, &[u8]); 5] = [
        ("field title", |w, n| w.title = n, &[0, 1, 2, 5]),
        ("field path", |w, n| w.path = n, &[0, 1, 3]),
        ("field headings", |w, n| w.headings = n, &[0, 1, 3]),
        ("field tags", |w, n| w.tags = n, &[0, 2]),
        ("field body", |w, n| w.body = n, &[2]),
    ];
    let mut all = Vec::new();
    for (name, change, values) in changes {
        for value in values {
            let mut settings = EngineSettings::default();
            change(&mut settings.index.weights, *value);
            all.push((format!("{name} {value}"), settings));
        }
    }
    for chars in [500, 800, 1600, 2000] {
        let mut settings = EngineSettings::default();
        settings.index.passages.passage_chars = chars;
        all.push((format!("passages {chars}"), settings));
    }
    all
}

fn of_set(data: &Data, name: &str, fields: &[FieldVariant]) -> Result<[Vec<Column>; 2]> {
    let (questions, vault) = (data.questions(name)?, data.vault(name)?);
    let (mut recall, mut rank) = (Vec::new(), Vec::new());
    let mut take = |bench: &Workbench, system: &System| -> Result<()> {
        let outcomes = bench.ask(&questions, system)?;
        let answerable = outcomes
            .iter()
            .zip(&questions)
            .filter(|(_, q)| q.is_answerable());
        let (r, m) = answerable
            .map(|(o, _)| (o.recall_at(SHOWN), Outcome::reciprocal_rank(o)))
            .unzip();
        recall.push(r);
        rank.push(m);
        Ok(())
    };
    let bench = Workbench::build(name, &vault.root, EngineSettings::default())?;
    for system in search_variants() {
        take(&bench, &system)?;
    }
    for (_, settings) in fields {
        take(
            &Workbench::build(name, &vault.root, settings.clone())?,
            &System::fused(),
        )?;
    }
    Ok([recall, rank])
}

fn of_collection(
    data: &Data,
    name: &str,
    sample: Option<usize>,
    fields: &[FieldVariant],
) -> Result<Vec<Column>> {
    let ndcg = |collection: &Collection, system: &System| -> Result<Column> {
        Ok(collection
            .ask(system)?
            .into_iter()
            .map(|(ndcg, _)| ndcg)
            .collect())
    };
    let collection = Collection::build(data, name, sample, EngineSettings::default())?;
    let mut columns = search_variants()
        .iter()
        .map(|s| ndcg(&collection, s))
        .collect::<Result<Vec<_>>>()?;
    for (_, settings) in fields {
        let collection = Collection::build(data, name, sample, settings.clone())?;
        columns.push(ndcg(&collection, &System::fused())?);
    }
    Ok(columns)
}

fn print(names: &[String], measured: &[Measured]) {
    let head = std::iter::once("setting").chain(measured.iter().map(|m| m.name.as_str()));
    let mut table = Table::new(&head.collect::<Vec<_>>());
    for (index, name) in names.iter().enumerate() {
        let cell = |m: &Measured| {
            let (Some(column), Some(defaults)) = (m.columns.get(index), m.columns.first()) else {
                return "–".to_string();
            };
            if index == 0 {
                return format!("{:.3}", mean(column));
            }
            format!(
                "{:.3} {}",
                mean(column),
                Difference::of(column, defaults).shown()
            )
        };
        table.row(
            std::iter::once(name.clone())
                .chain(measured.iter().map(cell))
                .collect(),
        );
    }
    print!("{}", table.markdown());
}
