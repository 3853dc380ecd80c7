//! The callback URL of a request.

use std::net::IpAddr;

use http::Uri;
use percent_encoding::{CONTROLS, utf8_percent_encode};
use pg_model::format::Format;

use super::rules::{Forbidden, Rules};
use crate::{host_name::ends_in_a_number, records::CallbackKind, settings::OutgoingAccess};

/// The maximum length of a URL, in bytes.
const LONGEST: usize = 8 << 10;

/// A valid callback URL. Its resolved addresses are checked before the connection.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(super) uri: Uri,
    pub(super) rules: Rules,
}

impl Target {
    /// Returns the URL, if callbacks of this kind may go there (A18 and A77).
    pub(crate) fn parse(text: &str, kind: CallbackKind, access: &OutgoingAccess) -> Result<Self, BadTarget> {
        let uri = uri(text)?;
        let authority = uri.authority().ok_or(BadTarget::NotAnAddress)?;
        if authority.as_str().contains('@') {
            return Err(BadTarget::Credentials);
        }
        let tls = match uri.scheme_str() {
            Some(scheme) if scheme.eq_ignore_ascii_case("https") => true,
            Some(scheme) if scheme.eq_ignore_ascii_case("http") => false,
            _ => return Err(BadTarget::NotAnAddress),
        };
        let port = match authority.as_str().get(authority.host().len()..).unwrap_or_default() {
            "" => default_port(tls),
            given => port(given).ok_or(BadTarget::NoPort)?,
        };
        let rules = Rules::new(kind, tls, access);
        let host = Host::of(authority.host()).ok_or(BadTarget::NoHost)?;
        match host {
            Host::Address(address) => rules.admit(address)?,
            Host::ThisMachine => rules.admit_localhost()?,
            Host::Name => rules.admit_name()?,
        }
        if kind == CallbackKind::Checkout && !is_web_port(port) && !host.is_this_machine() {
            return Err(BadTarget::Port);
        }
        Ok(Self { uri, rules })
    }

    /// Whether its port is 80 or 443, as that of a URL without one is.
    pub(crate) fn has_web_port(&self) -> bool {
        self.uri.port_u16().is_none_or(is_web_port)
    }
}

/// The ports of a checkout's callback (spec 3 §4.1).
const fn is_web_port(port: u16) -> bool {
    matches!(port, 80 | 443)
}

/// Whether a host is this machine: a loopback address, `localhost`, or a name below it.
pub(crate) fn is_this_machine(host: &str) -> bool {
    Host::of(host).is_some_and(Host::is_this_machine)
}

/// Returns the default port of the scheme.
pub(crate) const fn default_port(tls: bool) -> u16 {
    if tls { 443 } else { 80 }
}

/// Returns the URL in ASCII, with a path, which a request line needs, and without its fragment, which is never sent.
fn uri(text: &str) -> Result<Uri, BadTarget> {
    if text.len() > LONGEST {
        return Err(BadTarget::TooLong);
    }
    if !Format::Url.admits(text) {
        return Err(BadTarget::NotAnAddress);
    }
    let address = text.split('#').next().unwrap_or_default();
    if address.split('/').nth(2).and_then(|rest| rest.split('?').next()).is_some_and(|host| !host.is_ascii()) {
        return Err(BadTarget::NoHost);
    }
    let ascii = utf8_percent_encode(address, CONTROLS).to_string();
    let uri: Uri = ascii.parse().map_err(|_| BadTarget::NotAnAddress)?;
    // The URL's written form has `/` if the path is empty.
    uri.to_string().parse().map_err(|_| BadTarget::NotAnAddress)
}

fn port(given: &str) -> Option<u16> {
    let digits = given.strip_prefix(':').filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
    digits.parse().ok().filter(|&port| port != 0)
}

#[derive(Clone, Copy)]
enum Host {
    Address(IpAddr),
    /// `localhost` and names below it (RFC 6761).
    ThisMachine,
    Name,
}

