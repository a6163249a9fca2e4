//! What became of a file that gave no note.

use lorewell_vault::Reason;
use rusqlite::Connection;

use crate::prepare::Prepared;
use crate::state::State;
use crate::update::UpdateReport;
use crate::{IndexError, Layout, catalogue};

/// What recording a file comes to.
#[derive(Default)]
pub(crate) struct Recorded {
    /// A reader could tell.
    pub(crate) visible: bool,
    /// A note, or its name, went because of a rule.
    pub(crate) excluded: bool,
}

/// Notes what became of a file that gave no note.
pub(crate) fn record_other(
    transaction: &Connection,
    state: &mut State,
    layout: &Layout,
    other: &Prepared,
    report: &mut UpdateReport,
) -> Result<Recorded, IndexError> {
    let fail = |source| IndexError::sqlite(layout.folder(), source);
    let mut recorded = Recorded::default();
    match other {
        Prepared::Same { note, entry } => {
            report.unchanged += 1;
            recorded.visible = catalogue::touch_note(transaction, *note, entry).map_err(fail)?;
        }
        Prepared::Skipped(skipped) => {
            report.skipped += 1;
            report.unread += usize::from(skipped.failed);
            let noted = catalogue::skip_file(transaction, skipped).map_err(fail)?;
            // What could not be read keeps its last content.
            let path = skipped.entry.path.as_str();
            let gone = match skipped.failed {
                true => None,
                false => catalogue::note_at(transaction, path).map_err(fail)?,
            };
            if let Some(note) = gone {
                state.remove_note(transaction, layout, note)?;
            }
            let is_told = skipped.code != Reason::Fenced.code();
            recorded.visible = noted.is_news && is_told || gone.is_some();
            let left = gone.is_some() && skipped.code.starts_with("excluded");
            recorded.excluded = left || noted.was_open;
        }
        Prepared::Later => report.unread += 1,
        Prepared::Note(_) => {}
    }
    Ok(recorded)
}
