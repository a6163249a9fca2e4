//! A model that is dear: words first, vectors later, and nothing is embedded twice.

use std::sync::atomic::Ordering;

use lorewell_engine::{
    Answer, Host, Lane, LaneState, Observer, Patience, Quiet, Request, RuleSettings,
};
use lorewell_index::Snapshot;
use lorewell_index::failpoint::{self, Fault};

use crate::dear::Dear;
use crate::world::{StopAfter, World};
use lorewell_embed::Embedder as _;

const NOTES: &str = "
=== Kiln.md ===
# Firing
The kiln fires slowly up to cone 6.

## Second firing
Slow cooling of stoneware.
=== Glaze.md ===
Celadon and ash. #private
=== Rent.md ===
Paid on the first.
";

fn host(world: &World, model: &'static Dear) -> Host {
    world.host().with_embedder(model)
}

fn refresh(host: &Host) -> usize {
    let freshness = host.refresh(Patience::Wait, &Quiet).unwrap();
    freshness.report.map_or(0, |report| report.taken_in)
}

fn answer(host: &Host, question: &str) -> Answer {
    let view = host.view().unwrap();
    view.search(&Request::new(question)).unwrap()
}

/// The model that answered, and how the dense lane stood.
fn dense(host: &Host) -> (String, LaneState) {
    let answer = answer(host, "slow cooling");
    let mut lanes = answer.lanes.into_iter();
    let lane = lanes.find(|report| report.lane == Lane::Dense).unwrap();
    (lane.model.unwrap(), lane.state)
}

/// How the lane stands while the built-in model answers, whole, in the place of a model that has so
/// much of the vault.
fn in_its_place(percent: u32) -> (String, LaneState) {
    let reason = format!(
        "{percent} % of the passages have a vector of dear-64 by now; static-en-256 answers in its place"
    );
    let coverage = 1.0;
    (
        "static-en-256".to_string(),
        LaneState::Partial { coverage, reason },
    )
}

/// What an index answers with the model, without internal numbers.
fn answers(host: &Host) -> Vec<String> {
    let questions = [
        "slow cooling",
        "celadon glaze",
        "cone 6",
        "who paid the rent",
    ];
    let rows = |question: &&str| {
        let answer = answer(host, question);
        let row = |p: &lorewell_engine::AnswerPassage| {
            let path = p.note.path.as_str();
            format!(
                "{path} {:?} {} {:?}",
                p.passage.byte_range, p.score, p.fused.trace
            )
        };
        answer.passages.iter().map(row).collect::<Vec<_>>()
    };
    questions.iter().flat_map(rows).collect()
}

/// The same of an index that is made anew.
fn answers_made_anew(world: &World, revision: &str) -> Vec<String> {
    let place = tempfile::tempdir().unwrap();
    let host = world
        .host_in(place.path())
        .with_embedder(Dear::new(revision));
    refresh(&host);
    host.embed_waiting(&Quiet).unwrap();
    answers(&host)
}

fn missing(world: &World, model: &Dear) -> u64 {
    let snapshot = Snapshot::open(&world.layout(), model.fingerprint().as_str()).unwrap();
    snapshot.verify().unwrap();
    snapshot.model().unwrap().missing
}

/// Cut short or without room at any place while vectors come and the old model goes: what is
/// published answers, and the next run goes on from it.
#[test]
fn death_at_any_place_while_vectors_come_loses_nothing() {
    for fault in [Fault::Cut, Fault::DiskFull] {
        let mut reached = 0;
        loop {
            let (world, model) = (World::new(NOTES), Dear::new("1"));
            let host = host(&world, model);
            refresh(&host);
            failpoint::arm_any(reached, fault);
            let outcome = host.embed_waiting(&Quiet);
            if failpoint::is_armed() {
                assert_eq!(outcome.unwrap().waiting, 0);
                break;
            }
            world.snapshot().verify().unwrap();
            assert!(!answers(&host).is_empty());
            assert_eq!(host.embed_waiting(&Quiet).unwrap().waiting, 0);
            assert_eq!(missing(&world, model), 0);
            assert_eq!(answers(&host), answers_made_anew(&world, "1"), "{reached}");
            reached += 1;
        }
        assert!(reached >= 5, "{reached} places");
    }
}

