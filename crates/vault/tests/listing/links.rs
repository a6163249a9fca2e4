//! Symbolic links: what is followed, and what is left out.

use std::fs;

use lorewell_testkit::TempVault;
use lorewell_text::NotePath;
use lorewell_vault::{LeftOut, Rules, Vault};

use crate::{left_out, list, notes, open};

#[test]
fn links_never_make_a_note_appear_twice_or_from_outside() {
    use std::os::unix::fs::symlink;

    let vault = TempVault::new(
        "
=== p/real.md ===
=== p/plain.txt ===
=== .hidden/secret.md ===
=== .hidden/data.txt ===
",
    );
    fs::create_dir(vault.beside("outside")).unwrap();
    fs::write(vault.beside("outside").join("secret.md"), "x").unwrap();
    for (target, link) in [
        ("..", "p/loop"),
        (".", "self"),
        ("p", "again"),
        ("p/real.md", "alias.md"),
        ("missing.md", "dead.md"),
        ("round.md", "round.md"),
        ("p/plain.txt", "text.md"),
        ("p/plain.txt", "text2.md"),
        ("p/plain.txt", "text.lnk"),
        (".hidden/secret.md", "peek.md"),
        (".hidden/data.txt", "peek2.md"),
        (".hidden", "peek"),
        ("../outside/secret.md", "out.md"),
        ("../outside", "out"),
        ("/dev/null", "null.md"),
    ] {
        symlink(target, vault.path(link)).unwrap();
    }
    let listing = list(&vault);
    assert_eq!(notes(&listing), ["p/real.md", "text.md"]);
    assert_eq!(
        left_out(&listing),
        [
            ".hidden/ dot_folder",
            "again/ link_to_listed",
            "alias.md link_to_listed",
            "dead.md dead_link",
            "null.md link_leaves_vault",
            "out/ link_leaves_vault",
            "out.md link_leaves_vault",
            "p/loop/ link_loop",
            "peek/ dot_folder",
            "peek.md dot_folder",
            "peek2.md dot_folder",
            "round.md link_loop",
            "self/ link_loop",
            "text2.md link_to_listed",
        ]
    );
    // The listing and the reader agree on what may be read.
    let opened = open(&vault);
    for note in &listing.notes {
        opened.read(&note.path).unwrap();
    }
    let second_way = |l: &&LeftOut| l.path == "text2.md";
    for left in listing
        .left_out
        .iter()
        .filter(|l| !l.folder && !second_way(l))
    {
        let error = opened.read(&NotePath::new(left.path.clone())).unwrap_err();
        assert_ne!(error.code(), "unreadable", "{left:?}");
    }
}

#[test]
fn a_linked_root_is_the_same_vault() {
    let vault = TempVault::new("=== a.md ===\n");
    let link = vault.beside("link");
    std::os::unix::fs::symlink(vault.root(), &link).unwrap();
    let (real, linked) = (open(&vault), Vault::open(&link).unwrap());
    assert_eq!((real.root(), real.name()), (linked.root(), "vault"));
    assert_eq!(notes(&linked.list(&Rules::default()).unwrap()), ["a.md"]);
    let dotted = Vault::open(&vault.root().join("../link/.")).unwrap();
    assert_eq!(dotted.root(), real.root());
}
