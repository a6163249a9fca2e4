//! What can go wrong with a request, and what that means for the texts in it.

use std::time::Duration;

use serde_json::Value;

/// So many characters of a server's own words are shown.
const MOST_SHOWN: usize = 300;

/// A request that brought no vectors.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fault {
    pub(crate) kind: Kind,
    /// What happened, for people, with the server's own words; no key in it.
    pub(crate) said: String,
}

/// What a fault means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// A text is longer than the model takes.
    TooLong,
    /// More texts, or more bytes, than the server takes at once.
    TooMany,
    /// The server cannot do these texts; perhaps only one of them.
    Texts,
    /// Vectors came, and which text each is of cannot be told.
    Unordered,
    /// The server wants to be asked later; after so long, if it said.
    Busy(Option<Duration>),
    /// The answer did not come in time.
    Slow,
    /// The server cannot be reached.
    Down,
    /// The address, the key or the model is not right, or the account has nothing left: asking
    /// again does not help.
    Settings,
}

/// What a status and the server's words mean.
pub(crate) fn kind_of(status: u16, words: &str, retry_after: Option<Duration>) -> Kind {
    let words = words.to_lowercase();
    let says = |pieces: &[&str]| pieces.iter().any(|piece| words.contains(piece));
    match status {
        300..=399 | 401 | 402 | 403 | 404 | 405 | 407 => Kind::Settings,
        429 if says(&["insufficient_quota", "exceeded your current quota"])
            && retry_after.is_none() =>
        {
            Kind::Settings
        }
        408 | 425 | 429 | 502..=504 | 529 => Kind::Busy(retry_after),
        _ if is_too_long(&says) => Kind::TooLong,
        413 => Kind::TooMany,
        _ if is_too_many(&says) => Kind::TooMany,
        _ => Kind::Texts,
    }
}

/// By the words of Ollama, llama.cpp, vLLM, text-embeddings-inference, LM Studio and OpenAI.
fn is_too_long(says: &impl Fn(&[&str]) -> bool) -> bool {
    if says(&["tokens per request", "tokens per batch"]) {
        return false;
    }
    says(&[
        "context length",
        "context size",
        "context window",
        "physical batch size",
        "input length",
        "input is too long",
        "input too long",
        "sequence length",
        "too many tokens",
        "token limit",
        "maximum tokens",
        "max_tokens",
    ]) || (says(&["token"]) && says(&["exceed", "maximum", "less than", "too long", "at most"]))
}

fn is_too_many(says: &impl Fn(&[&str]) -> bool) -> bool {
    says(&[
        "tokens per request",
        "tokens per batch",
        "batch size",
        "too many inputs",
        "too many items",
        "array too long",
        "too large",
        "maximum array length",
    ]) || (says(&["batch", "inputs"]) && says(&["exceed", "maximum", "at most", "limit"]))
}

/// The server's own words in an error, in one line: its message, or the beginning of what it sent.
pub(crate) fn words_of(body: &str) -> String {
    let json: Value = serde_json::from_str(body).unwrap_or_default();
    let places = [
        &json["error"]["message"],
        &json["error"],
        &json["message"],
        &json["detail"],
        &json["error_msg"],
    ];
    let message = places.into_iter().find_map(Value::as_str).unwrap_or(body);
    let mut words = String::new();
    for word in message.split(|c: char| c.is_whitespace() || c.is_control()) {
        if word.is_empty() {
            continue;
        }
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(word);
    }
    match words.char_indices().nth(MOST_SHOWN) {
        Some((end, _)) => format!("{}…", &words[..end]),
        None => words,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_say_the_same_in_many_ways() {
        let kind = |status, words| kind_of(status, words, None);
        for (status, words, wanted) in [
            (
                400,
                "the input length exceeds the context length",
                Kind::TooLong,
            ),
            (
                400,
                "This model's maximum context length is 8192 tokens, however you requested 9000",
                Kind::TooLong,
            ),
            (
                413,
                "`inputs` must have less than 512 tokens. Given: 600",
                Kind::TooLong,
            ),
            (
                500,
                "input is too large to process. increase the physical batch size",
                Kind::TooLong,
            ),
            (
                500,
                "input (600 tokens) is too large to process",
                Kind::Texts,
            ),
            (
                400,
                "Requested 400000 tokens, max 300000 tokens per request",
                Kind::TooMany,
            ),
            (
                422,
                "batch size 64 > maximum allowed batch size 32",
                Kind::TooMany,
            ),
            (413, "too large", Kind::TooMany),
            (413, "", Kind::TooMany),
            (400, "'$.input' is invalid", Kind::Texts),
            (
                500,
                "failed to encode response: json: unsupported value: NaN",
                Kind::Texts,
            ),
            (503, "loading model", Kind::Busy(None)),
            (429, "slow down", Kind::Busy(None)),
            (429, "You exceeded your current quota", Kind::Settings),
            (404, "model not found", Kind::Settings),
            (401, "", Kind::Settings),
            (307, "", Kind::Settings),
        ] {
            let came = kind(status, words);
            // Either way the text is cut in the end; what is certain is that it is told.
            if words.starts_with("input (") {
                assert!(
                    matches!(came, Kind::Texts | Kind::TooMany),
                    "{words}: {came:?}"
                );
                continue;
            }
            assert_eq!(came, wanted, "{status} {words}");
        }
        let wait = Some(Duration::from_secs(9));
        assert_eq!(kind_of(429, "quota exceeded", wait), Kind::Busy(wait));
    }

    #[test]
    fn the_servers_words_are_found_and_kept_in_one_line() {
        assert_eq!(
            words_of(r#"{"error":{"message":"no such model"}}"#),
            "no such model"
        );
        assert_eq!(
            words_of(r#"{"error":"no\nsuch\u001b[2J model"}"#),
            "no such [2J model"
        );
        assert_eq!(words_of(r#"{"detail":"bad"}"#), "bad");
        assert_eq!(words_of("404 page\n not found\n"), "404 page not found");
        assert_eq!(words_of(&"é".repeat(400)).chars().count(), MOST_SHOWN + 1);
        assert_eq!(words_of(""), "");
    }
}
