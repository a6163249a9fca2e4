//! Edits of the configuration file: what changes, and that nothing else does.

use std::fs;

use crate::world::{World, names_in};
use lorewell_setup::{edit, vaults};

const COMMENTED: &str = "\
# My configuration.

# How many I like to see.
limit   =  8 # not too many
exclude_tags = [
    'private', # of course
    'draft',
]

# The one I use daily.
[vaults.Notes]
path = \"/nowhere/Notes\" # a disk
passage_chars = 900

# Old things.
[vaults.\"Old notes\"]
path = '/nowhere/Old'
";

/// (key, text, the change in the file)
#[test]
fn set_changes_one_value_and_keeps_the_rest() {
    let cases = [
        (None, "limit", "9", ("limit   =  8 #", "limit   =  9 #")),
        (
            None,
            "fusion",
            "convex",
            ("]\n\n# The one", "]\nfusion = \"convex\"\n\n# The one"),
        ),
        (
            None,
            "exclude_tags",
            "a,b",
            (
                "[\n    'private', # of course\n    'draft',\n]",
                "[\"a\", \"b\"]",
            ),
        ),
        (
            Some("notes"),
            "passage_chars",
            "700",
            ("passage_chars = 900", "passage_chars = 700"),
        ),
        (
            Some("OLD NOTES"),
            "exclude_folders",
            "A",
            (
                "'/nowhere/Old'\n",
                "'/nowhere/Old'\nexclude_folders = [\"A\"]\n",
            ),
        ),
    ];
    for (vault, key, text, (old, new)) in cases {
        let world = World::with_config(COMMENTED);
        edit::set(&world.environment, vault, key, text).unwrap();
        assert_eq!(world.config_text(), COMMENTED.replace(old, new), "{key}");
        let config = world.config().unwrap();
        assert_eq!(config.vaults().len(), 2);
    }
}

#[test]
fn unset_cuts_a_key_and_keeps_comments() {
    let cases = [
        (None, "limit", "limit   =  8 # not too many\n", true),
        (
            None,
            "exclude_tags",
            "exclude_tags = [\n    'private', # of course\n    'draft',\n]\n",
            true,
        ),
        (None, "fusion", "", false),
        (
            Some("Notes"),
            "passage_chars",
            "passage_chars = 900\n",
            true,
        ),
    ];
    for (vault, key, cut, was_there) in cases {
        let world = World::with_config(COMMENTED);
        assert_eq!(
            edit::unset(&world.environment, vault, key).unwrap(),
            was_there
        );
        assert_eq!(world.config_text(), COMMENTED.replacen(cut, "", 1), "{key}");
    }
    let inline = World::with_config("vaults = { A = { path = '/x', limit = 3 } }\n");
    assert!(edit::unset(&inline.environment, Some("a"), "limit").unwrap());
    assert_eq!(inline.config_text(), "vaults = { A = { path = '/x'} }\n");
    let misspelt = World::with_config("limt = 3\nlimit = 4\n");
    assert!(edit::unset(&misspelt.environment, None, "limt").unwrap());
    assert_eq!(misspelt.config_text(), "limit = 4\n");
}

#[test]
fn set_and_unset_undo_each_other() {
    for text in [
        "",
        "# only a comment\n",
        COMMENTED,
        "\u{feff}limit = 3\n",
        "limit = 3\r\n\r\n# crlf\r\n",
    ] {
        let world = World::with_config(text);
        edit::set(&world.environment, None, "rrf_k", "10").unwrap();
        let settings = world
            .config()
            .unwrap()
            .settings(None, &Default::default())
            .unwrap();
        assert_eq!(settings.rrf_k(), 10);
        assert!(edit::unset(&world.environment, None, "rrf_k").unwrap());
        assert_eq!(world.config_text(), text);
    }
}

#[test]
fn what_does_not_fit_is_not_written() {
    let cases = [
        (None, "limit", "500", "wrong_value"),
        (None, "limt", "5", "unknown_setting"),
        (None, "vaults", "5", "unknown_setting"),
        (Some("Notes"), "color", "never", "not_per_vault"),
        (Some("Nots"), "limit", "5", "unknown_vault"),
    ];
    for (vault, key, text, code) in cases {
        let world = World::with_config(COMMENTED);
        let error = edit::set(&world.environment, vault, key, text).unwrap_err();
        assert_eq!(error.code(), code, "{key} = {text}");
        assert_eq!(world.config_text(), COMMENTED);
    }
    let broken = World::with_config("limit = \n");
    assert!(edit::set(&broken.environment, None, "limit", "5").is_err());
    assert!(edit::unset(&broken.environment, None, "limit").is_err());
    assert_eq!(broken.config_text(), "limit = \n");
}

#[test]
fn a_write_leaves_nothing_beside_the_file() {
    let world = World::new();
    edit::set(&world.environment, None, "limit", "5").unwrap();
    let folder = world
        .environment
        .config_file()
        .parent()
        .unwrap()
        .to_path_buf();
    assert_eq!(names_in(&folder), [".config.lock", "config.toml"]);
    assert_eq!(world.config_text(), "limit = 5\n");
}

#[cfg(unix)]
#[test]
fn a_linked_file_stays_a_link_and_keeps_its_permissions() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let world = World::with_config("");
    let dotfiles = world.folder("dotfiles").join("lorewell.toml");
    fs::write(&dotfiles, "limit = 3\n").unwrap();
    fs::set_permissions(&dotfiles, fs::Permissions::from_mode(0o600)).unwrap();
    let path = world.environment.config_file();
    fs::remove_file(&path).unwrap();
    symlink(&dotfiles, &path).unwrap();
    edit::set(&world.environment, None, "limit", "5").unwrap();
    assert!(path.is_symlink());
    assert_eq!(fs::read_to_string(&dotfiles).unwrap(), "limit = 5\n");
    let mode = fs::metadata(&dotfiles).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn edits_at_once_are_all_kept() {
    let world = World::new();
    let folders: Vec<_> = (0..8).map(|n| world.folder(&format!("V{n}"))).collect();
    std::thread::scope(|scope| {
        for folder in &folders {
            let environment = &world.environment;
            scope.spawn(move || vaults::add(environment, None, folder.to_str().unwrap()).unwrap());
        }
    });
    assert_eq!(world.config().unwrap().vaults().len(), 8);
}

#[test]
fn vault_tables_come_and_go_without_a_trace() {
    for text in [
        "",
        "# head\n",
        COMMENTED,
        "vaults = { A = { path = '/x' } }\n",
    ] {
        let world = World::with_config(text);
        let folder = world.folder("My vault.d");
        let added = vaults::add(&world.environment, None, folder.to_str().unwrap()).unwrap();
        assert_eq!(added.vault.name, "My vault.d");
        assert_eq!(
            world.config().unwrap().listed(&added.vault).unwrap().vault,
            added.vault
        );
        vaults::remove(&world.environment, "my VAULT.d").unwrap();
        assert_eq!(world.config_text().trim_end(), text.trim_end());
    }
    let world = World::with_config(COMMENTED);
    vaults::remove(&world.environment, "notes").unwrap();
    let table = "[vaults.Notes]\npath = \"/nowhere/Notes\" # a disk\npassage_chars = 900\n";
    assert_eq!(world.config_text(), COMMENTED.replace(table, ""));
}
