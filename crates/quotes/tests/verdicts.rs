//! Which quotations stand in a text, where, and what is said of those that do not.

use lorewell_quotes::{Change, Found, Nearest, Original, Quote, Wording};

const NOTE: &str = "---
title: Kiln
---
# The kiln

Bought in **2019** from the [[Potters|potters' guild]]; it draws 32 A.

## Firing
- Cone 6, slow: eleven hours
- with the peephole “open” — always

| glaze | cone |
|-------|------|
| celadon | 10 |

> Never open it above 120 °C,
> whatever the clock says. ^never

素焼きは八百度で、
ゆっくり冷ます。";

fn find(note: &str, quote: &str) -> Option<Found> {
    Original::new(note).find(&Quote::new(quote), None)
}

fn nearest(note: &str, quote: &str) -> Option<Nearest> {
    Original::new(note).nearest(&Quote::new(quote), None)
}

#[test]
fn what_stands_and_how() {
    use Wording::{Exact, Normalized};
    for (quote, expected) in [
        // As it is, wherever it begins.
        (
            "Cone 6, slow: eleven hours",
            Some((Exact, "Cone 6, slow: eleven hours")),
        ),
        ("  it draws 32 A.\n", Some((Exact, "it draws 32 A."))),
        ("raws 32", Some((Exact, "raws 32"))),
        ("素焼きは八百度", Some((Exact, "素焼きは八百度"))),
        // Case, white space, lines.
        (
            "cone 6, SLOW:\r\n  eleven hours",
            Some((Normalized, "Cone 6, slow: eleven hours")),
        ),
        ("八百度でゆっくり", None),
        (
            "八百度で、ゆっくり冷ます",
            Some((Normalized, "八百度で、\nゆっくり冷ます")),
        ),
        // Styles of marks.
        (
            "peephole \"open\" - always",
            Some((Normalized, "peephole “open” — always")),
        ),
        (
            "potters’ guild",
            Some((Normalized, "[[Potters|potters' guild]]")),
        ),
        // What a reader does not see.
        (
            "Bought in 2019 from the potters' guild",
            Some((
                Normalized,
                "Bought in **2019** from the [[Potters|potters' guild]]",
            )),
        ),
        (
            "eleven hours with the peephole",
            Some((Normalized, "eleven hours\n- with the peephole")),
        ),
        (
            "Never open it above 120 °C, whatever the clock says.",
            Some((
                Normalized,
                "Never open it above 120 °C,\n> whatever the clock says.",
            )),
        ),
        ("celadon 10", Some((Normalized, "celadon | 10"))),
        // The sign that ends a quotation is the author's.
        ("Cone 6, slow.", Some((Normalized, "Cone 6, slow"))),
        ("it draws 32 A,", Some((Normalized, "it draws 32 A"))),
        // Pieces in order.
        (
            "Bought in … it draws 32 A",
            Some((
                Exact,
                "Bought in **2019** from the [[Potters|potters' guild]]; it draws 32 A",
            )),
        ),
        (
            "cone 6 [...] always",
            Some((
                Normalized,
                "Cone 6, slow: eleven hours\n- with the peephole “open” — always",
            )),
        ),
        ("always … Cone 6", None),
        ("…draws 32 A…", Some((Exact, "draws 32 A"))),
        // Blanks beside signs, letters adapted to another sentence.
        (
            "[t]he potters' guild ;it",
            Some((Normalized, "the [[Potters|potters' guild]]; it")),
        ),
        // Other words.
        ("Cone 7, slow", None),
        ("it draws 320 A", None),
        ("-120 °C", None),
        ("", None),
        ("…", None),
        ("“”", None),
    ] {
        let found = find(NOTE, quote);
        let got = found.as_ref().map(|f| (f.wording, &NOTE[f.range.clone()]));
        assert_eq!(got, expected, "{quote}");
        if let Some(found) = found {
            let parts: Vec<&str> = found.pieces.iter().map(|r| &NOTE[r.clone()]).collect();
            let several = [" … ", "[...]"].iter().any(|gap| quote.contains(gap));
            assert_eq!(parts.len() > 1, several, "{quote}: {parts:?}");
        }
    }
}

#[test]
fn forms_of_letters() {
    let composed = "Le résumé d’Ångström, ﬁn.";
    let apart = "Le re\u{301}sume\u{301} d'A\u{30a}ngstro\u{308}m, fin.";
    for (note, quote) in [
        (composed, apart),
        (apart, composed),
        ("ｶﾞﾗｽ釉", "ガラス釉"),
        ("ПРЁМ", "прем"),
        ("Straße", "STRASSE"),
    ] {
        let found = find(note, quote).unwrap();
        assert_eq!(
            (found.wording, found.range),
            (Wording::Normalized, 0..note.len()),
            "{quote}"
        );
    }
    let lines = "one\r\ntwo\rthree";
    assert_eq!(find(lines, "one\ntwo three").unwrap().range, 0..lines.len());
    assert_eq!(find(lines, "one\r\ntwo").unwrap().wording, Wording::Exact);
}

#[test]
fn where_it_was_cited_comes_first() {
    let note = "The pot is red.\nThe POT is red.\nThe pot is red.";
    let quote = Quote::new("The pot is red.");
    let original = Original::new(note);
    for (region, at, wording, in_region) in [
        (None, 0, Wording::Exact, true),
        (Some(0..5), 0, Wording::Exact, true),
        (Some(16..31), 16, Wording::Normalized, true),
        (Some(32..note.len()), 32, Wording::Exact, true),
        (Some(note.len()..note.len()), 0, Wording::Exact, false),
    ] {
        let found = original.find(&quote, region.as_ref()).unwrap();
        assert_eq!(
            (found.range.start, found.wording, found.in_region),
            (at, wording, in_region),
            "{region:?}"
        );
    }
    // Whole words before parts of words; the closest pieces.
    assert_eq!(find("cones, cone", "cone").unwrap().range, 7..11);
    let pieces = find("one x two, one two", "one … two").unwrap();
    assert_eq!(pieces.range, 11..18);
}

#[test]
fn the_nearest_text_and_the_difference() {
    for (quote, stretch, difference) in [
        (
            "Cone 6, slow: twelve hours",
            "Cone 6, slow: eleven hours",
            "6, slow: [-twelve-] {+eleven+} hours",
        ),
        (
            "Never open it above 210 °C, whatever your clock says",
            "Never open it above 120 °C,\n> whatever the clock says",
            "open it above [-210-] {+120+} °C, > whatever [-your-] {+the+} clock says",
        ),
        (
            "素焼きは九百度で、ゆっくり冷ます。",
            "素焼きは八百度で、\nゆっくり冷ます。",
            "素焼きは [-九-] {+八+} 百度で、 ゆっくり冷ます。",
        ),
        (
            "Bought in 2019, it draws 32 A",
            "Bought in **2019** from the [[Potters|potters' guild]]; it draws 32 A",
            "Bought in **2019** [-,-] {+from the [[Potters|potters' guild]];+} it draws 32 A",
        ),
    ] {
        let found = nearest(NOTE, quote);
        let found = found.unwrap_or_else(|| panic!("{quote}"));
        assert_eq!(&NOTE[found.range.clone()], stretch, "{quote}");
        assert!(
            found.difference.to_string().ends_with(difference),
            "{quote}: {}",
            found.difference
        );
        assert!((0.6..1.0).contains(&found.likeness));
    }
    // What only a stop word ties to the quotation is no part of the nearest text.
    let note = "It does the same. Last year the kiln was sold, and so on, to the end.";
    let found = nearest(note, "The last year the kiln was bought, and so").unwrap();
    assert_eq!(&note[found.range], "Last year the kiln was sold, and so");
    for stranger in [
        "The moon is a harsh mistress indeed",
        "It is in the and of with what is on",
        "月は無慈悲な夜の女王",
        "",
    ] {
        assert_eq!(nearest(NOTE, stranger), None, "{stranger}");
    }
}

#[test]
fn the_parts_make_up_both_texts() {
    let found = nearest(NOTE, "Cone 7, slow: eleven hours").unwrap();
    let side = |other: Change| -> Vec<&str> {
        let parts = found.difference.parts.iter().filter(|p| p.change != other);
        parts.map(|p| p.text.as_str()).collect()
    };
    assert_eq!(side(Change::Added).join(" "), "Cone 7 , slow: eleven hours");
    let words = |text: &str| text.split_whitespace().collect::<String>();
    assert_eq!(
        words(&side(Change::Removed).concat()),
        words(&NOTE[found.range.clone()])
    );
}

#[test]
fn of_several_pieces_the_wrong_one_is_compared() {
    let found = nearest(NOTE, "Bought in … Cone 6, fast: eleven hours").unwrap();
    assert!(found.one_piece && !found.other_order);
    assert_eq!(&NOTE[found.range], "Cone 6, slow: eleven hours");
    let found = nearest(NOTE, "with the peephole … Cone 6, slow").unwrap();
    assert!(found.one_piece && found.other_order);
}
