//! Which layer wins, what an origin says, and what is wrong with a bad file.

use std::fs;

use crate::world::World;
use lorewell_setup::{Config, Flags, Key, SetupError, VaultRef, index_dir_for, index_root};

/// Every layer gives `limit`; layers are taken away from the top, one at a time.
#[test]
fn the_highest_layer_wins_and_says_so() {
    let layers = [
        (4, "flag --limit", 5),
        (3, "environment LOREWELL_LIMIT", 4),
        (
            2,
            "vault \"Notes\" in config file /config/lorewell/config.toml line 5",
            3,
        ),
        (1, "config file /config/lorewell/config.toml line 2", 2),
        (0, "default", 6),
    ];
    for (height, origin, value) in layers {
        let mut world = World::new();
        let folder = world.folder("Notes");
        let top = if height >= 1 { "limit = 2" } else { "" };
        let in_table = if height >= 2 { "limit = 3" } else { "" };
        let path = folder.display();
        world.write_config(&format!(
            "# mine\n{top}\n[vaults.Notes]\npath = '{path}'\n{in_table}\n"
        ));
        if height >= 3 {
            world = world.var("LOREWELL_LIMIT", "4");
        }
        let mut flags = Flags::new();
        if height >= 4 {
            flags.set(Key::Limit, "5");
        }
        let config = world.config().unwrap();
        let vault = config.vaults()[0].vault.clone();
        let settings = config.settings(Some(&vault), &flags).unwrap();
        assert_eq!(settings.limit(), value, "{origin}");
        let said = settings.get(Key::Limit).origin.to_string();
        assert_eq!(world.plain(&said), origin);
    }
}

#[test]
fn another_vault_does_not_see_a_vaults_table() {
    let world = World::new();
    let (one, two) = (world.folder("One"), world.folder("Two"));
    world.write_config(&format!(
        "[vaults.One]\npath = '{}'\nexclude_tags = ['x']\n[vaults.Two]\npath = '{}'\n",
        one.display(),
        two.display()
    ));
    let config = world.config().unwrap();
    let tags = |vault: Option<&VaultRef>| {
        let settings = config.settings(vault, &Flags::new()).unwrap();
        settings.exclude_tags()
    };
    assert_eq!(tags(Some(&VaultRef::at("One", &one))), ["x"]);
    assert_eq!(tags(Some(&VaultRef::at("Two", &two))), [""; 0]);
    assert_eq!(tags(None), [""; 0]);
}

#[test]
fn texts_of_variables_and_flags_mean_what_a_person_means() {
    // (setting, text, the value as TOML; None where it must be refused)
    let cases = [
        (Key::Limit, " 7 ", Some("7")),
        (Key::Limit, "0", None),
        (Key::Limit, "51", None),
        (Key::Limit, "-3", None),
        (Key::Limit, "six", None),
        (Key::Limit, "6.0", None),
        (Key::MaxNoteBytes, "2 MiB", Some("2097152")),
        (Key::MaxNoteBytes, "3kib", Some("3072")),
        (Key::MaxNoteBytes, "4096", Some("4096")),
        (Key::MaxNoteBytes, "99999999999 GiB", None),
        (Key::MaxNoteBytes, "µ", None),
        (Key::WeightText, "0", Some("0.0")),
        (Key::WeightText, "0.25", Some("0.25")),
        (Key::WeightText, "-1", None),
        (Key::WeightText, "NaN", None),
        (Key::WeightText, "inf", None),
        (Key::Fusion, "convex", Some("\"convex\"")),
        (Key::Fusion, "RRF", None),
        (Key::Lanes, "text,dense", Some("[\"text\", \"dense\"]")),
        (Key::Lanes, "[]", None),
        (Key::Lanes, "text,text", None),
        (Key::Lanes, "text,words", None),
        (Key::ExcludeFolders, "", Some("[]")),
        (Key::ExcludeFolders, "A b, C,", Some("[\"A b\", \"C\"]")),
        (Key::ExcludeFolders, "['A, b']", Some("[\"A, b\"]")),
        (Key::ExcludeFolders, "['A', 3]", None),
        (Key::ExcludeFolders, "['A", None),
        (Key::IndexDir, "/abs", Some("\"/abs\"")),
        (Key::IndexDir, "~/x", Some("\"/user/x\"")),
        (Key::IndexDir, "x/y", Some("\"/here/x/y\"")),
        (Key::Color, "never", Some("\"never\"")),
    ];
    let world = World::new();
    for (key, text, expected) in cases {
        let mut flags = Flags::new();
        flags.set(key, text);
        let by_flag = world.config().unwrap().settings(None, &flags);
        let mut environment = world.environment.clone();
        environment
            .vars
            .insert(key.setting().variable(), text.into());
        let by_variable = Config::load(&environment)
            .unwrap()
            .settings(None, &Flags::new());
        for (way, settings) in [("flag", by_flag), ("variable", by_variable)] {
            let value = settings.map(|settings| settings.get(key).value.clone());
            match (expected, value) {
                (Some(expected), Ok(Some(value))) => {
                    assert_eq!(world.plain(&value.to_toml()), expected, "{way} {text:?}");
                }
                (None, Err(error)) => assert_eq!(error.code(), "wrong_value", "{way} {text:?}"),
                (_, other) => panic!("{way} {key:?} {text:?}: {other:?}"),
            }
        }
    }
}

