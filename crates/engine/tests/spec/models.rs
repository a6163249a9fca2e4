//! An index that was written with another model: it is read anew, says what is missing meanwhile,
//! and keeps nothing of the old one.

use lorewell_embed::{
    Cost, Embedded, Embedder, Fingerprint, FingerprintParts, PassageInput, StaticModel,
};
use lorewell_engine::{Patience, Quiet, RuleSettings};
use lorewell_index::{Lock, Snapshot, Writer};
use lorewell_vault::Vault;

use crate::world::{StopAfter, World};

/// The built-in model under other rules of what is embedded.
struct OldRules(Fingerprint);

impl OldRules {
    fn new() -> OldRules {
        OldRules(Fingerprint::new(&FingerprintParts {
            model: "static-en-256",
            revision: "old",
            precision: "f32",
            pooling: "mean",
            prefix: "none",
            text_rules: "0",
        }))
    }
}

impl Embedder for OldRules {
    fn model(&self) -> &str {
        "static-en-256"
    }
    fn fingerprint(&self) -> &Fingerprint {
        &self.0
    }
    fn dimension(&self) -> usize {
        StaticModel::built_in().dimension()
    }
    fn cost(&self) -> Cost {
        Cost::Cheap
    }
    fn embed_question(&self, text: &str) -> Embedded {
        StaticModel::built_in().embed_question(text)
    }
    fn embed_passages(&self, inputs: &[PassageInput<'_>]) -> Vec<Embedded> {
        StaticModel::built_in().embed_passages(inputs)
    }
}

/// A world whose index was written with the old rules.
fn old_world() -> World {
    let world = World::new(
        "=== Kiln.md ===\nCone 6, slow.\n=== Glaze.md ===\nCeladon. #secret\n=== Rent.md ===\nPaid.\n=== Sign.md ===\n# —\n",
    );
    let vault = Vault::open(world.home.vault.root()).unwrap();
    let settings = &world.settings.index;
    let listing = vault.list(&settings.rules).unwrap();
    let old = OldRules::new();
    let lock = Lock::wait(&world.layout()).unwrap();
    let mut writer = Writer::open(&world.layout(), lock, &old).unwrap();
    writer
        .update(&vault, &listing, settings, &old, &Quiet)
        .unwrap();
    world
}

#[test]
fn a_new_model_embeds_every_note_anew_and_the_old_one_goes() {
    let world = old_world();
    world.settle();
    let snapshot = world.snapshot();
    let model = snapshot.model().unwrap();
    // A note of signs alone has nothing to embed.
    assert_eq!((model.embedded, model.outside, model.missing), (3, 0, 0));
    let old = Snapshot::open(&world.layout(), OldRules::new().0.as_str()).unwrap();
    assert!(old.model().is_none());
    assert_eq!(world.index_files("rows.bin").len(), 1);
    world.picture().assert_same(&world.rebuilt_picture());
}

#[test]
fn a_change_of_models_that_was_interrupted_says_what_is_missing() {
    let mut world = old_world();
    let stop = StopAfter::new(1);
    let freshness = world.host().refresh(Patience::Read, &stop).unwrap();
    assert!(freshness.report.unwrap().stopped);
    let snapshot = world.snapshot();
    let model = snapshot.model().unwrap().clone();
    assert!(model.missing > 0, "{model:?}");
    assert!(model.embedded + model.missing >= 3, "{model:?}");
    drop(snapshot);
    // A note that goes now leaves nothing behind in either model.
    world.home.vault.remove("Rent.md");
    let _ = world.host().refresh(Patience::Read, &StopAfter::new(0));
    for fingerprint in [
        OldRules::new().0.as_str(),
        StaticModel::built_in().fingerprint().as_str(),
    ] {
        let snapshot = Snapshot::open(&world.layout(), fingerprint).unwrap();
        snapshot.verify().unwrap();
    }
    world.exclude(RuleSettings {
        tags: vec!["secret".to_string()],
        ..RuleSettings::default()
    });
    world.settle();
    let snapshot = world.snapshot();
    assert_eq!(
        snapshot.model().map(|m| (m.embedded, m.missing)),
        Some((1, 0))
    );
    assert_eq!(world.index_files("rows.bin").len(), 1);
    world.picture().assert_same(&world.rebuilt_picture());
}
