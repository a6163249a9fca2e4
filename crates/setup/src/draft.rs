//! The text of a configuration file under edit. Values are put in through the
//! TOML tree, which keeps the layout; keys are cut out of the text itself, so that
//! the comments around them stay.

use std::ops::Range;
use std::path::{Path, PathBuf};

use toml_edit::{Document, DocumentMut, Item, Table, TableLike, Value};

use crate::config::parse_toml;
use crate::error::SetupError;
use crate::vaults::same_name;

const VAULTS: &str = "vaults";

/// A byte order mark, which some editors begin a file with.
const MARK: &str = "\u{feff}";

/// A file's text and where it will be written. The tree knows neither byte order
/// marks nor CRLF, so they are set aside while the text is edited.
pub(crate) struct Draft {
    path: PathBuf,
    text: String,
    marked: bool,
    crlf: bool,
}

impl Draft {
    pub(crate) fn new(path: &Path, text: &str) -> Self {
        let plain = text.strip_prefix(MARK);
        let text = plain.unwrap_or(text);
        let crlf =
            text.contains('\n') && text.matches('\n').count() == text.matches("\r\n").count();
        Self {
            path: path.to_path_buf(),
            text: if crlf {
                text.replace("\r\n", "\n")
            } else {
                text.to_owned()
            },
            marked: plain.is_some(),
            crlf,
        }
    }

