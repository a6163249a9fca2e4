//! Fetching models: from a hub that speaks the routes of a real one, with everything that may go
//! wrong on the way, and from a folder.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]
#![expect(clippy::disallowed_types, reason = "the test is a hub on this machine")]

mod server;
mod small;

use std::fs;
use std::sync::Mutex;
use std::time::Duration;

use lorewell_embed::{Embedded, Embedder};
use lorewell_models::{
    Fit, Hub, ModelError, Origin, Progress, RerankSession, Session, Store, Task, WEIGHTS,
};
use tempfile::TempDir;

use crate::server::{COMMIT, Fault, REPOSITORY, Seen, Server};

/// Hears what is said, and stops after so many bytes of a file.
#[derive(Default)]
struct Listener {
    said: Mutex<Vec<String>>,
    at: Mutex<u64>,
    stop_after: Option<u64>,
}

impl Progress for Listener {
    fn at(&self, bytes: u64) {
        *self.at.lock().unwrap() = bytes;
    }
    fn says(&self, words: &str) {
        self.said.lock().unwrap().push(words.to_string());
    }
    fn stopped(&self) -> bool {
        let at = *self.at.lock().unwrap();
        self.stop_after.is_some_and(|after| at >= after)
    }
}

struct World {
    server: Server,
    store: Store,
    _folder: TempDir,
}

impl World {
    fn new() -> World {
        let folder = tempfile::tempdir().unwrap();
        World {
            server: Server::start(small::files()),
            store: Store::new(&folder.path().join("models")),
            _folder: folder,
        }
    }

    fn hub(&self) -> Hub {
        let token = Some("hf_secret".to_string());
        let hub = Hub::new(&self.server.address, token).unwrap();
        hub.with_pause(Duration::from_millis(1))
    }

    fn pull(&self) -> Result<lorewell_models::Manifest, ModelError> {
        self.store
            .pull(REPOSITORY, None, &self.hub(), &Listener::default())
    }

    /// Requests for the weights' content, as it lies at the other address.
    fn far(&self) -> Vec<Seen> {
        let mut seen = self.server.seen();
        seen.retain(|seen| seen.far);
        seen
    }
}

#[test]
fn a_model_is_fetched_checked_and_ready() {
    let world = World::new();
    let manifest = world.pull().unwrap();
    assert_eq!(manifest.name, "kiln-small");
    assert!(!manifest.vetted);
    assert_eq!((manifest.dimension, manifest.longest), (64, 16));
    assert_eq!(manifest.recipe.pooling, "mean");
    let Origin::Hub {
        repository,
        revision,
        ..
    } = &manifest.origin
    else {
        panic!("it comes from a hub");
    };
    assert_eq!(
        (repository.as_str(), revision.as_str()),
        (REPOSITORY, COMMIT)
    );
    // What nobody needs is not fetched, and what is prepared is known by its hash.
    assert!(manifest.files.iter().all(|file| file.path != "README.md"));
    assert_eq!(manifest.prepared[0].path, "lorewell-q8.safetensors");
    assert_eq!(world.store.manifest("kiln-small").unwrap(), manifest);
    world.store.verify(&manifest).unwrap();

    let session = Session::of(&world.store, "kiln-small", "q8", "cpu").unwrap();
    use lorewell_embed::{Embedded, Embedder};
    assert!(!session.is_loaded(), "it is known without being loaded");
    assert_eq!(session.dimension(), 64);
    let Embedded::Vector(vector) = session.embed_question("kiln glaze") else {
        panic!("no vector");
    };
    assert_eq!(vector.len(), 64);
}

#[test]
fn the_token_goes_to_the_hub_alone() {
    let world = World::new();
    world.pull().unwrap();
    let seen = world.server.seen();
    assert!(seen.iter().any(|seen| seen.far));
    assert!(seen.iter().all(|seen| seen.token != seen.far), "{seen:?}");
}

#[test]
fn a_cut_connection_is_taken_up_where_it_was() {
    let world = World::new();
    world.server.fail("/cdn/", Fault::Cut(1000));
    world.server.fail("/cdn/", Fault::Cut(500));
    let manifest = world.pull().unwrap();
    world.store.verify(&manifest).unwrap();
    let ranges: Vec<Option<String>> = world.far().into_iter().map(|seen| seen.range).collect();
    let from = |bytes: u64| Some(format!("bytes={bytes}-"));
    assert_eq!(ranges, [None, from(1000), from(1500)]);
}

