//! `lorewell eval`: measures the user's own vault, and keeps its golden set.

use std::path::{Path, PathBuf};

use clap::ArgMatches;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lorewell_capabilities::{Failure, rounded};
use lorewell_engine::{Fusion, Host, Patience, SearchSettings};
use lorewell_evaluation::{
    EvaluationError, GoldenSet, MOST_PROBES, Measurement, NewQuestion, Probe, Question, Task,
    Verdict, draw_probes, measure, questions_in, weight_of,
};
use lorewell_setup::{Config, Environment, Settings, VaultRef, index_dir_for, vaults};
use serde::Serialize;
use serde_json::{Value, json};

use crate::capability::chosen_vault;
use crate::outcome::{Outcome, Problem};
use crate::progress::Progress;
use crate::render::{counted, eval};
use crate::style;

/// So many questions a notice names.
const NAMED: usize = 10;

/// With fewer questions an interval says little.
const FEW: usize = 20;

/// All that `lorewell eval` has to say.
#[derive(Serialize)]
pub(crate) struct Report {
    contract: u32,
    pub(crate) vault: String,
    pub(crate) index: Index,
    /// The settings in force.
    settings: Value,
    /// Where the questions come from.
    pub(crate) sources: Vec<Source>,
    #[serde(flatten)]
    pub(crate) measurement: Measurement,
    /// What to type to follow the advice.
    pub(crate) commands: Vec<String>,
    /// What to know about the figures.
    pub(crate) notices: Vec<String>,
}

/// What was asked.
#[derive(Serialize)]
pub(crate) struct Index {
    generation: u64,
    pub(crate) notes: u64,
    pub(crate) passages: u64,
}

/// A file of questions.
#[derive(Serialize)]
pub(crate) struct Source {
    /// `golden set`, or the file as it was named.
    pub(crate) from: String,
    pub(crate) questions: usize,
}

/// A vault that is meant, with its settings.
struct Desk {
    config: Config,
    vault: VaultRef,
    settings: Settings,
    host: Host,
}

/// Measures, or runs one of the subcommands.
pub(crate) fn run(environment: &Environment, matches: &ArgMatches) -> Result<Outcome, Problem> {
    match matches.subcommand() {
        Some(("add", matches)) => add(environment, matches),
        Some(("remove", matches)) => remove(environment, matches),
        Some((_, matches)) => list(environment, matches),
        None => measure_vault(environment, matches),
    }
}

impl From<EvaluationError> for Problem {
    fn from(error: EvaluationError) -> Problem {
        Problem(Failure {
            code: error.code().to_string(),
            message: error.to_string(),
            hint: error.hint(),
        })
    }
}

impl Desk {
    fn open(environment: &Environment, matches: &ArgMatches) -> Result<Desk, Problem> {
        let config = Config::load(environment)?;
        let (vault, settings) = chosen_vault(&config, matches)?;
        for warning in config.warnings().iter().chain(settings.warnings()) {
            style::warn(&warning.message);
        }
        style::set_color(&settings.color());
        let host = lorewell_setup::open(&config, &settings, &vault)?;
        Ok(Desk {
            config,
            vault,
            settings,
            host,
        })
    }

    /// Takes in what changed, unless that is not wanted; what could not be taken in, in words.
    fn refresh(&self, matches: &ArgMatches) -> Result<Option<String>, Problem> {
        if matches.get_flag("no-refresh") {
            return Ok(None);
        }
        let progress = Progress::new(&self.settings.progress());
        let freshness =
            progress.unless_waiting(&self.host, || self.host.refresh(Patience::Read, &progress))?;
        if progress.interrupted() {
            return Err(Failure::interrupted(freshness.pending as u64).into());
        }
        let pending = freshness.pending as u64;
        let note = || format!("{} not taken in yet", counted(pending, "changed note"));
        Ok((pending > 0).then(note))
    }

    /// The vault's golden set. It is the user's own work and no derived data, so it lies beside
    /// the indexes and not in one.
    fn golden_set(&self) -> Result<GoldenSet, Problem> {
        let folder = self.config.environment().data_dir.join("lorewell");
        let mut name = index_dir_for(&folder.join("questions"), &self.vault.path).into_os_string();
        name.push(".jsonl");
        let path = PathBuf::from(name);
        if path.starts_with(self.host.root()) {
            return Err(Problem::wrong_use(
                format!(
                    "the golden set would lie in the vault, at {}",
                    path.display()
                ),
                "Keep the user's data folder outside of the vault (XDG_DATA_HOME).",
            ));
        }
        Ok(GoldenSet::at(path))
    }
}

