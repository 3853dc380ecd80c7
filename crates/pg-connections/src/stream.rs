//! A stream with time limits.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::Sleep,
};

use crate::ConnectionLimits;

/// A stream whose peer must send a first byte and read what was written, each within a time limit.
#[derive(Debug)]
pub struct Stream<S> {
    inner: S,
    first_byte: Deadline,
    write: Deadline,
    /// Whether a byte was read.
    begun: bool,
}

impl<S> Stream<S> {
    pub(crate) const fn new(inner: S, limits: ConnectionLimits) -> Self {
        Self { inner, first_byte: Deadline::new(limits.first_byte), write: Deadline::new(limits.write), begun: false }
    }
}

/// A timer that runs while something is pending.
#[derive(Debug)]
struct Deadline {
    limit: Duration,
    running: Option<Pin<Box<Sleep>>>,
}

impl Deadline {
    const fn new(limit: Duration) -> Self {
        Self { limit, running: None }
    }

    /// Returns the result of an operation, or an error if it stays pending for longer than the limit.
    fn watch<T>(&mut self, result: Poll<io::Result<T>>, cx: &mut Context<'_>) -> Poll<io::Result<T>> {
        if result.is_ready() {
            self.running = None;
            return result;
        }
        let limit = self.limit;
        let running = self.running.get_or_insert_with(|| timer(limit));
        ready!(running.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

#[expect(clippy::disallowed_methods, reason = "a peer that stays silent is a matter of real time")]
fn timer(limit: Duration) -> Pin<Box<Sleep>> {
    Box::pin(tokio::time::sleep(limit))
}

impl<S: AsyncRead + Unpin> AsyncRead for Stream<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.inner).poll_read(cx, buffer);
        if self.begun {
            return read;
        }
        self.begun = matches!(read, Poll::Ready(Ok(())));
        self.first_byte.watch(read, cx)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Stream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write(cx, bytes);
        self.write.watch(written, cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write_vectored(cx, slices);
        self.write.watch(written, cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.inner).poll_flush(cx);
        self.write.watch(flushed, cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.inner).poll_shutdown(cx);
        self.write.watch(shut, cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    use super::*;

    const LIMITS: ConnectionLimits = ConnectionLimits {
        connections: 1,
        per_address: 1,
        per_loopback_address: 1,
        body_bytes: 1,
        free_body_bytes: 1,
        reply_bytes: 1,
        first_byte: Duration::from_secs(5),
        write: Duration::from_secs(7),
    };

    /// Virtual time: it passes only while nothing else can happen.
    fn virtual_time() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
    }

    #[test]
    fn a_silent_peer_is_disconnected_after_the_limit() {
        virtual_time().block_on(async {
            let (ours, _silent) = duplex(16);
            let failure = Stream::new(ours, LIMITS).read_u8().await.unwrap_err();
            assert_eq!(failure.kind(), io::ErrorKind::TimedOut);
        });
    }

    #[test]
    fn after_the_first_byte_the_server_decides_how_long_to_wait() {
        virtual_time().block_on(async {
            let (ours, mut peer) = duplex(16);
            let mut ours = Stream::new(ours, LIMITS);
            peer.write_u8(b'G').await.unwrap();
            assert_eq!(ours.read_u8().await.unwrap(), b'G');
            let waited = tokio::time::timeout(Duration::from_secs(3600), ours.read_u8()).await;
            assert!(waited.is_err(), "no limit of its own ended the wait");
        });
    }

    #[test]
    fn a_peer_that_stops_reading_is_disconnected_and_a_slow_reader_is_not() {
        virtual_time().block_on(async {
            let (ours, mut peer) = duplex(4);
            let mut ours = Stream::new(ours, LIMITS);
            let slow = async {
                let mut some = [0; 4];
                for _ in 0..4 {
                    // Each pause is below the limit; their sum is above.
                    let never = std::future::pending::<()>();
                    let _ = tokio::time::timeout(Duration::from_secs(6), never).await;
                    peer.read_exact(&mut some).await.unwrap();
                }
            };
            let (written, ()) = tokio::join!(ours.write_all(&[7; 16]), slow);
            written.unwrap();
            let failure = ours.write_all(&[7; 16]).await.unwrap_err();
            assert_eq!(failure.kind(), io::ErrorKind::TimedOut);
        });
    }
}
