//! Notes as resources: `lorewell://VAULT/PATH`.
//!
//! They are listed by `knowledge.search` and read by `knowledge.read`, so that what is excluded,
//! fenced or out of scope is nowhere here either.

use lorewell_capabilities::Failure;
use lorewell_text::{percent_decoded, percent_encoded, percent_encoded_path};
use rmcp::model::{
    Annotations, CacheScope, ListResourceTemplatesResult, ListResourcesResult, MetaObject,
    ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};

use crate::server::{Server, no_cursor};

const SCHEME: &str = "lorewell://";
const MARKDOWN: &str = "text/markdown";
/// Notes on a page.
const PAGE: usize = 50;
/// So many characters of a note are read as a resource, which has no pages.
const MOST_CHARS: u64 = 400_000;
const LIST_TTL_MS: u64 = 5_000;
const READ_TTL_MS: u64 = 1_000;

/// The template of all addresses.
pub(crate) fn templates() -> ListResourceTemplatesResult {
    let template = ResourceTemplate::new("lorewell://{vault}/{+path}", "note")
        .with_title("A note")
        .with_description("A note of the vault, by its path in the vault's folder")
        .with_mime_type(MARKDOWN);
    ListResourceTemplatesResult::with_all_items(vec![template])
        .with_ttl_ms(60_000)
        .with_cache_scope(CacheScope::Private)
}

/// A page of all notes, vault after vault, the newest first.
pub(crate) async fn list(
    server: &Server,
    cursor: Option<String>,
    context: &RequestContext<RoleServer>,
) -> Result<ListResourcesResult, ErrorData> {
    let at = cursor.map(|cursor| Place::read(&cursor)).transpose()?;
    if server.is_off("knowledge.search", context).await? {
        return Ok(ListResourcesResult::default());
    }
    let outcome = server
        .work(context, move |backend, listener| {
            let at = at.unwrap_or_default();
            let vaults = backend.vaults();
            let Some(vault) = vaults.get(at.vault) else {
                return Ok((Vec::new(), None));
            };
            let mut input = json!({"since": "0001-01-01", "limit": PAGE});
            if let Some(within) = &at.within {
                input["cursor"] = within.clone().into();
            }
            let next_vault = (at.vault + 1 < vaults.len()).then_some(Place {
                vault: at.vault + 1,
                within: None,
            });
            let page = match backend.call("knowledge.search", Some(vault), input, listener) {
                Ok(page) => page,
                // A vault that is away keeps nobody from the others.
                Err(failure) if vaults.len() > 1 && failure.code != "wrong_use" => {
                    return Ok((Vec::new(), next_vault));
                }
                Err(failure) => return Err(failure),
            };
            let next = match page["next"].as_str() {
                Some(next) => Some(Place {
                    vault: at.vault,
                    within: Some(next.to_string()),
                }),
                None => next_vault,
            };
            Ok((resources(&page), next))
        })
        .await?;
    let (resources, next) = outcome.map_err(|failure| protocol_error(&failure))?;
    let mut result = ListResourcesResult::with_all_items(resources)
        .with_ttl_ms(LIST_TTL_MS)
        .with_cache_scope(CacheScope::Private);
    result.next_cursor = next.map(|place| place.write());
    Ok(result)
}

/// The notes of a page of passages.
fn resources(page: &Value) -> Vec<Resource> {
    let vault = page["vault"].as_str().unwrap_or_default();
    let passages = page["passages"].as_array().into_iter().flatten();
    let mut listed: Vec<&str> = Vec::new();
    let mut resources = Vec::new();
    for passage in passages {
        let Some(note) = passage["note"].as_str() else {
            continue;
        };
        if listed.contains(&note) {
            continue;
        }
        listed.push(note);
        let mut resource = Resource::new(address(vault, note), note).with_mime_type(MARKDOWN);
        if let Some(title) = passage["title"].as_str() {
            resource = resource.with_title(title);
        }
        if let Some(date) = passage["date"].as_str().filter(|date| !date.is_empty()) {
            let mut annotations = Annotations::default();
            annotations.last_modified = Some(date.to_string());
            resource = resource.with_annotations(annotations);
        }
        resources.push(resource);
    }
    resources
}