#[test]
fn variables_and_flags_add_to_what_is_left_out_and_never_take_from_it() {
    let lists = [
        Key::ExcludeFolders,
        Key::ExcludeGlobs,
        Key::ExcludeTags,
        Key::ExcludeProperties,
        Key::FenceFolders,
        Key::FenceTags,
        Key::FenceProperties,
    ];
    for key in lists {
        let name = key.setting().name;
        for (text, expected) in [("", "[\"x\"]"), ("y", "[\"x\", \"y\"]")] {
            let by_variable = World::with_config(&format!("limit = 3\n{name} = ['x']\n"))
                .var("LOREWELL_LIMIT", "")
                .var(&key.setting().variable(), text);
            let by_variable = by_variable.config().unwrap();
            let by_variable = by_variable.settings(None, &Flags::new()).unwrap();
            let by_flag = World::with_config(&format!("{name} = ['x']\n"));
            let mut flags = Flags::new();
            flags.set(key, text);
            let by_flag = by_flag.config().unwrap().settings(None, &flags).unwrap();
            for settings in [&by_variable, &by_flag] {
                let value = settings.get(key).value.clone().unwrap();
                assert_eq!(value.to_toml().to_string(), expected, "{name} {text:?}");
                let told = settings.warnings().iter().filter(|w| w.code == "only_adds");
                assert_eq!(told.count(), usize::from(text.is_empty()), "{name}");
            }
            assert_eq!(by_variable.limit(), 3);
        }
    }
}

#[test]
fn what_the_user_alone_says_no_variable_and_no_flag_says_for_a_reader_elsewhere() {
    let mut owners = 0;
    for setting in lorewell_setup::SETTINGS {
        let name = setting.name;
        let must = name.starts_with("endpoint_")
            || name.starts_with("audit_")
            || [
                "index_dir",
                "index_storage",
                "model",
                "reranker",
                "tokenizer_file",
            ]
            .contains(&name);
        assert_eq!(setting.key.is_the_owners(), must, "{name}");
        owners += usize::from(must);
    }
    assert!(owners > 10, "{owners}");
    let world = World::with_config("model = 'mine'\n");
    let check = |name: &str, value: &str| {
        let mut environment = world.environment.clone();
        environment.vars.insert(name.into(), value.into());
        let config = Config::load(&environment).unwrap();
        let settings = config.settings(None, &Flags::new()).unwrap();
        config
            .check_remote(&settings, None)
            .map_err(|e| e.to_string())
    };
    assert_eq!(check("LOREWELL_LIMIT", "9"), Ok(()));
    assert_eq!(check("LOREWELL_MODEL", "mine"), Ok(()));
    assert_eq!(
        check("LOREWELL_MODEL", "endpoint").unwrap_err(),
        "environment LOREWELL_MODEL: an agent that reads elsewhere cannot change `model`"
    );
    let config = world.config().unwrap();
    let mut flags = Flags::new();
    flags.set(Key::IndexDir, "/elsewhere");
    let settings = config.settings(None, &flags).unwrap();
    let refused = config.check_remote(&settings, None).unwrap_err();
    assert_eq!(refused.code(), "not_for_remote");
    assert!(
        refused
            .hint()
            .unwrap()
            .contains("lorewell config set index_dir")
    );
}

