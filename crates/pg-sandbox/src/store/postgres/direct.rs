//! Detects whether a connection has its own server process. Through a pooler in transaction mode each transaction may
//! reach another process, which knows neither the settings nor the named statements of an earlier transaction.
//!
//! A server sends the number of its process in its greeting, for cancel requests. A pooler sends an invented number, so
//! the two differ.

use std::{
    future::{Ready, ready},
    io,
    pin::Pin,
    task::{Context, Poll},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::{
    Client,
    tls::{ChannelBinding, TlsConnect, TlsStream},
};

/// Returns the number of the server process from the greeting. The driver reveals it only in a cancel request, which is
/// captured here instead of being sent.
pub(super) async fn greeted_by(client: &Client) -> Option<i32> {
    let mut written = Written::default();
    client.cancel_token().cancel_query_raw(&mut written, InClear).await.ok()?;
    // Length, code, process, secret: four bytes each.
    let request = written.0.len().checked_sub(16).and_then(|from| written.0.get(from..))?;
    Some(i32::from_be_bytes(request.get(8..12)?.try_into().ok()?))
}

/// The captured bytes. A reader gets the answer that TLS may begin.
#[derive(Default)]
struct Written(Vec<u8>);

impl AsyncRead for Written {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if buffer.remaining() > 0 {
            buffer.put_slice(b"S");
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Written {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.0.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

impl TlsStream for &mut Written {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

/// Starts no TLS: nothing leaves this process.
struct InClear;

impl<'a> TlsConnect<&'a mut Written> for InClear {
    type Stream = &'a mut Written;
    type Error = io::Error;
    type Future = Ready<io::Result<&'a mut Written>>;

    fn connect(self, stream: &'a mut Written) -> Self::Future {
        ready(Ok(stream))
    }
}
