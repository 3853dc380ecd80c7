//! What is to be done with a response: usually it is sent, unless a fault was asked for.

use std::time::Duration;

use http::Response;

/// What a driver does with a response, as an extension of the response; without it, it is sent.
///
/// The core neither waits nor closes anything. The server does as it is told here; a transport that
/// holds the sandbox in its own process looks for it with [`ResponseDelivery::of`], and does the same to
/// its caller:
///
/// ```
/// use std::time::Duration;
///
/// use bytes::Bytes;
/// use http::Request;
/// use pg_sandbox::{ResponseDelivery, Sandbox, Timestamp};
///
/// let mut sandbox = Sandbox::in_memory();
/// let now = Timestamp::parse("2026-05-04T10:00:00Z")?;
/// let fault = r#"{"method": "token/lookup", "kind": "delay", "milliseconds": 250}"#;
/// sandbox.handle(now, Request::post("/_sandbox/faults").body(Bytes::from(fault))?);
///
/// let lookup = || Request::post("/v3/token/lookup/json").body(Bytes::new());
/// let late = sandbox.handle(now, lookup()?);
/// assert_eq!(ResponseDelivery::of(&late), ResponseDelivery::SendAfter(Duration::from_millis(250)));
/// let next = sandbox.handle(now, lookup()?);
/// assert_eq!(ResponseDelivery::of(&next), ResponseDelivery::Send);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ResponseDelivery {
    /// It is sent.
    #[default]
    Send,
    /// The connection is closed without a byte of it, after what was sent on it before.
    Close,
    /// It is sent so much later, on the real clock.
    SendAfter(Duration),
}

impl ResponseDelivery {
    /// What is to be done with this response.
    #[must_use]
    pub fn of<B>(response: &Response<B>) -> Self {
        response.extensions().get().copied().unwrap_or_default()
    }
}