#[test]
fn a_server_without_ranges_begins_anew() {
    let world = World::new();
    world.server.fail("/cdn/", Fault::Cut(1000));
    world.server.fail("/cdn/", Fault::NoRanges);
    let manifest = world.pull().unwrap();
    world.store.verify(&manifest).unwrap();
}

#[test]
fn a_stopped_fetch_goes_on_the_next_time_and_not_with_another_content() {
    let world = World::new();
    let listener = Listener {
        stop_after: Some(60_000),
        ..Listener::default()
    };
    let stopped = world.store.pull(REPOSITORY, None, &world.hub(), &listener);
    assert!(matches!(stopped, Err(ModelError::Stopped)), "{stopped:?}");
    assert!(
        world.store.manifest("kiln-small").is_err(),
        "there is no half a model"
    );
    world.server.seen();
    world.pull().unwrap();
    let [again] = &world.far()[..] else {
        panic!("the weights are asked for once");
    };
    let range = again.range.clone().unwrap();
    let from: u64 = range["bytes=".len()..range.len() - 1].parse().unwrap();
    assert!(from >= 60_000, "{range}");

    // Stopped again, and meanwhile the hub has other weights: nothing of the old ones is used.
    world.store.remove("kiln-small").unwrap();
    let _ = world.store.pull(REPOSITORY, None, &world.hub(), &listener);
    let mut other = small::files()["model.safetensors"].clone();
    let last = other.len() - 4;
    other[last] ^= 1;
    world.server.put("model.safetensors", other);
    world.server.seen();
    let manifest = world.pull().unwrap();
    assert_eq!(world.far()[0].range, None);
    world.store.verify(&manifest).unwrap();
}

#[test]
fn another_checksum_is_thrown_away() {
    let world = World::new();
    world.server.fail("/cdn/", Fault::OtherBytes);
    let error = world.pull().unwrap_err();
    assert_eq!(error.code(), "wrong_checksum");
    assert!(world.store.manifest("kiln-small").is_err());
    // And fetched whole the next time.
    world.server.seen();
    world.pull().unwrap();
    assert_eq!(world.far()[0].range, None);
}

#[test]
fn refusals_say_what_they_mean() {
    let cases = [
        (
            "/api/",
            401,
            "x-error-code: RepoNotFound\r\n",
            "hub_unauthorized",
        ),
        ("/api/", 403, "x-error-code: GatedRepo\r\n", "model_gated"),
        (
            "/resolve/",
            403,
            "x-error-code: GatedRepo\r\n",
            "model_gated",
        ),
        ("/api/", 404, "", "not_on_hub"),
        (
            "/resolve/",
            404,
            "x-error-code: EntryNotFound\r\n",
            "not_on_hub",
        ),
        ("/api/", 418, "", "hub_failed"),
        ("/api/", 429, "retry-after: 3600\r\n", "hub_busy"),
    ];
    for (part, status, headers, code) in cases {
        let world = World::new();
        world.server.fail(part, Fault::Status(status, headers));
        let error = world.pull().unwrap_err();
        assert_eq!(error.code(), code, "{status}: {error}");
        let said = format!("{error} {}", error.hint());
        assert!(!said.contains("hf_secret"), "{said}");
        assert!(!error.hint().is_empty());
    }
}

#[test]
fn what_may_go_over_is_tried_again() {
    let world = World::new();
    world
        .server
        .fail("/api/", Fault::Status(429, "retry-after: 0\r\n"));
    world.server.fail("/resolve/", Fault::Status(503, ""));
    world.server.fail("/cdn/", Fault::Status(500, ""));
    let listener = Listener::default();
    let pulled = world.store.pull(REPOSITORY, None, &world.hub(), &listener);
    pulled.unwrap();
    assert!(
        listener
            .said
            .lock()
            .unwrap()
            .iter()
            .any(|said| said.contains("trying again"))
    );

    let nobody = Hub::new("http://127.0.0.1:9", None).unwrap();
    let nobody = nobody.with_pause(Duration::from_millis(1));
    let error = world
        .store
        .pull(REPOSITORY, None, &nobody, &listener)
        .unwrap_err();
    assert_eq!(error.code(), "hub_unreachable");
}

#[test]
fn another_architecture_is_refused_before_its_weights_are_fetched() {
    let world = World::new();
    let config = small::config("nomic_bert").to_string().into_bytes();
    world.server.put("config.json", config);
    let error = world.pull().unwrap_err();
    assert_eq!(error.code(), "model_unsupported");
    assert!(error.to_string().contains("nomic_bert"), "{error}");
    assert!(world.far().is_empty());

    let found = world
        .hub()
        .search("kiln small", 5, &Listener::default())
        .unwrap();
    let Fit::Unfit { reason } = &found[0].fit else {
        panic!("it fits");
    };
    assert!(reason.contains("nomic_bert"), "{reason}");
}