#[test]
fn words_answer_at_once_and_vectors_follow() {
    let (world, model) = (World::new(NOTES), Dear::new("1"));
    let host = host(&world, model);
    assert_eq!(refresh(&host), 3);
    assert_eq!(model.asked(), [""; 0]);
    assert_eq!(missing(&world, model), 4);
    assert_eq!(dense(&host), in_its_place(0));

    let done = host.embed_waiting(&Quiet).unwrap();
    assert_eq!((done.settled, done.embedded, done.waiting), (4, 4, 0));
    assert_eq!(model.asked().len(), 4);
    assert_eq!(dense(&host), ("dear-64".to_string(), LaneState::Ok));
    assert_eq!(
        world.index_files("rows.bin").len(),
        1,
        "the other model goes"
    );
    assert_eq!(answers(&host), answers_made_anew(&world, "1"));

    // A note that comes later lacks its vector, and the answer says so.
    world.home.vault.write("New.md", "Raku in a bin.\n");
    refresh(&host);
    let LaneState::Partial { coverage, reason } = dense(&host).1 else {
        panic!("the lane does not say that it is partial");
    };
    assert_eq!(coverage, 0.8);
    assert_eq!(reason, "1 of 5 passages have no vector of dear-64 yet");
    host.embed_waiting(&Quiet).unwrap();
    assert_eq!(model.asked(), ["Raku in a bin."]);
}

#[test]
fn a_rename_a_move_an_undo_and_a_rebuild_embed_nothing() {
    let (world, model) = (World::new(NOTES), Dear::new("1"));
    let host = host(&world, model);
    refresh(&host);
    host.embed_waiting(&Quiet).unwrap();
    model.asked();
    let vault = &world.home.vault;
    vault.rename("Rent.md", "Paid.md");
    vault.write("deep/Glaze.md", vault.bytes("Glaze.md"));
    vault.remove("Glaze.md");
    refresh(&host);
    assert_eq!(missing(&world, model), 0);

    let before = vault.bytes("Kiln.md");
    vault.write("Kiln.md", "# Firing\nSomething else.\n");
    refresh(&host);
    host.embed_waiting(&Quiet).unwrap();
    assert_eq!(model.asked(), ["Firing\nSomething else."]);
    vault.write("Kiln.md", before);
    refresh(&host);
    host.rebuild(&Quiet).unwrap();
    assert_eq!(missing(&world, model), 0);
    host.embed_waiting(&Quiet).unwrap();
    assert_eq!(model.asked(), [""; 0]);
    assert_eq!(answers(&host), answers_made_anew(&world, "1"));
}

#[test]
fn a_vector_that_comes_too_late_is_thrown_away() {
    let (world, model) = (World::new(NOTES), Dear::new("1"));
    let host = host(&world, model);
    refresh(&host);
    // Another process takes in an edit while the model is at work.
    let other = self::host(&world, model);
    let file = world.home.vault.path("Rent.md");
    model.meanwhile(move || {
        std::fs::write(file, "Nobody paid.\n").unwrap();
        refresh(&other);
    });
    let done = host.embed_waiting(&Quiet).unwrap();
    assert_eq!((done.too_late, done.waiting), (1, 0));
    let asked = model.asked();
    assert!(
        asked.contains(&"Paid on the first.".to_string()),
        "{asked:?}"
    );
    assert!(asked.contains(&"Nobody paid.".to_string()), "{asked:?}");
    assert_eq!(answers(&host), answers_made_anew(&world, "1"));
}

