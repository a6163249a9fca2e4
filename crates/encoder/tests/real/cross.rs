//! A real cross-encoder.

use lorewell_encoder::{CrossEncoder, Options, Precision};

use crate::weights::model;

const NAME: &str = "ms-marco-MiniLM-L-12-v2";
const KILN: &str = "how hot is a stoneware kiln";
const GARDEN: &str = "what did we plant in the garden";

/// Question, passage, and the logit that ONNX Runtime 1.32 gives with the same weights in int8,
/// activations included.
const PAIRS: [(&str, &str, f32); 4] = [
    (
        KILN,
        "Stoneware is fired at cone 6, which is about 1220 degrees Celsius.",
        6.17,
    ),
    (KILN, "The sheep were shorn in May.", -11.25),
    (
        GARDEN,
        "Tomatoes, beans and two rows of carrots went into the beds behind the shed.",
        -7.13,
    ),
    (GARDEN, "The kiln cracked on Monday.", -11.28),
];

fn opened(precision: Precision) -> Option<CrossEncoder> {
    let options = Options {
        precision: Some(precision),
        ..Options::default()
    };
    Some(CrossEncoder::open(&model(NAME)?, &options).unwrap())
}

#[test]
fn a_cross_encoder_judges_as_another_engine_does() {
    for precision in [Precision::F32, Precision::F16, Precision::Q8] {
        let Some(encoder) = opened(precision) else {
            return;
        };
        for (question, passage, logit) in PAIRS {
            let judged = encoder.judge(question, &[passage])[0];
            assert!(!judged.truncated);
            let apart = (judged.logit - logit).abs();
            assert!(
                apart < 0.6,
                "{precision:?} {passage}: {} for {logit}",
                judged.logit
            );
        }
    }
}

#[test]
fn what_is_too_long_is_cut_and_what_stands_beside_it_changes_nothing() {
    let Some(encoder) = opened(Precision::Q8) else {
        return;
    };
    let (question, passage, _) = PAIRS[0];
    let long = format!("{passage} {}", "and so on ".repeat(2_000));
    let all = encoder.judge(question, &[passage, &long, "", passage]);
    assert_eq!(all[0], all[3]);
    assert_eq!(all[0], encoder.judge(question, &[passage])[0]);
    assert!(all[1].truncated && all[1].logit.is_finite());
    assert!(all[2].logit.is_finite());
    let long_question = question.repeat(500);
    let judged = encoder.judge(&long_question, &[passage])[0];
    assert!(judged.truncated && judged.logit.is_finite());
}

#[test]
fn a_model_that_is_no_reranker_is_refused_with_the_reason() {
    let Some(folder) = model("all-MiniLM-L6-v2") else {
        return;
    };
    let refused = CrossEncoder::open(&folder, &Options::default());
    let said = refused.err().unwrap().to_string();
    assert!(said.contains("BertModel is not supported"), "{said}");
}
