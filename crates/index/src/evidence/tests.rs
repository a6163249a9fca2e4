//! The rules, held to `spec.md`.

use lorewell_vault::AppFolders;

use super::*;

const SPEC: &str = include_str!("spec.md");

fn rules() -> EvidenceRules {
    EvidenceRules::new([
        "folder:Inbox/Web=clipping",
        "tag:llm=generated",
        "property:kind=interview=transcript",
        "name:Interview *=transcript",
    ])
    .expect("rules")
}

fn app_folders() -> AppFolders {
    AppFolders {
        templates: vec!["Extras/Forms".to_string()],
        daily: vec!["Calendar/Days".to_string()],
    }
}

fn class_of(path: &str, text: &str) -> Evidence {
    let note = lorewell_markdown::parse(text, &lorewell_markdown::Settings::default()).note;
    let facts = NoteFacts {
        path,
        properties: &note.properties,
        tags: &note.tags,
        text,
    };
    rules().classify(&facts, &app_folders())
}

#[test]
fn every_row_of_the_specification() {
    let mut seen = 0;
    for row in SPEC.lines().filter(|line| line.contains(".md |")) {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [path, text, class, rule] = cells.as_slice() else {
            panic!("a row has four cells: {row}");
        };
        let text = text.replace(" ⏎ ", "\n").replace(" ⏎", "\n");
        let found = class_of(path, &text);
        assert_eq!(
            (found.class.name(), found.rule.as_str()),
            (*class, *rule),
            "{row}"
        );
        seen += 1;
    }
    assert!(seen > 50, "{seen} rows");
}

#[test]
fn a_rule_that_cannot_be_understood_says_why() {
    for (rule, problem) in [
        ("folder:Web", "has no class"),
        (
            "folder:Web=clip",
            "“clip” is none of own, daily, transcript, clipping, generated",
        ),
        ("path:Web=clipping", "begins with “path”"),
        ("folder:/=clipping", "names no folder"),
        ("tag:#=clipping", "names no tag"),
        ("property:=x=clipping", "names no property"),
        ("name:=clipping", "names no name"),
        ("", "has no class"),
    ] {
        let error = rule.parse::<EvidenceRule>().expect_err(rule).to_string();
        assert!(error.contains(problem), "{rule}: {error}");
    }
}

#[test]
fn what_could_class_otherwise_reads_otherwise() {
    let none = AppFolders::default();
    let readings = [
        EvidenceRules::default().reading(&none),
        EvidenceRules::default().reading(&app_folders()),
        rules().reading(&none),
        EvidenceRules::new(["tag:llm=generated"])
            .expect("a rule")
            .reading(&none),
        EvidenceRules::new(["tag:llm=draft"])
            .expect("a rule")
            .reading(&none),
    ];
    for (at, reading) in readings.iter().enumerate() {
        assert!(!readings[..at].contains(reading), "{at}");
    }
}

#[test]
fn classes_are_read_by_their_names() {
    for class in EvidenceClass::ALL {
        assert_eq!(class.name().parse(), Ok(class));
        assert_eq!(class.to_string().to_uppercase().parse(), Ok(class));
    }
    assert_eq!("clippings".parse::<EvidenceClass>(), Err(()));
}
