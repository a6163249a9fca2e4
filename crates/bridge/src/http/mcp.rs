//! The Model Context Protocol: every request is admitted, counted and timed as those of the other
//! routes are, and finds out the vaults and tools of its caller anew.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use lorewell_mcp::{AskedThrough, http_service};

use super::answers::{CancelOnDrop, nothing_in_the_address, refused};
use super::checks;
use super::held::{end_of_listening, held};
use crate::Refusal;
use crate::backend::OfBridge;
use crate::office::Office;
use crate::socket::blocking;

/// What a request to listen names as its method. The protocol holds the header to the body.
const LISTEN: &str = "subscriptions/listen";

/// The route.
pub(super) fn route(office: &Arc<Office>) -> Router<Arc<Office>> {
    let hosts: Vec<String> = checks::hosts(office.addresses());
    let origins: Vec<String> = hosts.iter().map(|host| format!("http://{host}")).collect();
    let service = http_service(&hosts, &origins, office.bridge.limits().body);
    Router::new()
        .route_service("/mcp", service)
        .layer(from_fn_with_state(Arc::clone(office), admitted))
}

/// Lets in who shows a token, and says who that is. Whoever listens has a place among the
/// listeners, any other one among the requests.
async fn admitted(State(office): State<Arc<Office>>, mut request: Request, next: Next) -> Response {
    if request.uri().query().is_some() {
        return refused(&nothing_in_the_address());
    }
    let token = checks::token(&request);
    let bridge = Arc::clone(&office.bridge);
    let caller = match blocking(move || checks::caller(&bridge, token.as_deref())).await {
        Ok(caller) => caller,
        Err(failure) => return refused(&failure),
    };
    let listens = request
        .headers()
        .get("mcp-method")
        .is_some_and(|method| method == LISTEN);
    let shares = if listens {
        &office.listeners
    } else {
        &office.requests
    };
    let share = match shares.take(&caller) {
        Ok(share) => share,
        Err(refusal) => return refused(&refusal.into()),
    };
    let cancel = office.cancel();
    let backend = OfBridge {
        bridge: Arc::clone(&office.bridge),
        caller: caller.clone(),
        cancel: cancel.clone(),
    };
    let asked = AskedThrough(Arc::new(backend));
    request.extensions_mut().insert(asked);
    let time = office.bridge.limits().time;
    let until = tokio::time::Instant::now() + time;
    let ended = CancelOnDrop(cancel);
    let Ok(response) = tokio::time::timeout_at(until, next.run(request)).await else {
        return refused(&Refusal::TookTooLong(time).into());
    };
    // Work ends with the body, however that ends.
    held(response, share, async move {
        let _ended = ended;
        if listens {
            end_of_listening(office, caller).await;
        } else {
            tokio::time::sleep_until(until).await;
        }
    })
}
