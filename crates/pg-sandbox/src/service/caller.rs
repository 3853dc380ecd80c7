//! The caller: a program on this or another machine, a proxy, or a web page through a user's browser.

use std::net::{IpAddr, Ipv6Addr};

use http::{HeaderMap, Request, Version, header, uri::Authority};

use crate::{Peer, settings::Settings};

/// The host that a request names. Two `Host` headers, user information, an invalid port, another host in the request line, or no
/// host over a connection are refused.
pub(super) enum Host {
    Named(Authority),
    /// The request did not come over a connection, because a test runs the sandbox in its own process.
    InProcess,
    Invalid,
}

impl Host {
    pub(super) fn of<B>(request: &Request<B>) -> Self {
        let mut headers = request.headers().get_all(header::HOST).iter();
        let target = request.uri().authority();
        let host = match (headers.next(), headers.next()) {
            (None, _) => target.cloned(),
            (Some(host), None) => match Authority::try_from(host.as_bytes()) {
                Ok(host) if target.is_none_or(|target| *target == host) => Some(host),
                _ => return Self::Invalid,
            },
            (Some(_), Some(_)) => return Self::Invalid,
        };
        match host {
            Some(host) if !is_host_and_port(&host) => Self::Invalid,
            Some(host) => Self::Named(host),
            None if request.extensions().get::<Peer>().is_some() => Self::Invalid,
            None => Self::InProcess,
        }
    }
}

/// Whether the text is only a name or an address, with a valid port.
fn is_host_and_port(host: &Authority) -> bool {
    let (name, port) = (host.host(), host.as_str().strip_prefix(host.host()));
    let is_port =
        |port: &str| port.is_empty() || port.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok());
    let address = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
    let is_name = || name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_'));
    !name.is_empty()
        && port.is_some_and(is_port)
        && address.map_or_else(is_name, |address| address.parse::<Ipv6Addr>().is_ok())
}

/// Whether the host is safe from DNS rebinding: an address, `localhost`, or a name in the settings. An attacker can
/// point any other name to this machine.
pub(super) fn is_ours(host: &Authority, settings: &Settings) -> bool {
    let name = host.host().trim_end_matches('.');
    let address = name.trim_start_matches('[').trim_end_matches(']');
    let public = settings.public_url.as_ref().and_then(|url| url.split_once("://"));
    address.parse::<IpAddr>().is_ok()
        || name.eq_ignore_ascii_case("localhost")
        || settings.control.hosts.iter().any(|known| known.eq_ignore_ascii_case(name))
        || public.is_some_and(|(_, authority)| authority.trim_end_matches('/').eq_ignore_ascii_case(host.as_str()))
}

/// Words in the names of headers that proxies, tunnels and content delivery networks add to a request, such as
/// `X-Forwarded-For`, `True-Client-IP` and `Via`. Programs that call the sandbox directly send no such header.
const FORWARDING_WORDS: [&str; 16] = [
    "akamai",
    "bluecoat",
    "cdn",
    "clientip",
    "envoy",
    "fastly",
    "forwarded",
    "haproxy",
    "ip",
    "kong",
    "nginx",
    "proxy",
    "proxyuser",
    "sucuri",
    "varnish",
    "via",
];

/// Headers of proxies whose names contain none of these words.
const FORWARDING: [&str; 17] = [
    "front-end-https",
    "max-forwards",
    "x-accel-internal",
    "x-amzn-trace-id",
    "x-arr-log-id",
    "x-arr-ssl",
    "x-cloud-trace-context",
    "x-host",
    "x-queue-start",
    "x-real-port",
    "x-remote-addr",
    "x-remote-user",
    "x-request-start",
    "x-rewrite-url",
    "x-scheme",
    "x-sendfile-type",
    "x-url-scheme",
];

/// The prefixes of the names of such headers.
const FORWARDING_PREFIXES: [&str; 12] = [
    "cf-",
    "fly-",
    "incap-",
    "render-",
    "tailscale-",
    "x-amz-cf-",
    "x-appengine-",
    "x-azure-",
    "x-nf-",
    "x-original-",
    "x-tunnel-",
    "x-vercel-",
];

/// Whether the request passed through a proxy, so that the peer's address does not identify the caller. A proxy need
/// not add a header, but then it often uses HTTP/1.0, which current programs do not use.
pub(super) fn is_forwarded<B>(request: &Request<B>) -> bool {
    let added = |name: &str| {
        let mut words = name.split(['-', '_']);
        words.any(|word| FORWARDING_WORDS.contains(&word))
            || FORWARDING.contains(&name)
            || FORWARDING_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
    };
    request.version() < Version::HTTP_11 || request.headers().keys().any(|name| added(name.as_str()))
}

