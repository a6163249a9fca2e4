//! What may not be read.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use lorewell_testkit::TempVault;
use lorewell_text::NotePath;
use lorewell_vault::{Rules, Vault, VaultError};

use crate::{notes, open};

/// The superuser may read everything, so the test starts itself again as another user.
#[test]
fn what_may_not_be_read_is_unreadable_and_never_gone() {
    let mode =
        |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    let vault = TempVault::new("=== open.md ===\n=== shut/in.md ===\n=== closed.md ===\n");
    // Who owns what this process makes is who it runs as.
    if fs::metadata(vault.root()).unwrap().uid() == 0 {
        return again_without_privileges(
            "permissions::what_may_not_be_read_is_unreadable_and_never_gone",
        );
    }
    mode(&vault.path("shut"), 0o000);
    mode(&vault.path("closed.md"), 0o000);
    let opened = open(&vault);
    let listing = opened.list(&Rules::default()).unwrap();
    let read = opened.read(&NotePath::new("closed.md")).unwrap_err();
    let inside = opened.read(&NotePath::new("shut/in.md")).unwrap_err();
    mode(vault.root(), 0o000);
    let (reopened, relisted) = (Vault::open(vault.root()), opened.list(&Rules::default()));
    mode(vault.root(), 0o700);
    mode(&vault.path("shut"), 0o700);

    assert_eq!(notes(&listing), ["closed.md", "open.md"]);
    assert!(listing.may_exist("shut/in.md") && !listing.may_exist("shutter.md"));
    assert_eq!(listing.unreadable.len(), 1);
    assert!(listing.unreadable[0].folder && listing.unreadable[0].message.contains("permission"));
    assert_eq!(
        (read.code(), inside.code()),
        ("no_permission", "no_permission")
    );
    assert!(matches!(reopened, Err(VaultError::NoPermission { .. })));
    assert!(matches!(relisted, Err(VaultError::NoPermission { .. })));
}

fn again_without_privileges(test: &str) {
    // A copy where anyone may run it: the build folder may be closed to others.
    let place = tempfile::tempdir().unwrap();
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let copy = place.path().join("test");
    fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o755)).unwrap();
    let run = std::process::Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"])
        .arg(&copy)
        .args(["--exact", test, "--nocapture"])
        .env("TMPDIR", "/tmp")
        .current_dir("/")
        .output();
    match run {
        Ok(run) => {
            let said = String::from_utf8_lossy(&run.stdout);
            assert!(run.status.success() && said.contains("1 passed"), "{said}");
        }
        Err(e) => eprintln!("SKIPPED: running as root, and there is no setpriv ({e})"),
    }
}
