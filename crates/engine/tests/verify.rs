//! Verifying against a vault: which note a citation means, what counts as moved, and that the
//! files on disk decide.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::path::Path;

use lorewell_engine::{
    CitedPlace, CitedQuote, CitedSource, EngineSettings, Host, MAX_CLAIMS, Patience, Quiet,
    ReadRequest, RuleSettings, Rules, Verdict, Verification, VerifiedClaim, VerifyRequest,
};
use lorewell_testkit::TempVault;

const NOTES: &str = "
=== Projects/Kiln.md ===
---
aliases: [Oven]
---
# The kiln
Bought from a school in Kyoto.

## Firing
Cone 6, slow: eleven hours. ^slow

## Cooling
Wait a whole day before you open it.
=== Old/Log.md ===
Sold in 2018 for a song.
=== New/Log.md ===
Bought in 2020 at full price.
=== Glazes.md ===
The celadon needs a reduction firing.
=== Private/Diary.md ===
My secret glaze holds a spoon of honey.
";

struct World {
    vault: TempVault,
    settings: EngineSettings,
}

impl World {
    fn new() -> World {
        let world = World {
            vault: TempVault::new(NOTES),
            settings: EngineSettings::default(),
        };
        world.refresh();
        world
    }

    fn host(&self) -> Host {
        let index = self.vault.beside("index");
        Host::open("Notes", self.vault.root(), &index, self.settings.clone()).unwrap()
    }

    fn refresh(&self) {
        self.host().refresh(Patience::Wait, &Quiet).unwrap();
    }

    fn verify(&self, request: &VerifyRequest) -> Verification {
        self.host().view().unwrap().verify(request).unwrap()
    }

    fn quote(&self, quote: &str, place: CitedPlace) -> VerifiedClaim {
        let quote = CitedQuote {
            quote: quote.to_string(),
            place,
        };
        let quotes = vec![quote];
        let request = VerifyRequest {
            quotes,
            ..VerifyRequest::default()
        };
        let mut claims = self.verify(&request).claims;
        assert_eq!(claims.len(), 1);
        claims.remove(0)
    }

    fn answer(&self, answer: &str, sources: Vec<CitedSource>) -> Verification {
        self.verify(&VerifyRequest {
            answer: Some(answer.to_string()),
            sources,
            ..VerifyRequest::default()
        })
    }

    fn hash(&self, path: &str) -> [u8; 32] {
        *blake3::hash(&self.vault.bytes(path)).as_bytes()
    }
}

fn at(note: &str) -> CitedPlace {
    CitedPlace {
        note: Some(note.to_string()),
        ..CitedPlace::default()
    }
}

/// Verdict, where, reason: in one line.
fn shown(claim: &VerifiedClaim) -> String {
    let found = claim.found.as_ref().map(|f| {
        format!(
            " in {} {:?} {}",
            f.note,
            f.line_range,
            f.heading_path.join(">")
        )
    });
    let reason = claim.reason.as_ref().map(|reason| format!(" ({reason})"));
    let stale = if claim.stale { " stale" } else { "" };
    format!(
        "{}{}{}{stale}",
        claim.verdict.name(),
        found.unwrap_or_default().trim_end(),
        reason.unwrap_or_default()
    )
}

