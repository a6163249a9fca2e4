//! One request to a hub: redirects, what its refusals mean, and when it is made again.

use std::io::Read as _;
use std::thread;
use std::time::{Duration, Instant};

use http::{Response, StatusCode, Uri};
use serde_json::Value;
use ureq::Body;

use super::{Hub, Progress};
use crate::ModelError;

/// A request is made so often at most, while it gets no further.
pub(super) const ATTEMPTS: u32 = 5;
/// A hub that asks for a longer pause is not waited for.
const LONGEST_PAUSE: Duration = Duration::from_secs(120);
/// So many redirects are followed.
const REDIRECTS: usize = 8;
/// No answer in JSON is larger.
const LARGEST: u64 = 32 << 20;

/// How a request is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Get,
    Head,
}

impl Hub {
    /// Asks for JSON, again and again if need be.
    pub(super) fn json(&self, path: &str, progress: &dyn Progress) -> Result<Value, ModelError> {
        let response = self.again(progress, || {
            self.ask(Method::Get, path, None, true)
                .and_then(|response| self.sound(path, response))
        })?;
        let mut text = Vec::new();
        let mut body = response.into_body().into_reader().take(LARGEST);
        body.read_to_end(&mut text)
            .map_err(|error| self.unreachable(&error.to_string()))?;
        serde_json::from_slice(&text).map_err(|_| ModelError::HubFailed {
            hub: self.address(),
            reason: "its answer is no JSON; is that a hub?".to_string(),
        })
    }

    /// One request. Redirects are followed, with `far` also to other hosts; these never see the
    /// token.
    pub(super) fn ask(
        &self,
        method: Method,
        path: &str,
        from: Option<u64>,
        far: bool,
    ) -> Result<Response<Body>, ModelError> {
        let mut address = format!("{}{path}", self.address);
        for _ in 0..REDIRECTS {
            let uri: Uri = address
                .parse()
                .map_err(|_| self.failed("it leads to no address"))?;
            let own = uri.authority() == self.uri.authority() && uri.scheme() == self.uri.scheme();
            let mut request = match method {
                Method::Get => self.agent.get(&address),
                Method::Head => self.agent.head(&address),
            }
            .header("accept-encoding", "identity");
            if let Some(token) = self.token.as_deref().filter(|_| own) {
                request = request.header("authorization", format!("Bearer {token}"));
            }
            if let Some(from) = from {
                request = request.header("range", format!("bytes={from}-"));
            }
            let response = request
                .call()
                .map_err(|error| self.unreachable(&error.to_string()))?;
            let Some(next) = redirect(&response, &uri) else {
                return Ok(response);
            };
            let next = next.ok_or_else(|| self.failed("it leads to no address"))?;
            let next_uri: Uri = next
                .parse()
                .map_err(|_| self.failed("it leads to no address"))?;
            if next_uri.authority() != self.uri.authority() && !far {
                return Ok(response);
            }
            if uri.scheme_str() == Some("https") && next_uri.scheme_str() != Some("https") {
                return Err(self.failed("it leads from https to a line that others can read"));
            }
            address = next;
        }
        Err(self.failed("it leads from one address to another without end"))
    }

