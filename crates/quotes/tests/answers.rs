//! What answers claim, and which citations belong to which words.

use lorewell_quotes::{Answer, Kind, Target};

/// The claims as lines: kind, words, citations.
fn read(text: &str) -> Vec<String> {
    let answer = Answer::read(text);
    let line = |claim: &lorewell_quotes::Claim| {
        let citations: Vec<String> = claim
            .citations
            .iter()
            .map(|c| match &c.target {
                Target::Source(n) => format!("#{n}"),
                Target::Note(note) => note.clone(),
            })
            .collect();
        let kind = match claim.kind {
            Kind::Quote => "quote",
            Kind::Sentence => "sentence",
            Kind::Pointer => "pointer",
        };
        let bare = claim
            .bare
            .iter()
            .map(|bare| format!(" ({bare})"))
            .collect::<String>();
        format!(
            "{}: {kind} {}{bare} <- {}",
            claim.line,
            claim.text,
            citations.join(" + ")
        )
    };
    let mut lines: Vec<String> = answer.claims.iter().map(line).collect();
    let uncited = answer.uncited.iter();
    lines.extend(uncited.map(|quote| format!("{}: uncited {}", quote.line, quote.text)));
    lines.extend(answer.sources.iter().map(|(n, target)| match target {
        Target::Note(note) => format!("{n} = {note}"),
        Target::Source(other) => format!("{n} = #{other}"),
    }));
    lines
}

#[test]
fn links_in_quotations_are_words_and_the_last_to_be_cited() {
    for (answer, expected) in [
        (
            "> analogy of [[t/CNN2]] for RNNs\n\n[1]",
            &[
                "1: quote analogy of t/CNN2 for RNNs <- #1",
                "3: pointer  <- #1",
            ][..],
        ),
        (
            "> analogy of [[t/CNN2]] for RNNs [1]",
            &["1: quote analogy of t/CNN2 for RNNs <- #1"],
        ),
        (
            "> an analogy of [[t/CNN2]]\n\n[1]",
            &["1: quote an analogy of <- #1", "3: pointer  <- #1"],
        ),
        (
            "> - see [[t/A]]\n> - and more\n\n[1]",
            &["1: quote see t/A\n\nand more <- #1", "4: pointer  <- #1"],
        ),
        (
            "It is an “analogy of [[t/CNN2]] for RNNs” [1].",
            &["1: quote analogy of t/CNN2 for RNNs <- #1"],
        ),
        (
            "By [[Kiln]], an “analogy of [[CNN2]] for RNNs”.",
            &["1: quote analogy of CNN2 for RNNs <- Kiln"],
        ),
        // For want of any other.
        (
            "> analogy of [[t/CNN2]] for RNNs",
            &["1: quote analogy of t/CNN2 for RNNs <- t/CNN2"],
        ),
        (
            "He says “Cone 6 [[Kiln#Firing]]”. Glaze differs there [3].",
            &[
                "1: quote Cone 6 <- Kiln#Firing",
                "1: sentence Glaze differs there. <- #3",
            ],
        ),
        (
            "By [1]:\n\n> Cone 6 [[Kiln#Firing]]",
            &["3: quote Cone 6 <- Kiln#Firing"],
        ),
        // What is embedded is a file, or a note.
        (
            "> the plan ![[x.svg]] of it\n\n[1]",
            &["1: quote the plan x.svg of it <- #1", "3: pointer  <- #1"],
        ),
        (
            "> the plan of it\n\n![[x.svg]]",
            &["1: uncited the plan of it"],
        ),
        ("It is the “plan” ![a](x.png).", &["1: uncited plan"]),
        (
            "It is the “plan” ![[Kiln 1.2]].",
            &["1: quote plan <- Kiln 1.2"],
        ),
        // A last line of citations says whose words they are.
        ("> cell one\n> [[Plain]]", &["1: quote cell one <- Plain"]),
        (
            "> cell one\n>\n> [[Plain]], [[t/A]]\n\nSee [1].",
            &["1: quote cell one <- Plain + t/A", "5: pointer See. <- #1"],
        ),
        (
            "> cell one of\n> [[Plain]] wood\n> – [1]",
            &["1: quote cell one of Plain wood <- #1"],
        ),
    ] {
        assert_eq!(read(answer), expected, "{answer}");
    }
}

