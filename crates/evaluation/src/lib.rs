//! Measures how well the engine answers: questions with known answers, what each answer was
//! worth, and figures with intervals. It asks the engine as every user does and holds no logic
//! of it.

mod advice;
mod asking;
mod error;
mod golden;
mod item;
mod measurement;
mod measures;
mod outcome;
mod probe;
mod prose;
mod question;
mod system;
mod table;

pub use advice::{
    Advice, Basis, DENSE, ENOUGH, FURTHER, OTHER_FUSION_DENSE, SettingChange, TITLE, Trial,
    Verdict, weight_of,
};
pub use asking::{SHOWN, ask, each};
pub use error::EvaluationError;
pub use golden::{GoldenSet, NewQuestion};
pub use measurement::{
    ConfidenceFigures, FUSED, KindFigures, Measurement, Miss, ProbeFigures, QuestionFigures,
    SystemFigures, Task, measure,
};
pub use measures::{Chance, Difference, Interval, mean, ndcg_at_10, percentile, questions_needed};
pub use outcome::{DEPTH, Outcome, word};
pub use probe::{MOST_PROBES, Probe, draw_probes};
pub use question::{Need, Question, UNANSWERABLE, Wanted, questions_in};
pub use system::System;
pub use table::Table;