fn add(environment: &Environment, matches: &ArgMatches) -> Result<Outcome, Problem> {
    let desk = Desk::open(environment, matches)?;
    let new = new_question(matches)?;
    desk.refresh(matches)?;
    let set = desk.golden_set()?;
    let added = set.add(&desk.host.view()?, &new)?;
    let words = format!("{}\n", eval::question(&added));
    say(
        matches,
        &set,
        json!({ "question": question_json(&added) }),
        &words,
    )
}

fn new_question(matches: &ArgMatches) -> Result<NewQuestion, Problem> {
    let text = |name: &str| matches.get_one::<String>(name).cloned();
    let words = matches.get_many::<String>("question").into_iter().flatten();
    let note = text("note");
    if note.is_none() && !matches.get_flag("none") {
        return Err(Problem::wrong_use(
            "which note answers the question?",
            "Name it with --note PATH, or say --none if the notes do not answer it.",
        ));
    }
    let kind = text("kind");
    if kind.as_deref() == Some(lorewell_evaluation::UNANSWERABLE) {
        return Err(Problem::wrong_use(
            "the kind `none` is that of questions without an answer",
            "Say --none, without a note.",
        ));
    }
    Ok(NewQuestion {
        question: words.cloned().collect::<Vec<_>>().join(" "),
        note,
        snippet: text("snippet"),
        kind,
    })
}

fn remove(environment: &Environment, matches: &ArgMatches) -> Result<Outcome, Problem> {
    let set = Desk::open(environment, matches)?.golden_set()?;
    let id = matches.get_one::<String>("id").map_or("", String::as_str);
    let removed = set.remove(id)?;
    let words = format!("removed: {}\n", eval::question(&removed));
    say(
        matches,
        &set,
        json!({ "removed": question_json(&removed) }),
        &words,
    )
}

fn list(environment: &Environment, matches: &ArgMatches) -> Result<Outcome, Problem> {
    let set = Desk::open(environment, matches)?.golden_set()?;
    let questions = set.questions()?;
    let words = eval::golden_set(&questions, set.path());
    let all: Vec<Value> = questions.iter().map(question_json).collect();
    say(matches, &set, json!({ "questions": all }), &words)?;
    Ok(if questions.is_empty() {
        Outcome::NothingFound
    } else {
        Outcome::Done
    })
}

/// A question as in its file, with a list of notes even where there are none.
fn question_json(question: &Question) -> Value {
    let mut json = serde_json::to_value(question).unwrap_or_default();
    if let Some(fields) = json.as_object_mut() {
        fields.entry("notes").or_insert_with(|| json!([]));
    }
    json
}

/// What a subcommand has to say: as data with `--json`, else in words.
fn say(
    matches: &ArgMatches,
    set: &GoldenSet,
    json: Value,
    words: &str,
) -> Result<Outcome, Problem> {
    if matches.get_flag("json") {
        let mut json = json;
        json["contract"] = Value::from(1);
        json["file"] = Value::from(set.path().display().to_string());
        style::print_data(&json.to_string());
    } else {
        style::print_text(words);
    }
    Ok(Outcome::Done)
}

fn measure_vault(environment: &Environment, matches: &ArgMatches) -> Result<Outcome, Problem> {
    let desk = Desk::open(environment, matches)?;
    let mut notices: Vec<String> = desk.refresh(matches)?.into_iter().collect();
    let (questions, sources) = questions(&desk, matches)?;
    let view = desk.host.view()?;
    let probes = if matches.get_flag("no-probes") {
        Vec::new()
    } else {
        draw_probes(&view, MOST_PROBES)?
    };
    let bar = Bar::new(&desk.settings.progress());
    let nothing = questions.is_empty() && probes.is_empty();
    let measurement = measure(
        &desk.host,
        &Task {
            questions: &questions,
            probes: &probes,
            rrf_k: desk.settings.rrf_k() as f32,
            advise: !nothing && !matches.get_flag("no-advice"),
            progress: &|done, all| bar.show(done, all),
        },
    )?;
    bar.end();
    notices.extend(notes_on(&measurement, &probes, matches));
    let totals = view.totals();
    let report = Report {
        contract: 1,
        vault: desk.host.name().to_string(),
        index: Index {
            generation: totals.generation,
            notes: totals.notes,
            passages: totals.passages,
        },
        settings: in_force(&desk.host.search_in_force()),
        sources,
        commands: commands(&desk, &measurement),
        measurement,
        notices,
    };
    let misses = matches.get_flag("misses");
    if matches.get_flag("json") {
        style::print_data(&as_json(&report, misses).to_string());
    } else {
        style::print_text(&eval::text(&report, misses));
    }
    Ok(if is_nothing(&report.measurement) {
        Outcome::NothingFound
    } else {
        Outcome::Done
    })
}

