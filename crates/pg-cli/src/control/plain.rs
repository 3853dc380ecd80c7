//! Plain HTTP to a sandbox on another machine. `pg-hyper` refuses it, because its requests may contain card data.

use std::{io, time::Duration};

use bytes::Bytes;
use http::{HeaderValue, Request, Response, Uri, header};
use http_body_util::{BodyExt, Full, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use pg_hyper::{TransportError, TransportErrorKind};
use tokio::net::TcpStream;

/// The size limit of a reply, as in `pg-hyper`.
const REPLY_LIMIT: usize = 16 << 20;

/// Sends a request over its own connection, within the deadline.
pub(super) async fn send(request: Request<Bytes>, deadline: Duration) -> Result<Response<Bytes>, TransportError> {
    tokio::time::timeout(deadline, exchange(request))
        .await
        .unwrap_or(Err(TransportError::MaybeSent(TransportErrorKind::Deadline(deadline))))
}

async fn exchange(request: Request<Bytes>) -> Result<Response<Bytes>, TransportError> {
    let uri = request.uri().clone();
    let authority = uri.authority().map_or_else(String::new, ToString::to_string);
    let no_connection = |source: Box<dyn std::error::Error + Send + Sync>| {
        TransportError::NotSent(TransportErrorKind::Connect { authority: authority.clone(), source })
    };
    let host = uri.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    let stream = TcpStream::connect((host, uri.port_u16().unwrap_or(80)));
    let stream = stream.await.map_err(|error: io::Error| no_connection(error.into()))?;
    let (mut sender, connection) =
        http1::handshake(TokioIo::new(stream)).await.map_err(|error| no_connection(error.into()))?;
    // The task ends with the connection. The sender gets the same error.
    let driving = tokio::spawn(connection);
    let request = in_origin_form(request, &uri, &authority).map_err(|error| no_connection(error.into()))?;
    let broken = |error: hyper::Error| TransportError::MaybeSent(TransportErrorKind::Connection(error.into()));
    let (head, body) = sender.send_request(request).await.map_err(broken)?.into_parts();
    let body = Limited::new(body, REPLY_LIMIT).collect().await.map_err(TransportError::maybe_sent)?;
    driving.abort();
    Ok(Response::from_parts(head, body.to_bytes()))
}

/// Returns the request on the wire: path and query, and the host as a header.
fn in_origin_form(request: Request<Bytes>, uri: &Uri, authority: &str) -> Result<Request<Full<Bytes>>, http::Error> {
    let (mut head, body) = request.into_parts();
    head.headers.insert(header::HOST, HeaderValue::from_str(authority)?);
    head.headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    head.uri = uri.path_and_query().map_or("/", |path| path.as_str()).parse()?;
    Ok(Request::from_parts(head, Full::new(body)))
}
