//! The address of an environment.

use std::fmt;

use http::Uri;

/// The base address of an environment, live or staging: scheme, host, and an optional path (spec 1 §1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseUrl {
    /// Without a trailing slash.
    text: String,
    private: bool,
}

/// Why a text is not a valid base address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a valid base address: {1}")]
pub struct BaseUrlError(String, &'static str);

impl BaseUrl {
    /// Parses an address such as `https://gateway.example` or `http://127.0.0.1:8480/enterprise`.
    ///
    /// # Errors
    ///
    /// [`BaseUrlError`] if the text is not an absolute http or https URL, or contains a query, a fragment or
    /// credentials.
    ///
    /// ```
    /// use pg_proto::BaseUrl;
    /// assert_eq!(BaseUrl::parse("https://gateway.example/")?.as_str(), "https://gateway.example");
    /// assert!(BaseUrl::parse("gateway.example").is_err());
    /// # Ok::<(), pg_proto::BaseUrlError>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, BaseUrlError> {
        // Text before an @ could be a password, and a query or a fragment could contain one.
        let shown = text.rsplit('@').next().unwrap_or_default().split(['?', '#']).next().unwrap_or_default();
        let error = |why| BaseUrlError(shown.to_owned(), why);
        if text.contains('#') {
            return Err(error("it has a fragment"));
        }
        let uri: Uri = text.parse().map_err(|_| error("it is not a URL"))?;
        match uri.scheme_str() {
            Some("https" | "http") => {}
            Some(_) => return Err(error("its scheme is neither http nor https")),
            None => return Err(error("it needs a scheme, as in https://gateway.example")),
        }
        if uri.host().is_none_or(str::is_empty) {
            return Err(error("it names no host"));
        }
        if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
            return Err(error("it contains credentials"));
        }
        if !has_usable_port(&uri) {
            return Err(error("its port is not a number from 1 to 65535"));
        }
        if uri.query().is_some() {
            return Err(error("it has a query"));
        }
        Ok(Self { text: text.trim_end_matches('/').to_owned(), private: is_private(&uri) })
    }

    /// Returns the address without a trailing slash.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the same text for all spellings of an address: scheme and host in lower case, without a default port and without the dot
    /// that ends a complete host name.
    pub(crate) fn normalised(&self) -> String {
        let Ok(uri) = self.text.parse::<Uri>() else { return self.text.clone() };
        let scheme = uri.scheme_str().unwrap_or_default().to_ascii_lowercase();
        let host = uri.host().unwrap_or_default().to_ascii_lowercase();
        let host = host.strip_suffix('.').unwrap_or(&host);
        let implied = if scheme == "https" { 443 } else { 80 };
        let port = uri.port_u16().filter(|port| *port != implied).map_or_else(String::new, |port| format!(":{port}"));
        format!("{scheme}://{host}{port}{}", uri.path().trim_end_matches('/'))
    }

    /// Whether card data may be sent to this address: over TLS, or within this machine.
    #[must_use]
    pub const fn is_private(&self) -> bool {
        self.private
    }
}

impl std::str::FromStr for BaseUrl {
    type Err = BaseUrlError;

    fn from_str(text: &str) -> Result<Self, BaseUrlError> {
        Self::parse(text)
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Whether card data may be sent to an address: over TLS, or within this machine.
///
/// ```
/// assert!(pg_proto::is_private(&"https://gateway.example/v3".parse()?));
/// assert!(!pg_proto::is_private(&"http://gateway.example/v3".parse()?));
/// # Ok::<(), pg_proto::http::uri::InvalidUri>(())
/// ```
#[must_use]
pub fn is_private(uri: &Uri) -> bool {
    match uri.scheme_str() {
        Some("https") => true,
        Some("http") => uri.host().is_some_and(is_loopback),
        _ => false,
    }
}

/// Whether the port of an address is missing or a number from 1 to 65535. A client would connect to the default port otherwise,
/// which another program may listen on.
fn has_usable_port(uri: &Uri) -> bool {
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    let after_host = authority.rsplit('@').next().and_then(|place| place.strip_prefix(uri.host().unwrap_or_default()));
    let is_port = |digits: &str| {
        digits.bytes().all(|digit| digit.is_ascii_digit()) && digits.parse().is_ok_and(|port: u16| port > 0)
    };
    after_host.is_some_and(|after| after.is_empty() || after.strip_prefix(':').is_some_and(is_port))
}

/// `localhost`, `127.0.0.0/8` or `[::1]`.
fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost") || bare.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_https_and_this_machine_are_private() {
        for (text, private) in [
            ("https://gateway.example", true),
            ("http://gateway.example", false),
            ("http://127.0.0.1:8480/enterprise", true),
            ("http://[::1]:80", true),
            ("http://localhost:1", true),
            ("http://localhost.example", false),
            ("http://127.0.0.1.example", false),
        ] {
            assert_eq!(BaseUrl::parse(text).map(|base| base.is_private()), Ok(private), "{text}");
        }
    }

    #[test]
    fn one_address_has_one_normal_form() {
        for (text, normal) in [
            ("https://gateway.example", "https://gateway.example"),
            ("https://Gateway.EXAMPLE:443/", "https://gateway.example"),
            ("HTTP://gateway.example:80/Enterprise/", "http://gateway.example/Enterprise"),
            ("http://127.0.0.1:8480/enterprise", "http://127.0.0.1:8480/enterprise"),
            ("https://gateway.example:80", "https://gateway.example:80"),
            ("https://gateway.example.", "https://gateway.example"),
            ("https://gateway.example.:443//", "https://gateway.example"),
            ("http://127.0.0.1:08480/enterprise", "http://127.0.0.1:8480/enterprise"),
            ("http://[::1]:8480", "http://[::1]:8480"),
        ] {
            assert_eq!(BaseUrl::parse(text).map(|base| base.normalised()), Ok(normal.to_owned()), "{text}");
        }
    }

    #[test]
    fn a_password_in_an_address_is_not_repeated() {
        let error = BaseUrl::parse("https://user:geheim@gateway.example").unwrap_err();
        assert_eq!(error.to_string(), "\"gateway.example\" is not a valid base address: it contains credentials");
        for (part, why) in [("?apiPassword=geheim", "it has a query"), ("#geheim", "it has a fragment")] {
            let error = BaseUrl::parse(&format!("https://gateway.example/{part}")).unwrap_err();
            assert_eq!(error.to_string(), format!("\"https://gateway.example/\" is not a valid base address: {why}"));
            assert!(!format!("{error:?}").contains("geheim"));
        }
        // A query without a scheme, a password with a question mark.
        for text in
            ["gateway.example?p=geheim", "https://u:geheim?x@gateway.example", "https://u:x?geheim@gateway.example"]
        {
            assert!(!BaseUrl::parse(text).unwrap_err().to_string().contains("geheim"), "{text}");
        }
    }

    #[test]
    fn invalid_base_addresses_are_refused() {
        for text in ["", "/v3", "ftp://x", "https://", "https://a?b", "https://a#b", "https://u:p@a", "https://a b"] {
            assert!(BaseUrl::parse(text).is_err(), "{text}");
        }
        for port in ["99999", "65536", "8480a", "+80", "0", "", "80:80", " 80"] {
            for host in ["127.0.0.1", "[::1]", "gateway.example"] {
                assert!(BaseUrl::parse(&format!("https://{host}:{port}")).is_err(), "{host} {port}");
            }
        }
    }
}