    /// The answer, or what a refusal means. `what` was asked for.
    pub(super) fn sound(
        &self,
        what: &str,
        response: Response<Body>,
    ) -> Result<Response<Body>, ModelError> {
        let status = response.status();
        if status.is_success() || status.is_redirection() {
            return Ok(response);
        }
        let header = |name: &str| {
            let value = response.headers().get(name)?;
            value.to_str().ok().map(str::to_string)
        };
        let code = header("x-error-code").unwrap_or_default();
        let what = what.split('?').next().unwrap_or(what).to_string();
        let hub = self.address();
        let has_token = self.token.is_some();
        Err(match status {
            _ if code == "GatedRepo" => ModelError::Gated { what, has_token },
            StatusCode::NOT_FOUND => ModelError::NotOnHub { hub, what },
            // A hub does not say of a repository that it is not there to those it does not know.
            StatusCode::UNAUTHORIZED if code == "RepoNotFound" && !has_token => {
                ModelError::NotOnHub { hub, what }
            }
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => ModelError::Unauthorized {
                hub,
                what,
                has_token,
            },
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
                let seconds = header("retry-after").and_then(|text| text.trim().parse().ok());
                ModelError::HubBusy {
                    hub,
                    pause: seconds.map(Duration::from_secs),
                }
            }
            status => ModelError::HubFailed {
                hub,
                reason: format!("it answered {status}"),
            },
        })
    }

    /// Makes a request again while that may help: after a pause that the hub names, or that grows.
    pub(super) fn again<T>(
        &self,
        progress: &dyn Progress,
        mut request: impl FnMut() -> Result<T, ModelError>,
    ) -> Result<T, ModelError> {
        let mut attempt = 1;
        loop {
            match request() {
                Ok(answer) => return Ok(answer),
                Err(error) => self.pause(error, attempt, progress)?,
            }
            attempt += 1;
        }
    }

    /// Waits after an error that may go over.
    ///
    /// # Errors
    /// It will not go over, was the last attempt, or somebody asked to stop.
    pub(super) fn pause(
        &self,
        error: ModelError,
        attempt: u32,
        progress: &dyn Progress,
    ) -> Result<(), ModelError> {
        let usual = self.pause * 2_u32.pow(attempt.min(10) - 1);
        let pause = match &error {
            ModelError::HubBusy { pause, .. } => pause.unwrap_or(usual),
            ModelError::HubUnreachable { .. } => usual,
            ModelError::HubFailed { reason, .. } if reason.contains("answered 5") => usual,
            _ => return Err(error),
        };
        if attempt >= ATTEMPTS || pause > LONGEST_PAUSE {
            return Err(error);
        }
        progress.says(&format!("{error}; trying again in {} s", pause.as_secs()));
        let until = Instant::now() + pause;
        loop {
            if progress.stopped() {
                return Err(ModelError::Stopped);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            thread::sleep(left.min(Duration::from_millis(100)));
        }
    }

    pub(super) fn unreachable(&self, reason: &str) -> ModelError {
        let reason = match &self.token {
            Some(token) => reason.replace(token.as_str(), "…"),
            None => reason.to_string(),
        };
        ModelError::HubUnreachable {
            hub: self.address(),
            reason,
        }
    }

    pub(super) fn failed(&self, reason: &str) -> ModelError {
        ModelError::HubFailed {
            hub: self.address(),
            reason: reason.to_string(),
        }
    }
}

/// Where an answer leads; nothing if it leads nowhere, and nothing within if to no address.
fn redirect(response: &Response<Body>, from: &Uri) -> Option<Option<String>> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let place = response.headers().get("location")?.to_str().ok();
    Some(place.and_then(|place| {
        if place.contains("://") {
            return Some(place.to_string());
        }
        let rest = place.strip_prefix('/')?;
        let (scheme, authority) = (from.scheme_str()?, from.authority()?);
        Some(match rest.strip_prefix('/') {
            Some(other) => format!("{scheme}://{other}"),
            None => format!("{scheme}://{authority}/{rest}"),
        })
    }))
}

/// A header without the marks around an entity tag.
pub(super) fn tag(response: &Response<Body>, name: &str) -> Option<String> {
    let text = response.headers().get(name)?.to_str().ok()?;
    let text = text.trim().trim_start_matches("W/").trim_matches('"');
    (!text.is_empty()).then(|| text.to_string())
}

/// A header that is a number.
pub(super) fn number(response: &Response<Body>, name: &str) -> Option<u64> {
    response
        .headers()
        .get(name)?
        .to_str()
        .ok()?
        .trim()
        .parse()
        .ok()
}
