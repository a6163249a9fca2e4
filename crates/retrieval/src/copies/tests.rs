//! What is a copy of what.

use std::collections::HashSet;

use proptest::prelude::*;

use super::*;

const KILN: &str = "The kiln in the shed was fired twice in the spring of 2024, and after the second \
    firing Ada found that the lid had a crack along its whole length, so the next firing has to \
    wait until a new lid comes from the works in Stoke.";

/// Whether the second text is found as a copy of the first.
fn is_copy(one: &str, two: &str, origin: Origin) -> bool {
    let mut shapes = Shapes::default();
    shapes.insert(7, Shape::of(one).expect("long enough"));
    let found = shapes.like(&Shape::of(two).expect("long enough"));
    match found.first() {
        Some((7, Likeness::Same)) => true,
        Some((7, Likeness::Near)) => !tells_apart(&Telling::of(one), &Telling::of(two), origin),
        _ => false,
    }
}

#[test]
fn near_passages() {
    let stranger = Origin::default();
    let version = Origin {
        one_note: true,
        ..stranger
    };
    let backup = Origin {
        backup: true,
        ..version
    };
    let days = Origin {
        different_days: true,
        ..stranger
    };
    for (change, by, origin, is_near) in [
        ("", "", stranger, true),
        ("The kiln", "- the KILN:", stranger, true),
        ("shed", "shed there", stranger, true),
        ("so the next", "therefore the next", stranger, true),
        ("found that", "founding that", stranger, true),
        ("crack", "hole", stranger, false),
        ("crack", "hole", version, true),
        ("2024", "2023", stranger, false),
        ("2024", "2023", version, false),
        ("2024", "2023", backup, false),
        ("2024", "2024 and 2025", version, false),
        ("2024", "2024 and 2025", backup, true),
        ("Ada", "Bob", version, false),
        ("Ada found", "Ada and Bob found", stranger, false),
        ("Ada found", "Ada and Bob found", backup, true),
        ("had a crack", "had not a crack", version, false),
        ("shed", "shed ✅", version, false),
        ("", "", days, true),
        ("shed", "shed there", days, false),
        (
            "in the spring of 2024, and after the second firing Ada found that",
            "once, and",
            backup,
            false,
        ),
    ] {
        let changed = KILN.replacen(change, by, 1);
        assert_eq!(
            is_copy(KILN, &changed, origin),
            is_near,
            "{change} → {by}, {origin:?}"
        );
        assert_eq!(
            is_copy(&changed, KILN, origin),
            is_near,
            "{change} ← {by}, {origin:?}"
        );
    }
}

#[test]
fn events_in_the_same_form_of_words_stay_apart() {
    let forms = [
        (
            "On {} the group met in the hall, went through the open orders, and agreed to meet again in a week to look at what is left.",
            ["3 May 2024", "10 May 2024", "17 May 2024"],
        ),
        (
            "The talk with {} was about the lease of the workshop, and we agreed that the rent stays as it is until the end of the year.",
            ["Ada", "Bob", "Charles"],
        ),
        (
            "The {} glaze was mixed in the morning, sieved twice, left to stand until noon and then brushed on in three thin coats.",
            ["celadon", "tenmoku", "shino"],
        ),
        (
            "Die Sitzung am {} hat beschlossen, die Werkstatt für weitere zwölf Monate zu mieten und den Ofen prüfen zu lassen.",
            ["Montag", "Dienstag", "Mittwoch"],
        ),
        (
            "会议由{}主持，讨论了下一年度的工作计划、预算安排以及各部门之间的分工，最后大家一致同意按照原方案执行并在下周提交报告。",
            ["张三", "李四", "王五"],
        ),
    ];
    for (form, fills) in forms {
        let events = fills.map(|fill| form.replace("{}", fill));
        for (at, one) in events.iter().enumerate() {
            for two in events.iter().skip(at + 1) {
                assert!(!is_copy(one, two, Origin::default()), "{one} / {two}");
            }
            assert!(
                is_copy(one, &one.replace([',', '，'], ";"), Origin::default()),
                "{one}"
            );
        }
    }
}

#[test]
fn a_translation_is_no_copy_and_a_short_line_neither() {
    let german = "Der Ofen im Schuppen wurde im Frühling 2024 zweimal gebrannt, und nach dem zweiten Brand fand Ada einen Riss.";
    assert!(!is_copy(KILN, german, Origin::default()));
    assert!(Shape::of("Watered the plants.").is_none());
    assert_eq!(fingerprint(KILN), fingerprint(&KILN.to_uppercase()));
    assert_ne!(fingerprint(KILN), fingerprint(german));
}

#[test]
fn signs_are_words() {
    let split = |text| {
        let mut all = Vec::new();
        words(text, |word| all.push(word));
        all.join("|")
    };
    assert_eq!(
        split("- Kilns, 5% (C++) at -3 °C"),
        "Kilns|5|%|C|+|+|at|-|3|°|C"
    );
    assert_eq!(
        split("釉料 ok ✅ e\u{301}te\u{301}"),
        "釉|料|ok|✅|e\u{301}te\u{301}"
    );
    assert_eq!(
        split("+ one\n* two — three… soft\u{ad}hyphen"),
        "one|two|three|soft\u{ad}hyphen"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The signatures lose no pair: what is found is what a comparison of all finds.
    #[test]
    fn every_near_passage_is_found(
        base in prop::collection::vec("[a-e]{1,3}", 12..60),
        changes in prop::collection::vec((0_usize..60, "[a-e]{1,3}"), 0..6),
    ) {
        let mut changed = base.clone();
        for (at, word) in changes {
            let at = at % changed.len();
            changed[at] = word;
        }
        let (one, two) = (base.join(" "), changed.join(" "));
        prop_assume!(one.len() >= LEAST_CHARS && two.len() >= LEAST_CHARS);
        let (a, b) = (Shape::of(&one).expect("long"), Shape::of(&two).expect("long"));
        let pairs = |words: &[String]| -> HashSet<(String, String)> {
            words.windows(2).map(|w| (w[0].clone(), w[1].clone())).collect()
        };
        let (x, y) = (pairs(&base), pairs(&changed));
        let jaccard = x.intersection(&y).count() as f64 / x.union(&y).count() as f64;
        prop_assert!((a.resemblance(&b) - jaccard).abs() < 1e-9 || jaccard < NEAR);
        let mut shapes = Shapes::default();
        shapes.insert(0, a);
        prop_assert_eq!(!shapes.like(&b).is_empty(), jaccard >= NEAR || one == two);
    }

    #[test]
    fn any_text_has_a_shape_without_a_fault(text in r"(\PC|[a-z%$+-]| ){0,80}") {
        let mut end = 0;
        words(&text, |word| {
            assert!(!word.is_empty());
            end += word.len();
        });
        prop_assert!(end <= text.len());
        prop_assert!(Shape::of(&text).is_some() == (text.chars().count() >= LEAST_CHARS));
    }

    /// Hashing folds as the rest of the program does.
    #[test]
    fn words_hash_as_they_fold(word in r"[a-zA-Z0-9À-ſΑ-ωА-яё́ßŒ釉か]{1,12}") {
        let key = key();
        prop_assert_eq!(hash(&word, key), hash(&fold(&word), key));
        prop_assert_eq!(hash(&word, key), hash_bytes(fold(&word).as_bytes(), 0, key));
    }
}
