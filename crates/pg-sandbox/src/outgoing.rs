//! What the sandbox sends by itself: callbacks, and where they may go.
//!
//! A callback goes to an address that a request named, from inside the network that the sandbox runs
//! in. To protect that network, an address is checked twice: its text when the
//! request names it, and the IP address that its name led to when it is connected to.

use std::net::IpAddr;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Request, header};

use crate::{records::Callback, settings::OutgoingAccess};

mod address;
mod rules;
mod target;

pub use rules::Forbidden;
use rules::Rules;
pub(crate) use target::{BadTarget, Target, default_port};

/// The header that carries the callback's number in the journal. The control interface refuses
/// requests that have it, so that a callback never turns the sandbox's own switches.
pub(crate) const CALLBACK_HEADER: HeaderName = HeaderName::from_static("pg-callback");

/// A callback that is to be sent now.
///
/// Who sends it resolves the host once, asks [`Outgoing::admits`] about each address, connects only to
/// one that is admitted, follows no redirect, waits no longer than ten seconds, reads no more than
/// 64 KiB of the answer (assumption 76), and tells [`crate::Sandbox::delivered`] what came of it.
#[derive(Debug)]
pub struct Outgoing {
    /// The callback's number in the journal.
    pub id: String,
    /// What to send: a POST with an absolute address.
    pub request: Request<Bytes>,
    rules: Rules,
}

impl Outgoing {
    /// Whether this callback may be sent to an IP address that its host resolved to.
    ///
    /// # Errors
    /// [`Forbidden`] says which rule the address breaks.
    pub fn admits(&self, address: IpAddr) -> Result<(), Forbidden> {
        self.rules.admit(address)
    }

    /// A journaled callback as the request that delivers it.
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
