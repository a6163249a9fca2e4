//! Other weights are recommended where questions show that they are better, and only there.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::path::Path;

use lorewell_engine::{EngineSettings, Host, Lane, Patience, Quiet};
use lorewell_evaluation::{Advice, Basis, Question, Task, Verdict, measure, questions_in};

/// The repository's own vault with so many of its questions, under this weight of the dense lane.
fn advice(dense: f32, questions: usize) -> Advice {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let all = questions_in(&root.join("crates/evals/sets/sample-vault.jsonl")).unwrap();
    let answerable = all.into_iter().filter(Question::is_answerable);
    let questions: Vec<Question> = answerable.take(questions).collect();
    let mut settings = EngineSettings::default();
    settings.search.weights.dense = Some(dense);
    settings.search.lanes = vec![Lane::Text, Lane::Dense];
    // What a second look and kept places mend would hide how far off the weight is.
    settings.search.keep_places = false;
    settings.search.second_look = false;
    let index = tempfile::tempdir().unwrap();
    let vault = root.join("sample-vault");
    let host = Host::open("sample", &vault, index.path(), settings).unwrap();
    host.refresh(Patience::Wait, &Quiet).unwrap();
    let task = Task {
        questions: &questions,
        probes: &[],
        rrf_k: 60.0,
        advise: true,
        progress: &|_, _| {},
    };
    measure(&host, &task).unwrap().advice.unwrap()
}

#[test]
fn a_weight_that_is_far_off_is_found_out() {
    let advice = advice(50.0, 200);
    assert_eq!(advice.verdict, Verdict::Change, "{advice:?}");
    assert_eq!(
        (advice.measured_on, advice.questions),
        (Basis::Questions, 84)
    );
    let best = advice.best.unwrap();
    assert!(best.difference.low > 0.0 && best.held_out.low > 0.0);
    let dense = best.settings.iter().find(|c| c.name == "weight_dense");
    assert!(dense.unwrap().value.parse::<f32>().unwrap() <= 1.0);
}

#[test]
fn with_few_questions_nothing_is_recommended() {
    let few = advice(50.0, 19);
    assert_eq!((few.verdict, few.tried), (Verdict::TooFew, 0));
    // Of what is near the best, so few questions cannot tell.
    let near = advice(0.5, 24);
    assert_eq!(near.verdict, Verdict::Keep);
    let best = near.best.unwrap();
    assert!(best.difference.low <= 0.0 || best.held_out.low <= 0.0);
}