#[test]
fn which_place_is_cited() {
    let world = World::new();
    let heading = |note: &str, heading: &str| CitedPlace {
        heading: vec![heading.to_string()],
        ..at(note)
    };
    let text = world.vault.read("Projects/Kiln.md");
    let start = text.find("Cone 6").unwrap() as u64;
    let wait = "Wait a whole day";
    let cone = "Cone 6, slow: eleven hours.";
    let firing = "in Projects/Kiln.md (8, 8) The kiln>Firing";
    let cooling = "in Projects/Kiln.md (11, 11) The kiln>Cooling";
    let elsewhere = "elsewhere in the note than cited";
    for (quote, place, expected) in [
        (cone, at("Projects/Kiln.md"), format!("exact {firing}")),
        (cone, at("oven"), format!("exact {firing}")),
        (cone, at("[[Kiln#Firing]]"), format!("exact {firing}")),
        (cone, at("Kiln#^slow"), format!("exact {firing}")),
        (cone, heading("Kiln", "firing"), format!("exact {firing}")),
        (
            cone,
            heading("Kiln", "Cooling"),
            format!("moved {firing} ({elsewhere})"),
        ),
        (
            cone,
            heading("Kiln", "Glazing"),
            format!("moved {firing} (“Projects/Kiln.md” has no heading “Glazing”)"),
        ),
        (
            wait,
            CitedPlace {
                lines: Some((10, 11)),
                ..at("Kiln")
            },
            format!("exact {cooling}"),
        ),
        (
            wait,
            CitedPlace {
                lines: Some((1, 8)),
                ..at("Kiln")
            },
            format!("moved {cooling} ({elsewhere})"),
        ),
        (
            wait,
            CitedPlace {
                lines: Some((90, 91)),
                ..at("Kiln")
            },
            format!("moved {cooling} (“Projects/Kiln.md” has no lines 90 to 91; it has 12)"),
        ),
        (
            cone,
            CitedPlace {
                bytes: Some(start..start + 9),
                ..at("Kiln")
            },
            format!("exact {firing}"),
        ),
        (
            cone,
            CitedPlace {
                bytes: Some(0..start),
                ..at("Kiln")
            },
            format!("moved {firing} ({elsewhere})"),
        ),
        (
            cone,
            CitedPlace {
                bytes: Some(u64::MAX..u64::MAX),
                ..at("Kiln")
            },
            format!("moved {firing} ({elsewhere})"),
        ),
        // Several notes answer to the name: any of them may be meant.
        (
            "Sold in 2018",
            at("Log"),
            "exact in Old/Log.md (1, 1)".into(),
        ),
        (
            "Bought in 2020",
            at("Log"),
            "exact in New/Log.md (1, 1)".into(),
        ),
        // Elsewhere, nowhere.
        (
            "Sold in 2018 for a song",
            at("Glazes"),
            "moved in Old/Log.md (1, 1) (not in that note, but in “Old/Log.md”)".into(),
        ),
        ("Sold in", at("Glazes"), "absent".into()),
        (
            "Sold in 2018 for a dance",
            at("Old/Log"),
            "changed in Old/Log.md (1, 1)".into(),
        ),
        (
            "Quite another story altogether",
            at("Glazes"),
            "absent".into(),
        ),
        (
            "Sold in 2018 for a song",
            at("Sales"),
            "absent in Old/Log.md (1, 1) (not in the vault)".into(),
        ),
        (
            "x",
            at("../../etc/passwd"),
            "absent (not in the vault)".into(),
        ),
        (
            "",
            at("Kiln"),
            "absent (it holds no words to look for)".into(),
        ),
        // Anywhere.
        (
            "sold in 2018",
            CitedPlace::default(),
            "normalized in Old/Log.md (1, 1)".into(),
        ),
        (
            "no such words here",
            CitedPlace::default(),
            "absent (in no note of the vault)".into(),
        ),
    ] {
        assert_eq!(
            shown(&world.quote(quote, place.clone())),
            expected,
            "{quote} {place:?}"
        );
    }
}

