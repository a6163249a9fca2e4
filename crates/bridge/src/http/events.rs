//! News as server-sent events: how far builds are, and what changed. No note is named.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_TYPE, HeaderValue};
use axum::response::Response;
use lorewell_agents::Caller;
use serde_json::json;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, mpsc};

use super::answers::refused;
use super::checks;
use super::held::{Texts, end_of_listening, held};
use crate::news::Item;
use crate::office::Office;
use crate::socket::blocking;

/// How often a silent stream shows that it lives.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// News of the vaults that the caller may ask, until either side ends it or its approval does.
pub(super) async fn stream(State(office): State<Arc<Office>>, request: Request) -> Response {
    let token = checks::token(&request);
    let bridge = Arc::clone(&office.bridge);
    let caller = blocking(move || checks::caller(&bridge, token.as_deref())).await;
    let caller = match caller {
        Ok(caller) => caller,
        Err(failure) => return refused(&failure),
    };
    let share = match office.listeners.take(&caller) {
        Ok(share) => share,
        Err(refusal) => return refused(&refusal.into()),
    };
    let (send, receive) = mpsc::channel(16);
    let news = office.bridge.news.listen();
    let end = end_of_listening(Arc::clone(&office), caller.clone());
    // It ends with its sender, when the body that reads of it is gone.
    tokio::spawn(async move { pass_on(&office, &caller, news, &send).await });
    let mut response = held(Response::new(Body::new(Texts(receive))), share, end);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

async fn pass_on(
    office: &Office,
    caller: &Caller,
    mut news: broadcast::Receiver<Item>,
    send: &mpsc::Sender<String>,
) {
    let mut text = ": listening\n\n".to_string();
    loop {
        if send.send(text).await.is_err() {
            return;
        }
        let news = tokio::time::timeout(HEARTBEAT, next(office, caller, &mut news));
        let news = tokio::select! {
            news = news => news,
            () = send.closed() => return,
        };
        text = match news {
            Ok(Some(text)) => text,
            Ok(None) => return,
            Err(_) => ": still here\n\n".to_string(),
        };
    }
}

/// The next news that the caller may hear; nothing at the end.
async fn next(
    office: &Office,
    caller: &Caller,
    news: &mut broadcast::Receiver<Item>,
) -> Option<String> {
    loop {
        match news.recv().await {
            Ok(item) if office.bridge.may_hear(caller, &item).ok()? => {
                let mut data = serde_json::to_value(&item.news).ok()?;
                let event = data["event"].as_str().unwrap_or_default().to_string();
                data["vault"] = json!(item.vault);
                return Some(format!("event: {event}\ndata: {data}\n\n"));
            }
            Ok(_) => {}
            Err(RecvError::Lagged(missed)) => {
                return Some(format!(
                    "event: missed\ndata: {{\"event\":\"missed\",\"events\":{missed}}}\n\n"
                ));
            }
            Err(RecvError::Closed) => return None,
        }
    }
}
