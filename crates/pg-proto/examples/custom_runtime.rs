//! pg-proto in a runtime of one's own: blocking sockets of the standard library, HTTP/1.1 by hand, no tokio, no hyper.
//!
//! ```sh
//! cargo run -p pg-proto --example custom_runtime                          # against a server of its own
//! cargo run -p pg-proto --example custom_runtime http://127.0.0.1:8480    # against a sandbox
//! ```
//!
//! `PG_API_KEY`, `PG_API_PASSWORD` and `PG_SHA_KEY` are the credentials. Only `http` addresses of this machine: TLS
//! would need a crate.

use std::{
    env,
    error::Error,
    io::{self, BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    thread,
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response, StatusCode, header};
use pg_proto::{
    Account, BaseUrl, Credentials, Preview, ReplyError,
    model::{AuthSessionKey, Currency, Initiate, Item, Method, Order, Outcome},
};

/// How long to wait for the other side at each step.
const PATIENCE: Duration = Duration::from_secs(10);

fn main() -> Result<(), Box<dyn Error>> {
    let base = match env::args().nth(1) {
        Some(address) => address,
        None => canned::start()?,
    };
    let variable = |name, default: &str| env::var(name).unwrap_or_else(|_| default.to_owned());
    let credentials = Credentials::new(
        variable("PG_API_KEY", "0123456789abcdef0123456789abcdef"),
        variable("PG_API_PASSWORD", "password"),
        variable("PG_SHA_KEY", "sha key"),
    );
    let base = BaseUrl::parse(&base)?;
    if !base.is_private() {
        return Err(format!("{base} is not this machine, and without TLS card data must not leave it").into());
    }
    let account = Account::new(base, credentials);

    let session = call(&account, &Initiate::new("https://shop.example/card-error"))??;
    println!("a session: {}\n", session.session_key);

    let order = Order::new(Currency::GBP).item(Item::new("Tea", 499)).unique_merchant_reference("order-7");
    match call(&account, &AuthSessionKey::new(session.session_key, order))? {
        Ok(Outcome::Approved(paid)) => println!("paid: {}", paid.transaction_key),
        Ok(Outcome::Declined(not) | Outcome::Other(not)) => println!("not paid: {}", not.transaction_status),
        // A real service says that no card was posted to the session, which is right: no browser took part.
        Err(error) => println!("{error}"),
    }
    Ok(())
}

/// One call: everything between the two functions of pg-proto is this file's.
fn call<M: Method>(account: &Account, method: &M) -> Result<Result<M::Output, ReplyError>, Box<dyn Error>> {
    let request = account.request(method)?;
    println!("{}", Preview::of(&request));
    let response = exchange(&request)?;
    println!("{}", response.status());
    Ok(account.reply::<M>(response))
}

/// Sends a request over a new connection and reads the whole reply.
fn exchange(request: &Request<Bytes>) -> io::Result<Response<Bytes>> {
    let bad = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
    let authority = request.uri().authority().ok_or_else(|| bad("the address has no host"))?;
    if request.uri().scheme_str() != Some("http") {
        return Err(bad("this example speaks no TLS"));
    }
    let mut stream =
        TcpStream::connect((authority.host().trim_matches(['[', ']']), authority.port_u16().unwrap_or(80)))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    write_request(&mut stream, request)?;

    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let status = line.split(' ').nth(1).and_then(|code| StatusCode::from_bytes(code.as_bytes()).ok());
    let mut response = Response::builder().status(status.ok_or_else(|| bad("what came is no HTTP"))?);
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        response = response.header(name, value.trim());
    }
    let body = read_body(&mut reader, response.headers_ref().and_then(|all| all.get(header::CONTENT_LENGTH)))?;
    response.body(Bytes::from(body)).map_err(|error| bad(&error.to_string()))
}

fn write_request(stream: &mut TcpStream, request: &Request<Bytes>) -> io::Result<()> {
    let target = request.uri().path_and_query().map_or("/", |target| target.as_str());
    let mut head = format!("{} {target} HTTP/1.1\r\nconnection: close\r\n", request.method()).into_bytes();
    if let Some(authority) = request.uri().authority() {
        write!(head, "host: {authority}\r\n")?;
    }
    for (name, value) in request.headers() {
        head.extend([name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
    }
    write!(head, "content-length: {}\r\n\r\n", request.body().len())?;
    stream.write_all(&head)?;
    stream.write_all(request.body())
}

/// As many bytes as announced, or all until the end. A body in chunks would need twenty lines more; none is asked for
/// here, and the reader of the reply would say that it can't be read.
fn read_body(reader: &mut impl Read, announced: Option<&header::HeaderValue>) -> io::Result<Vec<u8>> {
    let announced = announced.and_then(|length| length.to_str().ok()).and_then(|length| length.parse().ok());
    let mut body = Vec::new();
    let read = reader.take(announced.unwrap_or(1 << 20)).read_to_end(&mut body)?;
    match announced {
        Some(length) if read as u64 != length => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(body),
    }
}

/// A service of two answers, so that the example runs without one.
mod canned {
    use super::*;

    const SESSION: &str =
        "<serviceResponse><sessionKey>0123456789abcdef0123456789abcdef</sessionKey></serviceResponse>";
    const PAID: &str = "<serviceResponse><transactionStatusCode>600</transactionStatusCode>\
        <transactionStatus>Transaction approved</transactionStatus><transactionType>Auth</transactionType>\
        <transactionKey>fedcba9876543210fedcba9876543210</transactionKey></serviceResponse>";

    /// Serves in the background; the address that it is reached at.
    pub(super) fn start() -> io::Result<String> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        thread::spawn(move || listener.incoming().try_for_each(|stream| answer(stream?)));
        Ok(format!("http://{address}"))
    }

    fn answer(mut stream: TcpStream) -> io::Result<()> {
        let mut reader = BufReader::new(stream.try_clone()?);
        let (mut first, mut line, mut length) = (String::new(), String::new(), 0);
        reader.read_line(&mut first)?;
        while line != "\r\n" {
            line.clear();
            if reader.read_line(&mut line)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap_or(0);
            }
        }
        io::copy(&mut reader.take(length), &mut io::sink())?;
        let body = if first.contains("/initiate") { SESSION } else { PAID };
        write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len())
    }
}
