//! Raw requests and replies.

use std::{net::SocketAddr, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
    time::timeout,
};

use crate::Result;

/// How long an honest client waits.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// The reply on a connection, as far as it can be read.
#[derive(Debug, Default)]
pub(crate) struct Reply {
    /// 0 when there was no reply.
    pub(crate) status: u16,
    /// In small letters.
    pub(crate) head: String,
    pub(crate) body: String,
    /// All bytes, including those after the first reply.
    pub(crate) all: Vec<u8>,
}

impl Reply {
    pub(crate) fn of(all: Vec<u8>) -> Self {
        let text = String::from_utf8_lossy(&all).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
        Self { status, head: head.to_lowercase(), body: body.to_owned(), all }
    }

    /// How many replies there are.
    pub(crate) fn count(&self) -> usize {
        self.all.windows(9).filter(|bytes| bytes.starts_with(b"HTTP/1.") && bytes[8] == b' ').count()
    }
}

/// Connects, from another address of this machine if one is given. The connection leaves nothing behind when it is dropped.
pub(crate) async fn connect(to: SocketAddr, from: Option<SocketAddr>) -> Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    if let Some(from) = from {
        socket.bind(from)?;
    }
    Ok(timeout(PATIENCE, socket.connect(to)).await??)
}

/// Sends bytes on a new connection, closes its sending side, and reads to the end.
pub(crate) async fn send(to: SocketAddr, bytes: &[u8]) -> Result<Reply> {
    let mut stream = connect(to, None).await?;
    let mut all = Vec::new();
    // The server may close the connection before it has read everything: that is an answer too.
    let _ = stream.write_all(bytes).await;
    let _ = stream.shutdown().await;
    let _ = timeout(PATIENCE, stream.read_to_end(&mut all)).await?;
    Ok(Reply::of(all))
}

/// A request with these header lines, `Connection: close` and the length of its body.
pub(crate) fn request(line: &str, headers: &[(&str, &str)], body: &str) -> Vec<u8> {
    let mut text = format!("{line} HTTP/1.1\r\n");
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    if !body.is_empty() {
        text.push_str(&format!("Content-Length: {}\r\n", body.len()));
    }
    text.push_str("Connection: close\r\n\r\n");
    text.push_str(body);
    text.into_bytes()
}
