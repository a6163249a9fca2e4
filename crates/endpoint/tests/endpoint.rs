//! An endpoint against a server on this machine that misbehaves in every way that servers do.

use std::time::{Duration, Instant};

use lorewell_embed::{Embedded, Embedder, PassageInput};
use lorewell_endpoint::{
    Address, Endpoint, EndpointSettings, Key, PROBE, Prefixes, usual_prefixes,
};
use lorewell_testkit::StubEndpoint;
use serde_json::json;
use tempfile::TempDir;

struct Place {
    stub: StubEndpoint,
    folder: TempDir,
}

impl Place {
    fn new() -> Place {
        Place {
            stub: StubEndpoint::start(PROBE),
            folder: tempfile::tempdir().expect("a folder"),
        }
    }

    fn settings(&self) -> EndpointSettings {
        EndpointSettings {
            address: Address::read(&self.stub.url()).expect("an address"),
            model: "plum".to_string(),
            key: Ok(None),
            prefixes: Prefixes::default(),
            batch: 64,
            timeout: Duration::from_secs(20),
            memory: self.folder.path().join("endpoints.json"),
        }
    }

    fn open(&self) -> Endpoint {
        Endpoint::try_out(self.settings()).expect("it works")
    }

    /// The statuses of the calls that held more than the probe.
    fn statuses(&self) -> Vec<u16> {
        let calls = self.stub.calls().into_iter();
        let real = calls.filter(|call| !call.inputs.is_empty());
        real.map(|call| call.status).collect()
    }

    fn is_vector_of(&self, embedded: &Embedded, text: &str) -> bool {
        let Embedded::Vector(vector) = embedded else {
            return false;
        };
        let wanted = self.stub.vector(text);
        let dot: f64 = wanted
            .iter()
            .zip(vector)
            .map(|(a, b)| a * f64::from(*b))
            .sum();
        wanted.len() == vector.len() && dot > 0.999
    }
}

fn passages(endpoint: &Endpoint, texts: &[&str]) -> Vec<Embedded> {
    let input = |prose| PassageInput {
        title: "",
        headings: &[],
        aliases: &[],
        tags: &[],
        prose,
    };
    let inputs: Vec<PassageInput<'_>> = texts.iter().copied().map(input).collect();
    endpoint.embed_passages(&inputs)
}

fn many(count: usize) -> Vec<String> {
    (0..count)
        .map(|n| format!("rope number {n} of the barge"))
        .collect()
}

fn refs(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}