impl Host {
    fn of(host: &str) -> Option<Self> {
        if let Some(address) = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            return address.parse().map(|address| Self::Address(IpAddr::V6(address))).ok();
        }
        if let Ok(address) = host.parse() {
            return Some(Self::Address(address));
        }
        let known = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
        // Resolvers read other spellings of an IPv4 address too: 2130706433, 0x7f.1, 0177.0.0.1, 127.1.
        if !host.bytes().all(known) || ends_in_a_number(host) {
            return None;
        }
        let name = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
        if name.split('.').any(str::is_empty) {
            return None;
        }
        let local = name == "localhost" || name.ends_with(".localhost");
        Some(if local { Self::ThisMachine } else { Self::Name })
    }

    fn is_this_machine(self) -> bool {
        match self {
            Self::Address(address) => address.to_canonical().is_loopback(),
            Self::ThisMachine => true,
            Self::Name => false,
        }
    }
}

/// Why a URL is not allowed for callbacks (error 184). The message never quotes the URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum BadTarget {
    /// Not an absolute http or https URL with a host.
    #[error("it is not an absolute http or https URL")]
    NotAnAddress,
    /// Longer than [`LONGEST`].
    #[error("it is longer than 8,192 bytes")]
    TooLong,
    /// Its host is neither an IP address nor a name in ASCII.
    #[error("its host is neither an IP address nor a name in ASCII (xn--…)")]
    NoHost,
    /// Its port is not a number from 1 to 65535.
    #[error("its port is not a number from 1 to 65535")]
    NoPort,
    /// Contains a user name or a password.
    #[error("it contains credentials")]
    Credentials,
    /// The hosted checkout allows two ports only (spec 3 §8).
    #[error("only ports 80 and 443 are allowed for callbacks")]
    Port,
    /// The target is forbidden.
    #[error(transparent)]
    Forbidden(#[from] Forbidden),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(text: &str, kind: CallbackKind) -> Result<String, BadTarget> {
        Target::parse(text, kind, &OutgoingAccess::default()).map(|target| target.uri.to_string())
    }

    // spec: 1 §4.8, A77
    #[test]
    fn account_updater_results_go_to_https_or_this_machine() {
        for (text, sent) in [
            ("https://shop.example/done?a=1#top", "https://shop.example/done?a=1"),
            ("https://shop.example:8443", "https://shop.example:8443/"),
            ("HTTPS://SHOP.example./x", "https://SHOP.example./x"),
            ("https://1.1.1.1/", "https://1.1.1.1/"),
            ("https://[2606:4700::1111]/", "https://[2606:4700::1111]/"),
            ("https://shop.example/caf\u{e9}", "https://shop.example/caf%C3%A9"),
            ("http://localhost:9000/a", "http://localhost:9000/a"),
            ("http://LOCALHOST./", "http://LOCALHOST./"),
            ("http://shop.localhost/", "http://shop.localhost/"),
            ("http://127.0.0.1:1/", "http://127.0.0.1:1/"),
            ("http://[::1]:65535/", "http://[::1]:65535/"),
            ("http://[::ffff:127.0.0.1]/", "http://[::ffff:127.0.0.1]/"),
        ] {
            assert_eq!(judge(text, CallbackKind::AccountUpdater).as_deref(), Ok(sent), "{text}");
        }
    }

    #[test]
    fn refused_addresses_have_their_reason() {
        use Forbidden::{Never, Plain, PrivateNetwork};
        for (text, why) in [
            ("", BadTarget::NotAnAddress),
            ("shop.example", BadTarget::NotAnAddress),
            ("ftp://shop.example/", BadTarget::NotAnAddress),
            ("file:///etc/passwd", BadTarget::NotAnAddress),
            ("https://", BadTarget::NotAnAddress),
            ("https://shop.example:0/", BadTarget::NoPort),
            ("https://shop.example:/", BadTarget::NoPort),
            ("https://shop.example:70000/", BadTarget::NoPort),
            ("https://shop.example:+80/", BadTarget::NoPort),
            ("https://sh\u{f6}p.example/", BadTarget::NoHost),
            ("https://sh\u{f6}p.example?a=1", BadTarget::NoHost),
            ("https://shop.example\\@10.0.0.1/", BadTarget::NotAnAddress),
            ("https://[fe80::1%25eth0]/", BadTarget::NoHost),
            ("https://m..example/", BadTarget::NoHost),
            ("https://.example/", BadTarget::NoHost),
            ("https://shop.example../", BadTarget::NoHost),
            ("https://./", BadTarget::NoHost),
            ("https://shop.example/a b", BadTarget::NotAnAddress),
            ("https://user:pass@shop.example/", BadTarget::Credentials),
            ("https://user@localhost/", BadTarget::Credentials),
            ("http://shop.example/", Plain.into()),
            ("http://1.1.1.1/", Plain.into()),
            ("http://2130706433/", BadTarget::NoHost),
            ("http://0x7f.1/", BadTarget::NoHost),
            ("https://2852039166/", BadTarget::NoHost),
            ("https://0xa9fea9fe/", BadTarget::NoHost),
            ("https://0XA9.0xFEA9FE/", BadTarget::NoHost),
            ("https://0251.0376.0251.0376/", BadTarget::NoHost),
            ("https://169.254.43518/", BadTarget::NoHost),
            ("https://169.254.169.254./", BadTarget::NoHost),
            ("https://10.0.0.1./", BadTarget::NoHost),
            ("https://0x0a.1/", BadTarget::NoHost),
            ("https://0/", BadTarget::NoHost),
            ("https://127.1:443/", BadTarget::NoHost),
            ("https://[::ffff:a9fe:a9fe]/", Never.into()),
            ("http://localhost.evil.example/", Plain.into()),
            ("https://10.0.0.1/", PrivateNetwork.into()),
            ("https://[fd00::1]/", PrivateNetwork.into()),
            ("https://[::ffff:192.168.0.1]/", PrivateNetwork.into()),
            ("http://169.254.169.254/latest/meta-data", Never.into()),
            ("https://[fe80::1]/", Never.into()),
            ("https://[::ffff:169.254.169.254]/", Never.into()),
            ("http://0.0.0.0:8480/", Never.into()),
            ("http://[::]/", Never.into()),
            ("https://224.0.0.1/", Never.into()),
        ] {
            assert_eq!(judge(text, CallbackKind::AccountUpdater), Err(why), "{text}");
        }
        let whole =
            Target::parse("https://shop.example?a=1", CallbackKind::Checkout, &OutgoingAccess::default()).unwrap();
        assert_eq!(whole.uri.path_and_query().unwrap(), "/?a=1");
        let long = format!("https://shop.example/{}", "a".repeat(LONGEST));
        assert_eq!(judge(&long, CallbackKind::AccountUpdater), Err(BadTarget::TooLong));
    }

    // spec: 3 §4.1, A18, A77: callback_url uses port 80 or 443.
    // spec: 3 §6, A18: Its port must be 80 or 443.
    // spec: 3 §8 Limits: Callbacks are sent to port 80 or 443.
    #[test]
    fn the_checkout_calls_back_on_two_ports_and_any_of_this_machine() {
        for text in [
            "http://shop.example/",
            "http://shop.example:443/",
            "https://shop.example:80/",
            "https://shop.example",
            "http://127.0.0.1:9000/",
            "http://localhost:9000/",
            "https://[::1]:9000/",
        ] {
            assert!(judge(text, CallbackKind::Checkout).is_ok(), "{text}");
        }
        for text in ["http://shop.example:8080/", "https://shop.example:8443/", "https://1.1.1.1:81/"] {
            assert_eq!(judge(text, CallbackKind::Checkout), Err(BadTarget::Port), "{text}");
        }
        assert_eq!(judge("http://10.0.0.1/", CallbackKind::Checkout), Err(Forbidden::PrivateNetwork.into()));
    }

    #[test]
    fn private_networks_are_switched_on() {
        let access = OutgoingAccess { private_networks: true, ..OutgoingAccess::default() };
        for text in ["http://10.0.0.1:9000/", "http://build.internal:9000/", "https://[fd00::1]/"] {
            assert!(Target::parse(text, CallbackKind::AccountUpdater, &access).is_ok(), "{text}");
        }
    }
}
