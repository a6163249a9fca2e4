//! The hook for prompts on a real vault: what it adds, when it is silent, and that it never stands
//! in the way. What an agent sees stands in `spec/24-hook.md`.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]
#![expect(clippy::disallowed_types, reason = "the test starts programs")]

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use lorewell_testkit::{Program, TempVault};
use serde_json::{Value, json};

/// Prompts of a day's work with an agent that the notes of a textile conservator do not bear on.
const ELSEWHERE: &[&str] = &[
    "fix the failing unit test in src/main.rs",
    "please continue with the next step of the plan",
    "add a --verbose flag to the command line and document it",
    "why does cargo build fail with a lifetime error here?",
    "rename getUser to fetchUser everywhere and update the imports",
    "write a commit message for the staged changes",
    "the page is blank after login, look at the network tab output below",
    "upgrade the dependencies and run the whole test suite again",
    "what does this regular expression match? ^[a-z]+(-[a-z0-9]+)*$",
    "refactor the parser so that it does not allocate for each token",
    "create a Dockerfile with a multi-stage build for this service",
    "explain the difference between a mutex and a semaphore",
];

/// Prompts that they do bear on.
const HERE: &[&str] = &[
    "why did I stop using hydrosulphite in the blue vat?",
    "I want to feed my indigo vat, how much fructose and when?",
    "how long does the second madder bath take?",
];

struct Agent {
    vault: TempVault,
}

impl Agent {
    fn of(vault: TempVault) -> Agent {
        let agent = Agent { vault };
        fs::create_dir_all(agent.home()).unwrap();
        agent.run(&["rebuild"]);
        agent
    }

    /// The notes of the sample vault.
    fn sample() -> Agent {
        let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sample-vault");
        let vault = TempVault::empty();
        copy(&sample, vault.root());
        Agent::of(vault)
    }

    fn home(&self) -> PathBuf {
        self.vault.beside("home")
    }

    fn command(&self, words: &[&str]) -> Command {
        let root = self.vault.root().display().to_string();
        let mut command = Program::new(env!("CARGO_BIN_EXE_lorewell"), self.home()).command(words);
        command.args(["--vault", &root]);
        command
    }

    fn run(&self, words: &[&str]) {
        let output = self.command(words).output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }

    /// What the hook prints for an event.
    fn heard(&self, event: &Value) -> Output {
        self.heard_with(&[], event)
    }

    /// The same with these variables set.
    fn heard_with(&self, variables: &[(&str, &str)], event: &Value) -> Output {
        let mut hook = self.command(&["hook", "prompt", "--client", "claude-code"]);
        let hook = hook
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut hook = hook.spawn().unwrap();
        let mut input = hook.stdin.take().unwrap();
        input.write_all(event.to_string().as_bytes()).unwrap();
        drop(input);
        let output = hook.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        output
    }