/// The golden set's questions, if there are any, and those of the named files.
fn questions(desk: &Desk, matches: &ArgMatches) -> Result<(Vec<Question>, Vec<Source>), Problem> {
    let mut questions = desk.golden_set()?.questions()?;
    let mut sources = Vec::new();
    if !questions.is_empty() {
        sources.push(Source {
            from: "golden set".to_string(),
            questions: questions.len(),
        });
    }
    for file in matches
        .get_many::<String>("questions")
        .into_iter()
        .flatten()
    {
        let more = questions_in(Path::new(file))?;
        sources.push(Source {
            from: file.clone(),
            questions: more.len(),
        });
        questions.extend(more);
    }
    Ok((questions, sources))
}

fn notes_on(measurement: &Measurement, probes: &[Probe], matches: &ArgMatches) -> Vec<String> {
    let mut notices = Vec::new();
    if let Some(figures) = &measurement.questions {
        if !figures.left_out.is_empty() {
            let (all, named) = (figures.left_out.len(), figures.left_out.len().min(NAMED));
            let more = if all > named { ", …" } else { "" };
            notices.push(format!(
                "{} left out, because no note that they name is in the index: {}{more}",
                counted(all as u64, "question"),
                figures.left_out[..named].join(", ")
            ));
        }
        if figures.answerable > 0 && figures.answerable < FEW {
            notices.push(format!(
                "{} with an answer: the intervals are wide, and where all went one way they are narrower than they should be",
                counted(figures.answerable as u64, "question")
            ));
        }
    }
    if !matches.get_flag("no-probes") && probes.len() < FEW {
        notices.push(format!(
            "the vault has few links in sentences of their own: they gave {}",
            counted(probes.len() as u64, "probe")
        ));
    }
    notices
}

fn in_force(settings: &SearchSettings) -> Value {
    let fusion = match settings.fusion {
        Fusion::Convex => "convex",
        Fusion::Rrf { .. } => "rrf",
    };
    let lanes: Vec<&str> = settings.lanes.iter().map(|lane| lane.name()).collect();
    let mut json = json!({ "fusion": fusion, "lanes": lanes });
    for lane in &settings.lanes {
        // As people write it, without what `f32` adds.
        let weight = rounded(weight_of(&settings.weights, *lane), 4);
        json[format!("weight_{lane}")] = Value::from(weight);
    }
    json
}

/// The lines that put the advice into force. A listed vault has settings of its own.
fn commands(desk: &Desk, measurement: &Measurement) -> Vec<String> {
    let advice = measurement.advice.as_ref();
    let Some(best) = advice
        .filter(|advice| advice.verdict == Verdict::Change)
        .and_then(|advice| advice.best.as_ref())
    else {
        return Vec::new();
    };
    let listed = vaults::list(&desk.config).any(|vault| vault.path == desk.vault.path);
    let of_vault = if listed {
        format!(" --vault {}", quoted(&desk.vault.name))
    } else {
        String::new()
    };
    let line = |change: &lorewell_evaluation::SettingChange| {
        format!(
            "lorewell config set {} {}{of_vault}",
            change.name, change.value
        )
    };
    best.settings.iter().map(line).collect()
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_string();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Misses hold text of notes: they are given where they were asked for.
fn as_json(report: &Report, misses: bool) -> Value {
    let mut json = serde_json::to_value(report).unwrap_or_default();
    if !misses {
        for part in ["questions", "probes"] {
            if let Some(figures) = json.get_mut(part).and_then(Value::as_object_mut) {
                figures.remove("misses");
            }
        }
    }
    json
}

fn is_nothing(measurement: &Measurement) -> bool {
    let questions = measurement.questions.as_ref();
    measurement.probes.is_none() && questions.is_none_or(|q| q.answerable + q.unanswerable == 0)
}

/// A bar on a terminal, and nothing elsewhere.
struct Bar(ProgressBar);

impl Bar {
    /// `when`: the setting `progress`.
    fn new(when: &str) -> Bar {
        let bar = ProgressBar::hidden();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {pos}/{len} questions") {
            bar.set_style(style);
        }
        if when != "never" {
            // It draws on a terminal only.
            bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        Bar(bar)
    }

    fn show(&self, done: usize, all: usize) {
        self.0.set_length(all as u64);
        self.0.set_position(done as u64);
    }

    fn end(&self) {
        self.0.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_name_is_one_word_of_a_shell() {
        assert_eq!(quoted("Notes-2.old"), "Notes-2.old");
        assert_eq!(quoted("My notes"), "'My notes'");
        assert_eq!(quoted("it's; rm"), r"'it'\''s; rm'");
    }
}
