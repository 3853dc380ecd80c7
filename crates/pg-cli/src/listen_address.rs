//! Addresses to listen at, as people type them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

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
    fn an_unspecified_address_is_reached_through_loopback() {
        for (listens, reached) in
            [("0.0.0.0:80", "127.0.0.1:80"), ("[::]:80", "[::1]:80"), ("192.0.2.1:80", "192.0.2.1:80")]
        {
            assert_eq!(reachable(listens.parse().unwrap()).to_string(), reached);
        }
    }
}
