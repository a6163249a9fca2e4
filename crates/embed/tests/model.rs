//! What the built-in model promises to those who embed with it.

use lorewell_embed::{
    Embedded, Embedder, Fingerprint, FingerprintParts, PassageInput, StaticModel,
};
use proptest::prelude::*;

fn model() -> &'static StaticModel {
    StaticModel::built_in()
}

fn vector(embedded: Embedded) -> Vec<f32> {
    match embedded {
        Embedded::Vector(vector) => vector,
        other => panic!("no vector but {other:?}"),
    }
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn prose(text: &str) -> PassageInput<'_> {
    PassageInput {
        title: "",
        headings: &[],
        aliases: &[],
        tags: &[],
        prose: text,
    }
}

#[test]
fn the_weights_are_those_that_the_fingerprint_names() {
    let weights = include_bytes!("../models/static-en-256/static_en_256_int4.safetensors");
    let hash = blake3::hash(weights).to_hex();
    let card = include_str!("../models/static-en-256/MODEL_CARD.md");
    assert!(
        model()
            .fingerprint()
            .as_str()
            .contains(&format!("revision={};", &hash[..32]))
    );
    assert!(card.contains(hash.as_str()), "the card names the checksum");
    assert_eq!(model().dimension(), 256);
}

#[test]
fn the_tokens_are_those_that_count() {
    let tokens = model().tokens("The kiln, the kiln: \u{1F3FA}!");
    let [the, kiln, again, last] = tokens[..] else {
        panic!("{tokens:?}")
    };
    assert_eq!((the, kiln), (again, last), "punctuation has no token");
    assert_ne!(the, kiln);
    assert!(model().tokens(" -- ").is_empty());
}

#[test]
fn a_fingerprint_differs_whenever_a_part_does() {
    let parts = FingerprintParts {
        model: "m",
        revision: "r",
        precision: "int8",
        pooling: "mean",
        prefix: "none",
        text_rules: "1",
    };
    let others = [
        FingerprintParts {
            model: "n",
            ..parts
        },
        FingerprintParts {
            revision: "s",
            ..parts
        },
        FingerprintParts {
            precision: "f32",
            ..parts
        },
        FingerprintParts {
            pooling: "cls",
            ..parts
        },
        FingerprintParts {
            prefix: "query: ",
            ..parts
        },
        FingerprintParts {
            text_rules: "2",
            ..parts
        },
        FingerprintParts {
            model: "m;revision=r",
            revision: "",
            ..parts
        },
    ];
    let first = Fingerprint::new(&parts);
    assert_eq!(first, Fingerprint::new(&parts));
    assert_eq!(first.id().len(), 32);
    for other in &others {
        assert_ne!(first, Fingerprint::new(other));
        assert_ne!(first.id(), Fingerprint::new(other).id());
    }
}

#[test]
fn a_question_is_nearer_to_its_answer_than_to_something_else() {
    let question = vector(model().embed_question("How do I make pottery waterproof?"));
    let near = "A glaze seals the clay, so that a fired cup holds water.";
    let far = "The committee approved the budget for next year's elections.";
    let passages = model().embed_passages(&[prose(near), prose(far)]);
    let scores: Vec<f32> = passages
        .into_iter()
        .map(|p| cosine(&question, &vector(p)))
        .collect();
    assert!(scores[0] > scores[1] + 0.1, "{scores:?}");
}

#[test]
fn english_is_embedded_and_other_languages_are_not() {
    let english = [
        "The second firing of the kiln took nine hours.",
        "fn main() { let args: Vec<String> = std::env::args().collect(); }",
        "## Rebase\n\n```sh\n$ git rebase -i HEAD~3\n```\n\nThen `git push --force-with-lease`.",
        "Kubernetes pods, Nginx upstreams and PostgreSQL replicas",
        "MIT licence, care of the de Vries family",
        "使用 the command line to install packages and update them",
    ];
    for text in english {
        for embedded in both(text) {
            assert!(matches!(embedded, Embedded::Vector(_)), "{text}");
        }
    }
    let other = [
        "窑的第二次烧制持续了九个小时，温度达到一千二百四十度。",
        "窯の二回目の焼成は九時間かかりました。",
        "การเผาครั้งที่สองของเตาใช้เวลาเก้าชั่วโมง",
        "استغرق الحرق الثاني للفرن تسع ساعات",
        "भट्ठी की दूसरी फायरिंग में नौ घंटे लगे",
        "Второй обжиг печи занял девять часов.",
        "Το δεύτερο ψήσιμο του κλιβάνου διήρκεσε εννέα ώρες.",
        "Der zweite Brand des Ofens dauerte neun Stunden, weil die Glasur noch feucht war.",
        "La segunda cocción del horno duró nueve horas porque el esmalte estaba húmedo.",
        "Fırının ikinci pişirimi dokuz saat sürdü.",
        "Lần nung thứ hai của lò kéo dài chín giờ.",
        "安装 Docker 之后，运行这个命令就可以启动数据库服务了",
    ];
    for text in other {
        for embedded in both(text) {
            assert!(
                matches!(embedded, Embedded::OutsideVocabulary { coverage } if coverage < 0.55),
                "{text}"
            );
        }
    }
}