#[test]
fn the_cited_note_decides_and_the_words_of_another_are_named() {
    let world = World::new();
    world.vault.write(
        "Madder.md",
        "The bath stays under 70 °C: never over 70 °C.\nIt cost 9,150 in March 2019.",
    );
    world
        .vault
        .write("Weld.md", "Weld may boil, yet never over 80 °C in all.");
    world.vault.write(
        "Weld 2.md",
        "---\nsupersedes: \"[[Weld]]\"\n---\nWeld should be kept cool.",
    );
    world.refresh();
    let claim = world.quote("never over 80 °C", at("Madder"));
    assert_eq!(shown(&claim), "changed in Madder.md (1, 1)");
    let difference = claim.difference.clone().unwrap().to_string();
    assert_eq!(difference, "never over [-80-] {+70+} °C");
    let elsewhere = claim.elsewhere.clone().unwrap();
    let place = (elsewhere.place.note.as_str(), elsewhere.place.line_range);
    assert_eq!(place, ("Weld.md", (1, 1)));
    assert_eq!(elsewhere.superseded_by, ["Weld 2.md"]);
    let nothing_like = world.quote("Weld may boil", at("Madder"));
    assert_eq!(
        shown(&nothing_like),
        "moved in Weld.md (1, 1) (not in that note, but in “Weld.md”)"
    );
    let within = world.quote(
        "It cost 9,150",
        CitedPlace {
            lines: Some((1, 1)),
            ..at("Madder.md")
        },
    );
    assert_eq!(within.verdict, Verdict::Moved);
    let holds = [&claim, &nothing_like, &within].map(VerifiedClaim::holds);
    assert_eq!(holds, [false, false, true]);
    // Places as they are written.
    for name in [
        "Madder.md:1",
        "[[Madder]]",
        "obsidian://open?vault=Notes&file=Madder.md",
    ] {
        let claim = world.quote("never over 70 °C", at(name));
        assert_eq!(shown(&claim), "exact in Madder.md (1, 1)", "{name}");
    }
}

#[test]
fn of_a_sentence_in_other_words_the_numbers_are_compared() {
    let world = World::new();
    world
        .vault
        .write("Madder.md", "The roots cost 9,150 on 3 March 2019.");
    world.refresh();
    let answer =
        "One paid 9,510 for all roots in 2019 [[Madder]]. On 2019-03-03 one paid 9150 [[Madder]].";
    let claims = world.answer(answer, Vec::new()).claims;
    let lacking: Vec<&[String]> = claims
        .iter()
        .map(|claim| claim.lacking.as_slice())
        .collect();
    assert_eq!(lacking, [&["9,510".to_string()][..], &[]]);
    assert!(claims.iter().all(VerifiedClaim::is_in_other_words));
}

#[test]
fn every_citation_that_leads_nowhere_is_told_once() {
    let world = World::new();
    let source = CitedSource {
        n: "1".to_string(),
        place: at("Glazes.md"),
    };
    let answer = "See [[Lamprey]]. See [[Glazes]]. [1]. [4].\n\n> The celadon needs a fire.\n\n[[Gone]]\n\n\
        It says “reduction firing” [^1].\n\n[1]: Glazes.md\n";
    let outcome = world.answer(answer, vec![source]);
    let claims: Vec<String> = outcome
        .claims
        .iter()
        .map(|claim| {
            format!(
                "{} {}",
                claim.citation.as_deref().unwrap_or("-"),
                shown(claim)
            )
        })
        .collect();
    assert_eq!(
        claims,
        [
            "[[Lamprey]] absent (not in the vault)",
            "[4] absent (no such source)",
            "[[Gone]] absent (not in the vault)",
            "[^1] absent (no such source)",
        ]
    );
    let outcome = world.answer(
        "It says “reduction firing” [^1].\n\n[1]: Log\n[^1]: [[Glazes]]",
        Vec::new(),
    );
    assert_eq!(shown(&outcome.claims[0]), "exact in Glazes.md (1, 1)");
    // A footnote of the answer is no numbered source.
    let outcome = world.answer(
        "It says “reduction firing” [1].\n\n[^1]: Glazes.md",
        Vec::new(),
    );
    assert_eq!(shown(&outcome.claims[0]), "absent (no such source)");
}

