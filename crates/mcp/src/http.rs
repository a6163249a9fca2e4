//! The protocol over HTTP, to be mounted by who lets requests in.

use std::sync::Arc;

use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};

use crate::{Backend, Server};

/// A `tower` service for one path: `router.nest_service("/mcp", service)`.
pub type McpService = StreamableHttpService<Server, NeverSessionManager>;

/// What a request is answered by. Who let it in puts this among its extensions, after it found
/// out who asks; a request without it is refused.
#[derive(Clone)]
pub struct AskedThrough(pub Arc<dyn Backend>);

/// Streamable HTTP for the given values of `Host` (such as `127.0.0.1:7313`) and `Origin` (such as
/// `http://127.0.0.1:7313`); others are refused, and so is any origin where `origins` is empty. How
/// many requests are worked at at once is for who lets them in to say, by caller: places that all
/// share here would be taken from one by another. No sessions are kept, answers are plain JSON, and a body has at most `max_body` bytes.
#[must_use]
pub fn http_service(hosts: &[String], origins: &[String], max_body: usize) -> McpService {
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(hosts)
        .with_allowed_origins(origins)
        .enforce_origin_validation()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(max_body);
    StreamableHttpService::new(
        || Ok(Server::for_requests()),
        Arc::new(NeverSessionManager::default()),
        config,
    )
}
