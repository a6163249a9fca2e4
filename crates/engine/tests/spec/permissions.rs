//! What may not be read or written. The superuser may do everything, so these tests start
//! themselves again as another user.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::{Command, Output};

use lorewell_engine::{FileState, Patience, Quiet, RuleSettings, StatusRequest};

use crate::world::World;

const NOTES: &str = "=== Kiln.md ===\nCone 6.\n=== shut/In.md ===\nCeladon. #secret\n";

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Runs the test itself, or a copy of this program with it as another user.
fn unprivileged(name: &str, test: fn(World)) {
    if !is_superuser() {
        return test(World::built(NOTES));
    }
    start_as_ordinary_user(&format!("permissions::{name}"), &[]);
}

/// Runs a test that is ignored otherwise, by its whole name, as a user who may not do everything.
pub(crate) fn as_ordinary_user(test: &str) {
    match is_superuser() {
        true => start_as_ordinary_user(test, &["--ignored"]),
        false => {
            let program = Command::new(std::env::current_exe().unwrap());
            assert_passes(run(program, test, &["--ignored"]).unwrap());
        }
    }
}

/// Who owns what this process makes is who it runs as.
fn is_superuser() -> bool {
    let place = tempfile::tempdir().unwrap();
    fs::metadata(place.path()).unwrap().uid() == 0
}

fn start_as_ordinary_user(test: &str, options: &[&str]) {
    let place = tempfile::tempdir().unwrap();
    mode(place.path(), 0o755);
    let copy = place.path().join("test");
    fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
    mode(&copy, 0o755);
    let mut program = Command::new("setpriv");
    program
        .args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"])
        .arg(&copy)
        .env("TMPDIR", "/tmp")
        .current_dir("/");
    match run(program, test, options) {
        Ok(run) => assert_passes(run),
        Err(e) => eprintln!("SKIPPED: running as root, and there is no setpriv ({e})"),
    }
}

fn run(mut program: Command, test: &str, options: &[&str]) -> std::io::Result<Output> {
    let named = program.args(["--exact", test, "--nocapture"]);
    named.args(options).output()
}

fn assert_passes(run: Output) {
    let said = String::from_utf8_lossy(&run.stdout);
    let why = String::from_utf8_lossy(&run.stderr);
    assert!(
        run.status.success() && said.contains("1 passed"),
        "{said}{why}"
    );
}

#[test]
fn a_read_only_index_answers_and_says_what_is_missing() {
    unprivileged(
        "a_read_only_index_answers_and_says_what_is_missing",
        |world| {
            let (index, before) = (world.home.index_dir(), world.picture());
            world.home.vault.write("Rent.md", "Paid.\n");
            for file in world.index_files("") {
                mode(&file, 0o400);
            }
            mode(&index, 0o500);
            let freshness = world.try_refresh();
            let after = world.picture();
            let mut stricter = world;
            stricter.exclude(RuleSettings {
                tags: vec!["secret".into()],
                ..RuleSettings::default()
            });
            let excluding = stricter.try_refresh();
            let without_a_look = stricter.host().view().map(drop);
            mode(&index, 0o700);
            // Better no answer than one from a note that is excluded now.
            assert_eq!(excluding.unwrap_err().code(), "no_permission");
            let code = without_a_look.unwrap_err().code();
            assert_eq!(code, "exclusions_changed");

            let freshness = freshness.unwrap();
            assert_eq!(freshness.pending, 1);
            let lock = index.join("writer.lock");
            let reason = format!("no permission for {}", lock.display());
            assert_eq!(freshness.reason, Some(reason));
            after.assert_same(&before);
        },
    );
}

#[test]
fn an_unreadable_index_folder_is_told() {
    unprivileged("an_unreadable_index_folder_is_told", |world| {
        let index = world.home.index_dir();
        mode(&index, 0o000);
        let host = world.host();
        let errors = [
            host.refresh(Patience::Read, &Quiet).map(drop).unwrap_err(),
            host.view().map(drop).unwrap_err(),
            host.status(&StatusRequest::default())
                .map(drop)
                .unwrap_err(),
        ];
        mode(&index, 0o700);
        for error in errors {
            let said = error.to_string();
            assert!(said.starts_with("no permission for "), "{said}");
            assert_eq!(error.code(), "no_permission");
        }
        assert_eq!(world.refresh().pending, 0);
    });
}

#[test]
fn notes_that_cannot_be_read_keep_their_last_content() {
    unprivileged(
        "notes_that_cannot_be_read_keep_their_last_content",
        |mut world| {
            let before = world.picture();
            let (note, folder) = (
                world.home.vault.path("Kiln.md"),
                world.home.vault.path("shut"),
            );
            world.home.vault.write("Kiln.md", "Another content.\n");
            mode(&note, 0o000);
            mode(&folder, 0o000);
            let freshness = world.refresh();
            let why = StatusRequest {
                why_not: Some("Kiln.md".into()),
                list_limit: 9,
                verify: true,
            };
            let status = world.host().status(&why).unwrap();
            assert_eq!(world.picture().notes, before.notes);
            // The folder's note may be as it was; the other one is known to differ.
            assert_eq!((freshness.pending, freshness.unreadable.doubtful()), (1, 2));
            assert_eq!(freshness.report.as_ref().unwrap().unread, 1);
            let again = world.refresh();
            assert_eq!((again.pending, again.unreadable.doubtful()), (1, 2));
            let reason = "2 notes cannot be read; their last content answers";
            assert_eq!(freshness.reason.as_deref(), Some(reason));
            assert_eq!(again.reason.as_deref(), Some(reason));
            assert_eq!(status.pending_total, 1);
            assert_eq!(status.pending[0].reason, "no permission to read “Kiln.md”");
            let Some(FileState::Failed(file)) = &status.file else {
                panic!("{:?}", status.file)
            };
            assert_eq!(file.reason, "no permission to read “Kiln.md”");
            assert_eq!(status.unreadable.len(), 2);
            assert_eq!(status.verified, Some(Ok(())));

            // An exclusion holds also for what cannot be read just now.
            world.exclude(RuleSettings {
                tags: vec!["secret".into()],
                ..RuleSettings::default()
            });
            world.refresh();
            assert_eq!(world.snapshot().totals().notes, 1);

            mode(&folder, 0o700);
            mode(&note, 0o600);
            world.settle();
            assert_eq!(world.found("another content"), ["Kiln.md"]);
            world.picture().assert_same(&world.rebuilt_picture());
        },
    );
}
