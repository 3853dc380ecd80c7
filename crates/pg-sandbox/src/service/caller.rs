//! Who calls: a program on this machine, one elsewhere, a proxy, or a web page through somebody's browser.

use std::net::IpAddr;

use http::{HeaderMap, Request, header, uri::Authority};

use crate::{Peer, settings::Settings};

/// The host that a request names. Two `Host` headers, user information, or none over a connection are refused.
pub(super) enum Host {
    Named(Authority),
    /// The request did not come over a connection: a test holds the sandbox in its own process.
    InProcess,
    Invalid,
}

impl Host {
    pub(super) fn of<B>(request: &Request<B>) -> Self {
        let mut headers = request.headers().get_all(header::HOST).iter();
        let host = match (headers.next(), headers.next()) {
            (None, _) => request.uri().authority().cloned(),
            (Some(host), None) => match Authority::try_from(host.as_bytes()) {
                Ok(host) => Some(host),
                Err(_) => return Self::Invalid,
            },
            (Some(_), Some(_)) => return Self::Invalid,
        };
        match host {
            Some(host) if host.as_str().contains('@') => Self::Invalid,
            Some(host) => Self::Named(host),
            None if request.extensions().get::<Peer>().is_some() => Self::Invalid,
            None => Self::InProcess,
        }
    }
}

/// Whether a name cannot be pointed here by a stranger (DNS rebinding): an address, `localhost`, or one that the settings list.
pub(super) fn is_ours(host: &Authority, settings: &Settings) -> bool {
    let name = host.host().trim_end_matches('.');
    let address = name.trim_start_matches('[').trim_end_matches(']');
    let public = settings.public_url.as_ref().and_then(|url| url.split_once("://"));
    address.parse::<IpAddr>().is_ok()
        || name.eq_ignore_ascii_case("localhost")
        || settings.control.hosts.iter().any(|known| known.eq_ignore_ascii_case(name))
        || public.is_some_and(|(_, authority)| authority.trim_end_matches('/').eq_ignore_ascii_case(host.as_str()))
}

/// Whether the request passed through a proxy, so that the peer's address says nothing about the caller.
pub(super) fn is_forwarded(headers: &HeaderMap) -> bool {
    ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip", "via"]
        .iter()
        .any(|name| headers.contains_key(*name))
}

/// Why a server-to-server method does not take this request (assumption 195); nothing when it does.
///
/// The documents forbid calls from a customer's browser (spec 2 §1.2). A page that a developer happens to visit could otherwise
/// pay with the published credentials, or lock the developer out.
pub(super) fn refused_as_browser<B>(request: &Request<B>, settings: &Settings) -> Option<&'static str> {
    let headers = request.headers();
    let site = headers.get_all("sec-fetch-site").iter().any(|site| site != "none");
    if site || headers.contains_key(header::ORIGIN) {
        return Some("this method is called by servers, not by web pages");
    }
    match Host::of(request) {
        // A name without a dot belongs to a local network, such as that of containers.
        Host::Named(host) if is_ours(&host, settings) || !host.host().contains('.') => None,
        Host::Named(_) => Some("the Host is not a name of this sandbox: list it with --control-host"),
        Host::Invalid => Some("the Host header is missing, repeated or invalid"),
        Host::InProcess => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(headers: &[(&'static str, &str)]) -> Request<()> {
        let mut request = Request::post("/v3/token/lookup").body(()).unwrap();
        request.extensions_mut().insert(Peer([127, 0, 0, 1].into()));
        for (name, value) in headers {
            request.headers_mut().append(*name, value.parse().unwrap());
        }
        request
    }

    #[test]
    fn only_names_that_no_stranger_can_point_here_are_ours() {
        let mut settings = Settings::default();
        settings.control.hosts.push("dev.example".to_owned());
        settings.public_url = Some("https://pay.shop.test:444".to_owned());
        let ours = |host: &str| is_ours(&host.parse().unwrap(), &settings);
        for host in [
            "127.0.0.1:8480",
            "[::1]:8480",
            "localhost",
            "LOCALHOST:1",
            "192.168.1.2",
            "dev.example:80",
            "pay.shop.test:444",
        ] {
            assert!(ours(host), "{host}");
        }
        for host in [
            "evil.example",
            "127.0.0.1.evil.example",
            "localhost.evil.example:8480",
            "evil.example:127",
            "pay.shop.test:445",
        ] {
            assert!(!ours(host), "{host}");
        }
    }

    #[test]
    fn servers_are_served_and_web_pages_are_not() {
        let refused = |headers: &[(&'static str, &str)]| refused_as_browser(&request(headers), &Settings::default());
        let host = ("host", "127.0.0.1:8480");
        assert_eq!(refused(&[host]), None);
        // Node's fetch sends this one, and it is no browser.
        assert_eq!(refused(&[host, ("sec-fetch-mode", "cors")]), None);
        assert_eq!(refused(&[("host", "sandbox:8480")]), None);
        for bad in [
            &[host, ("origin", "http://127.0.0.1:8480")][..],
            &[host, ("origin", "null")],
            &[host, ("sec-fetch-site", "cross-site")],
            &[host, ("sec-fetch-site", "same-origin")],
            &[host, ("sec-fetch-site", "none"), ("sec-fetch-site", "cross-site")],
            &[("host", "evil.example")],
            &[("host", "user@127.0.0.1")],
            &[host, host],
            &[],
        ] {
            assert!(refused(bad).is_some(), "{bad:?}");
        }
        assert_eq!(
            refused_as_browser(&Request::post("/v3/token/lookup").body(()).unwrap(), &Settings::default()),
            None
        );
    }
}
