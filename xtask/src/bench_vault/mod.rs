//! `cargo xtask bench-vault`: writes a believable vault of generated notes, always
//! the same for a seed. Made for measuring speed; it says nothing about quality.

mod chance;
mod note;
mod plan;
mod words;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, Result, bail};

use chance::Chance;
use note::Counts;
use plan::Plan;

const USAGE: &str = "usage: cargo xtask bench-vault DIR [--notes 10000] [--seed 1]";

/// What the command line asks for.
#[derive(Debug, PartialEq, Eq)]
struct Wish {
    folder: PathBuf,
    notes: usize,
    seed: u64,
}

/// Writes the vault and prints what it holds.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let wish = parse(args)?;
    must_be_free(&wish.folder)?;
    let began = Instant::now();
    let report = write(&wish)?;
    print!("{}", report.in_words());
    println!("written in {:.1} s", began.elapsed().as_secs_f64());
    Ok(())
}

fn parse(args: &[String]) -> Result<Wish> {
    let mut folder = None;
    let (mut notes, mut seed) = (10_000, 1);
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        match arg.as_str() {
            "--notes" => notes = number(arg, rest.next())?,
            "--seed" => seed = number(arg, rest.next())?,
            flag if flag.starts_with('-') => bail!("unknown flag {flag}; {USAGE}"),
            path if folder.is_none() => folder = Some(PathBuf::from(path)),
            extra => bail!("one folder only, not {extra} too; {USAGE}"),
        }
    }
    let folder = folder.context(USAGE)?;
    let notes = usize::try_from(notes)?;
    Ok(Wish {
        folder,
        notes,
        seed,
    })
}

fn number(flag: &str, text: Option<&String>) -> Result<u64> {
    let text = text.with_context(|| format!("{flag} needs a number; {USAGE}"))?;
    text.parse()
        .with_context(|| format!("{flag} {text}: not a whole number"))
}

fn must_be_free(folder: &Path) -> Result<()> {
    match folder.read_dir() {
        Ok(mut entries) => {
            if entries.next().is_some() {
                bail!("{}: not empty; choose another folder", folder.display());
            }
            Ok(())
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error).with_context(|| folder.display().to_string()),
    }
}

/// Lengths of all notes, in characters, and what else was counted.
struct Report {
    chars: Vec<usize>,
    bytes: usize,
    folders: usize,
    counts: Counts,
}

fn write(wish: &Wish) -> Result<Report> {
    let mut chance = Chance::new(wish.seed);
    let plan = Plan::new(&mut chance, wish.notes);
    let mut report = Report {
        chars: Vec::with_capacity(wish.notes),
        bytes: 0,
        folders: 0,
        counts: Counts::default(),
    };
    let mut made = BTreeSet::new();
    fs::create_dir_all(&wish.folder).with_context(|| wish.folder.display().to_string())?;
    for index in 0..plan.notes.len() {
        // A stream of its own for every note: one more note changes no other.
        let mut chance = Chance::new(wish.seed ^ (index as u64 + 1).wrapping_mul(0x9E37_79B9));
        let text = note::write(&plan, index, &mut chance, &mut report.counts);
        let path = wish.folder.join(plan.notes[index].path());
        if let Some(folder) = path.parent()
            && made.insert(folder.to_path_buf())
        {
            fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        }
        report.chars.push(text.chars().count());
        report.bytes += text.len();
        fs::write(&path, text).with_context(|| path.display().to_string())?;
    }
    report.folders = made.len();
    report.chars.sort_unstable();
    Ok(report)
}

impl Report {
    fn mean(&self) -> usize {
        self.chars.iter().sum::<usize>() / self.chars.len().max(1)
    }

    /// Length that `percent` of a hundred notes do not exceed.
    fn percentile(&self, percent: usize) -> usize {
        let last = self.chars.len().saturating_sub(1);
        self.chars.get(last * percent / 100).copied().unwrap_or(0)
    }

    fn in_words(&self) -> String {
        let Counts {
            sections,
            links,
            tables,
            fences,
            tags,
            cjk_notes,
        } = self.counts;
        format!(
            "{} notes in {} folders, {:.1} MB\n\
             characters a note: mean {}, median {}, 99th percentile {}, longest {}\n\
             {sections} sections, {links} links, {tags} tags, {tables} tables, {fences} code blocks, {cjk_notes} notes with Chinese or Japanese\n",
            self.chars.len(),
            self.folders,
            self.bytes as f64 / 1e6,
            self.mean(),
            self.percentile(50),
            self.percentile(99),
            self.percentile(100),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn the_command_line() {
        let wish = parse(&words("dir --seed 7 --notes 12")).unwrap();
        let expected = Wish {
            folder: "dir".into(),
            notes: 12,
            seed: 7,
        };
        assert_eq!(wish, expected);
        for bad in [
            "",
            "a b",
            "a --notes",
            "a --notes x",
            "a --what",
            "--seed 1",
        ] {
            assert!(parse(&words(bad)).is_err(), "{bad}");
        }
    }

    /// The shape that measurements are quoted for, checked on fewer notes.
    #[test]
    fn lengths_are_those_of_the_bench_vault_and_a_seed_decides_every_byte() {
        let lengths = |seed| {
            let mut chance = Chance::new(seed);
            let plan = Plan::new(&mut chance, 2_000);
            let mut counts = Counts::default();
            let texts = (0..plan.notes.len()).map(|index| {
                note::write(
                    &plan,
                    index,
                    &mut Chance::new(seed + index as u64),
                    &mut counts,
                )
            });
            texts.collect::<Vec<String>>()
        };
        let texts = lengths(3);
        let mut chars: Vec<usize> = texts.iter().map(|text| text.chars().count()).collect();
        chars.sort_unstable();
        let report = Report {
            chars,
            bytes: 0,
            folders: 0,
            counts: Counts::default(),
        };
        assert!((4_000..4_300).contains(&report.mean()), "{}", report.mean());
        assert!((3_200..3_400).contains(&report.percentile(50)));
        assert!((23_000..29_000).contains(&report.percentile(99)));
        assert_eq!(texts, lengths(3));
        assert_ne!(texts, lengths(4));
    }
}