/// Bad files: what is said, its code and its hint.
#[test]
fn a_bad_file_is_an_error_with_file_line_key_and_the_nearest_key() {
    let cases = [
        (
            "\nlimt = 3",
            "/config/lorewell/config.toml line 2: there is no setting `limt`",
            "unknown_setting",
            "Did you mean `limit`?",
        ),
        (
            "Exclude-Folders = []",
            "/config/lorewell/config.toml line 1: there is no setting `Exclude-Folders`",
            "unknown_setting",
            "Did you mean `exclude_folders`?",
        ),
        (
            "[vault.x]\npath='y'",
            "/config/lorewell/config.toml line 1: there is no setting `vault`",
            "unknown_setting",
            "Did you mean `vaults`?",
        ),
        (
            "telescope = 1",
            "/config/lorewell/config.toml line 1: there is no setting `telescope`",
            "unknown_setting",
            "`lorewell config list` names every setting.",
        ),
        (
            "limit = '3'",
            "config file /config/lorewell/config.toml line 1: `limit` is \"3\", but must be a whole number from 1 to 50",
            "wrong_value",
            "",
        ),
        (
            "[limit]\nx = 1",
            "config file /config/lorewell/config.toml line 1: `limit` is a table, but must be a whole number from 1 to 50",
            "wrong_value",
            "",
        ),
        (
            "exclude_tags = 'x'",
            "config file /config/lorewell/config.toml line 1: `exclude_tags` is \"x\", but must be a list of texts",
            "wrong_value",
            "",
        ),
        (
            "vaults = 3",
            "config file /config/lorewell/config.toml line 1: `vaults` is 3, but must be a table, as in [vaults.NAME]",
            "wrong_value",
            "",
        ),
        (
            "# a\n\n[vaults.A]\npath = 3",
            "config file /config/lorewell/config.toml line 4: `path` is 3, but must be the folder of the vault",
            "wrong_value",
            "",
        ),
        (
            "[vaults.A]\nlimit = 3",
            "/config/lorewell/config.toml line 1: the vault \"A\" has no `path`",
            "vault_without_path",
            "Add `path = \"/folder/of/notes\"`.",
        ),
        (
            "[vaults.A]\npath = 'x'\ncolor = 'never'",
            "/config/lorewell/config.toml line 3: `color` cannot differ from vault to vault",
            "not_per_vault",
            "Move `color` above the first [vaults.…] table of the file.",
        ),
        (
            "[vaults.A]\npaht = 'x'",
            "/config/lorewell/config.toml line 2: there is no setting `paht`",
            "unknown_setting",
            "Did you mean `path`?",
        ),
        (
            "[vaults.A]\npath = '/x'\n[vaults.a]\npath = '/y'",
            "the name \"a\" is taken by the vault at /x",
            "vault_name_taken",
            "`lorewell vault add DIR --name NAME` gives another name.",
        ),
        (
            "[vaults.'../x']\npath = '/x'",
            "\"../x\" cannot be the name of a vault: it would be read as a path",
            "bad_vault_name",
            "`lorewell vault add DIR --name NAME` gives another name.",
        ),
    ];
    for (text, message, code, hint) in cases {
        let world = World::with_config(text);
        let error = world.config().unwrap_err();
        assert_eq!(world.plain(&error.to_string()), message);
        assert_eq!(error.code(), code, "{text}");
        assert_eq!(error.hint().unwrap_or_default(), hint, "{text}");
    }
    for text in [
        "limit = ",
        "limit = 3\nlimit = 4",
        "x = \u{0}",
        "[[vaults]",
        "limit = 3 4",
    ] {
        let error = World::with_config(text).config().unwrap_err();
        assert_eq!(error.code(), "config_syntax", "{text}");
        assert!(!error.to_string().contains('\n'), "{error}");
    }
}

#[test]
fn values_must_fit_one_another() {
    let world = World::with_config("passage_chars = 500\n").var("LOREWELL_OVERLAP_CHARS", "500");
    let error = world
        .config()
        .unwrap()
        .settings(None, &Flags::new())
        .unwrap_err();
    assert_eq!(
        world.plain(&error.to_string()),
        "environment LOREWELL_OVERLAP_CHARS: `overlap_chars` is 500, but must be fewer than \
         `passage_chars`, which is 500 (config file /config/lorewell/config.toml line 1)"
    );
}

