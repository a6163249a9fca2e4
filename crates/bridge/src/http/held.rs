//! The body of an answer that may be long in coming: it holds the caller's place, and ends when its
//! time is over, whatever the other side does.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::BoxError;
use axum::body::{Body, Bytes, HttpBody};
use axum::response::Response;
use hyper::body::Frame;
use lorewell_agents::Caller;
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::office::Office;
use crate::shares::Share;

/// How often it is looked whether a listener is still approved.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// What makes a body end.
type End = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A body, the place that it holds, and its end.
struct Held {
    body: Body,
    end: End,
    _share: Share,
}

/// The same answer, whose body holds `share` and ends with `end`.
pub(super) fn held(
    response: Response,
    share: Share,
    end: impl Future<Output = ()> + Send + 'static,
) -> Response {
    response.map(|body| {
        Body::new(Held {
            body,
            end: Box::pin(end),
            _share: share,
        })
    })
}

/// Ready when a listener has listened long enough, is approved no longer, or the bridge stops.
pub(super) async fn end_of_listening(office: Arc<Office>, caller: Caller) {
    let until = Instant::now() + office.bridge.limits().listen_time;
    loop {
        let next = until.min(Instant::now() + LOOK_EVERY);
        tokio::select! {
            () = office.closing() => return,
            () = tokio::time::sleep_until(next) => {}
        }
        if Instant::now() >= until || office.bridge.gate().folders(&caller).is_err() {
            return;
        }
    }
}

impl HttpBody for Held {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if self.end.as_mut().poll(context).is_ready() {
            return Poll::Ready(None);
        }
        Pin::new(&mut self.body)
            .poll_frame(context)
            .map_err(Into::into)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> hyper::body::SizeHint {
        self.body.size_hint()
    }
}

/// A body of texts that come one after another.
pub(super) struct Texts(pub(super) mpsc::Receiver<String>);

impl HttpBody for Texts {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0
            .poll_recv(context)
            .map(|text| text.map(|text| Ok(Frame::data(Bytes::from(text)))))
    }
}
