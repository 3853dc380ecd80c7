//! Addresses to listen on and to call, as people type them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use http::Uri;

/// Parses an address with a port, or a port alone, which listens on this machine only.
///
/// # Errors
/// If the text has another form; the message shows the expected forms.
pub(crate) fn parse(text: &str) -> Result<SocketAddr, String> {
    let port = text.strip_prefix("localhost").map_or(text, |rest| rest.strip_prefix(':').unwrap_or_default());
    let here = || port.parse().map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    text.parse().or_else(|_| here()).map_err(|_| {
        "expected IP:PORT such as 127.0.0.1:8480, or a port alone such as 8480; port 0 picks a free one".to_owned()
    })
}

/// Checks the URL of a server to call.
///
/// # Errors
/// If it is not a complete http or https URL.
pub(crate) fn url(text: &str) -> Result<String, String> {
    let is_url = text.parse().is_ok_and(|uri: Uri| {
        matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some_and(|host| !host.is_empty())
    });
    if is_url { Ok(text.to_owned()) } else { Err("expected a URL such as https://shop.example/callbacks".to_owned()) }
}

/// Returns the URL by which this machine reaches a server, given the address that the server listens on.
pub(crate) fn from_here(url: &str, listens: SocketAddr) -> String {
    url.replacen(&listens.to_string(), &reachable(listens).to_string(), 1)
}

/// Returns the address by which this machine reaches a server that listens there; 0.0.0.0 becomes the loopback address.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_one_of_this_machine() {
        for (text, address) in [
            ("8480", "127.0.0.1:8480"),
            ("localhost:0", "127.0.0.1:0"),
            ("0.0.0.0:80", "0.0.0.0:80"),
            ("[::1]:80", "[::1]:80"),
        ] {
            assert_eq!(parse(text).unwrap().to_string(), address);
        }
        for wrong in ["", "localhost", "localhost8480", "127.0.0.1", "65536", "shop.example:80", ":80", "-1"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_url_is_complete() {
        for good in ["http://127.0.0.1:8490/hook?x=1", "https://shop.example"] {
            assert_eq!(url(good).unwrap(), good);
        }
        for wrong in ["", "foo", "/hook", "shop.example:80", "ftp://shop.example/", "https://"] {
            assert!(url(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_unspecified_address_is_reached_through_loopback() {
        for (listens, reached) in
            [("0.0.0.0:80", "127.0.0.1:80"), ("[::]:80", "[::1]:80"), ("192.0.2.1:80", "192.0.2.1:80")]
        {
            assert_eq!(reachable(listens.parse().unwrap()).to_string(), reached);
        }
    }
}
