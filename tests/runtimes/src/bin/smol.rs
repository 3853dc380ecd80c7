//! The `smol` runtime: its sockets and timers, hyper for HTTP, rustls for https.
//!
//! ```sh
//! cargo run -p pg-runtimes --bin smol
//! ```
//!
//! Needs beside `pg-proto`: `bytes`, `http`, `smol`, `hyper`, `smol-hyper`, `http-body-util`, and `futures-rustls` for
//! https.

use std::{error::Error, sync::Arc, time::Duration};

use bytes::Bytes;
use futures_rustls::{TlsConnector, pki_types::ServerName};
use http::{HeaderValue, Request, Response, Uri, header::HOST};
use http_body_util::{BodyExt, Full, Limited};
use hyper::client::conn::http1::{self, SendRequest};
use pg_proto::machine::Failure;
use pg_runtimes::{
    driving::{drive_async, maybe_sent, not_sent},
    shop, tls,
};
use smol::{
    Timer,
    future::FutureExt,
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};
use smol_hyper::rt::FuturesIo;

type DriveError = Box<dyn Error + Send + Sync>;

/// How long to wait for a connection, and for the reply over it.
const PATIENCE: Duration = Duration::from_secs(10);
const MOST_BYTES: usize = 1 << 20;

fn main() -> Result<(), Box<dyn Error>> {
    let charge = shop::charge()?;
    let tls = TlsConnector::from(Arc::new(tls::config()?));
    let sleep = async |pause| {
        Timer::after(pause).await;
    };
    let charged = smol::block_on(drive_async(charge, async |request| send(&tls, request).await, sleep));
    shop::report(&charged);
    Ok(())
}

/// Sends a request over a new connection and reads the whole reply.
///
/// Without a connection, nothing was sent. Any error of hyper after that may mean that the request was written.
async fn send(tls: &TlsConnector, request: Request<Bytes>) -> Result<Response<Bytes>, Failure> {
    let connection = connect(tls, request.uri()).or(late()).await.map_err(not_sent)?;
    exchange(connection, request).or(late()).await.map_err(maybe_sent)
}

async fn connect(tls: &TlsConnector, uri: &Uri) -> Result<SendRequest<Full<Bytes>>, DriveError> {
    let host = uri.host().ok_or("the address has no host")?.trim_matches(['[', ']']);
    let https = uri.scheme_str() == Some("https");
    let socket = TcpStream::connect((host, uri.port_u16().unwrap_or(if https { 443 } else { 80 }))).await?;
    if https {
        let name = ServerName::try_from(host.to_owned())?;
        return speak_http(tls.connect(name, socket).await?).await;
    }
    speak_http(socket).await
}

async fn speak_http<S>(stream: S) -> Result<SendRequest<Full<Bytes>>, DriveError>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (sender, connection) = http1::handshake(FuturesIo::new(stream)).await?;
    smol::spawn(connection).detach();
    Ok(sender)
}

async fn exchange(
    mut connection: SendRequest<Full<Bytes>>,
    request: Request<Bytes>,
) -> Result<Response<Bytes>, DriveError> {
    let (mut head, body) = request.into_parts();
    let host = head.uri.authority().map_or("", |authority| authority.as_str());
    head.headers.insert(HOST, HeaderValue::from_str(host)?);
    // On a direct connection, only the path is sent.
    head.uri = head.uri.path_and_query().cloned().map_or_else(Uri::default, Uri::from);
    let response = connection.send_request(Request::from_parts(head, Full::new(body))).await?;
    let (head, body) = response.into_parts();
    let body = Limited::new(body, MOST_BYTES).collect().await?.to_bytes();
    Ok(Response::from_parts(head, body))
}

async fn late<T>() -> Result<T, DriveError> {
    Timer::after(PATIENCE).await;
    Err("the time is over".into())
}