    /// The text as it belongs in the file.
    pub(crate) fn finished(&self) -> String {
        let mark = if self.marked { MARK } else { "" };
        let newline = if self.crlf { "\r\n" } else { "\n" };
        format!("{mark}{}", self.text.replace('\n', newline))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Gives `key` a value, at the top level or in the table of `vault` (its exact
    /// name). A comment at the line's end stays.
    pub(crate) fn put(
        &mut self,
        vault: Option<&str>,
        key: &str,
        mut value: Value,
    ) -> Result<(), SetupError> {
        self.mutate(|document| {
            let Some(table) = table_mut(document, vault) else {
                return;
            };
            if let Some(Item::Value(old)) = table.get(key) {
                *value.decor_mut() = old.decor().clone();
            }
            match table.get_mut(key) {
                Some(item) => *item = Item::Value(value),
                None => {
                    table.insert(key, Item::Value(value));
                }
            }
        })
    }

    /// Adds a table for a vault at the file's end.
    pub(crate) fn insert_vault(&mut self, name: &str, folder: &Path) -> Result<(), SetupError> {
        self.mutate(|document| {
            let is_empty = document.as_table().is_empty()
                && document
                    .trailing()
                    .as_str()
                    .is_none_or(|text| text.trim().is_empty());
            let vaults = document.entry(VAULTS).or_insert_with(|| {
                let mut parent = Table::new();
                parent.set_implicit(true);
                Item::Table(parent)
            });
            let mut table = Table::new();
            table.insert(
                "path",
                Item::Value(folder.to_string_lossy().as_ref().into()),
            );
            if is_empty {
                table.decor_mut().set_prefix("");
            }
            match vaults {
                Item::Table(parent) => {
                    parent.insert(name, Item::Table(table));
                }
                other => {
                    if let Some(parent) = other.as_table_like_mut() {
                        parent.insert(name, Item::Value(table.into_inline_table().into()));
                    }
                }
            }
        })
    }

    /// Cuts `key` out, at the top level or of the table of `vault`. `false` where
    /// it is not there.
    pub(crate) fn cut(&mut self, vault: Option<&str>, key: &str) -> Result<bool, SetupError> {
        let document = parse_toml(&self.path, &self.text)?;
        let Some(table) = table_of(&document, vault) else {
            return Ok(false);
        };
        let Some((found, item)) = table.get_key_value(key) else {
            return Ok(false);
        };
        if vault.is_none() && key == VAULTS {
            return Ok(false);
        }
        let span = match (found.span(), item.as_value().and_then(Value::span)) {
            (Some(key), Some(value)) => whole_lines(&self.text, key.start..value.end),
            _ => None,
        };
        self.remove(span, vault, key)?;
        Ok(true)
    }

    /// Cuts out the table of a vault (its exact name); comments stay.
    pub(crate) fn cut_vault(&mut self, name: &str) -> Result<(), SetupError> {
        let document = parse_toml(&self.path, &self.text)?;
        let table = table_of(&document, Some(name));
        let keys: Vec<String> = table
            .map(|table| table.iter().map(|(key, _)| key.to_owned()).collect())
            .unwrap_or_default();
        drop(document);
        for key in keys {
            self.cut(Some(name), &key)?;
        }
        let document = parse_toml(&self.path, &self.text)?;
        let header = document
            .get(VAULTS)
            .and_then(|vaults| vaults.get(name))
            .and_then(Item::as_table)
            .filter(|table| !table.is_implicit() && !table.is_dotted())
            .and_then(Table::span)
            .and_then(|span| whole_lines(&self.text, span));
        let cut = header.and_then(|span| without(&self.text, span));
        match cut.filter(|text| parse_toml(&self.path, text).is_ok()) {
            Some(text) => self.text = text,
            None => self.mutate(|document| {
                let vaults = document.get_mut(VAULTS).and_then(Item::as_table_like_mut);
                if let Some(vaults) = vaults {
                    vaults.remove(name);
                }
            })?,
        }
        Ok(())
    }

    /// The exact name of the vault that `asked` means, whatever its case.
    pub(crate) fn vault_called(&self, asked: &str) -> Result<String, SetupError> {
        let document = parse_toml(&self.path, &self.text)?;
        let vaults = document.get(VAULTS).and_then(Item::as_table_like);
        let names: Vec<String> = vaults
            .map(|vaults| vaults.iter().map(|(name, _)| name.to_owned()).collect())
            .unwrap_or_default();
        let found = names.iter().find(|name| same_name(name, asked.trim()));
        found.cloned().ok_or_else(|| SetupError::UnknownVault {
            asked: asked.to_owned(),
            nearest: crate::nearest::nearest(asked, names.iter().map(String::as_str)),
            listed: names,
            because: None,
        })
    }

    /// Cuts `span` out of the text if what is left says the same without the key;
    /// else (inline and dotted tables) takes the key out of the tree.
    fn remove(
        &mut self,
        span: Option<Range<usize>>,
        vault: Option<&str>,
        key: &str,
    ) -> Result<(), SetupError> {
        if let Some(text) = span.and_then(|span| without(&self.text, span))
            && let Ok(rest) = parse_toml(&self.path, &text)
            && table_of(&rest, vault).is_none_or(|table| !table.contains_key(key))
        {
            drop(rest);
            self.text = text;
            return Ok(());
        }
        self.mutate(|document| {
            if let Some(table) = table_mut(document, vault) {
                table.remove(key);
            }
        })
    }

    fn mutate(&mut self, change: impl FnOnce(&mut DocumentMut)) -> Result<(), SetupError> {
        let mut document = parse_toml(&self.path, &self.text)?.into_mut();
        change(&mut document);
        self.text = document.to_string();
        Ok(())
    }
}

fn table_of<'d>(document: &'d Document<&str>, vault: Option<&str>) -> Option<&'d dyn TableLike> {
    match vault {
        None => Some(document.as_table()),
        Some(name) => document.get(VAULTS)?.get(name)?.as_table_like(),
    }
}

fn table_mut<'d>(
    document: &'d mut DocumentMut,
    vault: Option<&str>,
) -> Option<&'d mut dyn TableLike> {
    match vault {
        None => Some(document.as_table_mut()),
        Some(name) => document.get_mut(VAULTS)?.get_mut(name)?.as_table_like_mut(),
    }
}

/// `span` grown to whole lines, with a comment at its end, if nothing else stands on them.
fn whole_lines(text: &str, span: Range<usize>) -> Option<Range<usize>> {
    let start = text.get(..span.start)?.rfind('\n').map_or(0, |at| at + 1);
    let rest = text.get(span.end..)?;
    let end = rest.find('\n').map_or(text.len(), |at| span.end + at + 1);
    let before = text.get(start..span.start)?.trim();
    let after = text.get(span.end..end)?.trim();
    // In front may stand the rest of a dotted key, but no table and no other value.
    let key_only = before.is_empty() || (before.ends_with('.') && !before.contains(['=', '{']));
    let alone = key_only && (after.is_empty() || after.starts_with('#'));
    alone.then_some(start..end)
}

fn without(text: &str, span: Range<usize>) -> Option<String> {
    Some(format!(
        "{}{}",
        text.get(..span.start)?,
        text.get(span.end..)?
    ))
}
