//! The server: which request of the protocol is answered by what.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use lorewell_capabilities::{ErrorJson, Failure};
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, DiscoverResult,
    GetPromptRequestParams, GetPromptResponse, Implementation, InitializeRequestParams,
    InitializeResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
    ServerCapabilities, ServerConfig, SubscriptionFilter,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;
use tokio::sync::Semaphore;

use crate::instructions::instructions;
use crate::shape::shaped;
use crate::tools::{TOOLS, Tool};
use crate::{AskedThrough, Backend, calls, prompts, resources};

/// So many requests of one server are worked at at once; others wait.
const AT_ONCE: usize = 8;
/// So long clients may keep what was listed, in milliseconds. A tool that was switched off is
/// refused at once all the same.
const TTL_MS: u64 = 1_000;
/// So long they may keep what the server is.
const ABOUT_TTL_MS: u64 = 60_000;
/// How often it is looked whether the list of tools is another.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Answers one client, or over HTTP each request of any.
#[derive(Clone)]
pub struct Server {
    backend: Source,
    permits: Arc<Semaphore>,
    /// The tools as the client listed them last; nothing after it was told that there are others.
    listed: Arc<Mutex<Option<Offer>>>,
}

#[derive(Clone)]
enum Source {
    /// One client: one backend.
    Client(Arc<dyn Backend>),
    /// Each request brings its own, as an [`AskedThrough`] among its extensions.
    Request,
}

impl Server {
    /// Answers a client with `backend`.
    #[must_use]
    pub fn new(backend: Arc<dyn Backend>) -> Server {
        Server {
            backend: Source::Client(backend),
            permits: Arc::new(Semaphore::new(AT_ONCE)),
            listed: Arc::default(),
        }
    }

    /// Answers requests that each bring their backend, and were counted by who let them in.
    pub(crate) fn for_requests() -> Server {
        Server {
            backend: Source::Request,
            permits: Arc::new(Semaphore::new(Semaphore::MAX_PERMITS)),
            listed: Arc::default(),
        }
    }

    fn backend(&self, context: &RequestContext<RoleServer>) -> Result<Arc<dyn Backend>, ErrorData> {
        match &self.backend {
            Source::Client(backend) => {
                if let Some(name) = client_name(context) {
                    backend.client_says(&name);
                }
                Ok(Arc::clone(backend))
            }
            Source::Request => {
                let parts = context.extensions.get::<::http::request::Parts>();
                let asked = parts.and_then(|parts| parts.extensions.get::<AskedThrough>());
                // Whoever let the request in must say for whom it is.
                asked
                    .map(|AskedThrough(backend)| Arc::clone(backend))
                    .ok_or_else(|| ErrorData::internal_error("nobody is known to ask", None))
            }
        }
    }

    /// The server's own description, with the names of vaults that may be asked.
    async fn about(&self, context: &RequestContext<RoleServer>) -> ServerConfig {
        let vaults = match self.backend(context) {
            Ok(backend) => aside(move || backend.vaults()).await.unwrap_or_default(),
            Err(_) => Vec::new(),
        };
        self.get_info().with_instructions(instructions(&vaults))
    }

    pub(crate) async fn work<T: Send + 'static>(
        &self,
        context: &RequestContext<RoleServer>,
        work: impl FnOnce(&dyn Backend, lorewell_capabilities::Listener<'_>) -> Result<T, Failure>
        + Send
        + 'static,
    ) -> Result<Result<T, Failure>, ErrorData> {
        let backend = self.backend(context)?;
        Ok(calls::work(&self.permits, backend, context, work).await)
    }
}

/// What a client sees of the tools: whether there are several vaults, and which are off.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Offer {
    choose: bool,
    off: Vec<String>,
}

impl Offer {
    async fn of(backend: Arc<dyn Backend>) -> Offer {
        let look = move || Offer {
            choose: backend.vaults().len() > 1,
            off: backend.switched_off(),
        };
        aside(look).await.unwrap_or_default()
    }

    fn tools(&self) -> Vec<rmcp::model::Tool> {
        let on = TOOLS.iter().filter(|tool| self.has(tool));
        on.map(|tool| tool.shown(self.choose)).collect()
    }

    fn has(&self, tool: &Tool) -> bool {
        !self.off.iter().any(|off| off == tool.capability)
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_resources()
            .enable_prompts()
            .build();
        let about = Implementation::new("lorewell", env!("CARGO_PKG_VERSION"))
            .with_title("Lorewell")
            .with_description("Searches a folder of Markdown notes on this machine");
        ServerConfig::new(capabilities)
            .with_server_info(about)
            .with_instructions(instructions(&[]))
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        let agreed = self.negotiate_initialize(&request)?.protocol_version;
        Ok(self.about(&context).await.with_protocol_version(agreed))
    }

