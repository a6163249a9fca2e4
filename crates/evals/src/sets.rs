//! The vault question sets: every system, every question.

use std::path::Path;

use anyhow::Result;
use lorewell_engine::EngineSettings;
use lorewell_evaluation::System;

use crate::data::Data;
use crate::report;
use crate::results::{Results, write};
use crate::workbench::Workbench;

/// Measures the named sets (all, if none is named), writes a file for each into `out` and the
/// page that sums all files of `out` up, and prints that page.
///
/// # Errors
/// Data that cannot be read, an index that cannot be made, a file that cannot be written.
pub fn run(data: &Data, names: &[String], out: &Path) -> Result<()> {
    for name in chosen(names) {
        eprintln!("{name} …");
        measure(data, &name, &System::all())?.write(&out.join(format!("{name}.tsv")))?;
    }
    let page = report::page(out)?;
    write(&out.join("README.md"), &page)?;
    print!("{page}");
    Ok(())
}

/// The outcomes of a set.
///
/// # Errors
/// See [`run`].
pub fn measure(data: &Data, name: &str, systems: &[System]) -> Result<Results> {
    let questions = data.questions(name)?;
    let vault = data.vault(name)?;
    let bench = Workbench::build(name, &vault.root, EngineSettings::default())?;
    let columns: Result<Vec<_>> = systems.iter().map(|s| bench.ask(&questions, s)).collect();
    let names = systems.iter().map(|system| system.name.clone()).collect();
    Ok(Results::new(names, &questions, &columns?))
}

/// The named sets, or all.
pub fn chosen(names: &[String]) -> Vec<String> {
    if names.is_empty() {
        return Data::set_names()
            .iter()
            .map(|name| (*name).to_string())
            .collect();
    }
    names.to_vec()
}
