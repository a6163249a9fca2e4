//! The address of an endpoint: one for every way in which people write it.

use std::net::IpAddr;

use ureq::http::Uri;

use crate::EndpointError;
use crate::providers::refusal;

/// Where embeddings are asked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    url: String,
    host: String,
    target: String,
    loopback: bool,
    encrypted: bool,
}

/// What people copy from a server's documents and what is not the way to its embeddings.
const OTHER_WAYS: &[&[&str]] = &[
    &["chat", "completions"],
    &["completions"],
    &["models"],
    &["responses"],
    &["rerank"],
];

impl Address {
    /// Reads an address as a person or a server's document writes it.
    ///
    /// | given | asked |
    /// | --- | --- |
    /// | `http://localhost:1234` | `http://localhost:1234/v1/embeddings` |
    /// | `http://localhost:1234/v1/`, `…/v1//` | `http://localhost:1234/v1/embeddings` |
    /// | `http://localhost:1234/v1/embeddings` | the same |
    /// | `localhost:1234/v1` | `http://…`: this machine and the near ones are asked in the clear |
    /// | `api.example.org/v1` | `https://api.example.org/v1/embeddings` |
    /// | `https://example.org/models` | `https://example.org/models/v1/embeddings` |
    /// | `https://example.org/v1beta/openai/` | `https://example.org/v1beta/openai/embeddings` |
    ///
    /// # Errors
    /// No address; one with a password or a query; a server that has no embeddings of this form.
    pub fn read(given: &str) -> Result<Address, EndpointError> {
        let malformed = |why: &str| EndpointError::Address {
            given: without_secrets(given),
            why: why.to_string(),
        };
        let text = given.trim().split('#').next().unwrap_or_default();
        if text.is_empty() {
            return Err(malformed("it is empty"));
        }
        let whole = match text.contains("://") {
            true => text.to_string(),
            false => format!("{}://{text}", usual_scheme(text)),
        };
        let uri: Uri = whole.parse().map_err(|_| malformed("it is no address"))?;
        let encrypted = match uri.scheme_str().map(str::to_ascii_lowercase).as_deref() {
            Some("http") => false,
            Some("https") => true,
            _ => return Err(malformed("only http and https are spoken")),
        };
        let authority = uri.authority().map_or("", |a| a.as_str());
        if authority.contains('@') {
            let why = "a password has no place in it; name a variable or a file that holds the key";
            return Err(malformed(why));
        }
        let host = host_of(uri.host().unwrap_or_default());
        if host.is_empty() {
            return Err(malformed("it names no host"));
        }
        if let Some(why) = refusal(&host, uri.port_u16(), uri.path(), uri.query()) {
            return Err(EndpointError::Provider { host, why });
        }
        if uri.query().is_some_and(|query| !query.is_empty()) {
            return Err(malformed("leave out what follows the question mark"));
        }
        let scheme = if encrypted { "https" } else { "http" };
        let port = uri
            .port_u16()
            .map_or(String::new(), |port| format!(":{port}"));
        let target = format!("{scheme}://{host}{port}");
        Ok(Address {
            url: format!("{target}{}", path(uri.path())),
            loopback: is_loopback(&host),
            host,
            target,
            encrypted,
        })
    }

    /// The whole address that is asked.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The host alone, in lower case; an IPv6 address in brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Scheme, host and port: what `status` lists as a network target.
    pub fn target(&self) -> &str {
        &self.target
    }

    /// Whether it is this machine, so that nothing leaves it.
    pub fn is_loopback(&self) -> bool {
        self.loopback
    }

    /// Whether what is sent is encrypted on its way.
    pub fn is_encrypted(&self) -> bool {
        self.encrypted
    }
}

