//! What terms texts give.

use super::*;
use TokenKind::*;

fn terms(text: &str) -> Vec<String> {
    Tokenizer::new().terms(text)
}

#[test]
fn words_and_identifiers() {
    for (text, expected) in [
        ("Firing the kilns", &["fire", "the", "kiln"][..]),
        ("RFC-2119", &["rfc2119", "rfc", "2119"]),
        ("node.js", &["nodejs", "node", "js"]),
        (
            "1.10 and 2024_01_05",
            &["1.10", "1", "10", "and", "2024-01-05", "2024", "01", "05"],
        ),
        (
            "1.10 and 2024-01-05",
            &["1.10", "1", "10", "and", "2024-01-05", "2024", "01", "05"],
        ),
        ("v2.4 V8", &["v2.4", "v2", "2.4", "2", "4", "v8"]),
        ("C++, C# or C.", &["c++", "c", "c#", "c", "or", "c"]),
        ("on .NET 9", &["on", ".net", "net", "9"]),
        (
            "camelCase HTMLParser",
            &["camelcase", "camel", "case", "htmlparser", "html", "parser"],
        ),
        (
            "MAX_RETRY_COUNT",
            &["maxretrycount", "max", "retri", "count"],
        ),
        ("Anna's don't l’eau", &["anna", "don", "t", "l", "eau"]),
        ("_private_ **bold**", &["privat", "bold"]),
        ("résumé", &["résumé", "resum"]),
        ("re\u{301}sume\u{301}", &["résumé", "resum"]),
        ("so\u{ad}ft", &["soft"]),
        ("مـــدرسة", &["مدرسة", "مدرس"]),
        ("R&D", &["rd", "r", "d"]),
        ("end. Next", &["end", "next"]),
    ] {
        assert_eq!(terms(text), expected, "{text}");
    }
}

#[test]
fn scripts_without_blanks() {
    assert_eq!(terms("釉薬kiln"), ["釉", "釉薬", "薬", "kiln"]);
    assert_eq!(terms("ｶﾞｽ"), ["ガ", "ガス", "ス"]);
    assert_eq!(
        terms("น้ำ"),
        ["น\u{e49}\u{e4d}\u{e32}"]
            .map(|_| terms("น้ำ")[0].clone())
            .to_vec()
            .into_iter()
            .chain(terms("น้ำ")[1..].to_vec())
            .collect::<Vec<_>>()
    );
    assert_eq!(
        terms("열쇠를"),
        ["열쇠를", "열", "열쇠", "쇠", "쇠를", "를"]
    );
    assert_eq!(terms("🐝 hive"), ["🐝", "hive"]);
    assert_eq!(terms("👩‍🌾"), ["👩", "🌾"]);
}

#[test]
fn ranges_are_of_the_original() {
    let text = "Ｋｉｌｎ — re\u{301}sume\u{301} C++";
    let mut seen = Vec::new();
    Tokenizer::new().tokens(text, &mut |t| {
        seen.push((text[t.range].to_string(), t.kind))
    });
    let expected = [
        ("Ｋｉｌｎ", Word),
        ("re\u{301}sume\u{301}", Spelling),
        ("re\u{301}sume\u{301}", Word),
        ("C++", Identifier),
        ("C", Word),
    ];
    assert_eq!(seen, expected.map(|(t, k)| (t.to_string(), k)));
}

#[test]
fn long_tokens_are_cut_alike_everywhere() {
    let long = "ab".repeat(5_000);
    assert_eq!(terms(&long), terms(&format!("{long}cd")));
    assert!(terms(&long)[0].len() <= MAX_TERM_BYTES);
}

proptest::proptest! {
    #[test]
    fn any_text_gives_ordered_ranges_within_it(text in "(\\PC|[a-zA-Z .'_+#-]|[\u{4e00}-\u{4e20}\u{ac00}-\u{ac20}\u{300}]){0,60}") {
        let mut last = 0;
        Tokenizer::new().tokens(&text, &mut |t| {
            assert!(text.get(t.range.clone()).is_some_and(|s| !s.is_empty()));
            assert!(t.range.start >= last || t.kind != Word, "{t:?}");
            last = last.max(t.range.start);
            assert!(!t.term.is_empty() && t.term.len() <= MAX_TERM_BYTES);
        });
    }
}
