//! What every request passes, those to no route included; and who the caller is.
//!
//! A web page in the user's browser can send requests to this machine. It is known by the `Host`
//! that it believes to ask, by its `Origin`, and by what the browser says of where the request
//! comes from. No answer bears a header that would let a page of others read it.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, HOST, HeaderName, HeaderValue, ORIGIN};
use axum::middleware::Next;
use axum::response::Response;
use lorewell_agents::{AgentsError, Caller};
use lorewell_capabilities::Failure;

use super::answers::refused;
use crate::office::Office;
use crate::{Bridge, Refusal};

/// Headers of every answer.
const HEADERS: [(HeaderName, HeaderValue); 6] = [
    (
        HeaderName::from_static("content-security-policy"),
        HeaderValue::from_static(
            "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
        ),
    ),
    (
        HeaderName::from_static("x-content-type-options"),
        HeaderValue::from_static("nosniff"),
    ),
    (
        HeaderName::from_static("referrer-policy"),
        HeaderValue::from_static("no-referrer"),
    ),
    (
        HeaderName::from_static("cache-control"),
        HeaderValue::from_static("no-store"),
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        HeaderValue::from_static("same-origin"),
    ),
    (
        HeaderName::from_static("x-frame-options"),
        HeaderValue::from_static("DENY"),
    ),
];

/// The checks of every request, and the headers of every answer.
pub(super) async fn all(
    State(office): State<Arc<Office>>,
    request: Request,
    next: Next,
) -> Response {
    let mut response = match check(&request, office.addresses()) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refused(&refusal.into()),
    };
    for (name, value) in HEADERS {
        // A route may have a policy of its own.
        response.headers_mut().entry(name).or_insert(value);
    }
    response
}

fn check(request: &Request, addresses: &[SocketAddr]) -> Result<(), Refusal> {
    let mut hosts = request.headers().get_all(HOST).iter();
    let host = hosts.next().and_then(|host| host.to_str().ok());
    let is_ours = host.is_some_and(|host| names(host, addresses)) && hosts.next().is_none();
    // Whoever names a host in the request line names it in the header too.
    let authority = request.uri().authority();
    if !is_ours || authority.is_some_and(|it| !names(it.as_str(), addresses)) {
        return Err(Refusal::ForeignHost);
    }
    for origin in request.headers().get_all(ORIGIN) {
        let host = origin
            .to_str()
            .ok()
            .and_then(|it| it.strip_prefix("http://"));
        if !host.is_some_and(|host| names(host, addresses)) {
            return Err(Refusal::ForeignOrigin);
        }
    }
    for site in request.headers().get_all("sec-fetch-site") {
        if !matches!(site.as_bytes(), b"same-origin" | b"none") {
            return Err(Refusal::ForeignOrigin);
        }
    }
    Ok(())
}

/// Whether `host`, with its port, is one of the addresses, or this machine by name.
fn names(host: &str, addresses: &[SocketAddr]) -> bool {
    if let Ok(address) = host.parse::<SocketAddr>() {
        return addresses.contains(&address);
    }
    let Some((name, port)) = host.rsplit_once(':') else {
        // Port 80 is not written out.
        return match (
            host.parse::<IpAddr>(),
            host.eq_ignore_ascii_case("localhost"),
        ) {
            (Ok(ip), _) => addresses.contains(&SocketAddr::new(ip, 80)),
            (_, true) => addresses
                .iter()
                .any(|a| a.ip().is_loopback() && a.port() == 80),
            _ => false,
        };
    };
    let here =
        |address: &SocketAddr| address.ip().is_loopback() && port == address.port().to_string();
    name.eq_ignore_ascii_case("localhost") && addresses.iter().any(here)
}

/// What a request may name as its host.
pub(super) fn hosts(addresses: &[SocketAddr]) -> Vec<String> {
    let named = addresses
        .iter()
        .filter(|address| address.ip().is_loopback());
    let named = named.map(|address| format!("localhost:{}", address.port()));
    let mut hosts: Vec<String> = addresses
        .iter()
        .map(ToString::to_string)
        .chain(named)
        .collect();
    hosts.sort();
    hosts.dedup();
    hosts
}