#[test]
fn a_reranker_is_known_by_its_configuration_and_is_no_embedding_model() {
    let world = World::new();
    for (path, content) in small::reranker(1) {
        world.server.put(path, content);
    }
    let found = world
        .hub()
        .search("kiln small", 5, &Listener::default())
        .unwrap();
    assert_eq!(found[0].fit, Fit::Reranks);
    let manifest = world.pull().unwrap();
    assert_eq!((manifest.task, manifest.longest), (Task::Rerank, 16));

    let session = RerankSession::of(&world.store, "kiln-small", "q8", "cpu").unwrap();
    use lorewell_embed::Reranker;
    assert!(!session.is_loaded(), "it is known without being loaded");
    // The second is longer than the model takes, and so is the question.
    let passages = ["ash", &"glaze cone ".repeat(40)];
    let judged = session.relevance(&"kiln ".repeat(30), &passages).unwrap();
    assert!(session.is_loaded());
    assert_eq!(judged.len(), 2);
    assert!(
        judged
            .iter()
            .all(|share| share.is_some_and(|share| (0.0..=1.0).contains(&share))),
        "{judged:?}"
    );
    let error = Session::of(&world.store, "kiln-small", "q8", "cpu").err();
    assert_eq!(error.unwrap().code(), "model_other_task");
}

#[test]
fn a_classifier_of_several_outputs_is_refused_before_its_weights_are_fetched() {
    let world = World::new();
    for (path, content) in small::reranker(3) {
        world.server.put(path, content);
    }
    let error = world.pull().unwrap_err();
    assert_eq!(error.code(), "model_unsupported");
    assert!(error.to_string().contains("3 outputs"), "{error}");
    assert!(world.far().is_empty());
}

#[test]
fn weights_that_were_only_touched_are_still_those_that_came() {
    let world = World::new();
    let manifest = world.pull().unwrap();
    let weights = world.store.place("kiln-small").unwrap().join(WEIGHTS);
    let later = std::time::SystemTime::now() + Duration::from_secs(3600);
    let file = fs::File::options().write(true).open(weights).unwrap();
    file.set_modified(later).unwrap();
    let session = Session::of(&world.store, "kiln-small", "q8", "cpu").unwrap();
    use lorewell_embed::{Embedded, Embedder};
    let embedded = session.embed_question("kiln glaze");
    assert!(matches!(embedded, Embedded::Vector(_)), "{embedded:?}");
    world.store.verify(&manifest).unwrap();
}

#[test]
fn a_name_of_the_shortlist_is_not_given_to_other_files_and_no_name_means_two_things() {
    let world = World::new();
    let folder = tempfile::tempdir().unwrap();
    small::write(folder.path());
    let pull = |name: &str| {
        let taken = world
            .store
            .pull_from(name, folder.path(), &Listener::default());
        taken.unwrap_err()
    };
    let error = pull("bge-small-en-v1.5");
    assert_eq!(error.code(), "model_unsupported");
    assert!(error.to_string().contains("another model"), "{error}");
    for name in ["off", "Endpoint", "static-en-256"] {
        assert_eq!(pull(name).code(), "bad_model_name");
    }
    // Nothing is left of what was refused.
    let left = fs::read_dir(world.store.folder()).map_or(0, Iterator::count);
    assert_eq!(left, 0);
}

#[test]
fn a_search_says_how_a_model_would_be_used_and_that_nobody_looked_at_it() {
    let world = World::new();
    let found = world
        .hub()
        .search("kiln & ash", 5, &Listener::default())
        .unwrap();
    let asked = world.server.seen().remove(0).path;
    assert!(asked.contains("search=kiln+%26+ash"), "{asked}");
    let [found] = &found[..] else {
        panic!("{found:?}");
    };
    assert_eq!(
        (found.repository.as_str(), found.vetted),
        (REPOSITORY, false)
    );
    assert_eq!(found.licence.as_deref(), Some("mit"));
    let Fit::Fits(recipe) = &found.fit else {
        panic!("{found:?}");
    };
    assert_eq!(recipe.pooling.name(), "mean");
    assert_eq!(recipe.name, "kiln-small");
}

