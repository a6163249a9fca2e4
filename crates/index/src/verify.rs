//! Whether a generation is whole: checksums, and that its parts agree.

use lorewell_vectors::{RowSet, VectorReader};

use crate::model::Model;
use crate::passage_sum::is_sound;
use crate::snapshot::{PASSAGE_COLUMNS, told_of_passage};
use crate::{IndexError, Snapshot};

impl Snapshot {
    /// Checks every checksum of segments and vectors, the catalogue's own structure, and that
    /// every passage is in exactly one segment, every vector row in use, every row's note there.
    ///
    /// # Errors
    /// [`IndexError::Damaged`] naming the first fault found.
    pub fn verify(&self) -> Result<(), IndexError> {
        self.check_catalogue()?;
        if let Some(what) = self.damage() {
            return Err(self.damaged(what.to_string()));
        }
        self.check_segments()?;
        match &self.model {
            Some(model) => self.check_vectors(model),
            None => Ok(()),
        }
    }

    fn check_catalogue(&self) -> Result<(), IndexError> {
        let answer: Vec<String> = self.query("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        if let Some(fault) = answer.iter().find(|answer| *answer != "ok") {
            return Err(self.damaged(format!("catalogue.sqlite: {fault}")));
        }
        for table in ["passages", "names", "tags", "links", "warnings"] {
            let strays: i64 = self.number(&format!(
                "SELECT count(*) FROM {table} WHERE note NOT IN (SELECT id FROM notes)"
            ))?;
            if strays > 0 {
                return Err(self.damaged(format!("{strays} rows of {table} belong to no note")));
            }
        }
        let damaged = self.query("SELECT * FROM passages ORDER BY id", [], |row| {
            let sound = is_sound(row, PASSAGE_COLUMNS)?;
            Ok((!sound).then_some(row.get::<_, i64>(0)?))
        })?;
        if let Some(first) = damaged.into_iter().flatten().next() {
            return Err(self.damaged(told_of_passage(first)));
        }
        let broken: i64 = self.number(
            "SELECT count(*) FROM notes n WHERE n.passages <> (SELECT count(*) FROM passages p
             WHERE p.id >= n.first_passage AND p.id < n.first_passage + n.passages AND p.note = n.id)",
        )?;
        if broken > 0 {
            return Err(self.damaged(format!("{broken} notes lack passages")));
        }
        let counted = (
            self.number("SELECT count(*) FROM notes")? as u64,
            self.number("SELECT coalesce(sum(passages), 0) FROM notes")? as u64,
        );
        let totals = self.totals();
        if counted != (totals.notes, totals.passages) {
            return Err(self.damaged(format!(
                "{counted:?} notes and passages, {:?} by its own count",
                (totals.notes, totals.passages)
            )));
        }
        Ok(())
    }

    /// Each passage of the catalogue is alive in one segment, and none else is.
    fn check_segments(&self) -> Result<(), IndexError> {
        let fail = |e| IndexError::segment(self.layout.folder(), e);
        let mut alive = Vec::new();
        for open in &self.segments {
            open.segment.verify().map_err(fail)?;
            for doc in (0..open.segment.len()).filter(|doc| !open.dead.contains(*doc)) {
                alive.push(open.segment.passage(doc).map_err(fail)?);
            }
        }
        alive.sort_unstable();
        let known: Vec<u32> =
            self.query("SELECT id FROM passages ORDER BY id", [], |row| row.get(0))?;
        if alive != known {
            return Err(self.damaged(format!(
                "{} passages in the segments, {} in the catalogue, not the same",
                alive.len(),
                known.len()
            )));
        }
        Ok(())
    }

    /// Each live row has a passage, each passage's row is live.
    fn check_vectors(&self, model: &Model) -> Result<(), IndexError> {
        let damaged = model.reader.as_ref().map(VectorReader::damaged_rows);
        let damaged = damaged.unwrap_or_default();
        if let Some(first) = damaged.first() {
            return Err(self.damaged(format!(
                "{} vectors of {}, the first is row {first}",
                damaged.len(),
                model.state.model
            )));
        }
        let codes = model.reader.as_ref().map(VectorReader::damaged_codes);
        if let Some(first) = codes.unwrap_or_default().first() {
            return Err(self.damaged(format!(
                "codes of vectors of {}, the first is row {first}",
                model.state.model
            )));
        }
        let rows: Vec<Option<u32>> = self.query(
            "SELECT row FROM vectors WHERE model = ?1 AND passage IN (SELECT id FROM passages)",
            [model.id],
            |row| row.get(0),
        )?;
        let all: i64 = self.number(&format!(
            "SELECT count(*) FROM vectors WHERE model = {}",
            model.id
        ))?;
        let mut used = RowSet::new(model.live.rows());
        let embedded = rows.iter().flatten().count() as u64;
        rows.iter().flatten().for_each(|row| used.insert(*row));
        let counts = (embedded, rows.len() as u64 - embedded);
        if all != rows.len() as i64 || counts != (model.state.embedded, model.state.outside) {
            return Err(self.damaged("vectors of passages that are not there".to_string()));
        }
        let waiting = self.number(&format!(
            "SELECT count(*) FROM waiting WHERE model = {}
             AND passage NOT IN (SELECT passage FROM vectors WHERE model = {})
             AND passage IN (SELECT id FROM passages)",
            model.id, model.id
        ))?;
        let kept = self.number(&format!(
            "SELECT waiting FROM models WHERE id = {}",
            model.id
        ))?;
        let stray = self.number(&format!(
            "SELECT count(*) - {waiting} FROM waiting WHERE model = {}",
            model.id
        ))?;
        if waiting != kept || stray != 0 {
            return Err(self.damaged(format!(
                "{waiting} passages wait for a vector, {kept} by its own count"
            )));
        }
        let valid = model.reader.as_ref().map_or(0, VectorReader::rows);
        let beyond = rows.iter().flatten().any(|row| *row >= valid);
        if beyond || used.to_bytes() != model.live.to_bytes() {
            return Err(self.damaged("rows in use that are not the live ones".to_string()));
        }
        Ok(())
    }

    fn number(&self, sql: &str) -> Result<i64, IndexError> {
        self.connection
            .query_row(sql, [], |row| row.get(0))
            .map_err(|e| self.failed(e))
    }

    fn damaged(&self, what: String) -> IndexError {
        IndexError::Damaged {
            path: self.layout.folder().to_path_buf(),
            what,
        }
    }
}