/// The path of the embeddings, made of the path that was given.
fn path(given: &str) -> String {
    let mut parts: Vec<&str> = given.split('/').filter(|part| !part.is_empty()).collect();
    if let Some(way) = OTHER_WAYS.iter().find(|way| parts.ends_with(way))
        && parts.iter().any(|part| is_version(part))
    {
        parts.truncate(parts.len() - way.len());
    }
    if parts.last() != Some(&"embeddings") {
        if !parts.iter().any(|part| is_version(part)) {
            parts.push("v1");
        }
        parts.push("embeddings");
    }
    format!("/{}", parts.join("/"))
}

/// `v1`, `v3`, `v1beta`.
fn is_version(part: &str) -> bool {
    let rest = part.strip_prefix('v').unwrap_or_default();
    let after = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    after.len() < rest.len() && (after.is_empty() || after.starts_with(char::is_alphabetic))
}

/// The scheme of an address that was given without one.
fn usual_scheme(text: &str) -> &'static str {
    let authority = text.split(['/', '?']).next().unwrap_or_default();
    let host = match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    match is_near(&host.to_ascii_lowercase()) {
        true => "http",
        false => "https",
    }
}

/// The host in lower case; the address of every interface, which servers print, is this machine.
fn host_of(given: &str) -> String {
    match given.to_ascii_lowercase().trim_end_matches('.') {
        "0.0.0.0" => "127.0.0.1".to_string(),
        "[::]" => "[::1]".to_string(),
        host => host.to_string(),
    }
}

fn ip(host: &str) -> Option<IpAddr> {
    host.trim_start_matches('[')
        .trim_end_matches(']')
        .parse()
        .ok()
}

fn is_loopback(host: &str) -> bool {
    match ip(host) {
        Some(IpAddr::V6(ip)) => ip.to_canonical().is_loopback(),
        Some(IpAddr::V4(ip)) => ip.is_loopback(),
        None => host == "localhost" || host.ends_with(".localhost"),
    }
}

/// Whether a host is on this machine or in a network of one's own, by its name alone.
fn is_near(host: &str) -> bool {
    match ip(host) {
        Some(IpAddr::V4(ip)) => {
            ip.is_loopback() || ip.is_private() || ip.is_link_local() || ip.is_unspecified()
        }
        Some(IpAddr::V6(ip)) => {
            ip.is_loopback()
                || ip.is_unspecified()
                || ip.is_unique_local()
                || ip.is_unicast_link_local()
        }
        None => {
            !host.contains('.')
                || [".localhost", ".local", ".lan", ".internal"]
                    .iter()
                    .any(|end| host.ends_with(end))
        }
    }
}

