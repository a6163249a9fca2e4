//! Who is let in, and to what.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use jiff::Timestamp;
use lorewell_agents::{
    AgentsError, Approval, Caller, Change, Gate, Reader, Register, ScopedVault, Token, VaultScope,
    group_of, tool_groups,
};
use lorewell_capabilities::{Access, Entry, table};
use tempfile::TempDir;

const NOTES: &str = "/vaults/Notes";
const OTHER: &str = "/vaults/Other";

/// A register, a gate over it, and a clock that stands still until it is moved.
struct World {
    holder: TempDir,
    seconds: Arc<AtomicI64>,
    gate: Gate,
}

impl World {
    fn new() -> World {
        let holder = tempfile::tempdir().unwrap();
        let seconds = Arc::new(AtomicI64::new(1_800_000_000));
        let gate = World::gate_over(&holder.path().join("agents"), &seconds);
        World {
            holder,
            seconds,
            gate,
        }
    }

    fn gate_over(folder: &Path, seconds: &Arc<AtomicI64>) -> Gate {
        let seconds = Arc::clone(seconds);
        let now = move || Timestamp::from_second(seconds.load(Ordering::SeqCst)).unwrap();
        Gate::with_clock(folder, Arc::new(now))
    }

    fn folder(&self) -> PathBuf {
        self.holder.path().join("agents")
    }

    /// As another process has it.
    fn register(&self) -> Register {
        Register::at(self.folder())
    }

    fn now(&self) -> Timestamp {
        Timestamp::from_second(self.seconds.load(Ordering::SeqCst)).unwrap()
    }

    fn pass(&self, seconds: i64) {
        self.seconds.fetch_add(seconds, Ordering::SeqCst);
    }

    fn approve(&self, approval: Approval) -> Token {
        self.register().approve(approval, self.now()).unwrap().1
    }

    fn ask(&self, caller: &Caller, entry: &Entry, folder: &str) -> Result<Reader, &'static str> {
        let grant = self.gate.allow(caller, entry, "Notes", Path::new(folder));
        grant
            .map(|grant| grant.reader)
            .map_err(|error| error.code())
    }
}

/// An approval of the vault Notes alone.
fn approval(name: &str) -> Approval {
    Approval {
        name: name.to_owned(),
        vaults: VaultScope::These(vec![ScopedVault {
            name: "Notes".to_owned(),
            path: PathBuf::from(NOTES),
        }]),
        manage: false,
        reader: Reader::Remote,
        off: Vec::new(),
        expires_at: None,
    }
}

fn code<T>(outcome: Result<T, AgentsError>) -> &'static str {
    outcome.map_or_else(|error| error.code(), |_| "let in")
}

#[test]
fn only_the_token_of_an_approved_agent_opens() {
    let world = World::new();
    assert_eq!(code(world.gate.admit("anything")), "not_approved");
    let token = world.approve(approval("One"));
    let other = world.approve(approval("Other"));
    assert_eq!(world.gate.admit(token.reveal()).unwrap().name(), "One");
    assert_eq!(world.gate.admit(other.reveal()).unwrap().name(), "Other");
    let hash = std::fs::read_to_string(world.folder().join("agents.json")).unwrap();
    let hash = hash
        .split('"')
        .find(|part| part.len() == 64)
        .unwrap()
        .to_owned();
    let mut flipped = token.reveal().to_owned();
    flipped.replace_range(20..21, if &flipped[20..21] == "0" { "1" } else { "0" });
    let wrong = [
        "",
        "lorewell_",
        &token.reveal()[1..],
        &token.reveal().to_uppercase(),
        &flipped,
        &hash,
        "One",
    ];
    for wrong in wrong {
        assert_eq!(code(world.gate.admit(wrong)), "not_approved", "{wrong}");
    }
}

#[test]
fn the_token_is_written_nowhere() {
    let world = World::new();
    let token = world.approve(approval("One"));
    let caller = world.gate.admit(token.reveal()).unwrap();
    world.ask(&caller, &table()[0], NOTES).unwrap();
    let mut files = 0;
    for entry in std::fs::read_dir(world.folder()).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        assert!(!text.contains(&token.reveal()[12..30]), "{text}");
        files += 1;
    }
    assert!(files >= 3);
}

