//! Classes of IP addresses, according to the registries of special addresses (RFC 6890 and its
//! updates).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The class of an IP address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    /// This machine.
    Loopback,
    /// A private or shared network.
    Private,
    /// The Internet.
    Public,
    /// Never a target of callbacks: link-local, metadata services, multicast, unspecified,
    /// documentation, reserved, and transitional forms that hide another address.
    Forbidden,
}

/// Returns the class of an IP address. An IPv4 address embedded in an IPv6 one is classified as IPv4.
#[must_use]
pub(crate) fn place(address: IpAddr) -> Place {
    match address.to_canonical() {
        IpAddr::V4(address) => place_v4(address),
        IpAddr::V6(address) => place_v6(address),
    }
}

/// Cloud metadata and host services outside the link-local range.
const METADATA_V4: [Ipv4Addr; 2] = [Ipv4Addr::new(100, 100, 100, 200), Ipv4Addr::new(168, 63, 129, 16)];
const METADATA_V6: [Ipv6Addr; 2] =
    [Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254), Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254)];

fn place_v4(address: Ipv4Addr) -> Place {
    if METADATA_V4.contains(&address) {
        return Place::Forbidden;
    }
    match address.octets() {
        [127, ..] => Place::Loopback,
        // Private, shared (carrier-grade NAT) and benchmarking networks.
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] | [100, 64..=127, ..] | [198, 18 | 19, ..] => Place::Private,
        // "This network", link-local, protocol assignments, documentation, 6to4 relays.
        [0, ..] | [169, 254, ..] | [192, 0, 0 | 2, _] | [198, 51, 100, _] | [203, 0, 113, _] | [192, 88, 99, _] => {
            Place::Forbidden
        }
        // Multicast, reserved, broadcast.
        [224..=255, ..] => Place::Forbidden,
        _ => Place::Public,
    }
}

fn place_v6(address: Ipv6Addr) -> Place {
    if address.is_loopback() {
        return Place::Loopback;
    }
    if METADATA_V6.contains(&address) {
        return Place::Forbidden;
    }
    match address.segments() {
        // NAT64 leads to the IPv4 address in its last 32 bits: allowed if that address is on the Internet.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            let [a, b] = high.to_be_bytes();
            let [c, d] = low.to_be_bytes();
            match place_v4(Ipv4Addr::new(a, b, c, d)) {
                Place::Public => Place::Public,
                _ => Place::Forbidden,
            }
        }
        // Unique local.
        [0xfc00..=0xfdff, ..] => Place::Private,
        // Protocol assignments and Teredo, documentation, 6to4.
        [0x2001, 0..=0x1ff, ..] | [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] | [0x2002, ..] => Place::Forbidden,
        // Global unicast; everything else is special.
        [0x2000..=0x3fff, ..] => Place::Public,
        _ => Place::Forbidden,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(expected: Place, addresses: &[&str]) {
        for text in addresses {
            assert_eq!(place(text.parse().unwrap()), expected, "{text}");
        }
    }

    #[test]
    fn this_machine() {
        all(Place::Loopback, &["127.0.0.1", "127.255.255.254", "::1", "::ffff:127.0.0.1"]);
    }

    #[test]
    fn private_networks() {
        all(
            Place::Private,
            &[
                "10.0.0.0",
                "10.255.255.255",
                "172.16.0.1",
                "172.31.255.255",
                "192.168.0.1",
                "100.64.0.1",
                "100.127.255.255",
                "198.18.0.1",
                "198.19.255.255",
                "::ffff:192.168.1.1",
                "fc00::1",
                "fdff::1",
            ],
        );
    }

    #[test]
    fn the_internet() {
        all(
            Place::Public,
            &[
                "1.1.1.1",
                "9.255.255.255",
                "11.0.0.0",
                "126.0.0.1",
                "128.0.0.1",
                "172.15.255.255",
                "172.32.0.0",
                "192.167.0.1",
                "100.63.255.255",
                "100.128.0.0",
                "198.17.0.1",
                "198.20.0.1",
                "223.255.255.255",
                "::ffff:8.8.8.8",
                "64:ff9b::8.8.8.8",
                "2606:4700::1111",
                "2a00:1450::1",
                "2001:4860:4860::8888",
            ],
        );
    }

    #[test]
    fn nowhere_to_send_anything() {
        all(
            Place::Forbidden,
            &[
                "0.0.0.0",
                "0.1.2.3",
                "169.254.0.1",
                "169.254.169.254",
                "168.63.129.16",
                "100.100.100.200",
                "192.0.0.192",
                "192.0.2.1",
                "192.88.99.1",
                "198.51.100.1",
                "203.0.113.1",
                "224.0.0.1",
                "239.255.255.255",
                "240.0.0.1",
                "255.255.255.255",
                "::",
                "::127.0.0.1",
                "::ffff:0.0.0.0",
                "::ffff:169.254.169.254",
                "::ffff:0:127.0.0.1",
                "64:ff9b::127.0.0.1",
                "64:ff9b::10.0.0.1",
                "64:ff9b::169.254.169.254",
                "64:ff9b:1::8.8.8.8",
                "100::1",
                "2001::1",
                "2001:db8::1",
                "2002:7f00:1::1",
                "3fff::1",
                "5f00::1",
                "fd00:ec2::254",
                "fd20:ce::254",
                "fe80::1",
                "fec0::1",
                "ff02::1",
            ],
        );
    }
}
