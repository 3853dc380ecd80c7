//! Databases on this machine, which are connected to without TLS.

use std::{io, net::IpAddr};

use tokio_postgres::{
    Config,
    config::{Host, SslMode},
};

/// Whether the connection does not leave this machine, if `localhost` means this machine. Any other name may resolve to any
/// address.
pub(super) fn is_on_this_machine(config: &Config) -> bool {
    let hosts = config.get_hosts().iter().all(|host| match host {
        Host::Tcp(name) => {
            name.eq_ignore_ascii_case("localhost")
                || bare(name).parse::<IpAddr>().is_ok_and(|address| is_loopback(&address))
        }
        #[cfg(unix)]
        Host::Unix(_) => true,
    });
    hosts && config.get_hostaddrs().iter().all(is_loopback)
}

/// Whether names must be looked up beside a Unix socket, for which the driver takes no addresses.
pub(super) fn is_combined(config: &Config) -> bool {
    let is_tcp = |host: &Host| matches!(host, Host::Tcp(_));
    has_names(config) && !config.get_hosts().iter().all(is_tcp)
}

/// Returns the configuration of a database on this machine with loopback addresses for its names, so that the driver looks up none.
/// If a name has no loopback address, it requires TLS instead.
pub(super) async fn kept_here<F: Future<Output = io::Result<Vec<IpAddr>>>>(
    config: &Config,
    lookup: impl Fn(String) -> F,
) -> Config {
    let mut kept = config.clone();
    if !is_on_this_machine(config) {
        kept.ssl_mode(SslMode::Require);
    } else if has_names(config) {
        let mut further = Vec::new();
        for (at, host) in config.get_hosts().iter().enumerate() {
            let addresses = match host {
                Host::Tcp(name) => lookup(bare(name).to_owned()).await.unwrap_or_default(),
                #[cfg(unix)]
                Host::Unix(_) => Vec::new(),
            };
            let mut addresses = addresses.into_iter().filter(is_loopback);
            let Some(first) = addresses.next() else {
                let mut beyond = config.clone();
                beyond.ssl_mode(SslMode::Require);
                return beyond;
            };
            kept.hostaddr(first);
            further.extend(addresses.map(|address| (at, address)));
        }
        // The driver takes one address for each host, and one port for all or one for each.
        for (at, address) in further {
            if let Some(Host::Tcp(name)) = config.get_hosts().get(at) {
                kept.host(name).hostaddr(address);
            }
            if let Some(port) = config.get_ports().get(at).filter(|_| config.get_ports().len() > 1) {
                kept.port(*port);
            }
        }
    }
    kept
}

/// Whether the driver looks a name up. It looks up none if addresses are given.
fn has_names(config: &Config) -> bool {
    let is_name = |host: &Host| matches!(host, Host::Tcp(name) if bare(name).parse::<IpAddr>().is_err());
    config.get_hostaddrs().is_empty() && config.get_hosts().iter().any(is_name)
}

/// Returns a host without the brackets of an IPv6 address.
fn bare(name: &str) -> &str {
    name.trim_start_matches('[').trim_end_matches(']')
}

