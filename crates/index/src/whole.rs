//! Many batches as one: readers see all of them at once, or none.

use std::ops::Deref;

use lorewell_embed::Embedder;
use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::failpoint::failpoint;
use crate::writer::Writer;
use crate::{IndexError, catalogue};

/// A transaction, or a part of one that is open already and is committed later.
pub(crate) enum Step<'c> {
    Own(Transaction<'c>),
    Part(&'c Connection),
}

impl<'c> Step<'c> {
    pub(crate) fn begin(connection: &'c Connection, whole: bool) -> rusqlite::Result<Step<'c>> {
        match whole {
            true => Ok(Step::Part(connection)),
            false => Transaction::new_unchecked(connection, TransactionBehavior::Immediate)
                .map(Step::Own),
        }
    }

    pub(crate) fn commit(self) -> rusqlite::Result<()> {
        match self {
            Step::Own(transaction) => transaction.commit(),
            Step::Part(_) => Ok(()),
        }
    }
}

impl Deref for Step<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        match self {
            Step::Own(transaction) => transaction,
            Step::Part(connection) => connection,
        }
    }
}

impl Writer {
    /// From here on all batches are parts of one transaction, so that readers see them at once.
    pub(crate) fn begin_whole(&mut self) -> Result<(), IndexError> {
        self.connection
            .execute_batch("BEGIN IMMEDIATE")
            .map_err(|e| self.failed(e))?;
        self.whole = true;
        Ok(())
    }

    /// Makes everything since [`begin_whole`](Self::begin_whole) visible, as one generation.
    pub(crate) fn commit_whole(&mut self) -> Result<(), IndexError> {
        catalogue::next_generation(&self.connection).map_err(|e| self.failed(e))?;
        failpoint("before-whole-commit")?;
        self.connection
            .execute_batch("COMMIT")
            .map_err(|e| self.failed(e))?;
        self.whole = false;
        failpoint("after-whole-commit")
    }

    /// Drops everything since [`begin_whole`](Self::begin_whole).
    pub(crate) fn give_up_whole(&mut self, embedder: &dyn Embedder) -> Result<(), IndexError> {
        self.reload(embedder)?;
        self.remove_orphans()
    }
}