/// The port that a request believes to ask.
pub(super) fn port_asked(request: &Request) -> Option<u16> {
    let host = request.headers().get(HOST)?.to_str().ok()?;
    host.rsplit_once(':')?.1.parse().ok()
}

/// The bearer token. It stands in its header or nowhere.
pub(super) fn token(request: &Request) -> Option<String> {
    let mut headers = request.headers().get_all(AUTHORIZATION).iter();
    let header = headers.next()?.to_str().ok()?;
    if headers.next().is_some() {
        return None;
    }
    let (scheme, token) = header.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then(|| token.to_string())
}

/// Who shows this token.
pub(super) fn caller(bridge: &Bridge, token: Option<&str>) -> Result<Caller, Failure> {
    let token = token.ok_or(AgentsError::NotApproved)?;
    Ok(bridge.gate().admit(token)?)
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    fn ours() -> [SocketAddr; 2] {
        [
            "127.0.0.1:7313".parse().unwrap(),
            "[::1]:7313".parse().unwrap(),
        ]
    }

    fn request(headers: &[(&str, &str)]) -> Request {
        let mut request = Request::builder().uri("/v1/search");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(Body::empty()).unwrap()
    }

    #[test]
    fn only_this_machine_by_its_own_names_is_a_host() {
        for host in [
            "127.0.0.1:7313",
            "[::1]:7313",
            "localhost:7313",
            "LOCALHOST:7313",
        ] {
            assert_eq!(
                check(&request(&[("host", host)]), &ours()),
                Ok(()),
                "{host}"
            );
        }
        let foreign = [
            "evil.example:7313",
            "127.0.0.1",
            "localhost",
            "127.0.0.1:80",
            "127.0.0.1.evil.example:7313",
            "localhost.evil.example:7313",
            "[::ffff:127.0.0.1]:7313",
            "0.0.0.0:7313",
            "localhost:7313@evil.example",
            "",
        ];
        for host in foreign {
            let refused = check(&request(&[("host", host)]), &ours());
            assert_eq!(refused, Err(Refusal::ForeignHost), "{host}");
        }
        assert_eq!(check(&request(&[]), &ours()), Err(Refusal::ForeignHost));
        let two = [("host", "localhost:7313"), ("host", "evil.example")];
        assert_eq!(check(&request(&two), &ours()), Err(Refusal::ForeignHost));
    }

    #[test]
    fn only_our_own_pages_may_ask() {
        let host = ("host", "127.0.0.1:7313");
        let with = |name, value| check(&request(&[host, (name, value)]), &ours());
        assert_eq!(with("origin", "http://127.0.0.1:7313"), Ok(()));
        assert_eq!(with("origin", "http://localhost:7313"), Ok(()));
        for origin in [
            "null",
            "https://127.0.0.1:7313",
            "http://127.0.0.1:7314",
            "http://evil.example",
            "chrome-extension://x",
            "",
        ] {
            assert_eq!(
                with("origin", origin),
                Err(Refusal::ForeignOrigin),
                "{origin}"
            );
        }
        assert_eq!(with("sec-fetch-site", "same-origin"), Ok(()));
        assert_eq!(with("sec-fetch-site", "none"), Ok(()));
        for site in ["cross-site", "same-site", "x"] {
            assert_eq!(
                with("sec-fetch-site", site),
                Err(Refusal::ForeignOrigin),
                "{site}"
            );
        }
    }

    #[test]
    fn a_token_stands_in_its_header_alone() {
        let of = |value: &str| token(&request(&[("authorization", value)]));
        assert_eq!(of("Bearer abc"), Some("abc".to_string()));
        assert_eq!(of("bearer abc"), Some("abc".to_string()));
        for wrong in ["abc", "Basic abc", "Bearer", "Bearer "] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
        let two = [("authorization", "Bearer a"), ("authorization", "Bearer b")];
        assert_eq!(token(&request(&two)), None);
    }
}
