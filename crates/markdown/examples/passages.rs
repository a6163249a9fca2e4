//! Reads every note below a folder, checks what must hold of any note, and says how long it took. Given a single file,
//! shows its passages. `cargo run --release --example passages -- FOLDER_OR_FILE [PASSAGE_CHARS OVERLAP_CHARS]`

#![expect(clippy::disallowed_methods, reason = "settings of the example itself")]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

use lorewell_markdown::{Parsed, Settings, parse};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let place = PathBuf::from(arguments.next().ok_or("name a folder of notes or a note")?);
    let mut settings = Settings::default();
    if let (Some(chars), Some(overlap)) = (arguments.next(), arguments.next()) {
        settings = Settings {
            passage_chars: chars.parse()?,
            overlap_chars: overlap.parse()?,
        };
    }
    if place.is_file() {
        show(&std::fs::read_to_string(&place)?, &settings);
        return Ok(());
    }
    let mut files = Vec::new();
    gather(&place, &mut files)?;
    let notes: Vec<(PathBuf, String)> = files
        .into_iter()
        .filter_map(|path| std::fs::read_to_string(&path).ok().map(|text| (path, text)))
        .collect();
    let bytes: usize = notes.iter().map(|(_, text)| text.len()).sum();
    let began = Instant::now();
    let parsed: Vec<Parsed> = notes
        .iter()
        .map(|(_, text)| parse(text, &settings))
        .collect();
    let took = began.elapsed();
    let passages: usize = parsed.iter().map(|parsed| parsed.note.passages.len()).sum();
    println!(
        "{} notes, {bytes} bytes, {passages} passages in {took:?}: {:.1} MB/s",
        notes.len(),
        bytes as f64 / 1e6 / took.as_secs_f64()
    );
    let mut faults = 0;
    for ((path, text), parsed) in notes.iter().zip(&parsed) {
        for fault in faults_of(text, parsed, &settings) {
            println!("{}: {fault}", path.display());
            faults += 1;
        }
        if std::env::var_os("ISSUES").is_some() {
            for issue in &parsed.issues {
                println!("{}:{}: {}", path.display(), issue.line, issue.message);
            }
        }
    }
    println!("{faults} faults");
    Ok(())
}

fn gather(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            gather(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "md") {
            files.push(path);
        }
    }
    Ok(())
}

/// What is wrong with the passages of a note.
fn faults_of(text: &str, parsed: &Parsed, settings: &Settings) -> Vec<String> {
    let mut faults = Vec::new();
    let mut end = 0;
    for passage in &parsed.note.passages {
        let Some(slice) = text.get(passage.range.clone()) else {
            faults.push(format!("{:?} does not slice", passage.range));
            continue;
        };
        if slice.chars().count() > settings.passage_chars {
            faults.push(format!(
                "{:?} has {} characters",
                passage.range,
                slice.chars().count()
            ));
        }
        if slice.trim() != slice || slice.is_empty() {
            faults.push(format!("{:?} has blanks at its ends", passage.range));
        }
        if settings.overlap_chars == 0 && passage.range.start < end {
            faults.push(format!("{:?} overlaps", passage.range));
        }
        end = passage.range.end;
    }
    faults.extend(lost(text, parsed));
    faults
}

/// Text that is in no passage, though nothing hides it.
fn lost(text: &str, parsed: &Parsed) -> Option<String> {
    let note = &parsed.note;
    let mut covered = vec![false; text.len()];
    let passages = note.passages.iter().map(|passage| &passage.range);
    for range in passages.chain(&note.hidden).chain(&note.properties_range) {
        covered[range.clone()].fill(true);
    }
    let mut lost = text
        .char_indices()
        .filter(|(at, c)| !covered[*at] && !c.is_whitespace() && *c != '\u{feff}');
    lost.next().map(|(at, _)| {
        format!(
            "{at} is lost: {:?}",
            text[at..].chars().take(40).collect::<String>()
        )
    })
}

fn show(text: &str, settings: &Settings) {
    let parsed = parse(text, settings);
    let note = &parsed.note;
    println!("title {:?} aliases {:?}", note.title, note.aliases);
    println!(
        "tags {:?}",
        note.tags.iter().map(|tag| &tag.name).collect::<Vec<_>>()
    );
    println!("properties {:?}", note.properties);
    for link in &note.links {
        println!("link {link:?}");
    }
    for passage in &note.passages {
        let slice = text.get(passage.range.clone()).unwrap_or_default();
        println!(
            "======== {:?} lines {:?} chars {}",
            passage.heading_path,
            passage.lines,
            slice.chars().count()
        );
        println!("{slice}");
        if std::env::var_os("PROSE").is_some() {
            println!("-------- prose\n{}", passage.prose(text));
        }
    }
    for issue in &parsed.issues {
        println!("issue {}: {}", issue.line, issue.message);
    }
}
