//! The command line of the evaluations.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};
use lorewell_evals::data::Data;
use lorewell_evals::{
    ablation, bench, collections, confidence, goals, misses, model, readings, sample, scan, sets,
    sweep,
};

/// Measures retrieval quality and speed.
#[derive(Parser)]
#[command(name = "lorewell-evals")]
struct Arguments {
    /// A folder with a transformer model, in place of the built-in static one.
    #[arg(long, global = true)]
    model: Option<PathBuf>,
    /// A folder with a reranker, which looks again at the first passages of every answer.
    #[arg(long, global = true)]
    reranker: Option<PathBuf>,
    /// In which numbers the model is computed: q8, f16 or f32.
    #[arg(long, global = true, default_value = "q8")]
    precision: String,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// The vault question sets: results by question and a summary, written to docs/evals.
    Sets {
        /// Folder of the evaluation data; else $LOREWELL_EVAL_DATA.
        #[arg(long)]
        data: Option<PathBuf>,
        /// Only these sets.
        #[arg(long, num_args = 1..)]
        set: Vec<String>,
        /// Where the results go.
        #[arg(long, default_value_os_t = sample::results_folder())]
        out: PathBuf,
    },
    /// The questions of a set that are not answered, for reading. Prints other people's text.
    Misses {
        /// Folder of the evaluation data; else $LOREWELL_EVAL_DATA.
        #[arg(long)]
        data: Option<PathBuf>,
        /// Which set.
        #[arg(long)]
        set: String,
    },
    /// What the engine knew of every passage that it showed, and whether it was right: the rows
    /// from which `score` and `confidence` are calibrated.
    Readings {
        /// Folder of the evaluation data; else $LOREWELL_EVAL_DATA.
        #[arg(long)]
        data: Option<PathBuf>,
    },
    /// What each lane and choice brings, written to docs/evals/ablation.md.
    Ablation {
        /// Folder of the evaluation data; else $LOREWELL_EVAL_DATA.
        #[arg(long)]
        data: Option<PathBuf>,
        /// At most so many queries of each collection.
        #[arg(long, default_value_t = 400)]
        queries: usize,
    },
    /// How far `score` and `confidence` can be trusted, written to docs/evals/confidence.md.
    Confidence {
        /// Folder of the evaluation data; else $LOREWELL_EVAL_DATA.
        #[arg(long)]
        data: Option<PathBuf>,
    },
    /// What the answers are meant to reach, against what was measured, written into
    /// docs/evaluation.md; from the results that `sets` and `sample` wrote, and the collections.
    Goals {
        /// Folder of the evaluation data; else $LOREWELL_EVAL_DATA.
        #[arg(long)]
        data: Option<PathBuf>,
    },
    /// Test collections in the BEIR layout.
    Collections {
        /// Folder of the evaluation data; else $LOREWELL_EVAL_DATA.
        #[arg(long)]
        data: Option<PathBuf>,
        /// Only these collections.
        #[arg(long, num_args = 1..)]
        name: Vec<String>,
        /// At most so many queries of each.
        #[arg(long)]
        queries: Option<usize>,
        /// The page that the results go to.
        #[arg(long, default_value_os_t = sample::results_folder().join("collections.md"))]
        out: PathBuf,
    },
    /// What other settings would give, one at a time.
    Sweep {
        /// Folder of the evaluation data; else $LOREWELL_EVAL_DATA.
        #[arg(long)]
        data: Option<PathBuf>,
        /// Only these sets.
        #[arg(long, num_args = 1..)]
        set: Vec<String>,
        /// These collections as well.
        #[arg(long, num_args = 1..)]
        collection: Vec<String>,
        /// At most so many queries of each collection.
        #[arg(long)]
        queries: Option<usize>,
        /// Which settings are varied.
        #[arg(long, value_enum, default_value_t = sweep::Kinds::All)]
        kinds: sweep::Kinds,
    },
    /// The project's own set over the sample vault.
    Sample {
        /// Compare with the committed results instead of writing them anew.
        #[arg(long)]
        check: bool,
    },
    /// The vector scan at scale, exact and in two stages, written to docs/evals/scan.md.
    Scan {
        /// Folder of the evaluation data; else $LOREWELL_EVAL_DATA.
        #[arg(long)]
        data: Option<PathBuf>,
        /// How many vectors.
        #[arg(long, num_args = 1.., default_values_t = [35_000, 350_000, 1_000_000])]
        vectors: Vec<usize>,
        /// At most so many of them are of real texts.
        #[arg(long, default_value_t = 100_000)]
        texts: usize,
        /// The page that the results go to.
        #[arg(long, default_value_os_t = sample::results_folder().join("scan.md"))]
        out: PathBuf,
    },
    /// Speed, sizes and memory.
    Bench(bench::Wish),
    /// The hook for prompts, as a process for each.
    Hook(bench::hook::Wish),
    /// One vault of `bench`, in a process of its own.
    #[command(hide = true)]
    BenchPart(bench::Part),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let chosen = match &arguments.model {
        Some(folder) => model::choose(folder, &arguments.precision),
        None => Ok(()),
    };
    let reranker = arguments.reranker.as_deref();
    let chosen = chosen.and_then(|()| reranker.map_or(Ok(()), model::choose_reranker));
    match chosen.and_then(|()| run(arguments.command)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("lorewell-evals: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<()> {
    match command {
        Command::Sets { data, set, out } => sets::run(&Data::open(data.as_deref())?, &set, &out),
        Command::Misses { data, set } => misses::run(&Data::open(data.as_deref())?, &set),
        Command::Readings { data } => readings::run(&Data::open(data.as_deref())?),
        Command::Ablation { data, queries } => {
            ablation::run(&Data::open(data.as_deref())?, queries)
        }
        Command::Goals { data } => goals::run(&Data::open(data.as_deref())?),
        Command::Confidence { data } => confidence::run(&Data::open(data.as_deref())?),
        Command::Collections {
            data,
            name,
            queries,
            out,
        } => collections::run(&Data::open(data.as_deref())?, &name, queries, &out),
        Command::Sweep {
            data,
            set,
            collection,
            queries,
            kinds,
        } => sweep::run(
            &Data::open(data.as_deref())?,
            &set,
            &collection,
            queries,
            kinds,
        ),
        Command::Scan {
            data,
            vectors,
            texts,
            out,
        } => scan::run(&Data::open(data.as_deref())?, &vectors, texts, &out),
        Command::Sample { check: true } => sample::check(),
        Command::Sample { check: false } => sample::write(),
        Command::Bench(wish) => bench::run(&wish),
        Command::Hook(wish) => bench::hook::run(&wish),
        Command::BenchPart(part) => bench::run_part(&part),
    }
}
