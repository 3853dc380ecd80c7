//! A proxy before a sandbox that stops at a counted request, so that a test can do something just then.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc::{Receiver, Sender, channel},
    },
};

/// Where it stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The sandbox has not seen the request, and never will.
    BeforeRequest,
    /// The sandbox has answered it.
    BeforeReply,
}

/// The proxy.
pub(crate) struct Relay {
    pub(crate) base: String,
    stopped: Receiver<()>,
    go_on: Option<Sender<()>>,
}

impl Relay {
    /// Forwards requests, and stops at the request with this number, counted from 1.
    pub(crate) fn stopping(sandbox: &str, at: usize, stop: Stop) -> Self {
        Self::new(sandbox, (at, stop), |body| body)
    }

    /// Forwards requests, and changes the bodies of replies to others of the same length.
    pub(crate) fn changing(sandbox: &str, change: fn(String) -> String) -> Self {
        Self::new(sandbox, (usize::MAX, Stop::BeforeReply), change)
    }

    fn new(sandbox: &str, stop: (usize, Stop), change: fn(String) -> String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let target = sandbox.trim_start_matches("http://").to_owned();
        let (tell, stopped) = channel();
        let (go_on, told) = channel();
        std::thread::spawn(move || {
            let count = Arc::new(AtomicUsize::new(0));
            // A client has one connection at a time, so one after the other is served.
            for stream in listener.incoming() {
                // A client that was killed leaves a broken connection.
                drop(relay(stream.unwrap(), &target, &count, (stop, change), &tell, &told));
            }
        });
        Self { base, stopped, go_on: Some(go_on) }
    }

    /// Waits until it stops.
    pub(crate) fn stopped(&self) {
        self.stopped.recv().unwrap();
    }

    /// Lets it continue; only a reply can still be delivered.
    pub(crate) fn go_on(&mut self) {
        self.go_on.take().unwrap().send(()).unwrap();
    }
}

fn relay(
    client: TcpStream,
    target: &str,
    count: &AtomicUsize,
    ((at, stop), change): ((usize, Stop), fn(String) -> String),
    tell: &Sender<()>,
    told: &Receiver<()>,
) -> io::Result<()> {
    let mut server = BufReader::new(TcpStream::connect(target)?);
    let mut client = BufReader::new(client);
    while let Some(request) = message(&mut client)? {
        let is_the_one = count.fetch_add(1, Ordering::SeqCst) + 1 == at;
        if is_the_one && stop == Stop::BeforeRequest {
            tell.send(()).unwrap();
            // It ends when the test does.
            return told.recv().map_err(io::Error::other);
        }
        server.get_mut().write_all(&request)?;
        let mut reply = message(&mut server)?.ok_or(io::ErrorKind::UnexpectedEof)?;
        let head = reply.windows(4).position(|end| end == b"\r\n\r\n").unwrap() + 4;
        let body = String::from_utf8(reply.split_off(head)).unwrap();
        reply.extend(change(body).bytes());
        if is_the_one {
            tell.send(()).unwrap();
            told.recv().map_err(io::Error::other)?;
        }
        client.get_mut().write_all(&reply)?;
    }
    Ok(())
}

/// A request or a reply; `None` at the end of the connection.
fn message(stream: &mut BufReader<TcpStream>) -> io::Result<Option<Vec<u8>>> {
    let mut message = Vec::new();
    let mut length = 0;
    loop {
        let mut line = Vec::new();
        if stream.read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        message.extend_from_slice(&line);
        let line = String::from_utf8_lossy(&line).to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let head = message.len();
    message.resize(head + length, 0);
    stream.read_exact(&mut message[head..])?;
    Ok(Some(message))
}
