//! On real vaults, where `LOREWELL_EVAL_DATA` names them: every note is taken in or said to be
//! left out, and the byte range of every passage that an answer cites, read from the file on
//! disk, is its text.

use std::collections::BTreeSet;
use std::fs;

use lorewell_engine::{EngineSettings, Host, Patience, Quiet, Request, StatusRequest};
use lorewell_evals::data::{Data, VARIABLE};
use lorewell_evaluation::Question;

const SETS: [&str; 3] = ["jackyzha0-garden", "flancian-garden", "oldwinter-zh"];

#[test]
fn cited_ranges_of_real_notes_are_their_text() {
    if std::env::var_os(VARIABLE).is_none() {
        eprintln!("SKIPPED: {VARIABLE} is not set");
        return;
    }
    let data = Data::open(None).expect("the evaluation data");
    for name in SETS {
        let vault = data.vault(name).expect("its vault");
        let questions: Vec<Question> = data.questions(name).expect("its questions");
        let index = tempfile::tempdir().expect("a folder");
        let host = Host::open(name, &vault.root, index.path(), EngineSettings::default())
            .expect("it opens");
        let report = host
            .refresh(Patience::Wait, &Quiet)
            .expect("it builds")
            .report
            .expect("it was built");
        let status = host
            .status(&StatusRequest {
                verify: true,
                ..StatusRequest::default()
            })
            .expect("a status");
        assert_eq!(status.verified, Some(Ok(())), "{name}");
        assert_eq!(status.totals.notes as usize, report.taken_in, "{name}");
        assert!(status.pending.is_empty(), "{name}");

        let view = host.view().expect("a view");
        let mut cited = BTreeSet::new();
        for question in &questions {
            let request = Request {
                limit: 50,
                ..Request::new(&question.question)
            };
            for found in view.search(&request).expect("an answer").passages {
                let bytes = fs::read(vault.root.join(found.note.path.as_str())).expect("the note");
                let range =
                    found.passage.byte_range.start as usize..found.passage.byte_range.end as usize;
                let slice = bytes.get(range.clone()).expect("a range within the file");
                assert_eq!(
                    slice,
                    found.passage.text.as_bytes(),
                    "{} {range:?}",
                    found.note.path
                );
                cited.insert((found.note.path.as_str().to_string(), range.start));
            }
        }
        assert!(
            cited.len() > 200,
            "{name}: {} passages were cited",
            cited.len()
        );
    }
}
