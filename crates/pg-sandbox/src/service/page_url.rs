//! Addresses of a merchant to which a browser may be sent.

use std::{
    borrow::Cow,
    net::{Ipv4Addr, Ipv6Addr},
    ops::Range,
};

use http::HeaderValue;
use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, utf8_percent_encode};
use pg_model::format::Format;

use crate::{assumed, host_name::ends_in_a_number, outgoing::is_this_machine};

/// The maximum length of an address, in bytes (A135).
const LONGEST: usize = 8 << 10;

/// Characters that stay unchanged in a query: the unreserved characters of RFC 3986.
const QUERY: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// An absolute http or https address without spaces and control characters (A134), with a host and a port that a
/// browser can open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PageUrl(String);

impl PageUrl {
    /// Returns the address if it is valid.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        (text.len() <= LONGEST && Format::Url.admits(text) && leads_somewhere(text)).then(|| Self(text.to_owned()))
    }

    /// Returns the address if it is valid, and the assumption that refuses it, or accepts it without TLS.
    pub(crate) fn judged(text: &str) -> (Option<Self>, Option<u16>) {
        let page = Self::parse(text);
        let assumption = if text.len() > LONGEST {
            Some(assumed::HOW_LONG_A_REDIRECT_MAY_BE)
        } else if page.is_some() && has_tls(text) {
            None
        } else {
            Some(assumed::MERCHANT_PAGES)
        };
        (page, assumption)
    }

    /// Whether a public host has this address without TLS. Merchant pages must be served over TLS (spec 2 §1.1); the
    /// sandbox accepts others for development (A134), which happens at `localhost` and at loopback addresses.
    pub(crate) fn lacks_tls(&self) -> bool {
        !has_tls(&self.0) && !is_this_machine(self.0[host_range(&self.0)].trim_end_matches('.'))
    }

    /// Appends these parameters to the address, before its fragment (A83). The result is ASCII, so that it can be a
    /// header.
    pub(crate) fn with(&self, parameters: &[(&str, &str)]) -> Result<HeaderValue, http::Error> {
        let (address, fragment) = self.0.split_at(self.0.find('#').unwrap_or(self.0.len()));
        let mut location = utf8_percent_encode(&with_ascii_host(address), CONTROLS).to_string();
        let mut separator = match address.split_once('?') {
            None => "?",
            Some((_, query)) if query.is_empty() || query.ends_with('&') => "",
            Some(_) => "&",
        };
        for (name, value) in parameters {
            location.push_str(separator);
            location.push_str(name);
            location.push('=');
            location.extend(utf8_percent_encode(value, QUERY));
            separator = "&";
        }
        location.extend(utf8_percent_encode(fragment, CONTROLS));
        Ok(HeaderValue::try_from(location)?)
    }
}

/// Whether an address has the scheme https.
pub(super) fn has_tls(address: &str) -> bool {
    address.get(..8).is_some_and(|start| start.eq_ignore_ascii_case("https://"))
}

/// Returns the address with a host in another script written as browsers and DNS know it (`xn--…`, UTS #46).
fn with_ascii_host(address: &str) -> Cow<'_, str> {
    let host = host_range(address);
    match ascii(&address[host.clone()]) {
        Some(ascii) if !address[host.clone()].is_ascii() => {
            [&address[..host.start], &ascii, &address[host.end..]].concat().into()
        }
        _ => address.into(),
    }
}

fn ascii(host: &str) -> Option<String> {
    idna::domain_to_ascii(host).ok().filter(|host| !host.is_empty())
}

/// Returns the position of the host in an address.
fn host_range(address: &str) -> Range<usize> {
    let start = address.find("://").map_or(0, |at| at + 3);
    let end = address[start..].find(['/', '?', '#']).map_or(address.len(), |at| start + at);
    let start = address[start..end].rfind('@').map_or(start, |at| start + at + 1);
    let place = &address[start..end];
    let length = place.rfind(']').map(|at| at + 1).or_else(|| place.find(':')).unwrap_or(place.len());
    start..start + length
}

/// Whether there is a host, and either no port or a valid one.
fn leads_somewhere(address: &str) -> bool {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let place = authority.rsplit_once('@').map_or(authority, |(_, place)| place);
    let end = place.rfind(']').map(|bracket| bracket + 1).or_else(|| place.find(':')).unwrap_or(place.len());
    let (host, port) = place.split_at(end);
    (host.is_ascii() || ascii(host).is_some_and(|host| is_host(&host)))
        && is_host(host)
        && (port.is_empty() || port.strip_prefix(':').is_some_and(is_port))
}

fn is_host(host: &str) -> bool {
    if let Some(address) = host.strip_prefix('[') {
        return address.strip_suffix(']').is_some_and(|address| address.parse::<Ipv6Addr>().is_ok());
    }
    let name = host.strip_suffix('.').unwrap_or(host);
    if ends_in_a_number(name) {
        return name.parse::<Ipv4Addr>().is_ok();
    }
    let known = |c: char| !c.is_ascii() || c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    name.split('.').all(|label| !label.is_empty() && label.chars().all(known))
}

