//! `ureq`, for programs without async.
//!
//! ```sh
//! cargo run -p pg-runtimes --bin ureq
//! ```
//!
//! Needs beside `pg-proto`: `bytes`, `http`, `ureq`.

use std::{error::Error, io, time::Duration};

use bytes::Bytes;
use http::{Request, Response};
use pg_proto::machine::Failure;
use pg_runtimes::{
    driving::{drive, maybe_sent, not_sent},
    shop, tls,
};
use ureq::{
    Agent, Timeout,
    tls::{Certificate, RootCerts, TlsConfig},
};

fn main() -> Result<(), Box<dyn Error>> {
    let trusted = match tls::authorities()? {
        Some(own) => own.iter().map(|authority| Certificate::from_der(authority).to_owned()).collect::<Vec<_>>().into(),
        None => RootCerts::WebPki,
    };
    let agent: Agent = Agent::config_builder()
        .tls_config(TlsConfig::builder().root_certs(trusted).build())
        // Sent to the address that it was signed for, within a time; a refusal is a reply like any other.
        .max_redirects(0)
        // A second reply on a connection that is used again would be taken for the next one.
        .max_idle_connections(0)
        // A proxy of the environment would get the card in clear if the service is on this machine, over http.
        .proxy(None)
        .http_status_as_error(false)
        .timeout_global(Some(Duration::from_secs(10)))
        .build()
        .into();
    let charged = drive(shop::charge()?, |request| send(&agent, request));
    shop::report(&charged);
    Ok(())
}

fn send(agent: &Agent, request: Request<Bytes>) -> Result<Response<Bytes>, Failure> {
    // `ureq` takes its own body types, such as a slice.
    let (head, body) = request.into_parts();
    let reply = agent.run(Request::from_parts(head, &body[..])).map_err(judged)?;
    let (head, mut body) = reply.into_parts();
    // Part of a reply arrived, so the service received the request.
    let body = body.with_config().limit(1 << 20).read_to_vec().map_err(maybe_sent)?;
    Ok(Response::from_parts(head, body.into()))
}

/// Errors before the connection, and a refused certificate, occur before anything was sent. All others may occur later.
fn judged(error: ureq::Error) -> Failure {
    match &error {
        ureq::Error::BadUri(_)
        | ureq::Error::HostNotFound
        | ureq::Error::ConnectionFailed
        | ureq::Error::Timeout(Timeout::Resolve | Timeout::Connect)
        | ureq::Error::Rustls(rustls::Error::InvalidCertificate(_)) => not_sent(error),
        ureq::Error::Io(inner) if never_left(inner) => not_sent(error),
        _ => maybe_sent(error),
    }
}

/// A refused connection was never open. A certificate is checked before the request is written.
fn never_left(error: &io::Error) -> bool {
    let tls = error.get_ref().and_then(|inner| inner.downcast_ref());
    error.kind() == io::ErrorKind::ConnectionRefused || matches!(tls, Some(rustls::Error::InvalidCertificate(_)))
}
