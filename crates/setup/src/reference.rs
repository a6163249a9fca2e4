//! The reference page of settings, written from the table.

use std::fmt::Write as _;

use crate::settings::{Reach, SETTINGS, Setting};

/// The text of `docs/settings.md`.
#[must_use]
pub fn settings_reference() -> String {
    let mut page = String::from(HEAD);
    for setting in SETTINGS {
        section(&mut page, setting);
    }
    page
}

const HEAD: &str = "\
# Settings

<!-- Made from the table in crates/setup/src/settings.rs by `cargo xtask docs`; edit it there. -->

Settings come in layers; a later one wins, and `lorewell config list` says for
every value which one did:

1. the built-in default;
2. the configuration file, `lorewell/config.toml` in the user's configuration
   folder (`~/.config` on Linux and macOS);
3. the vault's `[vaults.NAME]` table in that file;
4. the environment variable;
5. the command-line flag.

To the `exclude_…` and `fence_…` lists of the file a variable or flag only adds:
what is left out there, no start of the program brings back. For an agent that
reads elsewhere the model, the `endpoint_…` settings, `tokenizer_file`,
`index_dir`, `index_storage` and the size of the log (`audit_…`) are as the file
has them; a variable or flag that changes one is an error.

After these, the file `.lorewell/config.toml` inside a vault may add to the
`exclude_…` and `fence_…` lists. It travels with the notes and is therefore
untrusted: anything else in it is ignored with a warning.

In a variable or on the command line a list is parted by commas, or written as a
TOML array where an item has a comma: `[\"Work, old\", \"Archive\"]`. An empty
variable counts as not set, except that it empties `endpoint_allowed_hosts`. `~/` in a
path is the home folder; a relative path starts at the folder of the file, or at
the current folder if it comes from a variable or flag. An unknown key or a value
out of range is an error that names the line.

```toml
limit = 8
default_vault = \"Notes\"

[vaults.Notes]
path = \"~/Notes\"
exclude_folders = [\"Private\"]
```

`lorewell config set KEY VALUE` and `lorewell config unset KEY` edit the file and
keep its comments and order.
";

fn section(page: &mut String, setting: &Setting) {
    let default = match setting.default {
        None => "not set".to_owned(),
        Some("") => "an empty list".to_owned(),
        Some(text) => format!("`{text}`"),
    };
    let reach = match setting.reach {
        Reach::Machine => "",
        Reach::Vault => "May differ from vault to vault.\n",
        Reach::Notes => "May differ from vault to vault; a vault's own file may add to it.\n",
    };
    // Writing to a String cannot fail.
    let _ = write!(
        page,
        "\n## `{name}`\n\n{doc}\n\nValue: {kind}. Default: {default}. Variable: `{variable}`.\n{reach}",
        name = setting.name,
        doc = setting.doc,
        kind = setting.kind.describe(),
        variable = setting.variable(),
    );
}
