//! The demo's calls of the control interface: it advances the clock.

use bytes::Bytes;
use http::{Request, header::CONTENT_TYPE};
use pg_hyper::Transport;

use crate::command::walkthrough::wire::Wire;

/// Advances the sandbox's clock.
///
/// # Errors
/// If the request fails.
pub(super) async fn advance(wire: &Wire, base: &str, seconds: u64) -> Result<(), String> {
    let request = Request::post(format!("{base}/_sandbox/clock"))
        .header(CONTENT_TYPE, "application/json")
        .body(Bytes::from(format!("{{\"advanceSeconds\": {seconds}}}")))
        .map_err(|error| error.to_string())?;
    let response = wire.send(request).await.map_err(|error| error.to_string())?;
    let status = response.status();
    if status.is_success() { Ok(()) } else { Err(format!("the clock request returned HTTP {}", status.as_u16())) }
}