#[test]
fn the_file_on_disk_decides() {
    let world = World::new();
    let cone = "Cone 6, slow: eleven hours.";
    let cited = CitedPlace {
        heading: vec!["Firing".into()],
        lines: Some((8, 8)),
        content_hash: Some(world.hash("Projects/Kiln.md")),
        ..at("Projects/Kiln.md")
    };
    assert_eq!(
        shown(&world.quote(cone, cited.clone())),
        "exact in Projects/Kiln.md (8, 8) The kiln>Firing"
    );
    // Lines moved; the heading tells where. The index has not seen it.
    let text = world.vault.read("Projects/Kiln.md");
    world
        .vault
        .write("Projects/Kiln.md", text.replace("# The", "\n\n\n# The"));
    assert_eq!(
        shown(&world.quote(cone, cited.clone())),
        "exact in Projects/Kiln.md (11, 11) The kiln>Firing stale"
    );
    // Windows line ends, and an encoding in which bytes are counted in the decoding.
    world
        .vault
        .write("Projects/Kiln.md", text.replace('\n', "\r\n"));
    assert_eq!(
        shown(&world.quote("slow: eleven hours. Cooling Wait", at("Kiln"))),
        "normalized in Projects/Kiln.md (8, 11) The kiln>Firing"
    );
    let wide: Vec<u8> = "\u{feff}Naïve pots."
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    world.vault.write("Wide.md", wide);
    world.refresh();
    let claim = world.quote("naive pots", at("Wide"));
    assert_eq!(
        (claim.verdict, claim.found.unwrap().encoding),
        (Verdict::Normalized, "utf-16le")
    );
    // Renamed: known by its content.
    world.vault.write("Projects/Kiln.md", &text);
    world.refresh();
    world.vault.remove("Projects/Kiln.md");
    world.vault.write("Attic/Stove.md", &text);
    world.refresh();
    assert_eq!(
        shown(&world.quote(cone, cited.clone())),
        "moved in Attic/Stove.md (8, 8) The kiln>Firing (in “Attic/Stove.md”, the note that was “Projects/Kiln.md”)"
    );
    // Another note took its place.
    world.vault.write("Projects/Kiln.md", "A new kiln.");
    world.refresh();
    let claim = world.quote(cone, cited);
    assert_eq!(
        (claim.verdict, claim.found.unwrap().note.as_str()),
        (Verdict::Moved, "Attic/Stove.md")
    );
}

#[test]
fn what_is_gone_or_cannot_be_read_is_said() {
    let world = World::new();
    world.vault.remove("Glazes.md");
    let claim = world.quote("The celadon needs", at("Glazes.md"));
    assert_eq!(shown(&claim), "absent (no longer in the vault)");
    world.vault.remove("Old/Log.md");
    std::fs::create_dir(world.vault.path("Old/Log.md")).unwrap();
    let request = VerifyRequest {
        answer: Some("It was «Sold in 2018» [[Old/Log]].".into()),
        ..VerifyRequest::default()
    };
    let verification = world.verify(&request);
    assert_eq!(
        shown(&verification.claims[0]),
        "absent (not looked at: “Old/Log.md” is not a file)"
    );
    assert_eq!(
        verification.unreadable,
        [("Old/Log.md".into(), "“Old/Log.md” is not a file".into())]
    );
    // The words stand in another note of that name; what is cited was not all looked at.
    let verification = world.answer("It was «Bought in 2020» [[Log]].", Vec::new());
    assert!(verification.claims.iter().all(VerifiedClaim::holds));
    assert!(!verification.is_whole());
    // A note that is not cited does not count.
    let verification = world.answer("It is «slow: eleven hours» [[Kiln]].", Vec::new());
    assert!(verification.is_whole());
}

#[test]
fn an_excluded_note_is_nowhere() {
    let mut world = World::new();
    let secret = "My secret glaze holds a spoon of honey";
    assert_eq!(world.quote(secret, at("Diary")).verdict, Verdict::Exact);
    let hash = world.hash("Private/Diary.md");
    world.settings.index.rules = Rules::new(RuleSettings {
        folders: vec!["Private".into()],
        ..RuleSettings::default()
    })
    .unwrap();
    let by_hash = CitedPlace {
        content_hash: Some(hash),
        ..at("Private/Diary.md")
    };
    for place in [
        at("Diary"),
        at("Private/Diary.md"),
        at("Glazes"),
        by_hash,
        CitedPlace::default(),
    ] {
        let claim = world.quote(secret, place.clone());
        assert_eq!(
            (claim.verdict, claim.found),
            (Verdict::Absent, None),
            "{place:?}"
        );
    }
}

