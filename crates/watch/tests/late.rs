//! Vectors that come later, while the settings change.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};

use lorewell_engine::{
    Cost, Embedded, Embedder, EngineSettings, Fingerprint, FingerprintParts, Host, PassageInput,
    Patience, Quiet,
};
use lorewell_testkit::TempVault;
use lorewell_watch::{LateReport, LateVectors};

/// A model that is dear. It says when a batch begins, and may have to wait until it may go on.
struct Slow {
    fingerprint: Fingerprint,
    begins: Sender<()>,
    goes_on: Option<Mutex<Receiver<()>>>,
}

impl Slow {
    fn model(
        revision: &str,
        goes_on: Option<Receiver<()>>,
    ) -> (&'static dyn Embedder, Receiver<()>) {
        let (begins, begun) = mpsc::channel();
        let model = Slow {
            fingerprint: Fingerprint::new(&FingerprintParts {
                model: "slow",
                revision,
                precision: "f32",
                pooling: "sum",
                prefix: "none",
                text_rules: "1",
            }),
            begins,
            goes_on: goes_on.map(Mutex::new),
        };
        (Box::leak(Box::new(model)), begun)
    }
}

impl Embedder for Slow {
    fn model(&self) -> &str {
        "slow"
    }
    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }
    fn dimension(&self) -> usize {
        64
    }
    fn cost(&self) -> Cost {
        Cost::Dear
    }
    fn embed_question(&self, text: &str) -> Embedded {
        let mut vector = vec![0.0; 64];
        vector[text.len() % 64] = 1.0;
        Embedded::Vector(vector)
    }
    fn embed_passages(&self, inputs: &[PassageInput<'_>]) -> Vec<Embedded> {
        let _ = self.begins.send(());
        if let Some(goes_on) = &self.goes_on {
            goes_on.lock().unwrap().recv().unwrap();
        }
        let inputs = inputs.iter();
        inputs
            .map(|input| self.embed_question(input.prose))
            .collect()
    }
}

#[test]
fn a_model_that_is_chosen_while_another_is_embedded_gets_all_of_its_vectors() {
    let vault = TempVault::new("");
    for number in 0..300 {
        let text = format!("Firing {number} went up to cone {}.", number % 13);
        vault.write(&format!("{number}.md"), text);
    }
    let open = |model| {
        let settings = EngineSettings::default();
        let host = Host::open("notes", vault.root(), &vault.beside("index"), settings);
        Arc::new(host.unwrap().with_embedder(model))
    };
    let (go_on, goes_on) = mpsc::channel();
    let (first, first_begins) = Slow::model("first", Some(goes_on));
    let (second, _begins) = Slow::model("second", None);
    open(first).refresh(Patience::Wait, &Quiet).unwrap();
    let (tell, told) = mpsc::channel();
    let late = LateVectors::begin(move |report| drop(tell.send(report))).unwrap();
    late.wake(open(first));
    first_begins.recv().unwrap();
    late.wake(open(second));
    go_on.send(()).unwrap();

    let waiting = || match told.recv().unwrap() {
        LateReport::Embedded { embedding, .. } => embedding.waiting,
        LateReport::Failed(trouble) => panic!("{trouble:?}"),
    };
    assert!(waiting() > 0, "the first leaves off");
    assert_eq!(waiting(), 0, "the second is embedded to its end");
}
