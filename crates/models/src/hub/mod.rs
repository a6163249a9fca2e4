//! A model hub, by the routes of huggingface.co: `/api/models` and `/OWNER/NAME/resolve/…`.

mod download;
mod exchange;
mod search;

use std::time::Duration;

use http::Uri;

use crate::ModelError;

pub(crate) use search::short_name;
pub use search::{Fit, Found};

/// Where models are fetched from where nothing else is said.
pub const USUAL_HUB: &str = "https://huggingface.co";

/// A hub, and how it is asked.
pub struct Hub {
    address: String,
    uri: Uri,
    token: Option<String>,
    agent: ureq::Agent,
    /// The first wait before a request that failed is made again; it doubles each time.
    pause: Duration,
}

/// Hears how far the fetching of a model is, and can end it.
pub trait Progress: Sync {
    /// A file begins.
    fn file(&self, path: &str, bytes: u64) {
        let _ = (path, bytes);
    }
    /// So many bytes of it are there.
    fn at(&self, bytes: u64) {
        let _ = bytes;
    }
    /// Something to know, such as that it waits.
    fn says(&self, words: &str) {
        let _ = words;
    }
    /// Whether to end. What is there is kept, and the next time goes on from it.
    fn stopped(&self) -> bool {
        false
    }
}

impl Hub {
    /// The hub at an address. The token is sent to it alone, and never shown. Proxies are those of
    /// the environment.
    ///
    /// # Errors
    /// The address is none; the token would go over a line that others can read.
    pub fn new(address: &str, token: Option<String>) -> Result<Hub, ModelError> {
        let bad = |reason| ModelError::BadHub {
            address: shown(address),
            reason,
        };
        let address = address.trim().trim_end_matches('/');
        let uri: Uri = address.parse().map_err(|_| bad("it is no address"))?;
        let is_secure = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => is_loopback(uri.host().unwrap_or_default()),
            _ => return Err(bad("it begins with neither https:// nor http://")),
        };
        if uri.host().unwrap_or_default().is_empty() {
            return Err(bad("it names no host"));
        }
        let token = token.filter(|token| !token.trim().is_empty());
        if token.is_some() && !is_secure {
            return Err(bad("the token would go over a line that others can read"));
        }
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_connect(Some(Duration::from_secs(15)))
            .timeout_recv_response(Some(Duration::from_secs(30)))
            // A body that stands still ends by this; what came of it is kept.
            .timeout_recv_body(Some(Duration::from_secs(1800)))
            .user_agent(concat!("lorewell/", env!("CARGO_PKG_VERSION")))
            .build();
        Ok(Hub {
            address: address.to_string(),
            uri,
            token,
            agent: config.into(),
            pause: Duration::from_secs(1),
        })
    }

    /// The same with another first wait before a request that failed is made again.
    #[must_use]
    pub fn with_pause(mut self, pause: Duration) -> Hub {
        self.pause = pause;
        self
    }

    /// Its address, without what is secret.
    pub fn address(&self) -> String {
        shown(&self.address)
    }
}

/// An address without name and password.
pub(crate) fn shown(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else {
        return address.to_string();
    };
    let (host, path) = match rest.find('/') {
        Some(at) => rest.split_at(at),
        None => (rest, ""),
    };
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    format!("{scheme}://{host}{path}")
}

fn is_loopback(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || host
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_goes_over_a_private_line_only() {
        let token = || Some("hf_secret".to_string());
        assert!(Hub::new("https://hub.example", token()).is_ok());
        assert!(Hub::new("http://127.0.0.1:80/x/", token()).is_ok());
        let error = Hub::new("http://hub.example", token()).err().unwrap();
        assert!(!error.to_string().contains("hf_secret"), "{error}");
        assert!(Hub::new("http://hub.example", None).is_ok());
        for bad in ["", "hub.example", "ftp://hub.example", "https://"] {
            assert!(Hub::new(bad, None).is_err(), "{bad}");
        }
        assert_eq!(shown("https://me:pw@hub/x@y"), "https://hub/x@y");
    }
}