#[test]
fn a_revocation_holds_from_the_next_request_on() {
    let world = World::new();
    let token = world.approve(approval("One"));
    let caller = world.gate.admit(token.reveal()).unwrap();
    assert_eq!(world.ask(&caller, &table()[0], NOTES), Ok(Reader::Remote));
    world.register().revoke("ONE").unwrap();
    // The connection that was let in before, a new one, and one that takes its place.
    assert_eq!(world.ask(&caller, &table()[0], NOTES), Err("not_approved"));
    assert_eq!(code(world.gate.admit(token.reveal())), "not_approved");
    assert_eq!(code(world.gate.admit_as("One")), "no_such_agent");
    assert_eq!(code(world.gate.offered(&caller)), "not_approved");
    // Another agent of the same name is another agent.
    world.approve(approval("One"));
    assert_eq!(world.ask(&caller, &table()[0], NOTES), Err("not_approved"));
}

#[test]
fn a_token_that_was_replaced_opens_nothing() {
    let world = World::new();
    let old = world.approve(approval("One"));
    let caller = world.gate.admit(old.reveal()).unwrap();
    let in_place = world.gate.admit_as("one").unwrap();
    let change = Change {
        new_token: true,
        ..Change::default()
    };
    let (_, new) = world.register().change("One", &change).unwrap();
    assert_eq!(world.ask(&caller, &table()[0], NOTES), Err("not_approved"));
    assert_eq!(code(world.gate.admit(old.reveal())), "not_approved");
    let caller = world.gate.admit(new.unwrap().reveal()).unwrap();
    assert_eq!(world.ask(&caller, &table()[0], NOTES), Ok(Reader::Remote));
    // The owner showed no token.
    assert_eq!(world.ask(&in_place, &table()[0], NOTES), Ok(Reader::Remote));
}

#[test]
fn an_approval_ends_when_it_says() {
    let world = World::new();
    let token = world.approve(Approval {
        expires_at: Some(world.now() + jiff::SignedDuration::from_secs(60)),
        ..approval("One")
    });
    let caller = world.gate.admit(token.reveal()).unwrap();
    world.pass(59);
    assert_eq!(world.ask(&caller, &table()[0], NOTES), Ok(Reader::Remote));
    world.pass(1);
    assert_eq!(world.ask(&caller, &table()[0], NOTES), Err("expired"));
    assert_eq!(code(world.gate.admit(token.reveal())), "expired");
    assert_eq!(code(world.gate.admit_as("One")), "expired");
    let change = Change {
        expires_at: Some(None),
        ..Change::default()
    };
    world.register().change("One", &change).unwrap();
    assert_eq!(world.ask(&caller, &table()[0], NOTES), Ok(Reader::Remote));
}

/// Every row of the table, so that a new ability cannot be forgotten.
#[test]
fn every_capability_keeps_to_the_scope() {
    let world = World::new();
    let reads = world.approve(approval("reads"));
    let manages = world.approve(Approval {
        manage: true,
        reader: Reader::Local,
        ..approval("manages")
    });
    let reads = world.gate.admit(reads.reveal()).unwrap();
    let manages = world.gate.admit(manages.reveal()).unwrap();
    assert!(table().len() > 7);
    for entry in table() {
        let id = entry.id;
        let for_reader = match entry.access {
            Access::Read => Ok(Reader::Remote),
            Access::Manage => Err("out_of_scope"),
        };
        assert_eq!(world.ask(&reads, entry, NOTES), for_reader, "{id}");
        assert_eq!(world.ask(&manages, entry, NOTES), Ok(Reader::Local), "{id}");
        for caller in [&reads, &manages] {
            for outside in [OTHER, "/vaults", "/vaults/Notes/Sub", ""] {
                assert_eq!(
                    world.ask(caller, entry, outside),
                    Err("out_of_scope"),
                    "{id} {outside}"
                );
            }
        }
        assert_eq!(
            world.ask(&Caller::Owner, entry, OTHER),
            Ok(Reader::Local),
            "{id}"
        );
        let client = Caller::client(Reader::Remote);
        assert_eq!(world.ask(&client, entry, OTHER), for_reader, "{id}");
        let offered = world.gate.offered(&reads).unwrap();
        assert_eq!(
            offered.iter().any(|e| e.id == id),
            for_reader.is_ok(),
            "{id}"
        );

        // Turned off, it is gone at once, and so is nothing else.
        let group = group_of(entry).to_owned();
        let switch = |on: bool| {
            let words = vec![group.clone()];
            let (on, off) = if on { (words, vec![]) } else { (vec![], words) };
            let change = Change {
                on,
                off,
                ..Change::default()
            };
            world.register().change("manages", &change).unwrap();
        };
        let before = world.gate.revision().unwrap();
        switch(false);
        assert_ne!(world.gate.revision().unwrap(), before, "{id}");
        for other in table() {
            let asked = world.ask(&manages, other, NOTES);
            let offered = world.gate.offered(&manages).unwrap();
            let is_offered = offered.iter().any(|e| e.id == other.id);
            assert_eq!(
                asked == Err("tool_off"),
                group_of(other) == group,
                "{id} {}",
                other.id
            );
            assert_eq!(is_offered, group_of(other) != group, "{id} {}", other.id);
        }
        switch(true);
        assert_eq!(world.ask(&manages, entry, NOTES), Ok(Reader::Local), "{id}");
    }
}

