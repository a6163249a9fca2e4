//! lorewell-lexical: one segment, one thread.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use lorewell_lexical::{Field, Live, QueryTerm, Segment, SegmentBuilder, search};

use crate::notes::Passage;
use crate::{Engine, Failure};

pub struct Ours(Segment);

impl Engine for Ours {
    const NAME: &'static str = "lorewell-lexical";

    fn build(passages: &[Passage], folder: &Path) -> Result<Self, Failure> {
        let mut builder = SegmentBuilder::new();
        for (number, passage) in (0..).zip(passages) {
            let fields = [(3, &passage.title), (2, &passage.path), (1, &passage.body)];
            builder.add(
                number,
                u64::from(number),
                &fields.map(|(weight, text)| Field { weight, text }),
            );
        }
        let path = folder.join("one.seg");
        let mut file = File::create(&path)?;
        file.write_all(&builder.finish())?;
        file.sync_all()?;
        Ok(Self(Segment::open(&path)?))
    }

    fn search(&self, terms: &[String], limit: usize) -> Result<Vec<u32>, Failure> {
        let terms: Vec<QueryTerm> = terms
            .iter()
            .map(|term| QueryTerm {
                term: term.clone(),
                weight: 1.0,
            })
            .collect();
        let hits = search(
            &[Live {
                segment: &self.0,
                dead: None,
            }],
            &terms,
            limit,
            None,
        )?;
        Ok(hits.iter().map(|hit| hit.passage).collect())
    }
}