fn reason(embedded: &Embedded) -> &str {
    match embedded {
        Embedded::Refused { reason } | Embedded::Failed { reason } => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn it_counts_beside_words_as_a_transformer_does() {
    assert_eq!(Place::new().open().weight(), 0.8);
}

#[test]
fn vectors_come_back_to_their_texts_whatever_the_order() {
    let place = Place::new();
    let endpoint = place.open();
    for order in ["reversed", "no_index", "same_index", "too_few", ""] {
        place.stub.set(&json!({ "order": order }));
        let texts = ["kiln", "osier beds", "a third text"];
        let vectors = passages(&endpoint, &texts);
        // A server that leaves out vectors leaves out that of a text alone, too.
        for (vector, text) in vectors.iter().zip(texts) {
            match order {
                "too_few" => assert!(matches!(vector, Embedded::Failed { .. }), "{vector:?}"),
                _ => assert!(place.is_vector_of(vector, text), "{order} {text}"),
            }
        }
    }
}

#[test]
fn prefixes_and_parts_of_a_passage_are_sent_and_blank_texts_are_not() {
    let place = Place::new();
    let endpoint = Endpoint::try_out(EndpointSettings {
        prefixes: usual_prefixes("nomic-embed-text"),
        ..place.settings()
    });
    let endpoint = endpoint.expect("it works");
    let (headings, tags) = (["Firing".to_string()], ["clay".to_string()]);
    let whole = PassageInput {
        title: "Kiln",
        headings: &headings,
        aliases: &[],
        tags: &tags,
        prose: "Cone 6.",
    };
    let blank = PassageInput {
        title: "",
        headings: &[],
        tags: &[],
        prose: " \u{200b}\n—",
        ..whole
    };
    let vectors = endpoint.embed_passages(&[whole, blank]);
    assert_eq!(vectors[1], Embedded::Empty);
    assert!(place.is_vector_of(&vectors[0], "search_document: Kiln Firing clay Cone 6."));
    assert!(place.is_vector_of(&endpoint.embed_question("osier"), "search_query: osier"));
    assert_eq!(endpoint.embed_question("?!"), Embedded::Empty);
    let sent: Vec<String> = place
        .stub
        .calls()
        .into_iter()
        .flat_map(|c| c.inputs)
        .collect();
    assert_eq!(
        sent,
        [
            "search_document: Kiln\nFiring\nclay\nCone 6.\n",
            "search_query: osier"
        ]
    );
}

#[test]
fn what_the_server_takes_at_once_is_learnt_and_kept() {
    let place = Place::new();
    let endpoint = place.open();
    let error = json!({ "status": 413, "body": "too large" });
    place.stub.set(&json!({ "max_batch": 32, "error": error }));
    let texts = many(200);
    let vectors = passages(&endpoint, &refs(&texts));
    assert!(
        vectors
            .iter()
            .zip(&texts)
            .all(|(v, text)| place.is_vector_of(v, text))
    );
    let refused = place
        .statuses()
        .iter()
        .filter(|status| **status == 413)
        .count();
    assert_eq!(refused, 1);
    passages(&endpoint, &refs(&texts));
    let refused = place
        .statuses()
        .iter()
        .filter(|status| **status == 413)
        .count();
    assert_eq!(refused, 1, "it was remembered");
    // The same for bytes.
    place
        .stub
        .set(&json!({ "max_body_bytes": 600, "error": error }));
    assert!(
        passages(&endpoint, &refs(&texts))
            .iter()
            .all(|v| matches!(v, Embedded::Vector(_)))
    );
    let refused = place
        .statuses()
        .iter()
        .filter(|status| **status == 413)
        .count();
    assert!(refused <= 8, "{refused} refusals");
}

#[test]
fn a_text_that_is_too_long_is_embedded_in_pieces_and_the_others_whole() {
    let place = Place::new();
    let endpoint = place.open();
    let error = json!({ "status": 400, "body": r#"{"error":"the input length exceeds the context length"}"# });
    place
        .stub
        .set(&json!({ "max_tokens": 64, "tokens_per_char": 0.9, "error": error }));
    let long = "0x0000beef, 0x0007feed,\n".repeat(20);
    let vectors = passages(&endpoint, &["short one", &long, "another short one"]);
    assert!(place.is_vector_of(&vectors[0], "short one"));
    assert!(
        place.is_vector_of(&vectors[1], &long),
        "all of it is in the mean"
    );
    assert!(place.is_vector_of(&vectors[2], "another short one"));
    let first = place.statuses().len();
    passages(&endpoint, &[&long, "short one"]);
    let again = place.statuses().len() - first;
    assert!(
        again <= 4,
        "{first} calls, and {again} when the length was known"
    );
}

#[test]
fn one_bad_text_is_set_apart_and_said_to_be() {
    let place = Place::new();
    let endpoint = place.open();
    let poison = json!({ "contains": "tare", "status": 500, "body": r#"{"error":"unsupported value: NaN"}"# });
    for bad in [
        json!({ "poison": poison }),
        json!({ "values": { "tare": "inf" } }),
    ] {
        place.stub.set(&bad);
        let texts = ["tar", "note the tare", "pitch", "oakum"];
        let vectors = passages(&endpoint, &texts);
        assert!(
            matches!(vectors[1], Embedded::Refused { .. }),
            "{:?}",
            vectors[1]
        );
        for at in [0, 2, 3] {
            assert!(place.is_vector_of(&vectors[at], texts[at]));
        }
        assert!(place.statuses().len() < 20);
    }
    place
        .stub
        .set(&json!({ "values": { "uno": "null", "due": "zeros" } }));
    let vectors = passages(&endpoint, &["uno", "due", "tre"]);
    assert!(reason(&vectors[0]).contains("number"), "{vectors:?}");
    assert!(reason(&vectors[1]).contains("direction"), "{vectors:?}");
    assert!(matches!(vectors[2], Embedded::Vector(_)));
}

#[test]
fn a_server_that_fails_at_everything_condemns_no_text() {
    let place = Place::new();
    let endpoint = place.open();
    place
        .stub
        .set(&json!({ "status": 500, "error": { "body": "out of memory" } }));
    let vectors = passages(&endpoint, &["one", "two"]);
    assert!(
        vectors.iter().all(|v| matches!(v, Embedded::Failed { .. })),
        "{vectors:?}"
    );
    let said = reason(&vectors[0]);
    assert!(
        said.contains("500") && said.contains("out of memory"),
        "{said}"
    );
    assert!(endpoint.trouble().is_some());
    place.stub.set(&json!({ "ok": true }));
    assert!(matches!(
        passages(&endpoint, &["one"])[0],
        Embedded::Vector(_)
    ));
    assert_eq!(endpoint.trouble(), None);
}

#[test]
fn a_rate_limit_is_waited_for_as_the_server_says() {
    let place = Place::new();
    let endpoint = place.open();
    let rate = json!({ "per_window": 8, "window_ms": 400, "retry_after_s": 0.3 });
    place.stub.set(&json!({ "rate": rate }));
    let texts = many(24);
    let vectors = passages(&endpoint, &refs(&texts));
    assert!(vectors.iter().all(|v| matches!(v, Embedded::Vector(_))));
    let calls = place.stub.calls();
    for pair in calls.windows(2).filter(|pair| pair[0].status == 429) {
        assert!(
            pair[1].at - pair[0].at >= Duration::from_millis(300),
            "asked too soon"
        );
    }
    assert!(calls.iter().any(|call| call.status == 429));
}

#[test]
fn a_long_pause_is_not_waited_for_and_what_came_is_kept() {
    let place = Place::new();
    let endpoint = place.open();
    let error = json!({ "status": 429, "body": "quota exceeded", "retry_after_s": 86400 });
    place.stub.set(&json!({ "fail_after": 15, "error": error }));
    let texts = many(40);
    let vectors = passages(&endpoint, &refs(&texts));
    let came = vectors
        .iter()
        .filter(|v| matches!(v, Embedded::Vector(_)))
        .count();
    assert_eq!(came as u64, place.stub.served());
    assert!(came > 0);
    let said = reason(vectors.last().expect("one"));
    assert!(
        said.contains("quota exceeded") && said.contains("UTC"),
        "{said}"
    );
    // It is left alone, by this one; another, opened later, asks for the rest.
    let asked = place.stub.calls().len();
    assert!(matches!(
        passages(&endpoint, &["x"])[0],
        Embedded::Failed { .. }
    ));
    assert_eq!(place.stub.calls().len(), asked);
    place.stub.set(&json!({ "ok": true }));
    let rest = passages(&Endpoint::open(place.settings()), &refs(&texts[came..]));
    assert!(rest.iter().all(|v| matches!(v, Embedded::Vector(_))));
    assert_eq!(place.stub.served(), 40 - came as u64);
}

#[test]
fn a_server_that_is_away_or_hangs_fails_and_questions_do_not_wait_twice() {
    let place = Place::new();
    let endpoint = Endpoint::try_out(EndpointSettings {
        timeout: Duration::from_millis(300),
        ..place.settings()
    });
    let endpoint = endpoint.expect("it works");
    assert!(matches!(
        endpoint.embed_question("osier"),
        Embedded::Vector(_)
    ));
    place.stub.set(&json!({ "hang": true }));
    let began = Instant::now();
    assert!(matches!(
        endpoint.embed_question("osier"),
        Embedded::Failed { .. }
    ));
    let first = began.elapsed();
    let began = Instant::now();
    let again = endpoint.embed_question("osier");
    assert!(reason(&again).contains("in time"), "{again:?}");
    assert!(
        began.elapsed() < first / 2,
        "the second question waited, too"
    );
    place.stub.set(&json!({ "refuse": true }));
    let vectors = passages(&endpoint, &["one", "two"]);
    assert!(
        reason(&vectors[0]).contains("cannot be asked"),
        "{vectors:?}"
    );
    place.stub.set(&json!({ "ok": true }));
    assert!(matches!(
        passages(&endpoint, &["one"])[0],
        Embedded::Vector(_)
    ));
    assert!(matches!(
        endpoint.embed_question("osier"),
        Embedded::Vector(_)
    ));
}

#[test]
fn another_model_under_the_same_name_is_noticed_and_never_mixed() {
    for other in [json!({ "seed": 2 }), json!({ "dims": 64 })] {
        let place = Place::new();
        place.stub.set(&json!({ "dims": 128, "seed": 1 }));
        let first = place.open();
        assert!(matches!(passages(&first, &["one"])[0], Embedded::Vector(_)));
        place.stub.set(&other);
        // Who comes later has it checked before anything is compared.
        let later = Endpoint::open(place.settings());
        assert_eq!(later.fingerprint(), first.fingerprint());
        assert!(
            matches!(later.embed_question("one"), Embedded::Failed { .. }),
            "{other}"
        );
        assert!(
            matches!(passages(&later, &["one"])[0], Embedded::Failed { .. }),
            "{other}"
        );
        assert!(later.is_outdated());
        let new = Endpoint::open(place.settings());
        assert_ne!(new.fingerprint(), first.fingerprint());
        assert!(matches!(passages(&new, &["one"])[0], Embedded::Vector(_)));
        // And back again: the vectors of before are its own.
        place.stub.set(&json!({ "dims": 128, "seed": 1 }));
        let back = place.open();
        assert_eq!(back.fingerprint(), first.fingerprint());
    }
}

#[test]
fn a_change_of_the_model_in_the_middle_is_noticed_before_anything_is_kept() {
    let place = Place::new();
    let endpoint = place.open();
    assert!(matches!(
        passages(&endpoint, &["one"])[0],
        Embedded::Vector(_)
    ));
    place.stub.set(&json!({ "seed": 9 }));
    assert!(matches!(
        passages(&endpoint, &["two"])[0],
        Embedded::Failed { .. }
    ));
    assert!(endpoint.is_outdated());
}

#[test]
fn a_slip_of_the_server_is_no_other_model() {
    for slip in [json!({ "seed": 9 }), json!({ "dims": 32 })] {
        let mut slips = slip.clone();
        slips["calls"] = json!(1);
        let place = Place::new();
        let warm = place.open();
        assert!(matches!(passages(&warm, &["one"])[0], Embedded::Vector(_)));
        // Who comes now compares the vector of the probe first.
        place.stub.set(&json!({ "slips": slips }));
        let new = Endpoint::open(place.settings());
        let first = passages(&new, &["two"]);
        assert!(reason(&first[0]).contains("differ"), "{slip}: {first:?}");
        assert!(!new.is_outdated(), "{slip}");
        assert!(place.is_vector_of(&passages(&new, &["two"])[0], "two"));
        // The same in the middle, where the length tells.
        if slip["dims"].is_u64() {
            place.stub.set(&json!({ "slips": slips }));
            let slipped = &passages(&warm, &["three"])[0];
            assert!(matches!(slipped, Embedded::Failed { .. }), "{slipped:?}");
            assert!(!warm.is_outdated());
        }
        assert!(place.is_vector_of(&passages(&warm, &["three"])[0], "three"));
        assert_eq!(
            Endpoint::open(place.settings()).fingerprint(),
            new.fingerprint()
        );
    }
}

#[test]
fn a_change_of_length_in_the_middle_is_noticed() {
    let place = Place::new();
    let endpoint = place.open();
    assert!(matches!(
        passages(&endpoint, &["one"])[0],
        Embedded::Vector(_)
    ));
    place.stub.set(&json!({ "dims": 32 }));
    assert!(matches!(
        passages(&endpoint, &["two"])[0],
        Embedded::Failed { .. }
    ));
    assert!(endpoint.is_outdated());
    assert_eq!(Endpoint::open(place.settings()).dimension(), 32);
}

#[test]
fn a_passage_prefix_is_part_of_what_a_vector_is_and_a_question_prefix_is_not() {
    let place = Place::new();
    let plain = place.open();
    let with = |question: &str, passage: &str| {
        let prefixes = Prefixes {
            question: question.to_string(),
            passage: passage.to_string(),
        };
        let settings = place.settings();
        let endpoint = Endpoint::open(EndpointSettings {
            prefixes,
            ..settings
        });
        endpoint.fingerprint().clone()
    };
    assert_eq!(*plain.fingerprint(), with("Q: ", ""));
    assert_ne!(*plain.fingerprint(), with("", "passage: "));
}

#[test]
fn a_key_is_sent_and_never_shown_even_where_the_server_quotes_it() {
    let place = Place::new();
    let secret = "plum-4711-orchard";
    let settings = EndpointSettings {
        key: Ok(Some(Key::new(secret).expect("a key"))),
        ..place.settings()
    };
    let endpoint = Endpoint::try_out(settings.clone()).expect("it works");
    let sent = place.stub.calls().pop().and_then(|call| call.authorization);
    assert_eq!(sent.as_deref(), Some("Bearer plum-4711-orchard"));
    let body = format!(r#"{{"error":{{"message":"Incorrect key {secret}, sk-abcdefghijk"}}}}"#);
    place
        .stub
        .set(&json!({ "status": 401, "error": { "body": body } }));
    let vectors = passages(&endpoint, &["one"]);
    let error = Endpoint::try_out(settings)
        .err()
        .expect("refused")
        .to_string();
    for said in [reason(&vectors[0]), &error] {
        assert!(
            said.contains("401") && said.contains("Incorrect key"),
            "{said}"
        );
        assert!(!said.contains(secret) && !said.contains("sk-abc"), "{said}");
    }
    let missing = Endpoint::open(EndpointSettings {
        key: Err("the variable PLUM_KEY is not set".to_string()),
        ..place.settings()
    });
    assert!(reason(&passages(&missing, &["one"])[0]).contains("PLUM_KEY"));
}

#[test]
fn redirects_are_told_and_not_followed() {
    let (place, elsewhere) = (Place::new(), Place::new());
    let endpoint = place.open();
    place.stub.set(&json!({ "redirect": elsewhere.stub.url() }));
    let vectors = passages(&endpoint, &["one"]);
    let said = reason(&vectors[0]);
    assert!(
        said.contains("307") && said.contains(&elsewhere.stub.url()),
        "{said}"
    );
    assert_eq!(elsewhere.stub.calls().len(), 0);
}

#[test]
fn a_wrong_address_is_told_with_its_status() {
    let place = Place::new();
    let routes = json!(["/v1/embeddings"]);
    let others = json!({ "status": 404, "body": "404 page not found" });
    place
        .stub
        .set(&json!({ "routes": routes, "other_routes": others }));
    let url = format!("{}/wrong", place.stub.url());
    let error = Endpoint::try_out(EndpointSettings {
        address: Address::read(&url).expect("an address"),
        ..place.settings()
    });
    let said = error.err().expect("refused").to_string();
    assert!(said.contains("404") && said.contains("/wrong"), "{said}");
}

#[test]
fn an_endpoint_that_was_never_reached_fails_until_it_is() {
    let place = Place::new();
    place.stub.set(&json!({ "refuse": true }));
    let endpoint = Endpoint::open(place.settings());
    assert!(endpoint.trouble().is_some());
    assert!(matches!(
        endpoint.embed_question("one"),
        Embedded::Failed { .. }
    ));
    assert!(reason(&passages(&endpoint, &["one"])[0]).contains("cannot be asked"));
    place.stub.set(&json!({ "ok": true }));
    assert_eq!(Endpoint::open(place.settings()).trouble(), None);
}

#[test]
fn a_server_that_asks_to_come_back_is_asked_again_when_it_is_tried_out() {
    let place = Place::new();
    let busy = json!({ "status": 429, "retry_after_s": 0.2 });
    place.stub.set(&json!({ "script": [busy, { "ok": true }] }));
    drop(place.open());
    let statuses: Vec<u16> = place.stub.calls().iter().map(|call| call.status).collect();
    assert_eq!(statuses, [429, 200]);
}