/// What was given, without what may be a password or a key.
fn without_secrets(given: &str) -> String {
    let given = match given.split_once('?') {
        Some((before, _)) => format!("{before}?***"),
        None => given.to_string(),
    };
    match given.rsplit_once('@') {
        Some((before, after)) => {
            let scheme = before.split_once("://").map_or("", |(scheme, _)| scheme);
            let mark = if scheme.is_empty() { "" } else { "://" };
            format!("{scheme}{mark}***@{after}")
        }
        None => given,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(given: &str) -> String {
        Address::read(given).expect(given).url().to_string()
    }

    #[test]
    fn every_way_to_write_an_address_leads_to_the_embeddings() {
        for (given, asked) in [
            ("http://127.0.0.1:9", "http://127.0.0.1:9/v1/embeddings"),
            ("http://127.0.0.1:9/", "http://127.0.0.1:9/v1/embeddings"),
            (
                " http://127.0.0.1:9/v1 ",
                "http://127.0.0.1:9/v1/embeddings",
            ),
            ("http://127.0.0.1:9/v1/", "http://127.0.0.1:9/v1/embeddings"),
            (
                "http://localhost:9/v1//",
                "http://localhost:9/v1/embeddings",
            ),
            ("HTTP://LocalHost:9/v1", "http://localhost:9/v1/embeddings"),
            (
                "http://127.0.0.1:9/v1/embeddings",
                "http://127.0.0.1:9/v1/embeddings",
            ),
            (
                "http://127.0.0.1:9/v1/embeddings/",
                "http://127.0.0.1:9/v1/embeddings",
            ),
            ("http://h.example/embeddings", "http://h.example/embeddings"),
            ("127.0.0.1:9/v1", "http://127.0.0.1:9/v1/embeddings"),
            ("localhost:9", "http://localhost:9/v1/embeddings"),
            ("[::1]:9", "http://[::1]:9/v1/embeddings"),
            ("0.0.0.0:8080", "http://127.0.0.1:8080/v1/embeddings"),
            ("nas:11434", "http://nas:11434/v1/embeddings"),
            (
                "192.168.1.4:11434",
                "http://192.168.1.4:11434/v1/embeddings",
            ),
            ("api.openai.com/v1", "https://api.openai.com/v1/embeddings"),
            (
                "https://api.openai.com",
                "https://api.openai.com/v1/embeddings",
            ),
            (
                "https://api.openai.com/v1/chat/completions",
                "https://api.openai.com/v1/embeddings",
            ),
            (
                "https://h.example/team/llm",
                "https://h.example/team/llm/v1/embeddings",
            ),
            (
                "https://h.example/models",
                "https://h.example/models/v1/embeddings",
            ),
            (
                "https://h.example/api/v1",
                "https://h.example/api/v1/embeddings",
            ),
            (
                "https://h.example/v1/openai",
                "https://h.example/v1/openai/embeddings",
            ),
            (
                "https://generativelanguage.googleapis.com/v1beta/openai/",
                "https://generativelanguage.googleapis.com/v1beta/openai/embeddings",
            ),
            (
                "https://h.example/v1#part",
                "https://h.example/v1/embeddings",
            ),
            (
                "http://127.0.0.1:9/wrong",
                "http://127.0.0.1:9/wrong/v1/embeddings",
            ),
        ] {
            assert_eq!(url(given), asked, "{given}");
        }
    }

    #[test]
    fn what_is_no_address_of_embeddings_is_refused_with_the_reason() {
        for (given, said) in [
            ("", "empty"),
            ("ftp://h.example", "http"),
            ("http://", "address"),
            ("https://h.example/v1?api=2", "question mark"),
            ("https://api.anthropic.com", "Anthropic"),
            ("https://x.openai.azure.com/openai/deployments/e", "Azure"),
            (
                "https://h.example/openai/deployments/e/embeddings?api-version=2",
                "Azure",
            ),
            ("http://localhost:11434/api/embed", "/v1"),
            ("http://localhost:11434/api/embeddings", "/v1"),
            ("https://api.cohere.com/v2/embed", "compatibility"),
        ] {
            let error = Address::read(given).expect_err(given).to_string();
            assert!(error.contains(said), "{given}: {error}");
        }
    }

    #[test]
    fn a_password_in_an_address_is_refused_and_never_shown() {
        let error = Address::read("https://me:s3cret@h.example/v1").expect_err("refused");
        let shown = format!("{error} {error:?}");
        assert!(
            !shown.contains("s3cret") && !shown.contains("me:"),
            "{shown}"
        );
        assert!(shown.contains("h.example"), "{shown}");
        let error = Address::read("https://h.example/v1?api-key=s3cret").expect_err("refused");
        let shown = format!("{error} {error:?}");
        assert!(!shown.contains("s3cret"), "{shown}");
        assert!(shown.contains("h.example/v1?***"), "{shown}");
    }

    #[test]
    fn this_machine_is_told_from_others() {
        for near in [
            "localhost",
            "127.0.0.1",
            "127.8.8.8",
            "[::1]",
            "a.localhost",
            "0.0.0.0",
        ] {
            assert!(Address::read(near).expect(near).is_loopback(), "{near}");
        }
        for far in [
            "nas",
            "192.168.1.4",
            "localhost.example.org",
            "127.0.0.1.example.org",
            "h.example",
        ] {
            assert!(!Address::read(far).expect(far).is_loopback(), "{far}");
        }
        let far = Address::read("h.example:8443/v1").expect("read");
        assert_eq!(
            (far.target(), far.host()),
            ("https://h.example:8443", "h.example")
        );
        assert!(far.is_encrypted());
    }
}
