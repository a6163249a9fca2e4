//! Which crate may use which: the layers of ARCHITECTURE.md as one table, checked
//! against `cargo metadata`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::repository::{metadata, root};

/// The shared nouns.
const NOUNS: &[&str] = &["lorewell-text"];
/// Places where tests let a write fail.
const FAILPOINT: &[&str] = &["lorewell-failpoint"];
/// Parts know the nouns and never one another.
const PARTS: &[&str] = &[
    "lorewell-embed",
    "lorewell-graph",
    "lorewell-lexical",
    "lorewell-markdown",
    "lorewell-quotes",
    "lorewell-vault",
    "lorewell-vectors",
];
/// What transformer models keep to.
const EMBEDDER: &[&str] = &["lorewell-embed"];
/// Transformer models, measured in place of the built-in one.
const ENCODER: &[&str] = &["lorewell-encoder"];
/// The scan, measured by itself.
const VECTORS: &[&str] = &["lorewell-vectors"];
/// Models behind an address.
const ENDPOINT: &[&str] = &["lorewell-endpoint"];
/// Transformer models of a user, by name.
const MODELS: &[&str] = &["lorewell-models"];
/// What a question needs of the parts: it reads no folder and parses no note.
const QUESTION: &[&str] = &[
    "lorewell-index",
    "lorewell-lexical",
    "lorewell-vectors",
    "lorewell-embed",
    "lorewell-graph",
];
const BELOW_ENGINE: &[&str] = &["lorewell-index", "lorewell-retrieval"];
/// Vectors in a vault: the engine brings them and an index together.
const PORTABLE: &[&str] = &["lorewell-portable"];
/// Vectors of another program in the vault.
const SMART: &[&str] = &["lorewell-smart"];
/// What stands above the engine sees the engine and the nouns.
const ENGINE: &[&str] = &["lorewell-engine"];
const TOP: &[&str] = &["lorewell-capabilities", "lorewell-setup"];
/// Whether somebody may ask is decided by what is asked: the table of abilities.
const ABILITIES: &[&str] = &["lorewell-capabilities"];
/// Who may ask what.
const AGENTS: &[&str] = &["lorewell-agents"];
/// Answers without a bridge, by its rules.
const DIRECT: &[&str] = &["lorewell-direct"];
/// One warm process for every client.
const BRIDGE: &[&str] = &["lorewell-bridge"];
/// What keeps an index up to date while notes change.
const WATCH: &[&str] = &["lorewell-watch"];
/// What agents speak.
const MCP: &[&str] = &["lorewell-mcp"];
/// Probes are sentences of notes, without their markup.
const NOTE_TEXT: &[&str] = &["lorewell-markdown"];
/// Registrations with other programs, and the agent skill.
const CLIENTS: &[&str] = &["lorewell-clients"];
/// How answers are measured: for the developer's tool and for `lorewell eval`.
const EVALUATION: &[&str] = &["lorewell-evaluation"];

/// Failure cases look at answers as every surface gives them, and at what stands behind these.
const BEHIND_ANSWERS: &[&str] = &[
    "lorewell-capabilities",
    "lorewell-index",
    "lorewell-markdown",
];

/// Only for tests; uses nothing of the workspace.
const TESTKIT: &str = "lorewell-testkit";

/// What tests and benches of a crate may use besides: to search an index one must make it.
const FOR_TESTS: &[(&str, &str)] = &[
    ("lorewell-retrieval", "lorewell-vault"),
    // Cases that start the program are run by its own tests, which know where it lies.
    ("lorewell", "lorewell-cases"),
];

