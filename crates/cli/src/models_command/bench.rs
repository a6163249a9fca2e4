//! `models bench`: how fast fetched models are here.

use std::time::Instant;

use clap::ArgMatches;
use lorewell_engine::{Embedder as _, Reranker as _};
use lorewell_models::{PassageInput, RerankSession, Session, Task, vetted};
use lorewell_setup::{Config, Environment, Flags, model_store};
use serde_json::{Value, json};

use super::given;
use crate::outcome::{Outcome, Problem};
use crate::style::{self, TITLE, inert_line, styled};

/// So many passages are embedded at a time, as an upgrade does.
const BATCH: usize = 64;
/// How long passages are embedded, in seconds, at least.
const SECONDS: f64 = 3.0;
/// How many questions are asked.
const QUESTIONS: usize = 20;

/// Words that passages are made of.
const WORDS: &str = "the kiln fires slowly to cone six and cools over night so that the glaze does \
    not craze while ash from the pine settles on the shoulder of each jar where it runs in green \
    and the notes of last winter say that a second firing at a lower heat heals pinholes";

/// So many passages of an answer a reranker judges.
const JUDGED: usize = 20;

struct Measured {
    name: String,
    loading_ms: f64,
    work: Work,
}

/// What was measured of a task.
enum Work {
    Embed {
        question_ms: f64,
        passages_a_second: f64,
    },
    Rerank {
        twenty_passages_ms: f64,
    },
}

/// Measures fetched models.
pub(super) fn run(environment: &Environment, matches: &ArgMatches) -> Result<Outcome, Problem> {
    let config = Config::load(environment)?;
    let settings = config.settings(None, &Flags::new())?;
    let store = model_store(environment);
    let usual = settings.precision();
    let precision = matches.get_one::<String>("precision").unwrap_or(&usual);
    let names = match given(matches, "name") {
        "" => store.list()?.into_iter().map(|(name, _)| name).collect(),
        name => vec![vetted(name).map_or(name, |model| model.name).to_string()],
    };
    let mut all = Vec::new();
    for name in names {
        let device = settings.device();
        all.push(match store.manifest(&name)?.task {
            Task::Embed => embeds(Session::of(&store, &name, precision, &device)?)?,
            Task::Rerank => reranks(RerankSession::of(&store, &name, precision, &device)?)?,
        });
    }
    if matches.get_flag("json") {
        let models: Vec<Value> = all.iter().map(|one| one.json(precision)).collect();
        style::print_data(&json!({ "contract": 1, "models": models }).to_string());
        return Ok(Outcome::Done);
    }
    let mut text: String = all.iter().map(|one| one.text(precision)).collect();
    if text.is_empty() {
        text += "No model is fetched; `lorewell models list` shows which there are.\n";
    }
    style::print_text(&text);
    Ok(Outcome::Done)
}

/// Milliseconds that some work takes.
fn milliseconds(work: impl FnOnce()) -> f64 {
    let began = Instant::now();
    work();
    began.elapsed().as_secs_f64() * 1e3
}

/// The median of what each of some questions takes, in milliseconds.
fn median(questions: usize, ask: impl Fn(&str)) -> f64 {
    let question = |number| format!("when is kiln number {number} fired again?");
    let time = |number| milliseconds(|| ask(&question(number)));
    let mut times: Vec<f64> = (0..questions).map(time).collect();
    times.sort_by(f64::total_cmp);
    times[questions / 2]
}

fn in_trouble(name: &str, trouble: &str) -> Problem {
    Problem::wrong_use(format!("{name} cannot be used: {trouble}"), "")
}

fn reranks(session: &'static RerankSession) -> Result<Measured, Problem> {
    let texts: Vec<String> = (0..JUDGED).map(passage).collect();
    let passages: Vec<&str> = texts.iter().map(String::as_str).collect();
    let judge = |question: &str, passages: &[&str]| {
        let _ = session.relevance(question, passages);
    };
    let loading_ms = milliseconds(|| judge("when is the kiln fired again?", &passages[..1]));
    if let Some(trouble) = session.trouble() {
        return Err(in_trouble(session.model(), &trouble));
    }
    Ok(Measured {
        name: session.model().to_string(),
        loading_ms,
        work: Work::Rerank {
            twenty_passages_ms: median(5, |question| judge(question, &passages)),
        },
    })
}

fn embeds(session: &'static Session) -> Result<Measured, Problem> {
    let ask = |question: &str| {
        session.embed_question(question);
    };
    let loading_ms = milliseconds(|| ask("when is the kiln fired again?"));
    if let Some(trouble) = session.trouble() {
        return Err(in_trouble(session.model(), &trouble));
    }
    let question_ms = median(QUESTIONS, ask);
    let (mut done, began) = (0, Instant::now());
    while began.elapsed().as_secs_f64() < SECONDS {
        let texts: Vec<String> = (done..done + BATCH).map(passage).collect();
        let input = |text| PassageInput {
            title: "Kiln",
            headings: &[],
            aliases: &[],
            tags: &[],
            prose: text,
        };
        let inputs: Vec<PassageInput<'_>> = texts.iter().map(|text| input(text)).collect();
        session.embed_passages(&inputs);
        done += BATCH;
    }
    Ok(Measured {
        name: session.model().to_string(),
        loading_ms,
        work: Work::Embed {
            question_ms,
            passages_a_second: done as f64 / began.elapsed().as_secs_f64(),
        },
    })
}

/// A passage of about 200 words; no two are the same.
fn passage(number: usize) -> String {
    let words: Vec<&str> = WORDS.split_whitespace().collect();
    let mut text = format!("Firing {number}.");
    for place in 0..180 {
        text.push(' ');
        text += words[(place * 7 + number * 13 + place / 5) % words.len()];
    }
    text
}

impl Measured {
    fn json(&self, precision: &str) -> Value {
        let rounded = |value: f64| (value * 100.0).round() / 100.0;
        let mut json = json!({
            "model": self.name,
            "precision": precision,
            "loading_ms": rounded(self.loading_ms),
        });
        match self.work {
            Work::Embed {
                question_ms,
                passages_a_second,
            } => {
                json["question_ms"] = json!(rounded(question_ms));
                json["passages_a_second"] = json!(rounded(passages_a_second));
            }
            Work::Rerank { twenty_passages_ms } => {
                json["twenty_passages_ms"] = json!(rounded(twenty_passages_ms));
            }
        }
        json
    }

    fn text(&self, precision: &str) -> String {
        let work = match self.work {
            Work::Embed {
                question_ms,
                passages_a_second,
            } => format!(
                "{passages_a_second:.0} passages a second, a question in {question_ms:.1} ms"
            ),
            Work::Rerank { twenty_passages_ms } => {
                format!("judges twenty passages in {twenty_passages_ms:.0} ms")
            }
        };
        format!(
            "{}  {precision}  {work}, loaded in {:.0} ms\n",
            styled(TITLE, &inert_line(&self.name)),
            self.loading_ms
        )
    }
}
