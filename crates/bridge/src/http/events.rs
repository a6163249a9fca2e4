//! News as server-sent events: how far builds are, and what changed. No note is named.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_TYPE, HeaderValue};
use axum::response::Response;
use lorewell_agents::Caller;
use serde_json::json;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, mpsc};

use super::answers::refused;
use super::checks;
use crate::Refusal;
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
    let Ok(place) = office.listeners() else {
        return refused(&Refusal::TooMany(office.bridge.limits().listeners + 1).into());
    };
    let (send, receive) = mpsc::channel(16);
    let news = office.bridge.news.listen();
    tokio::spawn(async move {
        let _place = place;
        tokio::select! {
            () = pass_on(&office, &caller, news, &send) => {}
            () = office.closing() => {}
        }
    });
    let mut response = Response::new(Body::new(Stream(receive)));
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
        text = match tokio::time::timeout(HEARTBEAT, next(office, caller, &mut news)).await {
            Ok(Some(text)) => text,
            Ok(None) => return,
            // An approval that ended meanwhile ends the stream.
            Err(_) if office.bridge.gate().folders(caller).is_err() => return,
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

/// The body of the answer.
struct Stream(mpsc::Receiver<String>);

impl axum::body::HttpBody for Stream {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<hyper::body::Frame<Bytes>, Infallible>>> {
        self.0
            .poll_recv(context)
            .map(|text| text.map(|text| Ok(hyper::body::Frame::data(Bytes::from(text)))))
    }
}