/// Every crate, low to high, with the crates of the workspace that it may use.
const ALLOWED: &[(&str, &[&[&str]])] = &[
    ("xtask", &[]),
    (TESTKIT, &[]),
    ("lorewell-failpoint", &[]),
    ("lorewell-text", &[]),
    ("lorewell-markdown", &[NOUNS]),
    ("lorewell-vault", &[NOUNS]),
    ("lorewell-lexical", &[NOUNS]),
    ("lorewell-vectors", &[NOUNS]),
    ("lorewell-portable", &[NOUNS, FAILPOINT]),
    ("lorewell-smart", &[]),
    ("lorewell-embed", &[NOUNS]),
    ("lorewell-encoder", &[EMBEDDER]),
    ("lorewell-endpoint", &[EMBEDDER]),
    ("lorewell-models", &[EMBEDDER, ENCODER]),
    ("lorewell-graph", &[NOUNS]),
    ("lorewell-quotes", &[NOUNS]),
    ("lorewell-index", &[NOUNS, PARTS, FAILPOINT]),
    ("lorewell-retrieval", &[NOUNS, QUESTION]),
    (
        "lorewell-engine",
        &[NOUNS, PARTS, PORTABLE, SMART, BELOW_ENGINE],
    ),
    ("lorewell-capabilities", &[NOUNS, ENGINE]),
    ("lorewell-agents", &[NOUNS, ABILITIES]),
    ("lorewell-setup", &[NOUNS, ENGINE, MODELS, ENDPOINT]),
    ("lorewell-evaluation", &[NOUNS, ENGINE, NOTE_TEXT]),
    ("lorewell-watch", &[NOUNS, ENGINE]),
    ("lorewell-direct", &[NOUNS, ENGINE, TOP, AGENTS]),
    ("lorewell-mcp", &[NOUNS, ENGINE, TOP, DIRECT]),
    (
        "lorewell-bridge",
        &[NOUNS, ENGINE, TOP, AGENTS, WATCH, DIRECT, MCP],
    ),
    (
        "lorewell-evals",
        &[NOUNS, ENGINE, EVALUATION, EMBEDDER, ENCODER, VECTORS, WATCH],
    ),
    (
        "lorewell-cases",
        &[NOUNS, ENGINE, BEHIND_ANSWERS, WATCH, ENDPOINT, &[TESTKIT]],
    ),
    ("lorewell-clients", &[]),
    (
        "lorewell",
        &[
            NOUNS, ENGINE, TOP, AGENTS, EVALUATION, WATCH, DIRECT, MCP, BRIDGE, CLIENTS, MODELS,
        ],
    ),
];

/// Crates from outside that are held to a place, and the crates that may use them
/// (in tests anybody may, except that nobody may use an async runtime).
const HELD: &[(&str, &[&str])] = &[
    ("rusqlite", &["lorewell-index"]),
    ("pulldown-cmark", &["lorewell-markdown", "lorewell-quotes"]),
    // Heavy, and needed only where tokens are counted for a prompt.
    ("tokenizers", &["lorewell-setup"]),
    ("clap", &["lorewell", "lorewell-evals"]),
    ("clap_complete", &["lorewell"]),
    ("indicatif", &["lorewell"]),
    ("notify", &["lorewell-watch"]),
    // The engine is synchronous; only who serves others waits for many things at once.
    ("tokio", &["lorewell-mcp", "lorewell-bridge"]),
    ("axum", &["lorewell-bridge"]),
    ("hyper", &["lorewell-bridge"]),
    ("tracing-subscriber", &["lorewell-bridge"]),
    ("rmcp", &["lorewell-mcp"]),
    // What speaks to other machines is in few places.
    ("ureq", &["lorewell-endpoint", "lorewell-models"]),
    // The index writes lists into columns as JSON; plain results above it know no JSON.
    (
        "serde",
        &[
            "lorewell-encoder",
            "lorewell-endpoint",
            "lorewell-models",
            "lorewell-index",
            "lorewell-capabilities",
            "lorewell-agents",
            "lorewell-setup",
            "lorewell-evaluation",
            "lorewell-evals",
            "lorewell-bridge",
            "lorewell",
        ],
    ),
    (
        "schemars",
        &[
            "lorewell-capabilities",
            "lorewell-setup",
            "lorewell-bridge",
            "lorewell-evals",
            "lorewell",
        ],
    ),
];
const NOWHERE: &[&str] = &["async-std", "smol"];

/// Every breach of the tables, in words.
fn breaches(metadata: &Value) -> Vec<String> {
    let packages = metadata["packages"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    let names: BTreeSet<&str> = packages
        .iter()
        .filter_map(|package| package["name"].as_str())
        .collect();
    let mut breaches = Vec::new();
    let mut uses: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for package in packages {
        let name = package["name"].as_str().unwrap_or_default();
        let Some((_, allowed)) = ALLOWED.iter().find(|(known, _)| *known == name) else {
            breaches.push(format!("{name} has no row in the table of layers"));
            continue;
        };
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let used = dependency["name"].as_str().unwrap_or_default();
            let only_tests = dependency["kind"].as_str() == Some("dev");
            if names.contains(used) {
                uses.entry(name).or_default().push(used);
                let for_tests =
                    only_tests && (used == TESTKIT || FOR_TESTS.contains(&(name, used)));
                if !for_tests && !allowed.concat().contains(&used) {
                    breaches.push(format!("{name} must not use {used}"));
                }
            } else {
                breaches.extend(held(name, used, only_tests));
            }
        }
    }
    breaches.extend(
        names
            .iter()
            .filter(|name| reaches(&uses, name))
            .map(|name| format!("{name} uses itself in a circle")),
    );
    breaches
}

