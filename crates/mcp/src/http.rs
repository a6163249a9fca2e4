//! The protocol over HTTP, to be mounted by who lets requests in.

use std::sync::Arc;

use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::sync::Semaphore;

use crate::{Backend, Server};

/// A `tower` service for one path: `router.nest_service("/mcp", service)`.
pub type McpService = StreamableHttpService<Server, NeverSessionManager>;

/// What a request is answered by. Who let it in puts this among its extensions, after it found
/// out who asks; a request without it is refused.
#[derive(Clone)]
pub struct AskedThrough(pub Arc<dyn Backend>);

/// So many requests are worked at at once, of all clients.
const AT_ONCE: usize = 32;

/// Streamable HTTP for the given values of `Host` (such as `127.0.0.1:7313`) and `Origin` (such as
/// `http://127.0.0.1:7313`); others are refused, and so is any origin where `origins` is empty. No
/// sessions are kept, answers are plain JSON, and a body has at most `max_body` bytes.
#[must_use]
pub fn http_service(hosts: &[String], origins: &[String], max_body: usize) -> McpService {
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(hosts)
        .with_allowed_origins(origins)
        .enforce_origin_validation()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(max_body);
    let permits = Arc::new(Semaphore::new(AT_ONCE));
    StreamableHttpService::new(
        move || Ok(Server::for_requests(Arc::clone(&permits))),
        Arc::new(NeverSessionManager::default()),
        config,
    )
}
