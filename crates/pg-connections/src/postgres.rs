//! Connections to PostgreSQL and databases that speak its protocol: by URL, with TLS unless the database is on this machine.

#[cfg(test)]
mod hostile;
mod hosts;
mod this_machine;
mod tls;

use std::{error::Error as _, fmt, io, net::IpAddr};

use tokio_postgres::{Client, Config, Connection, Error, Socket, config::SslMode};

use self::{
    this_machine::{is_combined, is_on_this_machine, kept_here},
    tls::Tls,
};

pub use self::tls::PostgresStream;

const ADVICE: &str = "; beyond this machine TLS is required: enable it on the server, or add sslmode=disable to the URL to \
     send records unencrypted";
const LOCALHOST_ADVICE: &str = "; the name localhost has an address of another machine here, and beyond this machine TLS is required: \
     give 127.0.0.1 or ::1 instead of localhost, or add sslmode=disable to the URL to send records unencrypted";
const AUTHORITY_ADVICE: &str =
    "; the server uses the certificate of an authority: give it one of its own that this authority has signed";

/// The URL of a database, and whether the connection is encrypted.
///
/// `sslmode=require` and `sslmode=verify-full` both check the certificate and the host name in it, against the
/// authorities in the file `sslrootcert`, or without it those that Mozilla trusts. Without `sslmode`, and with
/// `sslmode=prefer`, only a connection to a database on this machine is unencrypted: to a Unix socket or a loopback
/// address. The name `localhost` is looked up for each connection, and TLS is required if it has no loopback address. A Unix socket is named
/// by its folder, `postgres://shop@%2Frun%2Fpostgresql/shop`. The name of an address with only `hostaddr` is that address.
///
/// ```
/// use pg_connections::PostgresUrl;
///
/// let mut database = PostgresUrl::parse("postgres://shop@db.example/shop?sslmode=verify-full")?;
/// database.config.application_name("shop");
/// // database.connect().await?
///
/// let refused = PostgresUrl::parse("postgres://shop:hunter2@db.example/shop?sslmode=allow").unwrap_err();
/// assert_eq!(refused.to_string(), "sslmode=allow is not supported; give disable, require or verify-full");
/// # Ok::<(), pg_connections::InvalidPostgresUrl>(())
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct PostgresUrl {
    /// Everything except TLS: change timeouts and the name of the application here.
    pub config: Config,
    tls: Tls,
    /// The advice if the server has no TLS and the URL does not require TLS.
    advice: &'static str,
    /// Whether connections are unencrypted only because the database is on this machine.
    clear_here: bool,
}

/// Shows no part of the URL: it may contain a password.
impl fmt::Debug for PostgresUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresUrl").finish_non_exhaustive()
    }
}

/// Why a URL is invalid. The message contains only the values of `sslmode` and `sslrootcert`, since the rest may
/// contain a password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidPostgresUrl(String);

impl fmt::Display for InvalidPostgresUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InvalidPostgresUrl {}

impl PostgresUrl {
    /// Reads `postgres://user:password@host:port/database?sslmode=verify-full&sslrootcert=FILE`, and the file.
    ///
    /// # Errors
    /// If the URL is malformed, its `sslmode` is unknown, or its file contains no certificate.
    pub fn parse(url: &str) -> Result<Self, InvalidPostgresUrl> {
        let (rest, given) = Given::taken(url);
        let mut config: Config = rest.parse().map_err(|error| InvalidPostgresUrl(explain(&error)))?;
        let (mode, advice) = match given.mode.as_deref() {
            Some("require" | "verify-full") => (SslMode::Require, ""),
            Some("disable") => (SslMode::Disable, ""),
            None | Some("prefer") if is_on_this_machine(&config) => (SslMode::Disable, LOCALHOST_ADVICE),
            None | Some("prefer") => (SslMode::Require, ADVICE),
            Some(other) => {
                let why = format!("sslmode={other} is not supported; give disable, require or verify-full");
                return Err(InvalidPostgresUrl(why));
            }
        };
        if mode == SslMode::Disable && given.authorities.is_some() {
            let why = "sslrootcert has no effect without TLS; add sslmode=verify-full".to_owned();
            return Err(InvalidPostgresUrl(why));
        }
        let clear_here = mode == SslMode::Disable && !advice.is_empty();
        if clear_here && is_combined(&config) {
            let why = "beside a Unix socket, give 127.0.0.1 or ::1 instead of localhost";
            return Err(InvalidPostgresUrl(why.to_owned()));
        }
        config.ssl_mode(mode);
        // The driver demands a name for TLS: that of an address without one is the address.
        if config.get_hosts().is_empty() {
            for address in config.get_hostaddrs().to_vec() {
                config.host(address.to_string());
            }
        }
        let tls = Tls::trusting(given.authorities.as_deref()).map_err(|error| InvalidPostgresUrl(error.to_string()))?;
        Ok(Self { config, tls, advice, clear_here })
    }

