//! Every figure of the bench can be measured, on a small vault.

#![cfg(target_os = "linux")]

use std::fs;
use std::process::Command;

#[test]
fn every_row_of_the_table_is_filled() {
    let place = tempfile::tempdir().unwrap();
    let vault = place.path().join("small");
    fs::create_dir(&vault).unwrap();
    for number in 0..40 {
        let text = format!("# Note {number}\n\nThe kiln was slow on day {number}, says the log.\n");
        fs::write(vault.join(format!("{number}.md")), text).unwrap();
    }
    let page = place.path().join("speed.md");
    let run = Command::new(env!("CARGO_BIN_EXE_lorewell-evals"))
        .args(["bench", "--vault"])
        .arg(&vault)
        .arg("--out")
        .arg(&page)
        .env_remove("LOREWELL_EVAL_DATA")
        .output()
        .unwrap();
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
    let page = fs::read_to_string(page).unwrap();
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| ")).collect();
    // One more for the heading, and one for the line below it.
    assert!(rows.len() > 26, "{page}");
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        // What is measured, its goal if there is one, the figure.
        let [_, _, figure] = cells[..] else {
            panic!("{row}");
        };
        assert!(!figure.is_empty() && !figure.contains("NaN"), "{row}");
    }
    assert!(page.contains("| 40 / 40 / "), "{page}");
    let asked = page.lines().find(|line| line.starts_with("| search p99"));
    assert!(!asked.unwrap().contains("(0 asked)"), "{page}");
}
