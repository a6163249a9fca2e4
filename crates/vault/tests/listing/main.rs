//! What a look at a folder finds, leaves out and cannot see.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]
#![expect(clippy::disallowed_types, reason = "the test starts programs")]

#[cfg(unix)]
mod links;
#[cfg(unix)]
mod permissions;

use std::fs;

use lorewell_testkit::TempVault;
use lorewell_vault::{Listing, RuleSettings, Rules, Vault, VaultError};

fn open(vault: &TempVault) -> Vault {
    Vault::open(vault.root()).unwrap()
}

fn list(vault: &TempVault) -> Listing {
    open(vault).list(&Rules::default()).unwrap()
}

fn notes(listing: &Listing) -> Vec<&str> {
    listing.notes.iter().map(|n| n.path.as_str()).collect()
}

/// `path code`, a folder's path with `/`.
fn left_out(listing: &Listing) -> Vec<String> {
    let shown = |l: &lorewell_vault::LeftOut| {
        format!(
            "{}{} {}",
            l.path,
            if l.folder { "/" } else { "" },
            l.reason.code()
        )
    };
    listing.left_out.iter().map(shown).collect()
}

#[test]
fn a_listing_is_every_note_once_in_order_and_says_what_else_is_there() {
    let vault = TempVault::new(
        "
=== b.md ===
1234567
=== Archive.md/inside.MARKDOWN ===
=== a.md ===
=== image.PNG ===
=== Makefile ===
=== .obsidian/plugins/x/readme.md ===
=== .git/HEAD.md ===
=== .trash/Old.md ===
=== web/node_modules/p/README.md ===
=== Note~.md ===
=== ._a.md ===
=== .#a.md ===
=== #a.md# ===
=== a (conflicted copy 2024-01-05 101010).md ===
",
    );
    let listing = list(&vault);
    assert_eq!(
        notes(&listing),
        ["Archive.md/inside.MARKDOWN", "a.md", "b.md"]
    );
    assert_eq!(
        left_out(&listing),
        [
            "#a.md# editor_leftover",
            ".#a.md editor_leftover",
            "._a.md editor_leftover",
            ".git/ git",
            ".obsidian/ dot_folder",
            ".trash/ trash",
            "Note~.md editor_leftover",
            "a (conflicted copy 2024-01-05 101010).md sync_leftover",
            "web/node_modules/ dependency_folder",
        ]
    );
    let others: Vec<_> = listing
        .other_files
        .iter()
        .map(|(e, n)| (e.as_str(), *n))
        .collect();
    assert_eq!(others, [("", 1), ("png", 1)]);
    let b = &listing.notes[2];
    assert_eq!((b.size, b.placeholder), (8, false));
    let modified = vault.path("b.md").metadata().unwrap().modified().unwrap();
    let since = modified.duration_since(std::time::UNIX_EPOCH).unwrap();
    assert_eq!(
        i128::from(b.modified_ns),
        i128::try_from(since.as_nanos()).unwrap()
    );
    assert!(listing.unreadable.is_empty() && listing.warnings.is_empty());
}