    /// What is added to a prompt, if anything is.
    fn added(&self, session: &str, prompt: &str) -> Option<String> {
        let output = self.heard(&json!({
            "session_id": session,
            "cwd": self.vault.root(),
            "hook_event_name": "UserPromptSubmit",
            "prompt": prompt,
        }));
        if output.stdout.is_empty() {
            return None;
        }
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        let answer = &answer["hookSpecificOutput"];
        assert_eq!(answer["hookEventName"], "UserPromptSubmit");
        Some(answer["additionalContext"].as_str().unwrap().to_string())
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn it_speaks_where_the_notes_answer_and_is_silent_elsewhere() {
    let agent = Agent::sample();
    for (number, prompt) in HERE.iter().enumerate() {
        let added = agent.added(&number.to_string(), prompt);
        let added = added.unwrap_or_else(|| panic!("silent: {prompt}"));
        assert!(added.contains("\n[1] "), "{added}");
        // 800 tokens, four characters each, and the frame.
        assert!(added.chars().count() < 4000, "{added}");
    }
    let spoken: Vec<&&str> = ELSEWHERE
        .iter()
        .filter(|p| agent.added("e", p).is_some())
        .collect();
    assert_eq!(spoken, Vec::<&&str>::new());
}

const VAULT: &str = "
=== Kiln.md ===
# Kiln

The second firing goes to cone 6, slowly: four hours to 600 degrees, then full power.
=== Private/Diary.md ===
# Diary

The surveyor of the boat is called Ines and wants the keel bolts out.
=== Garden.md ===
# Garden

Beans go in after the last frost, in the middle of May, beside the fence.
";

const FIRING: &str = "how slow is the second firing of the kiln?";

#[test]
fn nothing_is_given_twice_unless_it_changed() {
    let agent = Agent::of(TempVault::new(VAULT));
    assert!(agent.added("a", FIRING).is_some());
    assert_eq!(agent.added("a", FIRING), None);
    assert!(agent.added("b", FIRING).is_some(), "another session");
    agent.vault.write(
        "Kiln.md",
        "# Kiln\n\nThe second firing goes to cone 9 now, slowly, in one day.\n",
    );
    let added = agent.added("a", FIRING).expect("it changed");
    assert!(added.contains("cone 9"), "{added}");

    // What is remembered says nothing to anybody.
    let sessions = agent.home().join(".local/share/lorewell/clients/sessions");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&sessions), 0o700);
    for entry in fs::read_dir(sessions).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600);
        let text = fs::read_to_string(path).unwrap();
        assert!(
            text.lines()
                .all(|line| line.len() == 32 && line.bytes().all(|b| b.is_ascii_hexdigit()))
        );
    }
}

#[test]
fn what_the_prompt_has_is_not_given() {
    let agent = Agent::of(TempVault::new(VAULT));
    for prompt in [
        "@Kiln.md how slow is the second firing of the kiln?",
        "how slow is the second firing (see @\"Kiln.md\") of the kiln?",
        "how slow is the second firing of the kiln? It is in @Kiln.md.",
        "# Kiln The second firing goes to cone 6, slowly: four hours to 600 degrees, then full power. How slow is that?",
    ] {
        // A heading's sign would make it a command of the agent.
        let prompt = format!("Tell me: {prompt}");
        assert_eq!(agent.added("x", &prompt), None, "{prompt}");
    }
    assert!(
        agent
            .added(
                "x",
                "how slow is the second firing of the kiln? ines@Kiln.md"
            )
            .is_some()
    );
}

#[test]
fn an_excluded_note_is_not_given() {
    let agent = Agent::of(TempVault::new(VAULT));
    let prompt = "what is the surveyor of the boat called?";
    assert!(agent.added("a", prompt).is_some());
    let config = agent.home().join(".config/lorewell");
    fs::create_dir_all(&config).unwrap();
    fs::write(
        config.join("config.toml"),
        "exclude_folders = [\"Private\"]\n",
    )
    .unwrap();
    assert_eq!(agent.added("b", prompt), None);
}

#[test]
fn another_process_that_writes_does_not_hold_it_up() {
    let agent = Agent::of(TempVault::new(VAULT));
    let status = agent.command(&["status", "--json"]).output().unwrap();
    let status: Value = serde_json::from_slice(&status.stdout).unwrap();
    let folder = PathBuf::from(status["index"]["folder"].as_str().unwrap());
    let lock = File::options()
        .write(true)
        .open(folder.join("writer.lock"))
        .unwrap();
    lock.lock().unwrap();
    agent.vault.write("New.md", "A new note.\n");
    let added = agent
        .added("a", FIRING)
        .expect("it answers from what there is");
    assert!(
        added.contains("Not all was searched: index: one change"),
        "{added}"
    );

    // Excluded notes would have to go first, and cannot: it gives up in time.
    let config = agent.home().join(".config/lorewell");
    fs::create_dir_all(&config).unwrap();
    fs::write(
        config.join("config.toml"),
        "exclude_folders = [\"Private\"]\n",
    )
    .unwrap();
    assert_eq!(agent.added("b", FIRING), None);
}