#[test]
fn a_folder_will_do_in_place_of_a_hub() {
    let world = World::new();
    let folder = tempfile::tempdir().unwrap();
    small::write(folder.path());
    let listener = Listener::default();
    let manifest = world
        .store
        .pull_from("kiln", folder.path(), &listener)
        .unwrap();
    assert_eq!(manifest.name, "kiln");
    assert!(folder.path().join("model.safetensors").exists());
    assert!(
        !folder.path().join("lorewell-q8.safetensors").exists(),
        "it stays as it is"
    );
    assert!(
        world.server.seen().is_empty(),
        "nothing is asked of a network"
    );

    fs::remove_file(folder.path().join("tokenizer.json")).unwrap();
    let error = world
        .store
        .pull_from("other", folder.path(), &listener)
        .unwrap_err();
    assert!(error.to_string().contains("tokenizer.json"), "{error}");
}

#[test]
fn a_damaged_file_that_was_prepared_is_found() {
    let world = World::new();
    let manifest = world.pull().unwrap();
    let folder = world.store.place("kiln-small").unwrap();
    for precision in ["q8", "f16", "f32"] {
        let session = Session::of(&world.store, "kiln-small", precision, "cpu").unwrap();
        let question = session.embed_question("cone six");
        assert!(matches!(question, Embedded::Vector(_)), "{question:?}");
        world.store.verify(&manifest).unwrap();
        let prepared = folder.join(format!("lorewell-{precision}.safetensors"));
        let time = fs::metadata(&prepared).unwrap().modified().unwrap();
        let mut bytes = fs::read(&prepared).unwrap();
        let last = bytes.len() - 3;
        bytes[last] ^= 1;
        fs::write(&prepared, bytes).unwrap();
        let file = fs::File::options().write(true).open(&prepared).unwrap();
        file.set_modified(time).unwrap();
        let error = world.store.verify(&manifest).unwrap_err();
        assert_eq!(error.code(), "model_damaged");
        let named = format!("lorewell-{precision}.safetensors is not what the weights give");
        assert!(error.to_string().contains(&named), "{error}");
        fs::remove_file(&prepared).unwrap();
        world.store.verify(&manifest).unwrap();
    }
}

#[test]
fn a_model_is_found_by_the_name_that_others_give_it() {
    let world = World::new();
    let name = |repository| world.store.name_of(repository).unwrap();
    assert_eq!(name("potters/kiln-small"), None, "nothing was fetched");
    world.pull().unwrap();
    for known in ["potters/kiln-small", "Somebody/KILN-small", "kiln-small"] {
        assert_eq!(name(known).as_deref(), Some("kiln-small"));
    }
    assert_eq!(name("Somebody/kiln"), None);
}

#[test]
fn a_damaged_model_is_not_used_and_says_so() {
    let world = World::new();
    let manifest = world.pull().unwrap();
    let weights = world
        .store
        .place("kiln-small")
        .unwrap()
        .join("model.safetensors");
    let mut bytes = fs::read(&weights).unwrap();
    bytes[5000] ^= 1;
    fs::write(&weights, &bytes).unwrap();
    assert_eq!(
        world.store.verify(&manifest).unwrap_err().code(),
        "model_damaged"
    );
    fs::write(&weights, &bytes[..5000]).unwrap();
    for device in ["cpu", "gpu"] {
        let error = Session::of(&world.store, "kiln-small", "q8", device)
            .err()
            .unwrap();
        let code = if device == "cpu" {
            "model_damaged"
        } else {
            "model_device_unavailable"
        };
        assert_eq!(error.code(), code, "{error}");
    }
    world.store.remove("kiln-small").unwrap();
    let error = Session::of(&world.store, "kiln-small", "q8", "cpu")
        .err()
        .unwrap();
    assert_eq!(error.code(), "model_not_pulled");
    assert!(error.hint().contains("lorewell models pull kiln-small"));
}

#[test]
fn names_that_are_no_folders_are_refused() {
    let world = World::new();
    let listener = Listener::default();
    for name in ["../evil", "a/b/c", "", ".hidden", "x\0y", "C:"] {
        let error = world
            .store
            .pull(name, None, &world.hub(), &listener)
            .unwrap_err();
        assert!(
            matches!(error.code(), "no_such_model" | "bad_model_name"),
            "{name:?}: {error}"
        );
    }
    let error = world
        .store
        .pull("owner/..", None, &world.hub(), &listener)
        .unwrap_err();
    assert_eq!(error.code(), "bad_model_name");
    assert!(world.store.remove("..").is_err());
}
