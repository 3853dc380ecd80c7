//! Who may use the control interface: it shows credentials, so by default this machine alone, and
//! no web page through it.

use std::net::IpAddr;

use bytes::Bytes;
use http::{Request, header, uri::Authority};

use super::Context;
use crate::{outgoing::CALLBACK_HEADER, settings::ControlAccess};

const NOT_LOOPBACK: &str = "the control interface answers this machine only";
const WRONG_HOST: &str = "the control interface is called by an address, as localhost, or by a host name it was told";
const CALLBACK: &str = "the control interface is not called by callbacks";
const WRONG_ORIGIN: &str = "the control interface takes no requests from other sites' pages";

pub(in super::super) fn check(context: &Context<'_>, request: &Request<Bytes>) -> Result<(), &'static str> {
    let access = &context.settings.control;
    if !access.from_anywhere && !context.peer.to_canonical().is_loopback() {
        return Err(NOT_LOOPBACK);
    }
    if request.headers().contains_key(CALLBACK_HEADER) {
        return Err(CALLBACK);
    }
    let Some(host) = host(request)? else {
        // A request that never came over HTTP: a test that holds the sandbox in its own process.
        return Ok(());
    };
    if !host_is_ours(&host, access) {
        return Err(WRONG_HOST);
    }
    match request.headers().get(header::ORIGIN) {
        Some(origin) if !is_origin_of(origin.as_bytes(), &host) => Err(WRONG_ORIGIN),
        _ => Ok(()),
    }
}

/// The host that the caller meant; two of them are none.
fn host(request: &Request<Bytes>) -> Result<Option<Authority>, &'static str> {
    let mut headers = request.headers().get_all(header::HOST).iter();
    let host = match (headers.next(), headers.next()) {
        (None, _) => return Ok(request.uri().authority().cloned()),
        (Some(host), None) => host,
        (Some(_), Some(_)) => return Err(WRONG_HOST),
    };
    Authority::try_from(host.as_bytes()).map(Some).map_err(|_| WRONG_HOST)
}

/// A name that an attacker owns can be pointed here (DNS rebinding); an address or `localhost` not.
fn host_is_ours(host: &Authority, access: &ControlAccess) -> bool {
    let name = host.host().trim_end_matches('.');
    let address = name.trim_start_matches('[').trim_end_matches(']');
    address.parse::<IpAddr>().is_ok()
        || name.eq_ignore_ascii_case("localhost")
        || access.hosts.iter().any(|known| known.eq_ignore_ascii_case(name))
}

fn is_origin_of(origin: &[u8], host: &Authority) -> bool {
    let rest = origin.strip_prefix(b"http://").or_else(|| origin.strip_prefix(b"https://"));
    rest.is_some_and(|rest| rest.eq_ignore_ascii_case(host.as_str().as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn authority(text: &str) -> Authority {
        text.parse().unwrap()
    }

    #[test]
    fn only_names_that_nobody_can_point_here() {
        let access = ControlAccess { hosts: vec!["dev.example".to_owned()], ..ControlAccess::default() };
        for host in ["127.0.0.1:8480", "[::1]:8480", "localhost", "LOCALHOST:1", "192.168.1.2", "dev.example:80"] {
            assert!(host_is_ours(&authority(host), &access), "{host}");
        }
        for host in ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:8480", "evil.example:127"] {
            assert!(!host_is_ours(&authority(host), &access), "{host}");
        }
    }

    #[test]
    fn only_pages_of_the_sandbox_itself() {
        let host = authority("127.0.0.1:8480");
        assert!(is_origin_of(b"http://127.0.0.1:8480", &host));
        for origin in ["null", "http://127.0.0.1", "http://evil.example", "http://127.0.0.1:8480.evil.example"] {
            assert!(!is_origin_of(origin.as_bytes(), &host), "{origin}");
        }
    }
}