/// Reads the note of an address.
pub(crate) async fn read(
    server: &Server,
    uri: String,
    context: &RequestContext<RoleServer>,
) -> Result<ReadResourceResult, ErrorData> {
    let not_found = |uri: &str| {
        ErrorData::resource_not_found(
            "There is no such note; resources/list names them.",
            Some(json!({ "uri": uri })),
        )
    };
    let Some((vault, path)) = parts(&uri) else {
        return Err(not_found(&uri));
    };
    if server.is_off("knowledge.read", context).await? {
        return Err(not_found(&uri));
    }
    let wanted = path.clone();
    let outcome = server
        .work(context, move |backend, listener| {
            let input = json!({"note": path, "max_chars": MOST_CHARS});
            backend.call("knowledge.read", Some(&vault), input, listener)
        })
        .await?;
    let note = match outcome {
        Ok(note) => note,
        Err(failure) if matches!(failure.code.as_str(), "no_such_note" | "unknown_vault") => {
            return Err(not_found(&uri));
        }
        Err(failure) => return Err(protocol_error(&failure)),
    };
    // An address is a path: neither a title nor an alias leads to a note by it.
    if note["note"].as_str() != Some(&wanted) {
        return Err(not_found(&uri));
    }
    let mut meta = MetaObject::default();
    for field in ["content_hash", "truncated", "degraded"] {
        meta.insert(format!("lorewell/{field}"), note[field].clone());
    }
    let text = note["text"].as_str().unwrap_or_default();
    let contents = ResourceContents::text(text, uri)
        .with_mime_type(MARKDOWN)
        .with_meta(meta);
    Ok(ReadResourceResult::new(vec![contents])
        .with_ttl_ms(READ_TTL_MS)
        .with_cache_scope(CacheScope::Private))
}

/// The address of a note.
fn address(vault: &str, path: &str) -> String {
    let vault = percent_encoded(vault);
    format!("{SCHEME}{vault}/{}", percent_encoded_path(path.as_bytes()))
}

/// Vault and path of an address.
fn parts(uri: &str) -> Option<(String, String)> {
    let (vault, path) = uri.strip_prefix(SCHEME)?.split_once('/')?;
    let (vault, path) = (percent_decoded(vault), percent_decoded(path));
    (!vault.is_empty() && !path.is_empty()).then_some((vault, path))
}

fn protocol_error(failure: &Failure) -> ErrorData {
    let data = serde_json::to_value(failure).ok();
    match failure.code.as_str() {
        "wrong_use" => ErrorData::invalid_params(failure.message.clone(), data),
        _ => ErrorData::internal_error(failure.message.clone(), data),
    }
}

/// How far the list was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Place {
    /// Which vault.
    vault: usize,
    /// The cursor in it.
    within: Option<String>,
}

impl Place {
    fn write(&self) -> String {
        let within = self.within.as_deref().unwrap_or_default();
        format!("{}.{within}", self.vault)
    }

    fn read(text: &str) -> Result<Place, ErrorData> {
        let (vault, within) = text.split_once('.').ok_or_else(no_cursor)?;
        let vault = vault.parse().map_err(|_| no_cursor())?;
        let within = (!within.is_empty()).then(|| within.to_string());
        Ok(Place { vault, within })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_leads_back_to_vault_and_path() {
        for (vault, path, uri) in [
            ("Notes", "Kiln.md", "lorewell://Notes/Kiln.md"),
            (
                "My Vault's",
                "A b/ü?#%.md",
                "lorewell://My%20Vault%27s/A%20b/%C3%BC%3F%23%25.md",
            ),
        ] {
            assert_eq!(address(vault, path), uri);
            assert_eq!(parts(uri), Some((vault.to_string(), path.to_string())));
        }
        for none in [
            "",
            "file:///etc/passwd",
            "lorewell://",
            "lorewell://x",
            "lorewell:///x.md",
        ] {
            assert_eq!(parts(none), None, "{none}");
        }
    }

    #[test]
    fn a_place_in_the_list_is_read_back() {
        for within in [None, Some("2-32".to_string())] {
            let place = Place { vault: 3, within };
            assert_eq!(Place::read(&place.write()).unwrap(), place);
        }
        assert!(Place::read("x").is_err() && Place::read("-1.x").is_err());
    }
}