#[test]
fn a_vault_outside_looks_like_one_that_does_not_exist() {
    let world = World::new();
    let token = world.approve(approval("One"));
    let caller = world.gate.admit(token.reveal()).unwrap();
    let entry = &table()[0];
    let outside = world
        .gate
        .allow(&caller, entry, "Diary", Path::new(OTHER))
        .unwrap_err();
    let absent = world.gate.outside(&caller, "Diary");
    assert_eq!(outside.to_string(), absent.to_string());
    assert_eq!(
        (outside.code(), outside.hint()),
        (absent.code(), absent.hint())
    );
    assert!(world.gate.may_ask(&caller, Path::new(NOTES)).unwrap());
    assert!(!world.gate.may_ask(&caller, Path::new(OTHER)).unwrap());
    assert_eq!(
        world.gate.folders(&caller).unwrap(),
        Some(vec![PathBuf::from(NOTES)])
    );
    assert_eq!(world.gate.folders(&Caller::Owner).unwrap(), None);
}

#[test]
fn a_scope_of_all_holds_every_vault() {
    let world = World::new();
    let token = world.approve(Approval {
        vaults: VaultScope::All,
        ..approval("One")
    });
    let caller = world.gate.admit(token.reveal()).unwrap();
    for folder in [NOTES, OTHER] {
        assert_eq!(world.ask(&caller, &table()[0], folder), Ok(Reader::Remote));
    }
}

#[test]
fn a_damaged_register_lets_nobody_in() {
    let world = World::new();
    let token = world.approve(approval("One"));
    let caller = world.gate.admit(token.reveal()).unwrap();
    let file = world.register().file();
    let good = std::fs::read_to_string(&file).unwrap();
    let damages = [
        String::new(),
        good[..good.len() / 2].to_owned(),
        good.replace("\"version\": 1", "\"version\": 2"),
        good.replace("\"manage\": false", "\"manage\": \"no\""),
        good.replace("\"remote\": true,", ""),
        good.replace("\"manage\"", "\"manages\""),
        good.replace("\"One\"", "\"O\\u001bne\""),
        good.replace("token_blake3\": \"", "token_blake3\": \"x"),
        good.replace("\"approved_at\": \"2", "\"approved_at\": \"x2"),
        good.replace("]\n}", ", 3]\n}"),
        "[]".to_owned(),
    ];
    for damage in damages {
        assert_ne!(damage, good);
        std::fs::write(&file, &damage).unwrap();
        assert_eq!(
            code(world.gate.admit(token.reveal())),
            "agents_damaged",
            "{damage}"
        );
        assert_eq!(
            world.ask(&caller, &table()[0], NOTES),
            Err("agents_damaged"),
            "{damage}"
        );
        assert_eq!(
            code(world.register().approve(approval("Two"), world.now())),
            "agents_damaged"
        );
        // Nothing is written over what is damaged.
        assert_eq!(std::fs::read_to_string(&file).unwrap(), damage);
    }
    std::fs::write(&file, &good).unwrap();
    assert_eq!(world.ask(&caller, &table()[0], NOTES), Ok(Reader::Remote));
}