#[test]
fn a_link_out_of_the_vault_ends_the_search() {
    for (answer, expected) in [
        (
            "It is slow [[Kiln]]: \"words\" [z](https://x.test/a).",
            &["1: uncited words"][..],
        ),
        (
            "[[Kiln]] is slow, \"words\" (https://x.test/a). More of it [1].",
            &["1: sentence More of it. <- #1", "1: uncited words"],
        ),
        (
            "By <https://x.test>, \"words\". See [1].",
            &["1: pointer See. <- #1", "1: uncited words"],
        ),
        // Beside a note it is one of two citations; behind other words it is none of these.
        (
            "Slow: \"words\" [z](https://x.test/a) [1].",
            &["1: quote words <- #1"],
        ),
        (
            "Slow: \"words\" of [z](https://x.test/a) as told [1].",
            &["1: quote words <- #1"],
        ),
        (
            "Slow: \"words [z](https://x.test/a)\" [1].",
            &["1: quote words z <- #1"],
        ),
        (
            "By [1]:\n\n> words\n\n[z](https://x.test/a)",
            &["3: uncited words"],
        ),
        (
            "By [1]:\n\n> words\n> — [z](https://x.test/a)",
            &["3: uncited words"],
        ),
        (
            "By [1]:\n\n> words\n\nSee [z](https://x.test/a) for more.",
            &["3: quote words <- #1"],
        ),
    ] {
        assert_eq!(read(answer), expected, "{answer}");
    }
    // Time is linear.
    for piece in [
        "[[a/b]] ",
        "https://x.test ",
        "> [[a/b]]\n",
        "\"a b\" [z](https://x) ",
    ] {
        let answer = Answer::read(&piece.repeat(5_000));
        assert!(answer.claims.len() <= 5_000, "{piece}");
    }
}

