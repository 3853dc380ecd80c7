//! Information between the sandbox's core and its driver, besides requests and responses: where a request came from,
//! and how a response is delivered.

use std::{
    net::{IpAddr, Ipv4Addr},
    time::Duration,
};

use http::{Request, Response};

/// The address from which a request came, as an extension of the request. Without it, the request came from this
/// machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer(pub IpAddr);

impl Peer {
    pub(crate) fn of<B>(request: &Request<B>) -> IpAddr {
        request.extensions().get::<Self>().map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |peer| peer.0)
    }
}

/// Instruction to the driver, as an extension of the response; without it, the response is sent.
///
/// The core neither waits nor closes connections. The server follows this instruction. An in-process transport reads it
/// with [`ResponseDelivery::of`], and treats its caller in the same way:
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
    /// Send the response.
    #[default]
    Send,
    /// Close the connection after earlier responses, without sending any part of this response.
    Close,
    /// Send the response after this delay, on the real clock.
    SendAfter(Duration),
}

impl ResponseDelivery {
    /// Returns the instruction of this response.
    #[must_use]
    pub fn of<B>(response: &Response<B>) -> Self {
        response.extensions().get().copied().unwrap_or_default()
    }
}
