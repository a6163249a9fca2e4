//! What holds of any text, however odd, and that odd text is read in linear time.

#![expect(clippy::disallowed_methods, reason = "settings of the test itself")]

use std::time::{Duration, Instant};

use lorewell_markdown::{Parsed, Settings, parse};
use proptest::prelude::*;

/// Checks everything that has to hold of a note, whatever its text.
fn check(text: &str, settings: &Settings) -> Parsed {
    let parsed = parse(text, settings);
    let note = &parsed.note;
    let ranges = (note.links.iter().map(|link| &link.range))
        .chain(note.headings.iter().map(|heading| &heading.range))
        .chain(note.blocks.iter().map(|block| &block.range))
        .chain(note.tags.iter().filter_map(|tag| tag.range.as_ref()))
        .chain(&note.properties_range)
        .chain(&note.hidden);
    for range in ranges {
        assert!(
            text.get(range.clone()).is_some(),
            "{range:?} does not slice {text:?}"
        );
    }
    let mut covered = vec![false; text.len()];
    for range in note.hidden.iter().chain(&note.properties_range) {
        covered[range.clone()].fill(true);
    }
    let mut end = 0;
    for passage in &note.passages {
        let slice = text
            .get(passage.range.clone())
            .unwrap_or_else(|| panic!("{passage:?} does not slice {text:?}"));
        // Only a note without text is shown by an empty passage.
        let nameplate = note.passages.len() == 1 && passage.range == (text.len()..text.len());
        assert!(
            slice.trim() == slice && (!slice.is_empty() || nameplate),
            "blanks at the ends of {slice:?} in {text:?}"
        );
        assert!(
            slice.chars().count() <= settings.passage_chars,
            "{slice:?} is too long"
        );
        assert!(
            passage.range.start >= end || settings.overlap_chars > 0,
            "{passage:?} overlaps in {text:?}"
        );
        assert!(
            passage.range.end > end || nameplate,
            "{passage:?} is out of order in {text:?}"
        );
        assert!(passage.lines.start() <= passage.lines.end());
        end = passage.range.end;
        covered[passage.range.clone()].fill(true);
        for pieces in [&passage.hidden, &passage.spoken] {
            assert!(pieces.windows(2).all(|pair| pair[0].end <= pair[1].start));
            let inside = |piece: &std::ops::Range<usize>| {
                passage.range.start <= piece.start
                    && piece.end <= passage.range.end
                    && text.get(piece.clone()).is_some()
            };
            assert!(
                pieces.iter().all(inside),
                "{pieces:?} is not inside {passage:?} of {text:?}"
            );
        }
        let _ = (passage.words(text), passage.prose(text));
    }
    assert!(!note.passages.is_empty(), "no passage in {text:?}");
    for (at, c) in text.char_indices() {
        let is_lost = !covered[at] && !c.is_whitespace() && c != '\u{feff}';
        assert!(!is_lost, "{c:?} at {at} is lost in {text:?}");
    }
    parsed
}

const SMALL: Settings = Settings {
    passage_chars: 40,
    overlap_chars: 0,
};
const OVERLAPPING: Settings = Settings {
    passage_chars: 40,
    overlap_chars: 9,
};

/// Pieces of which Markdown is made, put together without sense.
fn soup() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "# ",
        "## ",
        "\n",
        "\n\n",
        "\r\n",
        "\r",
        " ",
        "    ",
        "\t",
        "- ",
        "1. ",
        "> ",
        "> [!note]- ",
        "```",
        "~~~",
        "`",
        "$",
        "$$",
        "|",
        "|---|",
        "\n|---|---|\n",
        "[[",
        "]]",
        "![[",
        "|alias",
        "[a](b%20c.md)",
        "](",
        ")",
        "[x]: data:image/png;base64,AAAA",
        "![](data:image/png;base64,AAAA)",
        "%%",
        "\n%%\n",
        "==",
        "**",
        "_",
        "~~",
        "<b>",
        "</b>",
        "<!--",
        "-->",
        "<script>",
        "</script>",
        "<style",
        "\n<div>\n",
        "\n---\n",
        "---\n",
        "===\n",
        "^id",
        " ^id\n",
        "#tag",
        "#标签",
        "https://a.test/x#y",
        "\\",
        "&amp;",
        "word",
        "words of a sentence. ",
        "中文句子。",
        "👩‍🚀",
        "e\u{301}",
        "\u{feff}",
        "\0",
        "\u{1}",
        "\u{202e}",
        "\u{a0}",
        "\u{2028}",
        "[^1]",
        "[^1]: note",
        "key: value\n",
        "tags: [a, b]\n",
        "title: \"x\n",
        "- [ ] ",
        "```compressed-json\n",
        "# Excalidraw Data\n",
        "## Drawing\n",
    ]);
    prop::collection::vec(pieces, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn markdown_soup_is_read(text in soup(), opening in prop::sample::select(vec!["", "---\n", "\u{feff}---\n", "---\nexcalidraw-plugin: parsed\n---\n"])) {
        let text = format!("{opening}{text}");
        check(&text, &SMALL);
        check(&text, &OVERLAPPING);
        check(&text, &Settings::default());
    }

    #[test]
    fn any_characters_are_read(text in "\\PC{0,200}") {
        check(&text, &SMALL);
    }

    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        check(&String::from_utf8_lossy(&bytes), &OVERLAPPING);
    }
}