#[test]
fn claims_and_their_citations() {
    for (answer, expected) in [
        // The citation behind, inside and before.
        (
            "The kiln is slow: \"Cone 6, slow\" [1].",
            &["1: quote Cone 6, slow <- #1"][..],
        ),
        ("It says “Cone 6 [1]”.", &["1: quote Cone 6 <- #1"]),
        ("[[Kiln]] says „Cone 6“.", &["1: quote Cone 6 <- Kiln"]),
        (
            "According to [2], «Cone 6». Glaze differs there [3].",
            &[
                "1: quote Cone 6 <- #2",
                "1: sentence Glaze differs there. <- #3",
            ],
        ),
        (
            "Both «a b» [1] and «c d» [2][3].",
            &["1: quote a b <- #1", "1: quote c d <- #2 + #3"],
        ),
        (
            "“First. Second thing.” [1] Then a plain sentence.",
            &["1: quote First. Second thing. <- #1"],
        ),
        (
            "It is «so». And it is why [4].",
            &["1: quote so <- #4", "1: sentence And it is why. <- #4"],
        ),
        ("他说「很慢」[1]。", &["1: quote 很慢 <- #1"]),
        // Kinds of citations.
        (
            "Fired slowly by hand [1, 3]. Cooled for two days [^2]. Opened too early 【4】.",
            &[
                "1: sentence Fired slowly by hand. <- #1 + #3",
                "1: sentence Cooled for two days. <- #^2",
                "1: sentence Opened too early. <- #4",
            ],
        ),
        (
            "Fired slowly by hand [[Kiln#Firing|the kiln]].",
            &["1: sentence Fired slowly by hand the kiln. (Fired slowly by hand) <- Kiln#Firing"],
        ),
        (
            "Fired slowly by hand [[Kiln#Firing]].",
            &["1: sentence Fired slowly by hand. <- Kiln#Firing"],
        ),
        (
            "The [[Kiln]] is slow [[Glazes]].",
            &["1: sentence The Kiln is slow Glazes. (The Kiln is slow) <- Kiln + Glazes"],
        ),
        (
            "Fired slowly by hand ([the kiln](Big%20Kiln.md#Firing)).",
            &["1: sentence Fired slowly by hand. <- Big Kiln.md#Firing"],
        ),
        (
            "Fired slowly by hand. [Kiln](obsidian://open?vault=V&file=A%2FKiln.md)",
            &["1: sentence Fired slowly by hand. <- A/Kiln.md"],
        ),
        ("Fired slowly by hand [web](https://example.org).", &[]),
        (
            "An array a[0] or `x[1]` is no more than code.",
            &["1: sentence An array a or x[1] is no more than code. <- #0"],
        ),
        // Behind the full stop.
        (
            "It took eleven hours. [1] The next took nine hours. [2]",
            &[
                "1: sentence It took eleven hours. <- #1",
                "1: sentence The next took nine hours. <- #2",
            ],
        ),
        // Too little to be looked for; none at all.
        (
            "See [1]. See [[Kiln]].",
            &["1: pointer See. <- #1", "1: pointer See Kiln. <- Kiln"],
        ),
        (
            "“Scare quotes” and no citation.",
            &["1: uncited Scare quotes"],
        ),
        // A footnote of the note that is quoted is no citation.
        (
            "It says “Cone 6[^1] slow” [2].",
            &["1: quote Cone 6 slow <- #2"],
        ),
        (
            "> Cone 6 slow[^1]\n\n[[Kiln]]",
            &["1: quote Cone 6 slow <- Kiln", "3: pointer Kiln <- Kiln"],
        ),
        (
            "> Cone 6 slow[^1]\n\n[[Kiln]]\n\n[^1]: Glazes.md",
            &[
                "1: quote Cone 6 slow <- #^1",
                "3: pointer Kiln <- Kiln",
                "^1 = Glazes.md",
            ],
        ),
        ("It says “Cone 6[^1]”.", &["1: quote Cone 6 <- #^1"]),
        (
            "> Cone 6[^1] slow\n\n[[Kiln]]",
            &["1: quote Cone 6 slow <- Kiln", "3: pointer Kiln <- Kiln"],
        ),
        ("", &[]),
        // Blocks.
        (
            "# Heading [1]\n\n- item one says it [1]\n- item two says more [2]\n\n```\n\"code\" [1]\n```",
            &[
                "3: sentence item one says it <- #1",
                "4: sentence item two says more <- #2",
            ],
        ),
        (
            "| fact | source |\n|---|---|\n| it draws 32 A | [1] |",
            &["3: sentence it draws 32 A <- #1"],
        ),
        (
            "Text.\n\n> Cone 6, slow.\n> Eleven hours. [1]\n",
            &["3: quote Cone 6, slow. Eleven hours. <- #1"],
        ),
        (
            "> Cone 6, slow.\n>\n> — [[Kiln]], 2019",
            &["1: quote Cone 6, slow. <- Kiln"],
        ),
        ("> “Cone 6, slow.” ([1])", &["1: quote Cone 6, slow. <- #1"]),
        (
            "The note says [1]:\n\n> Cone 6, slow.\n\nAnd on.",
            &["3: quote Cone 6, slow. <- #1"],
        ),
        (
            "> [!quote] From the note\n> Cone 6, slow.\n\nSource: [[Kiln]]",
            &[
                "1: quote Cone 6, slow. <- Kiln",
                "4: pointer Source <- Kiln",
            ],
        ),
        ("> Cone 6, slow.", &["1: uncited Cone 6, slow."]),
        // Sources that the answer names itself.
        (
            "He says «Cone 6» [1].\n\nSources:\n[1] Projects/Kiln.md › Firing\n[2]: [[Glazes]]",
            &[
                "1: quote Cone 6 <- #1",
                "1 = Projects/Kiln.md#Firing",
                "2 = Glazes",
            ],
        ),
        (
            "He says «Cone 6» [1] and «slow» [^2].\n\n[1]: Kiln.md\n[^2]: [[Glazes]]",
            &[
                "1: quote Cone 6 <- #1",
                "1: quote slow <- #^2",
                "1 = Kiln.md",
                "^2 = Glazes",
            ],
        ),
    ] {
        assert_eq!(read(answer), expected, "{answer}");
    }
}
