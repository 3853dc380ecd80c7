//! Outgoing requests of the sandbox: callbacks, and their allowed targets.
//!
//! A callback goes to a URL from a request, from inside the network in which the sandbox runs. To protect that network,
//! the target is checked twice: its URL when a request names it, and its resolved IP address before the connection.

use std::net::IpAddr;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Request, header};

use crate::{records::Callback, settings::OutgoingAccess};

mod address;
mod rules;
mod target;

pub use rules::Forbidden;
use rules::Rules;
pub(crate) use target::{BadTarget, Target, default_port, is_this_machine};

/// The header with the callback's number in the journal. The control interface refuses
/// requests with it, so that a callback cannot control the sandbox.
pub(crate) const CALLBACK_HEADER: HeaderName = HeaderName::from_static("pg-callback");

/// A callback to send now.
///
/// The sender resolves the host once, asks [`Outgoing::admits`] about each address, connects only to
/// an admitted one, follows no redirect, waits at most ten seconds, reads at most
/// 64 KiB of the response (A76), and reports the result to [`crate::Sandbox::delivered`].
#[derive(Debug)]
pub struct Outgoing {
    /// The callback's number in the journal.
    pub id: String,
    /// The request: a POST with an absolute URL.
    pub request: Request<Bytes>,
    rules: Rules,
}

impl Outgoing {
    /// Whether this callback may be sent to an IP address to which its host resolved.
    ///
    /// # Errors
    /// [`Forbidden`] names the broken rule.
    pub fn admits(&self, address: IpAddr) -> Result<(), Forbidden> {
        self.rules.admit(address)
    }

    /// Returns the request that delivers a journaled callback.
    pub(crate) fn of(callback: &Callback, body: String, access: &OutgoingAccess) -> Result<Self, BadTarget> {
        let target = Target::parse(&callback.url, callback.kind, access)?;
        let mut request = Request::post(target.uri).body(Bytes::from(body)).map_err(|_| BadTarget::NotAnAddress)?;
        let value = |text: &str| HeaderValue::from_str(text).map_err(|_| BadTarget::NotAnAddress);
        let headers = request.headers_mut();
        headers.insert(header::CONTENT_TYPE, value(&callback.content_type)?);
        headers.insert(header::USER_AGENT, HeaderValue::from_static("pg-sandbox"));
        headers.insert(CALLBACK_HEADER, value(&callback.key)?);
        Ok(Self { id: callback.key.clone(), request, rules: target.rules })
    }
}
