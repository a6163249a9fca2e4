//! Properties of every file, however oddly it is laid out: edits lose no comment and
//! change nothing else, and no text makes the reader panic.

use lorewell_setup::{Config, Flags, Key, Settings, edit, vaults};
use proptest::prelude::*;

use crate::world::World;

/// Ways to write a vault's table; `N` stands for its name.
const TABLES: &[&str] = &[
    "[vaults.N]\npath = '/x/N'\n",
    "# about N\n[vaults.N] # N\n  path = '/x/N' # where\n\n  limit = 3\n",
    "[vaults.\"N\"]\npath = '''/x/N'''\nexclude_tags = [ # why\n 'a',\n]\n# N ends\n",
    "[vaults.N]\npath = '/x/N'\n\n\n",
];
/// Ways to write settings at the top.
const TOPS: &[&str] = &[
    "",
    "# head\n\n",
    "limit = 4\n",
    "exclude_tags = ['a',\n  # inside\n 'b'] # after\n",
    "\"fusion\" = 'convex'\n\n# about fusion\n",
    "vaults.Z.path = '/x/Z' # dotted\nvaults.Z.limit = 9\n",
    "# only a comment\n",
];

fn layout() -> impl Strategy<Value = String> {
    let top = proptest::sample::subsequence(TOPS, 0..=TOPS.len()).prop_shuffle();
    let tables = proptest::collection::vec(0..TABLES.len(), 0..4);
    (top, tables).prop_map(|(top, tables)| {
        let names = ["Alpha", "B", "C"];
        let dotted = top.iter().any(|line| line.starts_with("vaults."));
        // TOML forbids to reopen with a header what dotted keys defined.
        let tables = if dotted { &[][..] } else { &tables };
        let tables = tables
            .iter()
            .zip(names)
            .map(|(table, name)| TABLES[*table].replace('N', name));
        top.into_iter()
            .map(|line| (*line).to_owned())
            .chain(tables)
            .collect()
    })
}

fn comments(text: &str) -> Vec<String> {
    let comment = |line: &str| {
        line.split_once('#')
            .map(|(_, comment)| comment.trim().to_owned())
    };
    let mut comments: Vec<String> = text.lines().filter_map(comment).collect();
    comments.sort();
    comments
}

fn settings(config: &Config) -> Settings {
    let settings = config.settings(None, &Flags::new());
    settings.expect("the layouts hold sound values")
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(32) })]

    #[test]
    fn setting_and_unsetting_restores_the_text(text in layout()) {
        let world = World::with_config(&text);
        edit::set(&world.environment, None, "rrf_k", "10").unwrap();
        prop_assert_eq!(settings(&world.config().unwrap()).rrf_k(), 10);
        prop_assert_eq!(comments(&world.config_text()), comments(&text));
        prop_assert!(edit::unset(&world.environment, None, "rrf_k").unwrap());
        prop_assert_eq!(world.config_text(), text);
    }

    #[test]
    fn a_value_set_in_a_vault_is_that_vaults_alone(text in layout(), which in 0..4_usize) {
        let world = World::with_config(&text);
        let before = world.config().unwrap();
        let Some(listed) = before.vaults().get(which) else { return Ok(()) };
        edit::set(&world.environment, Some(&listed.vault.name), "rrf_k", "10").unwrap();
        let after = world.config().unwrap();
        for vault in vaults::list(&after) {
            let k = after.settings(Some(vault), &Flags::new()).unwrap().rrf_k();
            prop_assert_eq!(k == 10, *vault == listed.vault);
        }
        prop_assert_eq!(comments(&world.config_text()), comments(&text));
    }

    #[test]
    fn removing_a_vault_leaves_the_others_and_their_comments(text in layout(), which in 0..4_usize) {
        let world = World::with_config(&text);
        let before = world.config().unwrap();
        let Some(listed) = before.vaults().get(which) else { return Ok(()) };
        vaults::remove(&world.environment, &listed.vault.name).unwrap();
        let after = world.config().unwrap();
        let rest: Vec<_> = vaults::list(&before).filter(|vault| **vault != listed.vault).collect();
        prop_assert_eq!(vaults::list(&after).collect::<Vec<_>>(), rest);
        for key in [Key::Limit, Key::ExcludeTags, Key::Fusion] {
            let (before, after) = (settings(&before), settings(&after));
            prop_assert_eq!(&before.get(key).value, &after.get(key).value);
        }
        for about in ["head", "inside", "after", "about fusion", "only a comment", "about Alpha", "about B", "about C"] {
            let count = |text: &str| text.matches(&format!("# {about}\n")).count();
            prop_assert_eq!(count(&world.config_text()), count(&text), "{}", about);
        }
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "(limit|vaults|\\[|\\]|\\.|=|'|\"|\n|#|[0-9]|é|\u{0}|\\{|\\}| |path|,){0,40}") {
        let world = World::with_config(&text);
        let _ = world.config();
        let _ = edit::set(&world.environment, None, "limit", "5");
        let _ = edit::unset(&world.environment, Some("a"), "limit");
        let _ = edit::unset(&world.environment, None, &text);
    }
}
