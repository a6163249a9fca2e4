//! Runs the specification: notes in `spec/*.md`, each in a fence, the expected outcome in the fence after it.
//!
//! An expectation is a list of lines, each a facet (`tag`, `link`, `passage`…) and what is expected of it. All lines of
//! the facets that are named are compared, in order; other facets are not looked at. `no FACET` expects none.
//! In notes, `␜` stands for a byte order mark, `␍` for CR, `␀` for NUL and `⍽` for a no-break space; in expectations,
//! `⏎` for a line ending. `settings 120 20` sets passage and overlap length.
//! With `SPEC_SHOW` set, the test prints every outcome of the notes whose title contains its value.

#![expect(clippy::disallowed_methods, reason = "settings of the test itself")]

use lorewell_markdown::{Link, LinkKind, Parsed, Settings, parse};

struct Case {
    title: String,
    note: String,
    expected: Vec<String>,
}

fn cases(specification: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut title = String::new();
    let mut lines = specification.lines();
    while let Some(line) = lines.next() {
        if let Some(text) = line.strip_prefix("## ") {
            title = text.to_owned();
        } else if let Some(fence) = line
            .strip_suffix("note")
            .filter(|fence| fence.starts_with("````"))
        {
            let note: Vec<&str> = lines.by_ref().take_while(|line| *line != fence).collect();
            let note = note
                .join("\n")
                .replace('␜', "\u{feff}")
                .replace("␍\n", "\r\n")
                .replace('␍', "\r");
            let note = note.replace('␀', "\0").replace('⍽', "\u{a0}");
            cases.push(Case {
                title: title.clone(),
                note,
                expected: Vec::new(),
            });
        } else if let Some(fence) = line
            .strip_suffix("expect")
            .filter(|fence| fence.starts_with("```"))
        {
            let expected = lines.by_ref().take_while(|line| *line != fence);
            let expected = expected
                .map(|line| line.replace('␀', "\0").replace('⍽', "\u{a0}"))
                .collect();
            cases
                .last_mut()
                .expect("a note before the expectation")
                .expected = expected;
        }
    }
    cases
}

fn one_line(text: &str) -> String {
    text.replace("\r\n", "⏎").replace(['\n', '\r'], "⏎")
}

fn link_line(link: &Link) -> String {
    let kind = match link.kind {
        LinkKind::Wiki => "wiki",
        LinkKind::Markdown => "markdown",
        LinkKind::Property => "property",
    };
    let mut line = format!(
        "link {kind}{} {}",
        if link.embed { " embed" } else { "" },
        link.target
    );
    for heading in &link.headings {
        line += &format!("#{heading}");
    }
    if let Some(block) = &link.block {
        line += &format!("#^{block}");
    }
    if let Some(label) = &link.label {
        line += &format!("|{label}");
    }
    line
}

/// Everything that came out, a line each.
fn outcome(text: &str, parsed: &Parsed) -> Vec<String> {
    let note = &parsed.note;
    let slice = |range: &std::ops::Range<usize>| one_line(&text[range.clone()]);
    let mut lines = Vec::new();
    lines.extend(
        note.properties_range
            .iter()
            .map(|range| format!("block-of-properties {}", slice(range))),
    );
    lines.extend(
        note.properties
            .iter()
            .map(|(key, value)| format!("property {key} = {value}")),
    );
    lines.extend(note.title.iter().map(|title| format!("title {title}")));
    lines.extend(note.aliases.iter().map(|alias| format!("alias {alias}")));
    for tag in &note.tags {
        if let Some(range) = &tag.range {
            assert_eq!(text[range.clone()], format!("#{}", tag.name));
        }
        lines.push(format!("tag {}", tag.name));
    }
    for heading in &note.headings {
        lines.push(format!(
            "heading {} {}",
            heading.level,
            heading.path.join(" › ")
        ));
    }
    lines.extend(note.links.iter().map(link_line));
    lines.extend(
        note.blocks
            .iter()
            .map(|block| format!("block {}: {}", block.id, slice(&block.range))),
    );
    for passage in &note.passages {
        let (first, last) = (passage.lines.start(), passage.lines.end());
        let passage_line = format!(
            "passage [{}] {first}-{last} {}",
            passage.heading_path.join(" › "),
            slice(&passage.range)
        );
        lines.push(passage_line.trim_end().to_string());
        lines.push(format!("words {}", one_line(&passage.words(text))));
        lines.push(format!("prose {}", one_line(&passage.prose(text))));
        lines.extend(
            passage
                .hidden
                .iter()
                .map(|range| format!("hidden {}", slice(range))),
        );
        lines.extend(
            passage
                .context
                .iter()
                .map(|range| format!("context {}", slice(range))),
        );
    }
    lines.extend(
        parsed
            .issues
            .iter()
            .map(|issue| format!("issue {}: {}", issue.line, issue.message)),
    );
    lines
}

fn facet(line: &str) -> &str {
    line.split(' ').next().unwrap_or_default()
}

fn check(case: &Case) -> Vec<String> {
    let mut settings = Settings::default();
    let mut expected: Vec<&str> = Vec::new();
    let mut facets: Vec<&str> = Vec::new();
    for line in &case.expected {
        if let Some(numbers) = line.strip_prefix("settings ") {
            let numbers: Vec<usize> = numbers
                .split(' ')
                .map(|number| number.parse().expect("a number"))
                .collect();
            settings = Settings {
                passage_chars: numbers[0],
                overlap_chars: numbers[1],
            };
        } else if let Some(none) = line.strip_prefix("no ") {
            facets.push(none);
        } else {
            facets.push(facet(line));
            expected.push(line);
        }
    }
    let parsed = parse(&case.note, &settings);
    let outcome = outcome(&case.note, &parsed);
    if std::env::var("SPEC_SHOW").is_ok_and(|part| case.title.contains(&part)) {
        println!("## {}\n{}\n", case.title, outcome.join("\n"));
    }
    facets.dedup();
    let mut faults = Vec::new();
    for name in facets {
        let got: Vec<&str> = outcome
            .iter()
            .map(String::as_str)
            .filter(|line| facet(line) == name)
            .collect();
        let wanted: Vec<&str> = expected
            .iter()
            .copied()
            .filter(|line| facet(line) == name)
            .collect();
        if got != wanted {
            faults.push(format!(
                "## {}\n  wanted\n    {}\n  got\n    {}",
                case.title,
                wanted.join("\n    "),
                got.join("\n    ")
            ));
        }
    }
    faults
}

#[test]
fn every_note_of_the_specification_is_read_as_it_says() {
    let mut faults = Vec::new();
    let mut count = 0;
    for file in
        std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/spec")).expect("the folder")
    {
        let specification = std::fs::read_to_string(file.expect("a file").path()).expect("text");
        for case in cases(&specification) {
            assert!(!case.expected.is_empty(), "{} expects nothing", case.title);
            count += 1;
            faults.extend(check(&case));
        }
    }
    assert!(count > 50, "only {count} notes were found");
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}
