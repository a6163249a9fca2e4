//! `models bench`: how fast fetched models are here.

use std::time::Instant;

use clap::ArgMatches;
use lorewell_engine::Embedder as _;
use lorewell_models::{PassageInput, Session, vetted};
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

struct Measured {
    name: String,
    loading_ms: f64,
    question_ms: f64,
    passages_a_second: f64,
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
        let session = Session::of(&store, &name, precision, &settings.device())?;
        all.push(measure(session)?);
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

fn measure(session: &'static Session) -> Result<Measured, Problem> {
    let began = Instant::now();
    session.embed_question("when is the kiln fired again?");
    let loading_ms = began.elapsed().as_secs_f64() * 1e3;
    if let Some(trouble) = session.trouble() {
        let name = session.model();
        return Err(Problem::wrong_use(
            format!("{name} cannot be used: {trouble}"),
            "",
        ));
    }
    let mut times = Vec::new();
    for number in 0..QUESTIONS {
        let began = Instant::now();
        session.embed_question(&format!("when is kiln number {number} fired again?"));
        times.push(began.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
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
        question_ms: times[QUESTIONS / 2],
        passages_a_second: done as f64 / began.elapsed().as_secs_f64(),
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
        json!({
            "model": self.name,
            "precision": precision,
            "loading_ms": rounded(self.loading_ms),
            "question_ms": rounded(self.question_ms),
            "passages_a_second": rounded(self.passages_a_second),
        })
    }

    fn text(&self, precision: &str) -> String {
        format!(
            "{}  {precision}  {:.0} passages a second, a question in {:.1} ms, loaded in {:.0} ms\n",
            styled(TITLE, &inert_line(&self.name)),
            self.passages_a_second,
            self.question_ms,
            self.loading_ms
        )
    }
}