#[test]
fn names_are_unique_whatever_the_case_and_inert() {
    let world = World::new();
    world.approve(approval("Claude"));
    let register = world.register();
    let again = |name: &str| code(register.approve(approval(name), world.now()));
    assert_eq!(again("CLAUDE"), "agent_name_taken");
    assert_eq!(again("a\u{1b}]0;x\u{7}b"), "bad_agent_name");
    assert_eq!(again("-rf"), "bad_agent_name");
    let unknown = Approval {
        off: vec!["serch".to_owned()],
        ..approval("Other")
    };
    assert_eq!(
        code(register.approve(unknown, world.now())),
        "unknown_tool_group"
    );
    let nothing = Approval {
        vaults: VaultScope::These(Vec::new()),
        ..approval("Other")
    };
    assert_eq!(code(register.approve(nothing, world.now())), "out_of_scope");
    assert_eq!(register.agents().unwrap().len(), 1);
    assert_eq!(code(register.revoke("Other")), "no_such_agent");
}

#[test]
fn many_at_once_lose_nothing() {
    let world = World::new();
    let tokens = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for number in 0..8 {
            let (world, tokens) = (&world, &tokens);
            scope.spawn(move || {
                let token = world.approve(approval(&format!("agent {number}")));
                tokens.lock().unwrap().push((number, token));
            });
        }
    });
    for (number, token) in tokens.into_inner().unwrap() {
        let caller = world.gate.admit(token.reveal()).unwrap();
        assert_eq!(caller.name(), format!("agent {number}"));
    }
}

#[test]
fn a_last_use_is_kept_and_not_written_at_every_request() {
    let world = World::new();
    let token = world.approve(approval("One"));
    let id = world.register().agent("One").unwrap().id;
    let written = || {
        let uses = lorewell_agents::LastUses::at(&world.folder()).read();
        uses.get(&id).map(|time| time.as_second() - 1_800_000_000)
    };
    assert_eq!(written(), None);
    let caller = world.gate.admit(token.reveal()).unwrap();
    let ask = || world.ask(&caller, &table()[0], NOTES).unwrap();
    ask();
    assert_eq!(written(), Some(0));
    world.pass(59);
    ask();
    assert_eq!(written(), Some(0));
    world.pass(1);
    ask();
    assert_eq!(written(), Some(60));
    world.pass(5);
    ask();
    // What was not written is written at the end.
    let (folder, seconds) = (world.folder(), Arc::clone(&world.seconds));
    let World { gate, holder, .. } = world;
    drop(gate);
    let uses = lorewell_agents::LastUses::at(&folder).read();
    assert_eq!(uses[&id].as_second() - 1_800_000_000, 65);
    drop((holder, seconds));
}

#[test]
fn the_groups_have_one_word_each() {
    let mut words: Vec<_> = tool_groups().iter().map(|group| group.name).collect();
    words.sort_unstable();
    words.dedup();
    assert_eq!(words.len(), tool_groups().len());
}

#[cfg(unix)]
#[test]
fn what_others_could_change_lets_nobody_in() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let world = World::new();
    let token = world.approve(approval("One"));
    let mode = |path: &Path| std::fs::metadata(path).unwrap().mode() & 0o777;
    let file = world.register().file();
    assert_eq!((mode(&world.folder()), mode(&file)), (0o700, 0o600));
    let set = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    for (path, open, private) in [(&file, 0o640, 0o600), (&world.folder(), 0o770, 0o700)] {
        set(path, open);
        let error = world.gate.admit(token.reveal()).unwrap_err();
        assert_eq!(error.code(), "agents_not_private");
        assert!(error.hint().contains("chmod go= '"), "{}", error.hint());
        assert_eq!(
            code(world.register().approve(approval("Two"), world.now())),
            "agents_not_private"
        );
        set(path, private);
    }
    assert_eq!(code(world.gate.admit(token.reveal())), "let in");
}