/// Whether a page of another site made a browser send the request (Fetch Metadata). A link that a user follows to a page
/// or a list does not count: no other page sees the response.
pub(super) fn is_cross_site<B>(request: &Request<B>) -> bool {
    let headers = request.headers();
    let is = |name: &str, wanted: &str| headers.get(name).is_some_and(|value| value == wanted);
    let followed =
        request.method() == http::Method::GET && is("sec-fetch-mode", "navigate") && is("sec-fetch-dest", "document");
    let own = |value: &http::HeaderValue| value == "none" || value == "same-origin";
    !followed && !headers.get_all("sec-fetch-site").iter().all(own)
}

/// Whether the page that the browser names is on another host, for browsers that send no `Origin`.
fn has_foreign_referer(headers: &HeaderMap, settings: &Settings) -> bool {
    let is_foreign = |referer: &http::HeaderValue| {
        let address = http::Uri::try_from(referer.as_bytes()).ok();
        address.and_then(|address| address.authority().cloned()).is_none_or(|host| !is_ours(&host, settings))
    };
    headers.get_all(header::REFERER).iter().any(is_foreign)
}

/// Returns why a server-to-server method refuses this request (A195); `None` if it does not.
///
/// The documents forbid calls from a customer's browser (spec 2 §1.2). Without this check, a page that a developer
/// visits could pay with the public credentials, or lock the developer out.
pub(super) fn refused_as_browser<B>(request: &Request<B>, settings: &Settings) -> Option<&'static str> {
    let headers = request.headers();
    let site = headers.get_all("sec-fetch-site").iter().any(|site| site != "none");
    if site || headers.contains_key(header::ORIGIN) || has_foreign_referer(headers, settings) {
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
    fn only_trusted_host_names_are_ours() {
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

    // spec: 2 §1.2, A195: Requests never come from a customer's browser: those that are recognisably from one are
    //   refused.
    #[test]
    fn servers_are_served_and_web_pages_are_not() {
        let refused = |headers: &[(&'static str, &str)]| refused_as_browser(&request(headers), &Settings::default());
        let host = ("host", "127.0.0.1:8480");
        assert_eq!(refused(&[host]), None);
        // Node's fetch, which is not a browser, sends this header.
        assert_eq!(refused(&[host, ("sec-fetch-mode", "cors")]), None);
        assert_eq!(refused(&[("host", "sandbox:8480")]), None);
        assert_eq!(refused(&[host, ("referer", "http://127.0.0.1:8480/")]), None);
        for bad in [
            &[host, ("origin", "http://127.0.0.1:8480")][..],
            &[host, ("origin", "null")],
            &[host, ("sec-fetch-site", "cross-site")],
            &[host, ("sec-fetch-site", "same-origin")],
            &[host, ("sec-fetch-site", "none"), ("sec-fetch-site", "cross-site")],
            &[("host", "evil.example")],
            &[("host", "user@127.0.0.1")],
            &[("host", "localhost:port")],
            &[("host", "localhost:99999")],
            &[("host", "[evil]")],
            &[("host", "evil,sandbox")],
            &[host, ("referer", "https://evil.example/page")],
            &[host, ("referer", "page")],
            &[host, host],
            &[],
        ] {
            assert!(refused(bad).is_some(), "{bad:?}");
        }
        assert_eq!(
            refused_as_browser(&Request::post("/v3/token/lookup").body(()).unwrap(), &Settings::default()),
            None
        );
        let mut other = Request::post("http://evil.example/v3/token/lookup").body(()).unwrap();
        other.headers_mut().insert("host", "127.0.0.1:8480".parse().unwrap());
        assert!(refused_as_browser(&other, &Settings::default()).is_some(), "the request line names another host");
    }

    #[test]
    fn proxies_are_recognised_by_the_headers_they_add() {
        for name in ["Forwarded", "X-Forwarded-Port", "CF-Connecting-IP", "X-Envoy-External-Address", "true-client-ip"]
        {
            assert!(is_forwarded(&Request::post("/").header(name, "").body(()).unwrap()), "{name}");
        }
        assert!(is_forwarded(&Request::post("/").version(Version::HTTP_10).body(()).unwrap()));
        let plain = Request::post("/").header("user-agent", "x").header("x-request-id", "7").body(()).unwrap();
        assert!(!is_forwarded(&plain));
    }

    #[test]
    fn a_followed_link_is_no_request_of_another_page() {
        let site = |headers: &[(&'static str, &str)]| is_cross_site(&request(headers));
        assert!(!site(&[]) && !site(&[("sec-fetch-site", "none")]) && !site(&[("sec-fetch-site", "same-origin")]));
        for value in ["cross-site", "same-site", "", "none, cross-site"] {
            assert!(site(&[("sec-fetch-site", value)]), "{value}");
        }
        let link = [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")];
        assert!(site(&link), "a form of another page");
        let mut followed = request(&link);
        *followed.method_mut() = http::Method::GET;
        assert!(!is_cross_site(&followed));
    }
}
