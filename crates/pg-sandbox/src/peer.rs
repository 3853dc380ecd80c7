//! The address that a request came from.

use std::net::{IpAddr, Ipv4Addr};

use http::Request;

/// The address that a request came from, as an extension of the request; without it, this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer(pub IpAddr);

impl Peer {
    pub(crate) fn of<B>(request: &Request<B>) -> IpAddr {
        request.extensions().get::<Self>().map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |peer| peer.0)
    }
}