/// Stops when it is first asked after the model was at work.
struct StopAfterCall(&'static Dear, std::sync::Mutex<usize>);

impl Observer for StopAfterCall {
    fn stopped(&self) -> bool {
        *self.1.lock().unwrap() += self.0.asked().len();
        *self.1.lock().unwrap() > 0
    }
}

#[test]
fn embedding_that_was_stopped_goes_on_where_it_was() {
    let model = Dear::new("1");
    let long: Vec<String> = (0..150)
        .map(|n| format!("# Part {n}\nThe text of part number {n} alone.\n"))
        .collect();
    let world = World::new(NOTES);
    world.home.vault.write("Long.md", long.join("\n"));
    let host = host(&world, model);
    refresh(&host);
    let all = missing(&world, model);
    assert!(all > 140);
    let (mut asked, mut rounds) = (0, 0);
    while missing(&world, model) > 0 {
        let stop = StopAfterCall(model, std::sync::Mutex::new(0));
        let done = host.embed_waiting(&stop).unwrap();
        asked += *stop.1.lock().unwrap();
        rounds += 1;
        assert_eq!(missing(&world, model), all - asked as u64);
        assert!(done.settled <= 64, "a batch is bounded");
        // Until it covers everything, the other model answers.
        let name = dense(&host).0;
        assert_eq!(name == "dear-64", missing(&world, model) == 0, "{name}");
    }
    assert!(rounds > 2);
    assert_eq!(asked as u64, all);
    assert_eq!(answers(&host), answers_made_anew(&world, "1"));
}

#[test]
fn a_refused_text_is_not_asked_for_again_and_the_rest_goes_on() {
    let (world, model) = (World::new(NOTES), Dear::new("1"));
    let vault = &world.home.vault;
    vault.write("Rent.md", "An unspeakable sum.\n");
    let host = host(&world, model);
    refresh(&host);
    let done = host.embed_waiting(&Quiet).unwrap();
    assert_eq!((done.settled, done.refused, done.waiting), (3, 1, 0));
    assert_eq!(model.asked().len(), 4);
    let said = "1 of 4 passages were refused by dear-64".to_string();
    let partial = |reason| LaneState::Partial {
        coverage: 0.75,
        reason,
    };
    assert_eq!(dense(&host), ("dear-64".to_string(), partial(said)));

    vault.rename("Rent.md", "Sum.md");
    refresh(&host);
    host.rebuild(&Quiet).unwrap();
    host.embed_waiting(&Quiet).unwrap();
    assert_eq!(model.asked(), [""; 0]);
    assert_eq!(missing(&world, model), 0);
    vault.write("Sum.md", "Another sum.\n");
    refresh(&host);
    host.embed_waiting(&Quiet).unwrap();
    assert_eq!(model.asked(), ["Another sum."]);
    assert_eq!(dense(&host).1, LaneState::Ok);
}

#[test]
fn a_model_that_is_down_loses_nothing() {
    let (world, model) = (World::new(NOTES), Dear::new("1"));
    let host = host(&world, model);
    refresh(&host);
    model.is_down.store(true, Ordering::SeqCst);
    let done = host.embed_waiting(&Quiet).unwrap();
    assert_eq!((done.settled, done.waiting), (0, 4));
    assert_eq!(done.reason.unwrap(), "dear-64: it is not running");
    model.is_down.store(false, Ordering::SeqCst);
    assert_eq!(host.embed_waiting(&Quiet).unwrap().settled, 4);
}

#[test]
fn another_model_reads_no_words_anew_and_the_old_one_serves_until_it_is_whole() {
    let world = World::built(NOTES);
    let before = world.picture();
    let model = Dear::new("1");
    let host = host(&world, model);
    assert_eq!(refresh(&host), 0);
    assert_eq!(dense(&host).0, "static-en-256");
    // A note that changes meanwhile is in both.
    let kiln = world.home.vault.bytes("Kiln.md");
    world.home.vault.write("Kiln.md", "Another kiln.\n");
    refresh(&host);
    assert_eq!(dense(&host), in_its_place(0));
    world.home.vault.write("Kiln.md", kiln);
    refresh(&host);
    world.picture().assert_same(&before);
    host.embed_waiting(&Quiet).unwrap();
    assert_eq!(dense(&host), ("dear-64".to_string(), LaneState::Ok));
    // And back, and to the dear one again, which is not asked for what it knew.
    let asked = model.asked().len();
    world.settle();
    world.picture().assert_same(&before);
    world.home.vault.write("New.md", "Raku in a bin.\n");
    refresh(&host);
    host.embed_waiting(&Quiet).unwrap();
    assert!(asked > 1);
    assert_eq!(model.asked(), ["Raku in a bin."]);
    assert_eq!(world.index_files("rows.bin").len(), 1);
}

#[test]
fn a_model_that_comes_to_an_index_that_is_up_to_date_is_embedded_for() {
    let (world, model) = (World::built(NOTES), Dear::new("1"));
    let host = host(&world, model);
    assert_eq!(host.embed_waiting(&Quiet).unwrap().settled, 4);
    assert_eq!(dense(&host), ("dear-64".to_string(), LaneState::Ok));
}

#[test]
fn a_model_that_cannot_be_asked_at_all_is_named_in_every_answer() {
    let world = World::new(NOTES);
    let host = world.host().without_model("dear-64", "it is not here");
    refresh(&host);
    let (model, state) = dense(&host);
    let reason =
        "dear-64 cannot be used: it is not here; static-en-256 answers in its place".to_string();
    let said = format!("dense: {reason}");
    let coverage = 1.0;
    assert_eq!(model, "static-en-256");
    assert_eq!(state, LaneState::Partial { coverage, reason });
    assert_eq!(answer(&host, "slow cooling").degraded, [said]);
}

#[test]
fn a_second_vault_with_the_same_text_embeds_only_what_differs() {
    let (mut first, model) = (World::new(NOTES), Dear::new("1"));
    let root = tempfile::tempdir().unwrap();
    first.settings.index_root = Some(root.path().to_path_buf());
    let open = |world: &World, name: &str| {
        let host = world.host_in(&root.path().join(name));
        host.with_embedder(model)
    };
    let host = open(&first, "first");
    refresh(&host);
    host.embed_waiting(&Quiet).unwrap();
    assert_eq!(model.asked().len(), 4);

    let mut second = World::new(NOTES);
    second.settings = first.settings.clone();
    second.home.vault.write("Own.md", "Only here.\n");
    let other = open(&second, "second");
    refresh(&other);
    other.embed_waiting(&Quiet).unwrap();
    assert_eq!(model.asked(), ["Only here."]);
    assert_eq!(answers(&other), answers_made_anew(&second, "1"));

    // What the first excludes is not to be found there any more.
    first.exclude(RuleSettings {
        tags: vec!["private".to_string()],
        ..RuleSettings::default()
    });
    refresh(&open(&first, "first"));
    let third = World {
        home: lorewell_testkit::TempHome::new(NOTES),
        settings: second.settings.clone(),
        model: World::built_in(),
    };
    std::fs::remove_dir_all(root.path().join("second")).unwrap();
    let other = open(&third, "third");
    refresh(&other);
    other.embed_waiting(&Quiet).unwrap();
    assert_eq!(model.asked(), ["Celadon and ash. #private"]);
}

#[test]
fn an_interrupted_refresh_of_a_dear_model_leaves_words_that_answer() {
    let (world, model) = (World::new(NOTES), Dear::new("1"));
    let host = host(&world, model);
    host.refresh(Patience::Wait, &StopAfter::new(1)).unwrap();
    refresh(&host);
    host.embed_waiting(&Quiet).unwrap();
    assert_eq!(answers(&host), answers_made_anew(&world, "1"));
}

#[test]
fn a_model_that_came_while_another_is_embedded_is_told_of_all_that_waits_for_it() {
    let world = World::new(NOTES);
    let (first, second) = (Dear::new("first"), Dear::new("second"));
    let one = host(&world, first);
    refresh(&one);
    let passages = one.view().unwrap().totals().passages;
    let other = host(&world, second);
    let (said, told) = std::sync::mpsc::channel();
    first.meanwhile(move || said.send(other.embed_waiting(&Quiet).unwrap()).unwrap());
    one.embed_waiting(&Quiet).unwrap();
    let told = told.recv().unwrap();
    assert!(told.elsewhere, "{told:?}");
    assert_eq!(told.waiting, passages, "{told:?}");
    let after = host(&world, second).embed_waiting(&Quiet).unwrap();
    assert_eq!((after.waiting, after.elsewhere), (0, false), "{after:?}");
}
