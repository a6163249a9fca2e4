//! What may not be read or written. The superuser may do everything, so these tests start
//! themselves again as another user.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use lorewell_engine::{FileState, Patience, Quiet, RuleSettings, StatusRequest};
use lorewell_testkit::{TempVault, is_superuser, start_as_ordinary_user};

use crate::portable::Device;
use crate::world::World;

const NOTES: &str = "=== Kiln.md ===\nCone 6.\n=== shut/In.md ===\nCeladon. #secret\n";

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Runs the test itself, or a copy of this program with it as another user.
fn unprivileged(name: &str, test: fn(World)) {
    match is_superuser() {
        true => start_as_ordinary_user(&format!("permissions::{name}"), &[]),
        false => test(World::built(NOTES)),
    }
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

#[test]
fn a_vault_that_may_not_be_written_lacks_nothing_and_is_told() {
    unprivileged(
        "a_vault_that_may_not_be_written_lacks_nothing_and_is_told",
        |_| {
            let vault = TempVault::new(NOTES);
            let device = Device::new(vault.beside("a"), vault.root());
            mode(vault.root(), 0o555);
            device.refresh();
            let status = device.status();
            let again = device.status();
            mode(vault.root(), 0o755);
            let trouble = status.trouble.clone().unwrap();
            assert!(trouble.contains(".lorewell"), "{trouble}");
            assert_eq!((status.waiting, again), (2, status));
            assert!(!vault.path(".lorewell").exists());
            // As soon as it may be written, all is well; then a file of it is shut.
            device.refresh();
            assert_eq!((device.vectors(), device.status().trouble), ((2, 0), None));

            let folder = vault.path(".lorewell/vectors");
            let folder = fs::read_dir(folder)
                .unwrap()
                .next()
                .unwrap()
                .unwrap()
                .path();
            mode(&folder, 0o555);
            vault.write("Rent.md", "Paid on the first.\n");
            device.refresh();
            let status = device.status();
            mode(&folder, 0o755);
            assert!(status.trouble.unwrap().contains("write"));
            assert_eq!(device.notes_of_index(), 3);
            device.refresh();
            assert_eq!((device.vectors(), device.status().trouble), ((3, 0), None));
        },
    );
}

#[test]
fn an_index_that_may_not_be_written_carries_nothing_and_loses_nothing() {
    unprivileged(
        "an_index_that_may_not_be_written_carries_nothing_and_loses_nothing",
        |_| {
            let vault = TempVault::new(NOTES);
            let device = Device::new(vault.beside("a"), vault.root());
            device.refresh();
            let carried = crate::portable::files(&vault.path(".lorewell"));
            let files = crate::portable::files(&device.index);
            vault.write("Rent.md", "Paid on the first.\n");
            files.iter().for_each(|file| mode(file, 0o400));
            mode(&device.index, 0o500);
            let freshness = device.host().refresh(Patience::Read, &Quiet).unwrap();
            let now = crate::portable::files(&vault.path(".lorewell"));
            mode(&device.index, 0o700);
            files.iter().for_each(|file| mode(file, 0o600));
            assert_eq!(freshness.pending, 1);
            assert_eq!(now, carried);
            device.refresh();
            assert_eq!((device.vectors(), device.status().trouble), ((3, 0), None));
        },
    );
}