/// As a question and as a passage.
fn both(text: &str) -> [Embedded; 2] {
    let mut passage = model().embed_passages(&[prose(text)]);
    [model().embed_question(text), passage.remove(0)]
}

#[test]
fn without_a_letter_or_digit_there_is_nothing_to_embed() {
    for text in [
        "",
        " \n\t",
        "--- *** ___",
        "🔥🔥",
        "？！。",
        "\u{200B}\u{0}",
    ] {
        assert_eq!(both(text), [Embedded::Empty, Embedded::Empty], "{text:?}");
    }
    assert!(matches!(
        model().embed_question("2024"),
        Embedded::Vector(_)
    ));
    assert_eq!(
        both("x\u{416}")[0],
        Embedded::OutsideVocabulary { coverage: 0.0 }
    );
}

#[test]
fn every_field_of_a_passage_counts_and_the_title_most() {
    let word = ["glaze".to_owned()];
    let plain = prose("We opened the door in the morning and wrote down the numbers.");
    let fields = [
        PassageInput {
            title: "glaze",
            ..plain
        },
        PassageInput {
            headings: &word,
            ..plain
        },
        PassageInput {
            aliases: &word,
            ..plain
        },
        PassageInput {
            tags: &word,
            ..plain
        },
    ];
    let question = vector(model().embed_question("glaze"));
    let score = |input| {
        cosine(
            &question,
            &vector(model().embed_passages(&[input]).remove(0)),
        )
    };
    let scores = fields.map(score);
    assert!(scores.iter().all(|field| *field > score(plain)));
    assert!(
        scores[1..].iter().all(|other| scores[0] > *other),
        "{scores:?}"
    );
}

#[test]
fn huge_and_strange_texts_are_linear_and_harmless() {
    let huge = [
        "deadbeef".repeat(90_000),
        "org ".repeat(20_000),
        "a\u{301}".repeat(200_000),
        format!("the kiln {}", "0123456789abcdef".repeat(650)),
        (0..60_000).map(|number| format!("word{number} ")).collect(),
        "\u{10FFFF}\u{E000}x".repeat(50_000),
    ];
    for text in &huge {
        for embedded in both(text) {
            if let Embedded::Vector(vector) = embedded {
                assert!((cosine(&vector, &vector) - 1.0).abs() < 1e-4);
            }
        }
    }
    assert!(matches!(
        model().embed_question(&huge[1]),
        Embedded::Vector(_)
    ));
}

/// Words that make notes: known, unknown, foreign, odd.
fn text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        4 => prop::sample::select(vec!["the", "kiln", "Glaze", "firing", "is", "hot", "café"]),
        1 => prop::sample::select(vec!["#tag", "[[link]]", "窑", "и", "x1f3a", "—", "reglazings"]),
    ];
    proptest::collection::vec(word, 0..12).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_passage_is_the_same_in_any_company(
        notes in proptest::collection::vec((text(), text(), proptest::collection::vec(text(), 0..3)), 1..8),
    ) {
        let inputs: Vec<PassageInput<'_>> = notes
            .iter()
            .flat_map(|(title, body, list)| {
                let input = PassageInput { title, headings: list, aliases: &[], tags: list, prose: body };
                [input, PassageInput { prose: title, ..input }]
            })
            .collect();
        let together = model().embed_passages(&inputs);
        for (input, expected) in inputs.iter().zip(&together) {
            prop_assert_eq!(&model().embed_passages(&[*input])[0], expected);
            if let Embedded::Vector(vector) = expected {
                prop_assert!((cosine(vector, vector) - 1.0).abs() < 1e-5);
            }
        }
    }

    #[test]
    fn any_text_has_an_answer(text in any::<String>()) {
        for embedded in both(&text) {
            if let Embedded::OutsideVocabulary { coverage } = embedded {
                prop_assert!((0.0..1.0).contains(&coverage));
            }
        }
        prop_assert!((0.0..=1.0).contains(&model().coverage(&text)));
    }
}
