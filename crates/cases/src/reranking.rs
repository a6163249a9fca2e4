//! The step `reranker`: a reranker whose window is small, or that refuses, before a case's searches.

use lorewell_engine::Reranker;

use crate::Step;

/// A reranker as a case describes it. It cuts nothing by itself: what does not fit is refused.
#[derive(Debug)]
pub(crate) struct CaseReranker {
    /// The most tokens of the question, a passage and what stands around them.
    most: f64,
    /// How many tokens stand around them.
    frame: f64,
    tokens_a_char: f64,
    error: String,
    refuses: bool,
}

impl CaseReranker {
    /// As a step says.
    pub(crate) fn of(step: &Step) -> CaseReranker {
        let number = |key, usual| {
            let value = step.get(key).and_then(serde_json::Value::as_f64);
            value.unwrap_or(usual)
        };
        CaseReranker {
            most: number("max_tokens", f64::INFINITY),
            frame: number("frame_tokens", 0.0),
            tokens_a_char: number("tokens_per_char", 0.25),
            error: step.text("error").unwrap_or("refuses").to_string(),
            refuses: step.flag("refuse"),
        }
    }
}

impl Reranker for CaseReranker {
    fn model(&self) -> &str {
        "case-reranker"
    }

    /// The share of the question's characters that a passage has.
    fn relevance(&self, question: &str, passages: &[&str]) -> Result<Vec<Option<f32>>, String> {
        if self.refuses {
            return Err(self.error.clone());
        }
        let judge = |passage: &&str| {
            let chars = question.chars().count() + passage.chars().count();
            if self.frame + chars as f64 * self.tokens_a_char > self.most {
                return Err(self.error.clone());
            }
            let has = question.chars().filter(|c| passage.contains(*c)).count();
            Ok(Some(has as f32 / question.chars().count().max(1) as f32))
        };
        passages.iter().map(judge).collect()
    }
}
