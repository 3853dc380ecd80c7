//! The URL of the database, and whether the connection is encrypted.

use tokio_postgres::{
    Config,
    config::{Host, SslMode},
};

use super::tls::Tls;
use crate::store::StoreError;

/// A database, and how to connect to it.
pub(super) struct Address {
    pub(super) config: Config,
    pub(super) tls: Tls,
    /// What to do if the server has no TLS and the URL does not say that it has.
    pub(super) advice: &'static str,
}

const ADVICE: &str = "; beyond this machine TLS is required: enable it on the server, or add sslmode=disable to the URL to send \
     records in clear";

impl Address {
    /// Reads the URL. Errors repeat nothing of it except the value of `sslmode`: it contains a password.
    ///
    /// `sslmode=require` and `sslmode=verify-full` both check the certificate and the name in it, against the authorities in
    /// the file `sslrootcert`, or without it those that Mozilla trusts. Without `sslmode`, and with `prefer`, only a database on
    /// this machine is connected to in clear.
    pub(super) fn parse(url: &str) -> Result<Self, StoreError> {
        let invalid = |why: String| StoreError::Unreachable(format!("its URL is invalid: {why}"));
        let (rest, given) = Given::taken(url);
        let mut config: Config = rest.parse().map_err(|error: tokio_postgres::Error| invalid(causes(&error)))?;
        let (mode, advice) = match given.mode.as_deref() {
            Some("require" | "verify-full") => (SslMode::Require, ""),
            Some("disable") => (SslMode::Disable, ""),
            None | Some("prefer") if is_on_this_machine(&config) => (SslMode::Disable, ""),
            None | Some("prefer") => (SslMode::Require, ADVICE),
            Some(other) => {
                return Err(invalid(format!("sslmode={other} is not supported; give disable, require or verify-full")));
            }
        };
        if mode == SslMode::Disable && given.authorities.is_some() {
            return Err(invalid("sslrootcert has no effect without TLS; add sslmode=verify-full".to_owned()));
        }
        config.ssl_mode(mode);
        let tls = Tls::trusting(given.authorities.as_deref()).map_err(|error| invalid(error.to_string()))?;
        Ok(Self { config, tls, advice })
    }
}

/// An error with its causes, without values.
pub(super) fn causes(error: &tokio_postgres::Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(next) = cause {
        text.push_str(&format!(": {next}"));
        cause = next.source();
    }
    text
}

/// The parameters that the driver does not know, or knows fewer values of.
#[derive(Default)]
struct Given {
    mode: Option<String>,
    authorities: Option<String>,
}

impl Given {
    /// Separates these parameters from the rest of the URL; of a repeated one the last counts, as it does for the driver.
    fn taken(url: &str) -> (String, Self) {
        let mut given = Self::default();
        let Some((base, query)) = url.split_once('?') else { return (url.to_owned(), given) };
        let mut others = Vec::new();
        for pair in query.split('&') {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value = || Some(percent_encoding::percent_decode_str(value).decode_utf8_lossy().into_owned());
            match name {
                "sslmode" => given.mode = value(),
                "sslrootcert" => given.authorities = value(),
                _ => others.push(pair),
            }
        }
        (if others.is_empty() { base.to_owned() } else { format!("{base}?{}", others.join("&")) }, given)
    }
}

/// Whether the connection stays on this machine. A name other than `localhost` may resolve to any address.
fn is_on_this_machine(config: &Config) -> bool {
    let hosts = config.get_hosts().iter().all(|host| match host {
        Host::Tcp(name) => {
            let name = name.trim_start_matches('[').trim_end_matches(']');
            name.eq_ignore_ascii_case("localhost")
                || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
        }
        #[cfg(unix)]
        Host::Unix(_) => true,
    });
    hosts && config.get_hostaddrs().iter().all(|address| address.to_canonical().is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(url: &str) -> SslMode {
        Address::parse(url).map_err(|error| error.to_string()).unwrap().config.get_ssl_mode()
    }

    #[test]
    fn only_this_machine_is_connected_to_in_clear_unless_the_url_says_so() {
        for url in [
            "postgres://pg@127.0.0.1/db",
            "postgres://pg@localhost:5433/db?sslmode=prefer",
            "postgres://pg@[::1]/db",
            "postgres://pg@%2Frun%2Fpostgresql/db",
            "postgres://pg@db.example/db?sslmode=disable",
        ] {
            assert_eq!(mode(url), SslMode::Disable, "{url}");
        }
        for url in [
            "postgres://pg@db.example/db",
            "postgres://pg@10.0.0.1/db?sslmode=prefer",
            "postgres://pg@localhost.evil.example/db",
            "postgres://pg@127.0.0.1,db.example/db",
            "postgres://pg@localhost/db?hostaddr=10.0.0.1",
            "postgres://pg@127.0.0.1/db?sslmode=require",
            "postgres://pg@127.0.0.1/db?connect_timeout=3&sslmode=verify-full",
            "postgres://pg@127.0.0.1/db?sslmode=disable&sslmode=require",
        ] {
            assert_eq!(mode(url), SslMode::Require, "{url}");
        }
    }

    #[test]
    fn an_unsupported_mode_and_an_unusable_authority_are_refused() {
        let said = |query: &str| {
            let error =
                Address::parse(&format!("postgres://pg:secret@db.example/db?{query}")).err().unwrap().to_string();
            assert!(!error.contains("secret"), "{error}");
            error
        };
        for mode in ["allow", "verify-ca", "", "REQUIRE"] {
            assert!(said(&format!("sslmode={mode}")).contains("give disable, require or verify-full"), "{mode}");
        }
        assert!(said("sslrootcert=%2Fmissing.pem").contains("sslrootcert /missing.pem: "));
        assert!(said("sslrootcert=%2Fdev%2Fnull").contains("contains no certificate"));
        assert!(said("sslmode=disable&sslrootcert=a.pem").contains("sslrootcert has no effect without TLS"));
    }
}
