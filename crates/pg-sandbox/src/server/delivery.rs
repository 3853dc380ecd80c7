//! Sends callbacks and reports the results to the sandbox.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use http::{Request, StatusCode, Uri, header};
use http_body_util::{BodyExt as _, Full};
use hyper::{
    body::{Bytes, Incoming},
    client::conn::http1,
};
use hyper_util::rt::TokioIo;
use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, ServerName},
};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, join, split},
    net::{TcpStream, lookup_host},
    sync::{mpsc::UnboundedReceiver, watch},
    task::JoinSet,
};
use tokio_rustls::TlsConnector;

use super::{listener::GRACE, writer::Queue};
use crate::outgoing::{Outgoing, default_port};

/// The time limit of one callback, from name resolution to the end of the response (A76).
const TIME: Duration = Duration::from_secs(10);
/// How much of the response is read and discarded (A76).
const ANSWER: usize = 64 << 10;
/// How much is received in all. A peer could send interim responses without end.
const RECEIVED: u64 = 2 * ANSWER as u64;

/// Sends callbacks until the server stops. Callbacks in flight then get a short time, and are sent again after the next
/// start if they do not finish.
pub(super) async fn send_all(
    mut due: UnboundedReceiver<Outgoing>,
    courier: Courier,
    queue: Queue,
    mut stopped: watch::Receiver<bool>,
) {
    let mut under_way = JoinSet::new();
    loop {
        tokio::select! {
            // The sender is gone if the server was dropped, which stops it too.
            _ = stopped.changed() => break,
            outgoing = due.recv() => {
                let Some(outgoing) = outgoing else { break };
                let (courier, queue) = (courier.clone(), queue.clone());
                under_way.spawn(async move {
                    let id = outgoing.id.clone();
                    let result = courier.deliver(outgoing).await;
                    queue.report(id, result);
                });
            }
            Some(_) = under_way.join_next() => {}
        }
    }
    let ended = async { while under_way.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(GRACE, ended).await;
}

/// Sends callbacks, each over its own connection.
#[derive(Clone)]
pub(super) struct Courier {
    tls: TlsConnector,
}

impl Courier {
    /// Creates a courier that trusts Mozilla's certificate authorities and the given ones, in DER.
    pub(super) fn new(authorities: &[Vec<u8>]) -> Result<Self, rustls::Error> {
        let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        for authority in authorities {
            roots.add(CertificateDer::from_slice(authority))?;
        }
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self { tls: TlsConnector::from(Arc::new(config)) })
    }

    /// Returns the status, if it was received in time, or the error.
    pub(super) async fn deliver(&self, outgoing: Outgoing) -> Result<StatusCode, String> {
        let mut status = None;
        let result = tokio::time::timeout(TIME, self.send(outgoing, &mut status)).await;
        match (status, result) {
            // When the status is known, the rest of the response does not matter.
            (Some(status), _) => Ok(status),
            (None, Ok(Err(error))) => Err(error),
            (None, Ok(Ok(()))) => Err("the connection closed without a response".to_owned()),
            (None, Err(_)) => Err(format!("no response within {} seconds", TIME.as_secs())),
        }
    }

    async fn send(&self, outgoing: Outgoing, status: &mut Option<StatusCode>) -> Result<(), String> {
        let uri = outgoing.request.uri().clone();
        let tls = uri.scheme_str() == Some("https");
        let stream = connect(&outgoing, &uri, tls).await?;
        let request = in_origin_form(outgoing.request, &uri)?;
        if !tls {
            return exchange(stream, request, status).await;
        }
        let host = bare(uri.host().unwrap_or_default()).trim_end_matches('.').to_owned();
        let name = ServerName::try_from(host).map_err(|_| "the host has no name for a certificate".to_owned())?;
        let stream = self.tls.connect(name, stream).await.map_err(|error| format!("TLS failed: {error}"))?;
        exchange(stream, request, status).await
    }
}

/// Resolves the host once, and connects to one of the allowed addresses.
async fn connect(outgoing: &Outgoing, uri: &Uri, tls: bool) -> Result<TcpStream, String> {
    let host = bare(uri.host().unwrap_or_default());
    let port = uri.port_u16().unwrap_or(default_port(tls));
    let addresses = lookup_host((host, port)).await.map_err(|error| format!("the host was not found: {error}"))?;
    let (mut admitted, mut problem) = (Vec::new(), "the host has no address".to_owned());
    for address in addresses {
        match outgoing.admits(address.ip()) {
            Ok(()) => admitted.push(address),
            Err(reason) => problem = reason.to_string(),
        }
    }
    connect_to_one(&admitted).await.map_err(|failure| failure.unwrap_or(problem))
}

/// Connects to the first address that accepts. One that does not respond leaves equal parts of the time to the others, and to
/// the response.
async fn connect_to_one(addresses: &[SocketAddr]) -> Result<TcpStream, Option<String>> {
    let part = TIME / u32::try_from(addresses.len()).unwrap_or(u32::MAX).saturating_add(1);
    let mut failure = None;
    for address in addresses {
        match tokio::time::timeout(part, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => failure = Some(format!("no connection: {error}")),
            Err(_) => failure = Some(format!("no connection: {address} does not respond")),
        }
    }
    Err(failure)
}

