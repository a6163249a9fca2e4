//! The committed reference page is the one that the table makes.

use std::path::Path;

use lorewell_setup::{SETTINGS, settings_reference};

/// `LOREWELL_WRITE_DOCS=1` writes the page instead; `cargo xtask docs` does so.
#[test]
fn the_committed_page_is_up_to_date() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/settings.md");
    let made = settings_reference();
    for setting in SETTINGS {
        assert!(made.contains(&format!("\n## `{}`\n", setting.name)));
        assert!(made.contains(&format!("`{}`", setting.variable())));
    }
    if std::env::var_os("LOREWELL_WRITE_DOCS").is_some() {
        std::fs::write(&page, &made).unwrap();
    }
    let committed = std::fs::read_to_string(&page).unwrap_or_default();
    assert!(
        committed.replace("\r\n", "\n") == made,
        "docs/settings.md is not what the table says: run `cargo xtask docs`"
    );
}