#[test]
fn events_that_make_no_sense_stop_nothing() {
    let agent = Agent::of(TempVault::new(VAULT));
    for event in [
        json!(null),
        json!([]),
        json!({}),
        json!({ "prompt": 3 }),
        json!({ "prompt": "" }),
    ] {
        assert!(agent.heard(&event).stdout.is_empty(), "{event}");
    }
    let long = format!("{FIRING} {}", "and then \u{1f4a5} the kiln ".repeat(50_000));
    assert!(agent.heard(&json!({ "prompt": long })).stderr.is_empty());
}

#[test]
fn notes_behind_fences_are_never_added_and_what_is_added_is_in_the_log() {
    let agent = Agent::sample();
    let home = Program::new(env!("CARGO_BIN_EXE_lorewell"), agent.home());
    let root = agent.vault.root().display().to_string();
    home.done(&["vault", "add", &root]);
    home.done(&["config", "set", "fence_properties", "private"]);
    home.done(&["config", "set", "bridge", "running"]);
    // An index of its own is made first, over some prompts.
    let prompt = HERE[0];
    let mut bridge = None;
    for way in ["alone", "bridge"] {
        if way == "bridge" {
            bridge = Some(home.serve(&[]));
        }
        let mut session = 0;
        let mut asked = || {
            session += 1;
            agent.added(&format!("{way}{session}"), prompt)
        };
        let until = std::time::Instant::now() + std::time::Duration::from_secs(120);
        let added = loop {
            if let Some(added) = asked() {
                break added;
            }
            assert!(std::time::Instant::now() < until, "{way}");
        };
        assert!(added.contains("Dyeing/Indigo vat.md"), "{added}");
        let log = home.json(&["audit"]);
        let last = log["entries"].as_array().unwrap().last().unwrap().clone();
        assert_eq!(last["agent"], "client:claude-code", "{log}");
        assert!(
            last["passages"]
                .to_string()
                .contains("Dyeing/Indigo vat.md"),
            "{log}"
        );
        // Behind a fence from now on, and at once.
        let note = agent.vault.read("Dyeing/Indigo vat.md");
        agent.vault.write(
            "Dyeing/Indigo vat.md",
            format!("---\nprivate: yes\n---\n{note}"),
        );
        for _ in 0..3 {
            let added = asked().unwrap_or_default();
            assert!(!added.contains("Indigo vat.md"), "{way}: {added}");
        }
        agent.vault.write("Dyeing/Indigo vat.md", note);
    }
    drop(bridge);
}

#[test]
fn no_variable_of_the_agent_lifts_a_fence() {
    let agent = Agent::sample();
    let home = Program::new(env!("CARGO_BIN_EXE_lorewell"), agent.home());
    home.done(&["vault", "add", &agent.vault.root().display().to_string()]);
    let event = |session: &str| {
        json!({
            "session_id": session,
            "cwd": agent.vault.root(),
            "hook_event_name": "UserPromptSubmit",
            "prompt": HERE[0],
        })
    };
    let said = |variables: &[(&str, &str)], session: &str| {
        String::from_utf8(agent.heard_with(variables, &event(session)).stdout).unwrap()
    };
    // The index for remote readers is made by the first prompts.
    let until = std::time::Instant::now() + std::time::Duration::from_secs(120);
    let mut session = 0;
    while !said(&[], &format!("open {session}")).contains("Indigo vat.md") {
        assert!(std::time::Instant::now() < until);
        session += 1;
    }
    home.done(&["config", "set", "fence_folders", "Dyeing"]);
    let elsewhere = agent.vault.beside("elsewhere").display().to_string();
    for (number, variable) in [
        ("LOREWELL_FENCE_FOLDERS", ""),
        ("LOREWELL_FENCE_PROPERTIES", ""),
        ("LOREWELL_INDEX_DIR", elsewhere.as_str()),
        ("LOREWELL_MODEL", "endpoint"),
    ]
    .into_iter()
    .enumerate()
    {
        for round in 0..3 {
            let text = said(&[variable], &format!("{number} {round}"));
            assert!(!text.contains("Indigo vat"), "{variable:?}: {text}");
        }
    }
}
