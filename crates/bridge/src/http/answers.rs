//! Bodies in and out.

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::header::{
    ALLOW, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE,
};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use lorewell_capabilities::{Entry, ErrorJson, Failure};

use crate::hearing::Cancel;
use crate::{Ask, Refusal};

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// Calls work off when it is dropped.
pub(super) struct CancelOnDrop(pub(super) Cancel);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// An answer.
pub(super) fn answered(status: StatusCode, body: String) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, JSON);
    response
}

/// A refusal or an error.
pub(super) fn refused(failure: &Failure) -> Response {
    let status = status_of(&failure.code);
    let error = ErrorJson {
        error: failure.clone(),
    };
    let mut response = answered(status, serde_json::to_string(&error).unwrap_or_default());
    let headers = response.headers_mut();
    match status {
        StatusCode::UNAUTHORIZED => {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        StatusCode::METHOD_NOT_ALLOWED => {
            headers.insert(ALLOW, HeaderValue::from_static("GET, POST"));
        }
        _ => {}
    }
    response
}

/// The status that goes with an error's code.
pub(super) fn status_of(code: &str) -> StatusCode {
    match code {
        "not_approved" | "expired" => StatusCode::UNAUTHORIZED,
        "out_of_scope" | "tool_off" | "foreign_host" | "foreign_origin" => StatusCode::FORBIDDEN,
        "no_such_note" | "no_such_part" | "no_such_route" | "no_such_ability" | "not_found" => {
            StatusCode::NOT_FOUND
        }
        "wrong_method" => StatusCode::METHOD_NOT_ALLOWED,
        "wrong_content_type" => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        "request_too_large" | "question_too_long" => StatusCode::PAYLOAD_TOO_LARGE,
        "wrong_use" | "not_json" | "which_vault" | "answer_too_large" => StatusCode::BAD_REQUEST,
        "too_many_requests" => StatusCode::TOO_MANY_REQUESTS,
        "took_too_long" => StatusCode::GATEWAY_TIMEOUT,
        "stopping" | "interrupted" | "index_busy" => StatusCode::SERVICE_UNAVAILABLE,
        // What is wrong here is with this machine: its settings, its disk, its index.
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// The request in a body.
pub(super) async fn read(request: Request, entry: &Entry, most: usize) -> Result<Ask, Failure> {
    if request.uri().query().is_some() {
        return Err(nothing_in_the_address());
    }
    if !is_json(request.headers()) {
        return Err(Refusal::WrongContentType.into());
    }
    let told = request.headers().get(CONTENT_LENGTH);
    let told: Option<u64> = told.and_then(|it| it.to_str().ok()?.parse().ok());
    if told.is_some_and(|length| length > most as u64) {
        return Err(Refusal::RequestTooLarge(most).into());
    }
    let body = to_bytes(request.into_body(), most)
        .await
        .map_err(|_| Refusal::RequestTooLarge(most))?;
    let body = serde_json::from_slice(&body).map_err(|e| Refusal::NotJson(e.to_string()))?;
    Ask::of_body(entry, body)
}

/// What stands behind a question mark would end up in logs.
pub(super) fn nothing_in_the_address() -> Failure {
    Failure::wrong_use(
        "nothing is taken from the address",
        "Send it in the body, and the token in the header Authorization.",
    )
}

/// A page of others can send forms and plain text without asking; JSON it cannot.
fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers
        .get(CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok());
    let kind = kind
        .and_then(|kind| kind.split(';').next())
        .unwrap_or_default();
    kind.trim().eq_ignore_ascii_case("application/json")
}