#[cfg(target_os = "linux")]
#[test]
fn every_name_that_a_disk_allows_is_listed_as_it_is_and_can_be_read() {
    let long = "é".repeat(125) + ".md"; // 253 bytes
    let names = [
        "\"Change\".md",
        "Open Letter.md",
        "a\\b.md",
        "cafe\u{301}.md",
        "flancia, or [[living.md",
        "hypha#coop.md",
        "line\nbreak.md",
        "open letter.md",
        "pipe|alias.md",
        "pers![[a.png.md",
        "v1.8.0.md",
        "？：.md",
        "👩‍🚀 Crew.md",
        "%2e%2e.md",
        "...md",
        &long,
    ];
    let vault = TempVault::empty();
    for name in names {
        vault.write(&format!("f/{name}"), name);
    }
    let listing = list(&vault);
    let mut expected: Vec<String> = names.iter().map(|n| format!("f/{n}")).collect();
    expected.retain(|n| n != "f/...md");
    expected.sort();
    assert_eq!(notes(&listing), expected);
    assert_eq!(left_out(&listing), ["f/...md dot_file"]);
    let opened = open(&vault);
    for note in &listing.notes {
        assert_eq!(
            format!("f/{}", opened.read(&note.path).unwrap().text),
            note.path.as_str()
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_name_that_is_not_unicode_is_left_out_by_a_readable_name() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let vault = TempVault::new("=== a.md ===\n");
    fs::write(vault.root().join(OsStr::from_bytes(b"caf\xe9.md")), "x").unwrap();
    fs::write(vault.root().join(OsStr::from_bytes(b"caf\xe9.png")), "x").unwrap();
    fs::create_dir(vault.root().join(OsStr::from_bytes(b"d\xff"))).unwrap();
    let listing = list(&vault);
    assert_eq!(notes(&listing), ["a.md"]);
    assert_eq!(
        left_out(&listing),
        [
            "caf\u{fffd}.md not_unicode_name",
            "d\u{fffd}/ not_unicode_name"
        ]
    );
    assert_eq!(listing.other_files.get("png"), Some(&1));
}

#[test]
fn the_user_and_obsidian_leave_out_folders_patterns_and_expressions() {
    let vault = TempVault::new(
        r#"
=== .obsidian/app.json ===
{"userIgnoreFilters": ["templates/", "Dra", "/\\d{4}-secret/", "/(?=x)/", "", 7]}
=== Private/Diary.md ===
=== privateer.md ===
=== Cafe/x.md ===
=== Templates/t.md ===
=== Drafts/d.md ===
=== Drawer.md ===
=== a/2024-SECRET plan.md ===
=== a/b/Old/x.md ===
=== a/keep.md ===
=== a/note.skip.md ===
"#,
    );
    let rules = Rules::new(RuleSettings {
        folders: vec!["private/".into(), " ".into()],
        globs: vec!["*.skip.md".into(), "a/**/old/**".into()],
        ..RuleSettings::default()
    })
    .unwrap();
    let listing = open(&vault).list(&rules).unwrap();
    assert_eq!(notes(&listing), ["Cafe/x.md", "a/keep.md", "privateer.md"]);
    assert_eq!(
        left_out(&listing),
        [
            ".obsidian/ dot_folder",
            "Drafts/ obsidian_ignore",
            "Drawer.md obsidian_ignore",
            "Private/ excluded_folder",
            "Templates/ obsidian_ignore",
            "a/2024-SECRET plan.md obsidian_ignore",
            "a/b/Old/ excluded_glob",
            "a/note.skip.md excluded_glob",
        ]
    );
    assert_eq!(
        listing.warnings.len(),
        1,
        "the look-ahead is not understood: {:?}",
        listing.warnings
    );
    // The rules in force answer for any path as the walk did.
    for left in listing.left_out.iter().filter(|l| !l.folder) {
        assert_eq!(
            listing.rules.excludes_path(&left.path).as_ref(),
            Some(&left.reason)
        );
    }
    assert!(listing.rules.excludes_path("Private/deep/new.md").is_some());
    assert_eq!(listing.rules.excludes_path("a/keep.md"), None);

    let unfiltered = Rules::new(RuleSettings {
        obsidian_filters: false,
        ..RuleSettings::default()
    });
    let all = open(&vault).list(&unfiltered.unwrap()).unwrap();
    assert_eq!(all.notes.len(), 10);
    assert_ne!(all.rules.fingerprint(), listing.rules.fingerprint());
}

#[test]
fn half_written_obsidian_settings_let_nothing_slip_in() {
    let vault = TempVault::new(
        "
=== .obsidian/app.json ===
{\"userIgnoreFilters\": [\"Private/\"]}
=== Private/a.md ===
=== b.md ===
",
    );
    let opened = open(&vault);
    let list = || opened.list(&Rules::default()).unwrap();
    assert_eq!(notes(&list()), ["b.md"]);
    vault.write(".obsidian/app.json", "{\"userIgnore");
    let broken = list();
    assert_eq!(notes(&broken), ["b.md"]);
    assert!(
        broken.warnings[0].contains("app.json"),
        "{:?}",
        broken.warnings
    );
    // Another process knows them only from who remembered.
    let known = Some(vec!["Private/".to_owned()]);
    for (known, expected, said) in [
        (known, vec!["b.md"], "known before still hold"),
        (None, vec!["Private/a.md", "b.md"], "was never read"),
    ] {
        let listing = open(&vault)
            .list_knowing(&Rules::default(), &|| known.clone())
            .unwrap();
        assert_eq!(notes(&listing), expected);
        assert!(listing.warnings[0].contains(said), "{listing:?}");
    }
    vault.write(".obsidian/app.json", "{}");
    assert_eq!(notes(&list()), ["Private/a.md", "b.md"]);
}

#[test]
fn a_missing_root_is_not_an_empty_one() {
    let vault = TempVault::empty();
    let opened = open(&vault);
    assert!(opened.list(&Rules::default()).unwrap().notes.is_empty());

    fs::write(vault.beside("file"), "x").unwrap();
    let at = |name: &str| Vault::open(&vault.beside(name)).unwrap_err();
    assert!(matches!(at("nowhere"), VaultError::Missing { .. }));
    assert!(matches!(at("file"), VaultError::NotAFolder { .. }));

    fs::remove_dir(vault.root()).unwrap();
    let error = opened.list(&Rules::default()).unwrap_err();
    assert!(matches!(error, VaultError::Missing { .. }));
    assert!(
        error.to_string().contains(&*vault.root().to_string_lossy()),
        "{error}"
    );
}

#[test]
fn a_note_over_the_limit_is_left_out() {
    let vault = TempVault::new("=== big.md ===\n12345678\n=== small.md ===\n1\n");
    let listing = open(&vault)
        .with_max_bytes(8)
        .list(&Rules::default())
        .unwrap();
    assert_eq!(notes(&listing), ["small.md"]);
    assert_eq!(left_out(&listing), ["big.md too_large"]);
}

#[cfg(target_os = "linux")]
#[test]
fn files_without_blocks_and_icloud_stubs_are_placeholders() {
    let sparse = |vault: &TempVault, path: &str, size| {
        fs::File::create(vault.path(path))
            .unwrap()
            .set_len(size)
            .unwrap();
    };
    let vault = TempVault::new(
        "
=== Here.md ===
text
=== .Cloud.md.icloud ===
stub
=== Both.md ===
text
=== .Both.md.icloud ===
stub
=== .photo.png.icloud ===
",
    );
    // So large that every file system gives it blocks.
    vault.write("Here.md", "x".repeat(10_000));
    sparse(&vault, "Away.md", 4096);
    sparse(&vault, "Tiny.md", 100);
    let listing = list(&vault);
    let shown: Vec<_> = listing
        .notes
        .iter()
        .map(|n| (n.path.as_str(), n.placeholder))
        .collect();
    assert_eq!(
        shown,
        [
            ("Away.md", true),
            ("Both.md", false),
            ("Cloud.md", true),
            ("Here.md", false),
            ("Tiny.md", false)
        ]
    );

    // Where no file has blocks, the file system does not count them.
    let uncounted = TempVault::empty();
    sparse(&uncounted, "One.md", 4096);
    sparse(&uncounted, "Two.md", 8192);
    assert!(list(&uncounted).notes.iter().all(|n| !n.placeholder));
}

#[cfg(unix)]
#[test]
fn pipes_are_never_opened() {
    let vault = TempVault::new("=== a.md ===\n");
    let made = std::process::Command::new("mkfifo")
        .arg(vault.path("pipe.md"))
        .status();
    if !made.is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: there is no mkfifo here");
        return;
    }
    let listing = list(&vault);
    assert_eq!(left_out(&listing), ["pipe.md not_a_file"]);
    let error = open(&vault)
        .read(&lorewell_text::NotePath::new("pipe.md"))
        .unwrap_err();
    assert_eq!(error.code(), "not_a_file");
}

#[test]
fn a_large_flat_folder_and_a_deep_one_are_listed_whole() {
    let vault = TempVault::empty();
    let deep = format!("{}x.md", "d/".repeat(100));
    vault.write(&deep, "");
    for n in 0..700 {
        vault.write(&format!("{n:03}.md"), "");
    }
    let listing = list(&vault);
    assert_eq!(listing.notes.len(), 701);
    assert!(notes(&listing).is_sorted());
    assert!(notes(&listing).contains(&deep.as_str()));
}