/// Whether a port is valid; an empty one is the scheme's default (RFC 3986 §3.2.3).
fn is_port(port: &str) -> bool {
    port.is_empty() || (are_digits(port) && port.parse::<u16>().is_ok())
}

fn are_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: 2 §4.2, A83
    #[test]
    fn parameters_go_behind_the_query_and_before_the_fragment() {
        for (address, wanted) in [
            ("https://shop.example", "https://shop.example?a=1&b=%2B%20%2F"),
            ("https://shop.example/next", "https://shop.example/next?a=1&b=%2B%20%2F"),
            ("https://shop.example/?", "https://shop.example/?a=1&b=%2B%20%2F"),
            ("https://shop.example/?x=%41&y", "https://shop.example/?x=%41&y&a=1&b=%2B%20%2F"),
            ("https://shop.example/?x&", "https://shop.example/?x&a=1&b=%2B%20%2F"),
            ("http://shop.example/a#top?x#y", "http://shop.example/a?a=1&b=%2B%20%2F#top?x#y"),
            ("https://shop.example/?x=1#", "https://shop.example/?x=1&a=1&b=%2B%20%2F#"),
            ("https://shop.example/caf\u{e9}#\u{e9}", "https://shop.example/caf%C3%A9?a=1&b=%2B%20%2F#%C3%A9"),
            // By Python: "bücher.example".encode("idna"), and the same for the others.
            ("https://B\u{fc}cher.example:8080/", "https://xn--bcher-kva.example:8080/?a=1&b=%2B%20%2F"),
            ("https://u@\u{4f8b}\u{3048}.\u{30c6}\u{30b9}\u{30c8}", "https://u@xn--r8jz45g.xn--zckzah?a=1&b=%2B%20%2F"),
        ] {
            let location = PageUrl::parse(address).unwrap().with(&[("a", "1"), ("b", "+ /")]).unwrap();
            assert_eq!(location, wanted);
        }
    }

    // spec: 2 §1.1, A134: Pages of the merchant are served over TLS; the sandbox also accepts pages without it.
    #[test]
    fn addresses_of_this_machine_need_no_tls() {
        for address in [
            "http://shop.example/",
            "HTTP://10.0.0.1:3000",
            "http://localhost.shop.example/",
            "http://localhost@shop.example/",
            "http://[2001:db8::1]/",
        ] {
            assert!(PageUrl::parse(address).unwrap().lacks_tls(), "{address}");
        }
        for address in [
            "https://shop.example/",
            "HTTPS://shop.example/",
            "http://LOCALHOST:3000/",
            "http://shop.localhost./",
            "http://127.0.0.2?a=b",
            "http://[::1]:8080#top",
            "http://[::ffff:127.0.0.1]/",
            "http://127.1/",
            "shop.example",
        ] {
            assert!(PageUrl::parse(address).is_none_or(|page| !page.lacks_tls()), "{address}");
        }
    }

    // spec: 2 §1.1, A134: Pages of the merchant are served over TLS; the sandbox also accepts pages without it.
    #[test]
    fn only_http_addresses_are_accepted() {
        for address in [
            "",
            "/next",
            "//shop.example/next",
            "javascript:alert(1)",
            "javascript://shop.example/%0aalert(1)",
            "data:text/html,x",
            "ftp://shop.example/",
            "https:/shop.example/",
            "https://",
            "https:///shop.example/",
            "https://shop.example/\r\nSet-Cookie: a=b",
            "https://shop.example\\@other.example/",
            " https://shop.example/",
            "https://shop.example/a b",
            // Browsers do not open such an address.
            "https://@/",
            "https://customer@:80/",
            "https://shop.example:port/",
            "https://shop.example:80:80/",
            "https://shop.example:65536/",
            "https://shop.example:-1/",
            "https://[::1/",
            "https://::1/",
            "https://[::g]/",
            "https://[::1]x/",
            "https://256.1.1.1/",
            "https://127.1/",
            "https://0x7f.0x1/",
            "https://.",
            "https://shop..example/",
            "https://shop%2eexample/",
            "https://shop.example%2f@/",
            "https://shop|example/",
        ] {
            assert_eq!(PageUrl::parse(address), None, "{address}");
        }
        for address in [
            "HTTPS://SHOP.example:65535",
            "https://shop.example:/",
            "https://shop.example.:443/a:b@c",
            "http://localhost:3000/",
            "http://127.0.0.1?a=b",
            "http://[::1]:8080#top",
            "https://customer:word@shop_1.xn--caf-dma.example/",
            "https://caf\u{e9}.example/",
        ] {
            assert!(PageUrl::parse(address).is_some(), "{address}");
        }
        let long = format!("https://shop.example/{}", "a".repeat(LONGEST));
        assert!(PageUrl::parse(&long).is_none());
        for (address, wanted) in [
            ("https://shop.example/", None),
            ("http://shop.example/", Some(134)),
            ("https://127.1/", Some(134)),
            (&long, Some(135)),
        ] {
            assert_eq!(PageUrl::judged(address).1, wanted, "{address}");
        }
    }
}