#[test]
fn a_strange_variable_is_a_warning_with_a_suggestion() {
    let world = World::new()
        .var("LOREWELL_LIMITS", "3")
        .var("LOREWELL_TELESCOPE", "3")
        .var("LOREWELL_EVAL_DATA", "x")
        .var("LOREWELL_CASES", "x")
        .var("LOREWELL_LOG", "debug");
    let config = world.config().unwrap();
    let said: Vec<String> = config.warnings().iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        [
            "environment LOREWELL_LIMITS: no setting has that variable; did you mean LOREWELL_LIMIT?",
            "environment LOREWELL_TELESCOPE: no setting has that variable",
        ]
    );
}

/// A vault's own file adds exclusions over every other layer and does nothing else.
#[test]
fn a_file_inside_a_vault_can_only_exclude() {
    let world = World::new();
    let folder = world.folder("Notes/.lorewell");
    let own = folder.join("config.toml");
    let vault = VaultRef::at("Notes", folder.parent().unwrap());
    fs::write(
        &own,
        "limit = 50\nindex_dir = '/evil'\nexclude_tags = ['a', 'b']\nmodel = 'endpoint'\n[vaults.x]\npath = '/'\n",
    )
    .unwrap();
    let mut flags = Flags::new();
    flags.set(Key::ExcludeTags, "b,c");
    let config = world.config().unwrap();
    let settings = config.settings(Some(&vault), &flags).unwrap();
    assert_eq!(settings.exclude_tags(), ["b", "c", "a"]);
    let resolved = settings.get(Key::ExcludeTags);
    assert_eq!(resolved.origin.to_string(), "flag --exclude-tags");
    assert_eq!(
        world.plain(&resolved.added_by[0].to_string()),
        "the vault's own /Notes/.lorewell/config.toml line 3"
    );
    assert_eq!((settings.limit(), settings.index_dir()), (6, None));
    let ignored: Vec<&str> = settings
        .warnings()
        .iter()
        .filter_map(|warning| warning.message.split('`').nth(1))
        .collect();
    assert_eq!(ignored, ["limit", "index_dir", "model", "vaults"]);
    assert_eq!(settings.model(), "static-en-256");

    // What cannot be read might have excluded: stop rather than show too much.
    for broken in ["exclude_tags = 'a'", "exclude_tags = ["] {
        fs::write(&own, broken).unwrap();
        assert!(config.settings(Some(&vault), &flags).is_err(), "{broken}");
    }
    fs::write(&own, "#".repeat((1 << 20) + 1)).unwrap();
    let error = config.settings(Some(&vault), &flags).unwrap_err();
    assert!(matches!(error, SetupError::Unreadable { .. }));
    fs::remove_file(&own).unwrap();
    fs::create_dir(&own).unwrap();
    assert!(config.settings(Some(&vault), &flags).is_err());
}

#[test]
fn an_index_has_one_folder_however_the_vault_is_written() {
    let world = World::new();
    let folder = world.folder("My Notes (2024)");
    let settings = world
        .config()
        .unwrap()
        .settings(None, &Flags::new())
        .unwrap();
    let root = index_root(&world.environment, &settings);
    assert_eq!(
        world.plain(&root.display().to_string()),
        "/data/lorewell/indexes"
    );
    let index = index_dir_for(&root, &folder);
    let name = index.file_name().unwrap().to_str().unwrap();
    let (slug, hash) = name.rsplit_once('-').unwrap();
    assert_eq!((slug, hash.len()), ("my-notes-2024", 16));
    assert!(hash.chars().all(|digit| digit.is_ascii_hexdigit()));
    assert_eq!(
        index_dir_for(&root, &folder.join("../My Notes (2024)")),
        index
    );
    assert_ne!(
        index_dir_for(&root, &world.folder("x/My Notes (2024)")),
        index
    );
    let names = [
        ("日本語 ノート", "日本語-ノート"),
        ("---", "vault"),
        ("ÀB", "àb"),
    ];
    for (name, expected) in names {
        let index = index_dir_for(&root, &world.folder(name));
        let index = index.file_name().unwrap().to_str().unwrap().to_owned();
        assert_eq!(index.rsplit_once('-').unwrap().0, expected);
    }
}
