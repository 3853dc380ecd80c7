//! The address of the database, and whether the connection is encrypted.

use std::{net::IpAddr, time::Duration};

use tokio_postgres::{
    Config,
    config::{Host, SslMode},
};

use super::{pool, tls::Tls};
use crate::StoreError;

/// The parts of an address. Its errors repeat nothing of it but the values of `sslmode` and `sslrootcert`: there is a password in it.
///
/// `sslmode=require` and `sslmode=verify-full` both check the certificate and the host name in it. Without `sslmode`, and with `prefer`,
/// only a database on this machine is connected to in clear.
pub(super) fn address(url: &str) -> Result<(Config, Tls), StoreError> {
    let invalid = |why: String| StoreError::Unavailable(format!("the address of the database is invalid: {why}"));
    let (rest, given) = Given::taken(url);
    let mut config: Config = rest.parse().map_err(|error: tokio_postgres::Error| invalid(pool::words(&error)))?;
    config.application_name("pg-intents").connect_timeout(Duration::from_secs(5));
    let mode = match given.mode.as_deref() {
        Some("require" | "verify-full") => SslMode::Require,
        Some("disable") => SslMode::Disable,
        None | Some("prefer") if is_on_this_machine(&config) => SslMode::Disable,
        None | Some("prefer") => SslMode::Require,
        Some(other) => {
            return Err(invalid(format!("sslmode={other} is not supported; give disable, require or verify-full")));
        }
    };
    if mode == SslMode::Disable && given.authorities.is_some() {
        return Err(invalid("sslrootcert has no effect without TLS; add sslmode=verify-full".to_owned()));
    }
    config.ssl_mode(mode);
    let tls = Tls::trusting(given.authorities.as_deref()).map_err(|error| invalid(error.to_string()))?;
    Ok((config, tls))
}

/// The parameters that the driver does not know, or knows fewer values of.
#[derive(Default)]
struct Given {
    mode: Option<String>,
    authorities: Option<String>,
}

impl Given {
    /// Separates these parameters from the rest of the address; of a repeated one the last counts, as it does for the driver.
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

/// Whether nothing leaves this machine. A name other than `localhost` may resolve to anything.
fn is_on_this_machine(config: &Config) -> bool {
    let hosts = config.get_hosts().iter().all(|host| match host {
        Host::Tcp(name) => {
            let name = name.trim_start_matches('[').trim_end_matches(']');
            name.eq_ignore_ascii_case("localhost")
                || name.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
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
        address(url).map_err(|error| error.to_string()).unwrap().0.get_ssl_mode()
    }

    fn refused(query: &str) -> String {
        let refused = address(&format!("postgres://pg:hunter2@db.example/db?{query}"));
        let text = refused.err().map(|error| error.to_string()).unwrap();
        assert!(text.contains("the address of the database is invalid: ") && !text.contains("hunter2"), "{text}");
        text
    }

    #[test]
    fn only_this_machine_is_connected_to_in_clear_unless_the_address_says_so() {
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
    fn a_mode_that_checks_less_and_a_file_without_a_certificate_are_refused() {
        for mode in ["allow", "verify-ca", "", "REQUIRE"] {
            assert!(refused(&format!("sslmode={mode}")).contains("give disable, require or verify-full"), "{mode}");
        }
        assert!(refused("sslrootcert=%2Fmissing.pem").contains("sslrootcert /missing.pem: "));
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        let told = format!("sslrootcert {file}: it contains no certificate");
        assert!(refused(&format!("sslrootcert={file}")).ends_with(&told));
        assert!(refused("sslmode=disable&sslrootcert=a.pem").contains("sslrootcert has no effect without TLS"));
    }
}