fn is_loopback(address: &IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

#[cfg(test)]
mod tests {
    use std::future::ready;

    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpListener,
    };

    use super::*;
    use crate::postgres::{PostgresUrl, explain};

    /// The addresses of localhost on some machine.
    fn has(addresses: &[&str]) -> Vec<IpAddr> {
        addresses.iter().map(|address| address.parse().unwrap()).collect()
    }

    async fn kept(url: &str, localhost: &[&str]) -> Config {
        let lookup = |name: String| ready(if name == "localhost" { Ok(has(localhost)) } else { Ok(has(&[&*name])) });
        kept_here(&PostgresUrl::parse(url).unwrap().config, lookup).await
    }

    /// Connects to a database on `localhost`, where this name has these addresses for the check. Returns the first eight bytes that
    /// the database gets, and the error after it has refused TLS.
    async fn told(query: &str, localhost: &[&str]) -> ([u8; 8], Option<String>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let database = PostgresUrl::parse(&format!("postgres://shop:hunter2@localhost:{port}/shop{query}")).unwrap();
        let addresses = has(localhost);
        let connecting = tokio::spawn(async move {
            let failed = database.connect_by(|_| ready(Ok(addresses.clone()))).await.map(drop).err()?;
            let why = explain(&failed);
            Some(format!("{why}{}", database.advice(&why)))
        });
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut first = [0; 8];
        stream.read_exact(&mut first).await.unwrap();
        stream.write_all(b"N").await.unwrap();
        if first == TLS_REQUEST {
            let mut rest = Vec::new();
            stream.read_to_end(&mut rest).await.unwrap();
            assert_eq!(rest, b"", "nothing follows");
        }
        drop(stream);
        (first, connecting.await.unwrap())
    }

    /// The length and the code of a request for TLS.
    const TLS_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];
    /// The version of the protocol, after the length of a message with the user.
    const VERSION: [u8; 4] = [0, 3, 0, 0];

    /// The name `localhost` may have any address.
    #[tokio::test]
    async fn localhost_is_connected_to_in_clear_only_at_a_loopback_address() {
        for elsewhere in [&["192.0.2.2"][..], &["::ffff:192.0.2.2", "2001:db8::1"], &["0.0.0.0"], &[]] {
            let (first, error) = told("", elsewhere).await;
            assert_eq!(first, TLS_REQUEST, "{elsewhere:?}");
            let error = error.unwrap();
            let advice = "server does not support TLS; the name localhost has an address of another machine here";
            assert!(error.contains(advice) && !error.contains("hunter2"), "{error}");
        }
        assert_eq!(told("", &["127.0.0.1"]).await.0[4..], VERSION);
        assert_eq!(told("?sslmode=disable", &["192.0.2.2"]).await.0[4..], VERSION, "the URL says so");
    }

    #[tokio::test]
    async fn the_driver_gets_the_loopback_addresses_of_each_name_and_looks_up_none() {
        let one = kept("postgres://pg@localhost:5433/db", &["192.0.2.2", "::1", "127.0.0.1"]).await;
        assert_eq!((one.get_ssl_mode(), one.get_hostaddrs()), (SslMode::Disable, &has(&["::1", "127.0.0.1"])[..]));
        assert_eq!((one.get_hosts().len(), one.get_ports()), (2, &[5433][..]));
        assert!(one.get_hosts().iter().all(|host| *host == Host::Tcp("localhost".to_owned())));
        let two = kept("postgres://pg@localhost:5433,127.0.0.2:5434/db", &["::1", "127.0.0.1"]).await;
        assert_eq!(two.get_hostaddrs(), has(&["::1", "127.0.0.2", "127.0.0.1"]));
        assert_eq!((two.get_hosts().len(), two.get_ports()), (3, &[5433, 5434, 5433][..]));
    }

    #[tokio::test]
    async fn what_needs_no_lookup_stays_as_it_is() {
        for url in ["postgres://pg@%2Frun%2Fpostgresql,127.0.0.1/db", "postgres://pg@localhost/db?hostaddr=127.0.0.9"] {
            let config = kept(url, &["192.0.2.2"]).await;
            assert!(config == PostgresUrl::parse(url).unwrap().config, "{url}");
        }
    }

    /// The host is changed after the URL was read.
    #[tokio::test]
    async fn a_host_that_is_added_later_gets_tls() {
        let mut database = PostgresUrl::parse("postgres://pg@127.0.0.1/db").unwrap();
        database.config.host("db.example");
        let config = kept_here(&database.config, |_| ready(Ok(has(&["127.0.0.1"])))).await;
        assert_eq!(config.get_ssl_mode(), SslMode::Require);
    }

    #[test]
    fn a_name_beside_a_socket_is_refused() {
        let refused = PostgresUrl::parse("postgres://pg@localhost,%2Frun%2Fpostgresql/db").unwrap_err();
        assert_eq!(refused.to_string(), "beside a Unix socket, give 127.0.0.1 or ::1 instead of localhost");
        assert!(PostgresUrl::parse("postgres://pg@localhost,%2Frun%2Fpostgresql/db?sslmode=disable").is_ok());
    }
}