/// A text that is read within this is read in linear time: the worst below take a hundredth of it when optimized.
const PATIENCE: Duration = Duration::from_secs(20);

#[test]
fn monsters_are_read_in_linear_time() {
    let monsters: Vec<(&str, String)> = vec![
        (
            "one line of long tokens",
            "0123456789abcdef"
                .repeat(640)
                .chars()
                .chain([' '])
                .collect::<String>()
                .repeat(68),
        ),
        ("one word over and over", "org ".repeat(65_000)),
        ("nested quotes", format!("{}x", "> ".repeat(20_000))),
        (
            "nested lists on one line",
            format!("{}x", "- ".repeat(5_000)),
        ),
        (
            "nested lists",
            (0..1_000)
                .map(|depth| format!("{}- x\n", "  ".repeat(depth)))
                .collect(),
        ),
        ("open brackets", "[".repeat(50_000)),
        ("open wikilinks", "[[".repeat(50_000)),
        ("open pictures", "![[a|".repeat(20_000)),
        (
            "links in links",
            format!("{}x{}", "[".repeat(5_000), "](y)".repeat(5_000)),
        ),
        (
            "backticks",
            (1..400).map(|n| format!("{} ", "`".repeat(n))).collect(),
        ),
        ("emphasis", "*a _b ".repeat(20_000)),
        ("fences", "```\n".repeat(30_001)),
        ("fences in quotes", "> ```\nx\n".repeat(20_000)),
        ("open comments", "%% ".repeat(40_001)),
        ("comments on one line", "a %%b%% ".repeat(30_000)),
        ("open comment lines", "%%\n\n".repeat(20_001)),
        ("tags", "#a/b ".repeat(50_000)),
        ("marks", "== ".repeat(50_000)),
        ("addresses", "https://a.test/x ".repeat(20_000)),
        ("colons", "a:".repeat(100_000)),
        ("HTML tags", "<b>x</b>".repeat(30_000)),
        ("open HTML", "<a href='".repeat(30_000)),
        ("open HTML blocks", "<div title=\"\n".repeat(20_000)),
        ("open HTML comments", "<!-- ".repeat(30_000)),
        ("scripts", "<script>".repeat(20_000)),
        ("dollars", "$a ".repeat(50_000)),
        (
            "a wide table",
            format!(
                "{}\n{}\n{}",
                "|a".repeat(5_000),
                "|-".repeat(5_000),
                "|b\n".repeat(200)
            ),
        ),
        (
            "a long table",
            format!("|a|b|\n|-|-|\n{}", "|c|d|\n".repeat(20_000)),
        ),
        (
            "definitions",
            (0..10_000).map(|n| format!("[{n}]: /x\n")).collect(),
        ),
        (
            "footnotes",
            (0..5_000)
                .map(|n| format!("a[^{n}]\n\n[^{n}]: b\n\n"))
                .collect(),
        ),
        ("headings", "# a\n".repeat(20_000)),
        (
            "deep properties",
            format!("---\na: {}\n---\n", "[".repeat(50_000)),
        ),
        (
            "many properties",
            format!(
                "---\n{}---\n",
                (0..3_000)
                    .map(|n| format!("k{n}: a: b\n"))
                    .collect::<String>()
            ),
        ),
        ("rules", "---\n".repeat(30_000)),
        ("data", "data:;base64,".repeat(20_000)),
        ("block ids", "x ^a\n\n".repeat(20_000)),
        ("carets", "^".repeat(100_000)),
        (
            "marks on letters",
            format!("e{}", "\u{301}".repeat(100_000)),
        ),
        ("joined emoji", "👩\u{200d}".repeat(50_000)),
        ("flags", "🇦🇧".repeat(50_000)),
        ("lone CR", "a\r".repeat(50_000)),
        ("nothing but blanks", " \t\u{a0}\n".repeat(50_000)),
        ("NUL", "\0".repeat(100_000)),
    ];
    for (name, text) in &monsters {
        let began = Instant::now();
        check(text, &Settings::default());
        check(
            text,
            &Settings {
                passage_chars: 500,
                overlap_chars: 50,
            },
        );
        let took = began.elapsed();
        if std::env::var_os("SHOW_TIMES").is_some() {
            println!("{took:>12.2?} {:>8} bytes {name}", text.len());
        }
        assert!(took < PATIENCE, "{name} took {took:?}");
    }
}