    /// Connects to the database. The client works only while the connection is polled.
    ///
    /// # Errors
    /// If the database cannot be reached, or has no valid TLS and must have it. Neither user nor password is sent to it then.
    pub async fn connect(&self) -> Result<(Client, Connection<Socket, PostgresStream>), Error> {
        self.connect_by(addresses).await
    }

    async fn connect_by<F: Future<Output = io::Result<Vec<IpAddr>>>>(
        &self,
        lookup: impl Fn(String) -> F,
    ) -> Result<(Client, Connection<Socket, PostgresStream>), Error> {
        let config = if self.clear_here { kept_here(&self.config, lookup).await } else { self.config.clone() };
        // The driver's future is large, and would be part of every future that may connect.
        Box::pin(config.connect(self.tls.clone())).await
    }

    /// Returns what to do about an [explained](explain) error of [`connect`](Self::connect). Empty, unless the server
    /// has no TLS and the URL does not mention it, or the certificate of the server is that of an authority.
    #[must_use]
    pub fn advice(&self, explained: &str) -> &'static str {
        if explained.contains("server does not support TLS") {
            self.advice
        } else if explained.contains("CaUsedAsEndEntity") {
            AUTHORITY_ADVICE
        } else {
            ""
        }
    }
}

/// Returns an error with its causes, in one line, without the detail that the server adds: it may show values of a row.
/// Characters that a terminal does not display are escaped, since a server can send anything.
#[must_use]
pub fn explain(error: &Error) -> String {
    if let Some(said) = error.as_db_error() {
        return format!("{} ({})", visible(said.message()), visible(said.code().code()));
    }
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        text.push_str(&format!(": {next}"));
        cause = next.source();
    }
    visible(&text)
}

fn visible(text: &str) -> String {
    let mut visible = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '"' | '\'' | '\\' => visible.push(letter),
            _ => visible.extend(letter.escape_debug()),
        }
    }
    visible
}

/// The parameters that the driver does not know, or some of whose values it does not know.
#[derive(Default)]
struct Given {
    mode: Option<String>,
    authorities: Option<String>,
}

impl Given {
    /// Separates these parameters from the rest of the URL. The last of a repeated one counts, as it does for the driver.
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

/// Returns the addresses of a host.
async fn addresses(name: String) -> io::Result<Vec<IpAddr>> {
    Ok(tokio::net::lookup_host((name, 0)).await?.map(|address| address.ip()).collect())
}

#[cfg(test)]
mod tests {
    use tokio_postgres::config::Host;

    use super::*;

    fn mode(url: &str) -> SslMode {
        PostgresUrl::parse(url).unwrap().config.get_ssl_mode()
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
            let url = format!("postgres://pg:hunter2@db.example/db?{query}");
            let error = PostgresUrl::parse(&url).unwrap_err().to_string();
            assert!(!error.contains("hunter2"), "{error}");
            error
        };
        for mode in ["allow", "verify-ca", "", "REQUIRE"] {
            assert!(said(&format!("sslmode={mode}")).contains("give disable, require or verify-full"), "{mode}");
        }
        assert!(said("sslrootcert=%2Fmissing.pem").contains("sslrootcert /missing.pem: "));
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        let told = format!("sslrootcert {file}: it contains no certificate");
        assert_eq!(said(&format!("sslrootcert={file}")), told);
        assert!(said("sslmode=disable&sslrootcert=a.pem").contains("sslrootcert has no effect without TLS"));
    }

    #[test]
    fn an_address_without_a_name_is_its_name() {
        let config = PostgresUrl::parse("postgres:///db?hostaddr=10.0.0.1,%3A%3A1").unwrap().config;
        assert_eq!(config.get_hosts(), [Host::Tcp("10.0.0.1".to_owned()), Host::Tcp("::1".to_owned())]);
        assert_eq!((config.get_hostaddrs().len(), config.get_ssl_mode()), (2, SslMode::Require));
    }

    #[test]
    fn neither_the_debug_output_nor_an_error_contains_the_password() {
        let url = PostgresUrl::parse("postgres://pg:hunter2@db.example/db").unwrap();
        assert_eq!(format!("{url:?}"), "PostgresUrl { .. }");
        let error = PostgresUrl::parse("postgres://pg:hunter2@db.example:port/db").unwrap_err().to_string();
        assert!(error.contains("invalid") && !error.contains("hunter2"), "{error}");
    }
}
