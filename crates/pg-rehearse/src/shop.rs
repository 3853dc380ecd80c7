//! Calls a shop: as a browser does, as the service does when it posts callbacks, or with the JSON line of a job.

mod location;

use std::{collections::BTreeMap, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, Method, Request, header};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::{io::AsyncWriteExt as _, net::TcpStream};

use crate::clock;

/// The maximum size of a response.
const MOST: usize = 4 << 20;

/// A request to a shop.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) method: Method,
    pub(crate) url: String,
    pub(crate) content_type: Option<&'static str>,
    pub(crate) body: Bytes,
    /// The cookies of a browser, as a header has them.
    pub(crate) cookies: String,
}

impl Call {
    pub(crate) fn json(url: &str, body: &str) -> Self {
        Self::post(url, "application/json", body.to_owned())
    }

    pub(crate) fn post(url: &str, content_type: &'static str, body: impl Into<Bytes>) -> Self {
        let (method, url, cookies) = (Method::POST, url.to_owned(), String::new());
        Self { method, url, content_type: Some(content_type), body: body.into(), cookies }
    }

    /// Creates a page with these parameters.
    pub(crate) fn page(url: &str, parameters: &[(&str, &str)]) -> Self {
        let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(parameters).finish();
        Self::raw_page(url, &query)
    }

    /// Creates a page with this query unchanged.
    pub(crate) fn raw_page(url: &str, query: &str) -> Self {
        let separator = if url.contains('?') { "&" } else { "?" };
        let url = if query.is_empty() { url.to_owned() } else { format!("{url}{separator}{query}") };
        Self { method: Method::GET, url, content_type: None, body: Bytes::new(), cookies: String::new() }
    }
}

/// The response of a shop.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
    /// The responses that redirected a browser to this one, the first one first.
    pub(crate) redirects: Vec<Seen>,
}

impl Seen {
    /// Returns every response that a browser got, in their order.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Self> {
        self.redirects.iter().chain([self])
    }

    /// Returns the response to the call itself, which may redirect a browser.
    pub(crate) fn first(&self) -> &Self {
        self.redirects.first().unwrap_or(self)
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// Where the response redirects a browser.
    pub(crate) fn location(&self) -> Option<&str> {
        let is_redirect = matches!(self.status, 301 | 302 | 303 | 307 | 308);
        Some(self.header("location")).filter(|location| is_redirect && !location.is_empty())
    }

    pub(crate) fn is_html(&self) -> bool {
        let kind = self.header("content-type").to_ascii_lowercase();
        kind.contains("html") || (kind.is_empty() && self.body.trim_start().starts_with('<'))
    }
}

/// Why there is no response.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Silent {
    #[error("no answer in time")]
    TimedOut,
    #[error("{0}")]
    Closed(String),
    /// The program in place of a page failed, after it had printed this.
    #[error("{why}")]
    Crashed { why: String, printed: String },
}

/// Sends a request to a shop and waits for the response until the time limit. Does not follow redirects.
pub(crate) async fn send(call: Call, timeout: Duration) -> Result<Seen, Silent> {
    match tokio::time::timeout(timeout, exchange(call)).await {
        Ok(Ok(seen)) => Ok(seen),
        Ok(Err(why)) => Err(Silent::Closed(why)),
        Err(_) => Err(Silent::TimedOut),
    }
}

/// A browser follows this many redirects one after the other.
const MOST_REDIRECTS: usize = 5;

/// Opens a page like a browser: follows its redirects on the same host, and returns the cookies that they set.
pub(crate) async fn browse(mut call: Call, timeout: Duration) -> Result<Seen, Silent> {
    let mut cookies = BTreeMap::new();
    let mut redirects = Vec::new();
    loop {
        let url = call.url.clone();
        let seen = send(call, timeout).await?;
        let next = seen.location().and_then(|location| location::on_same_host(&url, location));
        let Some(next) = next.filter(|_| redirects.len() < MOST_REDIRECTS) else {
            return Ok(Seen { redirects, ..seen });
        };
        for cookie in seen.headers.get_all(header::SET_COOKIE).iter().filter_map(|cookie| cookie.to_str().ok()) {
            let pair = cookie.split(';').next().unwrap_or_default();
            if let Some((name, value)) = pair.split_once('=') {
                cookies.insert(name.trim().to_owned(), value.trim().to_owned());
            }
        }
        redirects.push(seen);
        call = Call::raw_page(&next, "");
        call.cookies = cookies.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("; ");
    }
}

/// Posts a body byte by byte, until the shop closes the connection.
pub(crate) async fn trickle(url: &str, content_type: &str, every: Duration) -> Result<(), String> {
    let uri: http::Uri = url.parse().map_err(|error| format!("{url}: {error}"))?;
    let host = uri.host().ok_or_else(|| format!("{url} names no host"))?.to_owned();
    let port = uri.port_u16().unwrap_or(80);
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let stream = TcpStream::connect((host.trim_matches(['[', ']']), port)).await;
    let mut stream = stream.map_err(|error| format!("cannot reach {host}:{port}: {error}"))?;
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: {content_type}\r\nContent-Length: 512\r\n\r\ntrans_key="
    );
    stream.write_all(head.as_bytes()).await.map_err(|error| error.to_string())?;
    while stream.write_all(b"A").await.is_ok() {
        clock::pause(every).await;
    }
    Ok(())
}

async fn exchange(call: Call) -> Result<Seen, String> {
    let uri: http::Uri = call.url.parse().map_err(|error| format!("{}: {error}", call.url))?;
    let host = uri.host().ok_or_else(|| format!("{} names no host", call.url))?.to_owned();
    let port = uri.port_u16().unwrap_or(80);
    let stream = TcpStream::connect((host.trim_matches(['[', ']']), port))
        .await
        .map_err(|error| format!("cannot reach {host}:{port}: {error}"))?;
    let (mut sender, connection) =
        http1::handshake::<_, Full<Bytes>>(TokioIo::new(stream)).await.map_err(|error| error.to_string())?;
    let driving = tokio::spawn(connection);
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let mut request = Request::builder()
        .method(call.method)
        .uri(path)
        .header(header::HOST, format!("{host}:{port}"))
        .header(header::ACCEPT, "text/html,application/json;q=0.9,*/*;q=0.8")
        .header(header::CONNECTION, "close")
        .header(header::USER_AGENT, "pg-rehearse");
    if !call.cookies.is_empty() {
        request = request.header(header::COOKIE, call.cookies);
    }
    if let Some(kind) = call.content_type {
        request = request.header(header::CONTENT_TYPE, kind);
    }
    let request = request.body(Full::new(call.body)).map_err(|error| error.to_string())?;
    let answered = async {
        let response = sender.send_request(request).await.map_err(|error| error.to_string())?;
        let (parts, body) = response.into_parts();
        let body = Limited::new(body, MOST).collect().await.map_err(|error| error.to_string())?.to_bytes();
        let body = String::from_utf8_lossy(&body).into_owned();
        Ok(Seen { status: parts.status.as_u16(), headers: parts.headers, body, redirects: Vec::new() })
    };
    let answer = answered.await;
    driving.abort();
    answer
}