#[test]
fn the_claims_of_an_answer() {
    let world = World::new();
    let source = |n: &str, note: &str, heading: &str| CitedSource {
        n: n.to_string(),
        place: CitedPlace {
            heading: vec![heading.to_string()],
            ..at(note)
        },
    };
    let answer = "\
The firing is slow: “cone 6, slow” [1][2]. It takes “ten hours” [1].
Wait a whole day before you open it [1].
The celadon needs a reduction firing [[Glazes]].
It is cheap, as everybody knows [2] and [9].
He was “sold in 2018” [3].

[3]: Old/Log.md
";
    let sources = vec![
        source("1", "Projects/Kiln.md", "Firing"),
        source("2", "Glazes.md", ""),
    ];
    let mut sources = sources;
    sources[1].place.heading.clear();
    let verification = world.answer(answer, sources);
    let told: Vec<String> = verification
        .claims
        .iter()
        .map(|claim| {
            format!(
                "{} {} {}",
                claim.line.unwrap(),
                claim.citation.as_deref().unwrap(),
                shown(claim)
            )
        })
        .collect();
    let own = "not word for word in the note; a sentence may say it in words of its own";
    assert_eq!(
        told,
        [
            "1 [1] normalized in Projects/Kiln.md (8, 8) The kiln>Firing".to_string(),
            "1 [1] absent".to_string(),
            "2 [1] moved in Projects/Kiln.md (11, 11) The kiln>Cooling (elsewhere in the note than cited)".to_string(),
            "3 [[Glazes]] exact in Glazes.md (1, 1)".to_string(),
            format!("4 [2] absent ({own})"),
            "4 [9] absent (no such source)".to_string(),
            "5 [3] normalized in Old/Log.md (1, 1)".to_string(),
        ]
    );
    let many = "“Cone 6” [[Kiln]]. ".repeat(MAX_CLAIMS + 7);
    let verification = world.answer(&many, Vec::new());
    assert_eq!(
        (verification.claims.len(), verification.left_out),
        (MAX_CLAIMS, 7)
    );
    assert!(!verification.is_whole());
}

#[test]
fn a_link_among_quoted_words_is_not_what_is_cited() {
    let world = World::new();
    world.vault.write("t/CNN2.md", "Convolutions.");
    world
        .vault
        .write("B.md", "An analogy of [[t/CNN2]] for RNNs.\n");
    world.refresh();
    let source = CitedSource {
        n: "1".to_string(),
        place: at("B.md"),
    };
    for answer in [
        "> analogy of [[t/CNN2]] for RNNs\n\n[1]",
        "It is an “analogy of [[t/CNN2]] for RNNs” [1].",
    ] {
        let outcome = world.answer(answer, vec![source.clone()]);
        let told: Vec<String> = outcome.claims.iter().map(shown).collect();
        assert_eq!(told, ["normalized in B.md (1, 1)"], "{answer}");
    }
}

#[test]
fn a_name_of_any_length_is_looked_for_in_no_time() {
    let world = World::new();
    let name = format!("[[{}]]", "Kiln and glaze ".repeat(100_000));
    let claim = world.quote("Cone 6", at(&name));
    assert_eq!(shown(&claim), "absent (not in the vault)");
    let request = ReadRequest {
        note: name,
        ..ReadRequest::default()
    };
    let error = world.host().view().unwrap().read(&request).unwrap_err();
    let message = error.to_string();
    assert!(message.contains('…') && message.len() < 500, "{message}");
    let near = ReadRequest {
        note: "Glazs".to_string(),
        ..ReadRequest::default()
    };
    let error = world.host().view().unwrap().read(&near).unwrap_err();
    assert!(error.hint().contains("Glazes"), "{}", error.hint());
}

#[test]
fn nothing_of_the_vault_is_written() {
    let world = World::new();
    let before = entries(world.vault.root());
    world.answer("“Cone 6” [[Kiln]] and “honey” [[Diary]].", Vec::new());
    assert_eq!(entries(world.vault.root()), before);
}

fn entries(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path().display().to_string())
        .collect();
    names.sort();
    names
}
