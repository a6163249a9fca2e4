//! The list of vaults, and which vault a command means.

use std::fs;

use crate::world::World;
use lorewell_setup::{Flags, SetupError, VaultRef, vaults};

fn resolve(world: &World, asked: Option<&str>) -> Result<VaultRef, SetupError> {
    vaults::resolve(&world.config()?, &Flags::new(), asked)
}

fn add(world: &World, name: Option<&str>, path: &str) -> Result<vaults::Added, SetupError> {
    vaults::add(&world.environment, name, path)
}

fn codes(added: &vaults::Added) -> Vec<&'static str> {
    added.warnings.iter().map(|warning| warning.code).collect()
}

#[test]
fn adding() {
    let world = World::new();
    let notes = world.folder("here/Notes");
    world.folder("user/Notes");
    world.folder("here/Notes/Inner");

    let added = add(&world, None, "Notes").unwrap();
    assert_eq!(
        (added.vault.name.as_str(), &added.vault.path),
        ("Notes", &notes)
    );
    assert_eq!((added.already, codes(&added)), (false, vec![]));

    let again = add(&world, Some("Other"), "../here/./Notes").unwrap();
    assert_eq!((again.already, again.vault), (true, added.vault));
    let clash = add(&world, None, "~/Notes").unwrap_err();
    assert_eq!(clash.code(), "vault_name_taken");
    let home = add(&world, Some("At home"), "~/Notes").unwrap();
    assert_eq!((home.already, codes(&home)), (false, vec![]));

    let inside = add(&world, None, "Notes/Inner").unwrap();
    assert_eq!(codes(&inside), ["vault_nested"]);
    assert!(
        inside.warnings[0]
            .message
            .contains("lies inside the vault \"Notes\"")
    );
    let around = add(&world, Some("All"), ".").unwrap();
    assert_eq!(codes(&around), ["vault_nested", "vault_nested"]);
    assert!(around.warnings[0].message.contains("holds the vault"));

    fs::write(notes.join("a.md"), "").unwrap();
    for (name, path, code) in [
        (None, "Notes/a.md", "not_a_folder"),
        (None, "absent", "not_a_folder"),
        (None, "/", "bad_vault_name"),
        (Some("a/b"), "..", "bad_vault_name"),
        (Some(" "), "..", "bad_vault_name"),
        (Some("--x"), "..", "bad_vault_name"),
        (Some("a\nb"), "..", "bad_vault_name"),
        (Some("AT HOME"), "..", "vault_name_taken"),
    ] {
        assert_eq!(
            add(&world, name, path).unwrap_err().code(),
            code,
            "{name:?} {path}"
        );
    }
    let config = world.config().unwrap();
    let names: Vec<&str> = vaults::list(&config)
        .map(|vault| vault.name.as_str())
        .collect();
    assert_eq!(names, ["Notes", "At home", "Inner", "All"]);
}

#[test]
fn resolving_what_was_asked_for() {
    let world = World::new();
    let notes = world.folder("Notes");
    let decoy = world.folder("here/notes");
    let loose = world.folder("here/Loose");
    add(&world, None, notes.to_str().unwrap()).unwrap();
    for (asked, expected) in [
        ("NOTES", ("Notes", &notes)),
        ("notes", ("Notes", &notes)),
        ("../Notes", ("Notes", &notes)),
        ("./notes", ("notes", &decoy)),
        ("Loose", ("Loose", &loose)),
        ("Loose/", ("Loose", &loose)),
    ] {
        let vault = resolve(&world, Some(asked)).unwrap();
        assert_eq!((vault.name.as_str(), &vault.path), expected, "{asked}");
        assert!(!vault.missing);
    }
    for (asked, hint) in [
        ("Note", "Did you mean \"Notes\"?"),
        ("Telescope", "Listed: Notes."),
        ("", "Listed: Notes."),
    ] {
        let error = resolve(&world, Some(asked)).unwrap_err();
        assert_eq!(error.code(), "unknown_vault", "{asked}");
        assert_eq!(error.hint().unwrap(), hint, "{asked}");
    }
}

#[test]
fn resolving_when_nothing_was_asked_for() {
    let world = World::new();
    let here = &world.environment.current_dir;
    let error = resolve(&world, None).unwrap_err();
    assert_eq!(error.code(), "no_vault");
    let hint = error.hint().unwrap();
    assert!(hint.contains("lorewell vault add DIR") && hint.contains("--vault DIR"));

    fs::create_dir(here.join(".obsidian")).unwrap();
    assert_eq!(resolve(&world, None).unwrap().name, "here");

    let one = world.folder("One");
    add(&world, None, one.to_str().unwrap()).unwrap();
    assert_eq!(resolve(&world, None).unwrap().path, one);

    let two = world.folder("Two");
    add(&world, None, two.to_str().unwrap()).unwrap();
    assert_eq!(resolve(&world, None).unwrap().name, "here");
    fs::remove_dir(here.join(".obsidian")).unwrap();
    let error = resolve(&world, None).unwrap_err();
    assert_eq!(
        error.to_string(),
        "which vault? 2 are listed and none is the default: One, Two"
    );

    vaults::set_default(&world.environment, "two").unwrap();
    assert_eq!(resolve(&world, None).unwrap().path, two);
    let by_variable = world.var("LOREWELL_DEFAULT_VAULT", "Oen");
    let error = resolve(&by_variable, None).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("environment LOREWELL_DEFAULT_VAULT: "),
        "{error}"
    );
    assert_eq!(error.hint().unwrap(), "Did you mean \"One\"?");
}

#[test]
fn removing_the_default_unsets_it() {
    let world = World::new();
    for name in ["One", "Two"] {
        let folder = world.folder(name);
        add(&world, None, folder.to_str().unwrap()).unwrap();
    }
    vaults::set_default(&world.environment, "One").unwrap();
    let removed = vaults::remove(&world.environment, "../One").unwrap();
    assert_eq!(removed.name, "One");
    assert!(!world.config_text().contains("default_vault"));
    assert_eq!(resolve(&world, None).unwrap().name, "Two");
    let error = vaults::remove(&world.environment, "One").unwrap_err();
    assert_eq!(error.code(), "unknown_vault");
    assert!(vaults::set_default(&world.environment, "One").is_err());
}

#[test]
fn a_vault_whose_folder_is_gone_stays_listed_and_says_so() {
    let world = World::new();
    let folder = world.folder("Disk/Notes");
    add(&world, None, folder.to_str().unwrap()).unwrap();
    fs::remove_dir(&folder).unwrap();
    let vault = resolve(&world, Some("notes")).unwrap();
    assert!(vault.missing);
    assert_eq!(vault.path, folder);
    assert_eq!(vaults::list(&world.config().unwrap()).count(), 1);
    assert_eq!(vaults::remove(&world.environment, "Notes").unwrap(), vault);
}

#[test]
fn folders_in_the_file_start_at_home_or_beside_it() {
    let world =
        World::with_config("[vaults.A]\npath = '~/A'\n[vaults.B]\npath = '../../B'\nlimit = 9\n");
    let (home, beside) = (world.folder("user/A"), world.folder("B"));
    assert_eq!(resolve(&world, Some("a")).unwrap().path, home);
    let vault = resolve(&world, Some("b")).unwrap();
    assert_eq!(vault.path, beside);
    let settings = world
        .config()
        .unwrap()
        .settings(Some(&vault), &Flags::new())
        .unwrap();
    assert_eq!(settings.limit(), 9);
}