    async fn discover(
        &self,
        context: RequestContext<RoleServer>,
    ) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        let about = self.about(&context).await;
        Ok(DiscoverResult::from_server_info(versions, about)
            .with_ttl_ms(ABOUT_TTL_MS)
            .with_cache_scope(CacheScope::Private))
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let Source::Client(backend) = &self.backend else {
            return;
        };
        if !backend.may_change() {
            return;
        }
        let server = self.clone();
        let backend = Arc::clone(backend);
        tokio::spawn(async move {
            while !context.peer.is_transport_closed() {
                tokio::time::sleep(LOOK_EVERY).await;
                let is_news = server.is_news(Arc::clone(&backend)).await;
                if is_news && context.peer.notify_tool_list_changed().await.is_err() {
                    return;
                }
            }
        });
    }

    fn accepted_subscription_filter(
        &self,
        _requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        // Cut down to what was asked for by the SDK.
        Some(SubscriptionFilter::builder().tools_list_changed().build())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let backend = self.backend(context.request_context())?;
        let wanted = context.accepted().tools_list_changed == Some(true) && backend.may_change();
        if !wanted {
            context.cancelled().await;
            return Ok(());
        }
        // What was listed by other requests is not known here: to be told too often is no harm.
        let by_request = matches!(self.backend, Source::Request);
        let mut is_news = by_request;
        if by_request {
            self.set_listed(Some(Offer::of(Arc::clone(&backend)).await));
        }
        loop {
            if is_news && context.sink().notify_tool_list_changed().await.is_err() {
                return Ok(());
            }
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                () = tokio::time::sleep(LOOK_EVERY) => {}
            }
            is_news = self.is_news(Arc::clone(&backend)).await;
            if is_news && by_request {
                self.set_listed(Some(Offer::of(Arc::clone(&backend)).await));
            }
        }
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        only_page(request)?;
        let offer = Offer::of(self.backend(&context)?).await;
        self.set_listed(Some(offer.clone()));
        Ok(ListToolsResult::with_all_items(offer.tools())
            .with_ttl_ms(TTL_MS)
            .with_cache_scope(CacheScope::Private))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let unknown = || {
            let known: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
            let name: Cow<'_, str> = request.name.chars().take(80).collect();
            let message = format!("Unknown tool: {name}. There are: {}.", known.join(", "));
            ErrorData::invalid_params(message, None)
        };
        let tool = Tool::named(&request.name).ok_or_else(unknown)?;
        let offer = Offer::of(self.backend(&context)?).await;
        if !offer.has(tool) {
            let message = format!("The tool {} is switched off here.", tool.name);
            return Err(ErrorData::invalid_params(message, None));
        }
        let asked = match shaped(tool, request.arguments) {
            Ok(asked) => asked,
            Err(failure) => return Ok(refusal(failure).into()),
        };
        let outcome = self
            .work(&context, move |backend, listener| {
                let mut asked = asked;
                loop {
                    let vault = asked.vault.as_deref();
                    let input = Value::Object(asked.input.clone());
                    let output = backend.call(tool.capability, vault, input, listener)?;
                    match asked.smaller(output.to_string().chars().count()) {
                        Some(smaller) => asked = smaller,
                        None => return Ok(output),
                    }
                }
            })
            .await?;
        Ok(match outcome {
            Ok(output) => CallToolResult::structured(output).into(),
            Err(failure) => refusal(failure).into(),
        })
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        resources::list(self, cursor, &context).await
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        only_page(request)?;
        Ok(resources::templates())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        Ok(resources::read(self, request.uri, &context).await?.into())
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        only_page(request)?;
        Ok(prompts::list())
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        prompts::get(&request.name, request.arguments.as_ref()).map(Into::into)
    }
}

impl Server {
    fn set_listed(&self, offer: Option<Offer>) {
        *self.listed.lock().unwrap_or_else(PoisonError::into_inner) = offer;
    }

    /// Whether the tools are others than those that were listed last. Said once for each list.
    async fn is_news(&self, backend: Arc<dyn Backend>) -> bool {
        let now = Offer::of(backend).await;
        let mut listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        listed.take_if(|listed| *listed != now).is_some()
    }

    /// Whether a capability is switched off for whoever asks.
    pub(crate) async fn is_off(
        &self,
        capability: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<bool, ErrorData> {
        let offer = Offer::of(self.backend(context)?).await;
        Ok(offer.off.iter().any(|off| off == capability))
    }
}

/// What the client calls itself: in this request, or when it began.
fn client_name(context: &RequestContext<RoleServer>) -> Option<String> {
    let here = context.meta.client_info().map(|client| client.name);
    let at_first = || {
        let peer = context.peer.peer_info()?;
        Some(peer.client_info.name.clone())
    };
    here.or_else(at_first)
}

/// A list that has one page.
fn only_page(request: Option<PaginatedRequestParams>) -> Result<(), ErrorData> {
    match request.and_then(|request| request.cursor) {
        None => Ok(()),
        Some(_) => Err(no_cursor()),
    }
}

pub(crate) fn no_cursor() -> ErrorData {
    ErrorData::invalid_params("This is no cursor of an earlier page.", None)
}

/// An error that the model can act on.
fn refusal(failure: Failure) -> CallToolResult {
    let error = ErrorJson { error: failure };
    CallToolResult::structured_error(serde_json::to_value(error).unwrap_or_default())
}

/// Does something that may block on a thread for that.
async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    tokio::task::spawn_blocking(work).await.ok()
}