fn held(name: &str, used: &str, only_tests: bool) -> Option<String> {
    if NOWHERE.contains(&used) {
        return Some(format!("{name} must not use {used}: nobody may"));
    }
    let (_, users) = HELD.iter().find(|(held, _)| *held == used)?;
    (!only_tests && !users.contains(&name))
        .then(|| format!("{name} must not use {used}: only {} may", users.join(", ")))
}

/// Whether a walk along the edges, tests' included, comes back to where it began.
fn reaches(uses: &BTreeMap<&str, Vec<&str>>, start: &str) -> bool {
    let mut seen = BTreeSet::new();
    let mut next = vec![start];
    while let Some(at) = next.pop() {
        for &used in uses.get(at).into_iter().flatten() {
            if used == start {
                return true;
            }
            if seen.insert(used) {
                next.push(used);
            }
        }
    }
    false
}

#[test]
fn the_workspace_keeps_to_its_layers() {
    let metadata = metadata("Cargo.toml");
    assert_eq!(breaches(&metadata), Vec::<String>::new());
    let packages = metadata["packages"].as_array().unwrap();
    for (name, _) in ALLOWED {
        let exists = packages.iter().any(|package| package["name"] == *name);
        assert!(
            exists,
            "the table names {name}, which is no crate of the workspace"
        );
    }
}

#[test]
fn no_async_runtime_comes_in_through_others() {
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).unwrap();
    for name in NOWHERE {
        assert!(
            !lock.contains(&format!("name = \"{name}\"\n")),
            "{name} is in Cargo.lock"
        );
    }
}

/// Made-up workspaces: each breaks one rule, and the check must say which.
#[test]
fn the_check_can_fail() {
    // (crates, each with (dependency, kind); what must be said)
    type Crate = (&'static str, &'static [(&'static str, &'static str)]);
    const TEXT: Crate = ("lorewell-text", &[]);
    let cases: &[(&[Crate], &[&str])] = &[
        (
            &[
                TEXT,
                (
                    "lorewell-graph",
                    &[("lorewell-text", ""), ("lorewell-testkit", "dev")],
                ),
                (TESTKIT, &[]),
            ],
            &[],
        ),
        (
            &[TEXT, ("lorewell-stray", &[])],
            &["lorewell-stray has no row in the table of layers"],
        ),
        (
            &[
                ("lorewell-graph", &[]),
                ("lorewell-vault", &[("lorewell-graph", "")]),
            ],
            &["lorewell-vault must not use lorewell-graph"],
        ),
        (
            &[
                ("lorewell-markdown", &[]),
                ("lorewell-retrieval", &[("lorewell-markdown", "dev")]),
            ],
            &["lorewell-retrieval must not use lorewell-markdown"],
        ),
        (
            &[(TESTKIT, &[]), ("lorewell-index", &[(TESTKIT, "")])],
            &["lorewell-index must not use lorewell-testkit"],
        ),
        (
            &[
                ("lorewell-setup", &[]),
                ("lorewell-capabilities", &[("lorewell-setup", "build")]),
            ],
            &["lorewell-capabilities must not use lorewell-setup"],
        ),
        (
            &[
                ("lorewell-text", &[("lorewell-engine", "dev")]),
                ("lorewell-engine", &[("lorewell-text", "")]),
            ],
            &[
                "lorewell-text must not use lorewell-engine",
                "lorewell-engine uses itself in a circle",
                "lorewell-text uses itself in a circle",
            ],
        ),
        (
            &[("lorewell-engine", &[("rusqlite", "")])],
            &["lorewell-engine must not use rusqlite: only lorewell-index may"],
        ),
        (
            &[("lorewell-engine", &[("serde", "dev"), ("smol", "dev")])],
            &["lorewell-engine must not use smol: nobody may"],
        ),
    ];
    for (crates, expected) in cases {
        let package = |(name, dependencies): &Crate| {
            let dependencies: Vec<Value> = dependencies
                .iter()
                .map(|(name, kind)| json!({ "name": name, "kind": (!kind.is_empty()).then_some(kind) }))
                .collect();
            json!({ "name": name, "dependencies": dependencies })
        };
        let packages: Vec<Value> = crates.iter().map(package).collect();
        assert_eq!(breaches(&json!({ "packages": packages })), *expected);
    }
}
