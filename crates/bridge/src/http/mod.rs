//! The HTTP interface: one route a capability, made from the table, and what belongs to it.

mod answers;
mod checks;
mod connections;
mod events;
mod held;
mod mcp;
mod openapi;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::{get, post};
use lorewell_capabilities::Entry;
use serde_json::{Value, json};

pub(crate) use connections::{bind, serve};
pub use openapi::document as openapi;

use self::answers::{answered, refused};
use crate::office::Office;
use crate::socket::blocking;
use crate::{Ask, Hearing, Refusal, VERSION};

/// All routes, with the checks that every request passes, those to no route included.
pub(crate) fn router(office: &Arc<Office>) -> Router {
    let mut router = Router::new()
        .route("/v1/health", get(health))
        .route("/v1/openapi.json", get(described))
        .route("/v1/vaults", get(vaults))
        .route("/v1/events", get(events::stream));
    for entry in office.bridge.table() {
        let path = format!("/v1/{}", entry.name());
        let ask = move |State(office): State<Arc<Office>>, request: Request| async move {
            ask(&office, entry, request).await
        };
        router = router.route(&path, post(ask));
    }
    router
        .merge(mcp::route(office))
        .fallback(nothing_here)
        .method_not_allowed_fallback(wrong_method)
        .with_state(Arc::clone(office))
        .layer(from_fn_with_state(Arc::clone(office), checks::all))
}

/// Whether the bridge is well; and, with `?challenge=…`, a proof that it is the one of the state
/// file.
async fn health(State(office): State<Arc<Office>>, request: Request) -> Response {
    let challenge = match request.uri().query().unwrap_or_default().split_once('=') {
        None if request.uri().query().is_none() => None,
        Some(("challenge", challenge)) if is_challenge(challenge) => Some(challenge.to_string()),
        _ => {
            let failure = lorewell_capabilities::Failure::wrong_use(
                "the challenge is not understood",
                "Send ?challenge= with 16 to 128 letters or digits.",
            );
            return refused(&failure);
        }
    };
    let mut body = json!({
        "contract": 1,
        "service": "lorewell",
        "version": VERSION,
        "instance": office.state.instance,
    });
    // Made for the port that it was asked at: what is asked elsewhere in its name is of no use.
    let proof = challenge.zip(checks::port_asked(&request));
    if let Some((challenge, port)) = proof {
        body["proof"] = Value::String(office.state.proof(port, &challenge));
    }
    answered(StatusCode::OK, body.to_string())
}

fn is_challenge(text: &str) -> bool {
    (16..=128).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

async fn described(State(office): State<Arc<Office>>) -> Response {
    answered(
        StatusCode::OK,
        openapi::document(office.bridge.table()).to_string(),
    )
}

/// The vaults that the caller may ask.
async fn vaults(State(office): State<Arc<Office>>, request: Request) -> Response {
    let token = checks::token(&request);
    let bridge = Arc::clone(&office.bridge);
    let listed = blocking(move || {
        let caller = checks::caller(&bridge, token.as_deref())?;
        let vaults = bridge.vaults_of(&caller)?;
        let vaults = vaults.iter().map(|vault| json!({ "name": vault.name }));
        Ok(json!({ "contract": 1, "vaults": vaults.collect::<Vec<_>>() }))
    });
    match listed.await {
        Ok(listed) => answered(StatusCode::OK, listed.to_string()),
        Err(failure) => refused(&failure),
    }
}

/// A request of a capability. The caller is known before the body is read.
async fn ask(office: &Arc<Office>, entry: &'static Entry, request: Request) -> Response {
    let token = checks::token(&request);
    let bridge = Arc::clone(&office.bridge);
    let caller = blocking(move || checks::caller(&bridge, token.as_deref())).await;
    let caller = match caller {
        Ok(caller) => caller,
        Err(failure) => return refused(&failure),
    };
    // The place is held, and the time runs, from before the body is read.
    let _share = match office.requests.take(&caller) {
        Ok(share) => share,
        Err(refusal) => return refused(&refusal.into()),
    };
    let time = office.bridge.time_for(entry.id);
    let until = tokio::time::Instant::now() + time;
    let body = answers::read(request, entry, office.bridge.limits().body);
    let ask = match tokio::time::timeout_at(until, body).await {
        Ok(Ok(ask)) => ask,
        Ok(Err(failure)) => return refused(&failure),
        Err(_) => return refused(&Refusal::TookTooLong(time).into()),
    };
    let cancel = office.cancel();
    // Called off when the client goes away, for then this is dropped.
    let ended = answers::CancelOnDrop(cancel.clone());
    let bridge = Arc::clone(&office.bridge);
    let work = blocking(move || bridge.answer(&caller, ask, &Hearing::silent(cancel)));
    let outcome = tokio::time::timeout_at(until, work).await;
    drop(ended);
    match outcome {
        Ok(Ok(output)) => answered(StatusCode::OK, output.to_string()),
        Ok(Err(failure)) => refused(&failure),
        Err(_) => refused(&Refusal::TookTooLong(time).into()),
    }
}

async fn nothing_here() -> Response {
    refused(&Refusal::NoSuchRoute.into())
}

async fn wrong_method(method: Method) -> Response {
    refused(&Refusal::WrongMethod(method.to_string()).into())
}

impl Ask {
    /// From the body of an HTTP request: the capability's input, with the fields `vault` and
    /// `refresh` beside its own.
    pub(crate) fn of_body(
        entry: &Entry,
        mut body: Value,
    ) -> Result<Ask, lorewell_capabilities::Failure> {
        use lorewell_capabilities::Failure;
        let wrong = |what: &str| Failure::wrong_use(what, "");
        let mut ask = Ask::new(entry.id, None, Value::Null);
        if let Some(fields) = body.as_object_mut() {
            ask.vault = match fields.shift_remove("vault") {
                None | Some(Value::Null) => None,
                Some(Value::String(name)) => Some(name),
                Some(_) => return Err(wrong("“vault” must be a text")),
            };
            ask.refresh = match fields.shift_remove("refresh") {
                None | Some(Value::Null) => true,
                Some(Value::Bool(refresh)) => refresh,
                Some(_) => return Err(wrong("“refresh” must be true or false")),
            };
        }
        ask.input = body;
        Ok(ask)
    }
}