/// The host without the brackets of an IPv6 address.
fn bare(host: &str) -> &str {
    host.trim_start_matches('[').trim_end_matches(']')
}

/// The request in origin form: path and query, and the host in its header (RFC 9112 §3.2.1).
fn in_origin_form(request: Request<Bytes>, uri: &Uri) -> Result<Request<Full<Bytes>>, String> {
    let impossible = |_| "the URL cannot be used in a request".to_owned();
    let (mut parts, body) = request.into_parts();
    let host = uri.authority().map_or("", |authority| authority.as_str());
    parts.headers.insert(header::HOST, host.parse().map_err(impossible)?);
    parts.headers.insert(header::CONNECTION, header::HeaderValue::from_static("close"));
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    parts.uri = path.parse().map_err(|_| "the URL cannot be used in a request".to_owned())?;
    Ok(Request::from_parts(parts, Full::new(body)))
}

async fn exchange<S>(stream: S, request: Request<Full<Bytes>>, status: &mut Option<StatusCode>) -> Result<(), String>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let (received, sent) = split(stream);
    let stream = join(received.take(RECEIVED), sent);
    let (mut sender, connection) =
        http1::handshake(TokioIo::new(stream)).await.map_err(|error| format!("no connection: {error}"))?;
    let answered = async {
        let response = sender.send_request(request).await.map_err(|error| format!("no answer: {error}"))?;
        *status = Some(response.status());
        drain(response.into_body()).await;
        Ok(())
    };
    let mut answered = std::pin::pin!(answered);
    tokio::select! {
        result = &mut answered => return result,
        // The peer has closed; its data may still have to be read.
        _ = connection => {}
    }
    answered.await
}

/// Reads a bounded part of the response, so that the sender is not interrupted.
async fn drain(mut body: Incoming) {
    let mut length = 0;
    while let Some(Ok(frame)) = body.frame().await {
        length += frame.data_ref().map_or(0, Bytes::len);
        if length > ANSWER {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::{io::AsyncWriteExt as _, net::TcpListener};

    use super::*;
    use crate::{
        records::{Callback, CallbackKind, CallbackStatus},
        settings::OutgoingAccess,
        timestamp::Timestamp,
    };

    fn outgoing(url: &str, access: &OutgoingAccess) -> Outgoing {
        let callback = Callback {
            key: "0".repeat(32),
            merchant: "main".to_owned(),
            kind: CallbackKind::AccountUpdater,
            about: String::new(),
            url: url.to_owned(),
            requested_url: None,
            content_type: "application/json".to_owned(),
            body_bytes: 2,
            status: CallbackStatus::Pending,
            due: Timestamp::MIN,
            deliveries_left: 1,
            retries_left: 0,
            attempts: 0,
            last: None,
            claimed_until: None,
            created: Timestamp::MIN,
            own_clock: false,
        };
        Outgoing::of(&callback, "{}".to_owned(), access).unwrap()
    }

    #[tokio::test]
    async fn interim_responses_without_end_are_cut_off() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let peer = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            while stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await.is_ok() {}
        });
        let result = Courier::new(&[]).unwrap().deliver(outgoing(&url, &OutgoingAccess::default())).await;
        assert!(result.as_ref().is_err_and(|why| why.starts_with("no answer: ")), "{result:?}");
        peer.await.unwrap();
    }

    // Time stands still and jumps to the deadline as soon as all tasks wait.
    #[tokio::test(start_paused = true)]
    async fn a_silent_receiver_times_out_after_ten_seconds() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let courier = Courier::new(&[]).unwrap();
        let result = courier.deliver(outgoing(&url, &OutgoingAccess::default())).await;
        assert_eq!(result, Err("no response within 10 seconds".to_owned()));
    }

    #[tokio::test(start_paused = true)]
    async fn an_address_that_does_not_respond_leaves_time_for_the_next_one_and_the_response() {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        // Nothing is accepted, so the kernel drops further connections once the queue is full.
        let full = socket.listen(1).unwrap();
        let silent = full.local_addr().unwrap();
        let mut waiting = Vec::new();
        while let Ok(stream) = tokio::time::timeout(TIME, TcpStream::connect(silent)).await {
            waiting.push(stream.unwrap());
        }
        let open = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addresses = [silent, open.local_addr().unwrap()];
        let connected = tokio::time::timeout(TIME / 2, connect_to_one(&addresses)).await;
        let stream = connected.expect("with time for the response").unwrap();
        assert_eq!(stream.peer_addr().unwrap(), addresses[1]);
        assert!(connect_to_one(&[silent]).await.unwrap_err().unwrap().ends_with("does not respond"));
    }

    #[tokio::test]
    async fn a_host_name_of_this_machine_is_checked_by_its_address() {
        let strict = OutgoingAccess { this_machine: false, ..OutgoingAccess::default() };
        let mut callback = outgoing("https://shop.example/", &strict);
        // A name that resolves to this machine.
        *callback.request.uri_mut() = Uri::from_static("https://localhost/");
        let error = Courier::new(&[]).unwrap().deliver(callback).await.unwrap_err();
        assert_eq!(error, "callbacks to this machine are disabled");
    }
}
