//! A stream whose reads are short.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf, Take};

/// A stream whose reads return less than 8 KiB each, so that the read buffer of a server does not grow.
///
/// hyper starts with a buffer of 8 KiB for each connection, and doubles it after every read that fills it, up to the
/// longest head that it accepts. The peer that sends a long body decides how much a read finds. So thousands of peers
/// could make thousands of buffers grow, and no limit of bodies counts these. With TLS, wrap the decrypted stream.
#[derive(Debug)]
pub struct ShortReads<S>(Take<S>);

impl<S> ShortReads<S> {
    /// The maximum number of bytes that one read returns: a byte less than the smallest buffer of hyper.
    pub const MOST: usize = (8 << 10) - 1;
}

impl<S: AsyncRead> ShortReads<S> {
    /// Wraps a stream.
    pub fn new(inner: S) -> Self {
        Self(inner.take(0))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for ShortReads<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.0.set_limit(Self::MOST as u64);
        Pin::new(&mut self.0).poll_read(cx, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for ShortReads<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(self.0.get_mut()).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(self.0.get_mut()).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.get_ref().is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(self.0.get_mut()).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(self.0.get_mut()).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncWriteExt as _, duplex};

    use super::*;

    #[tokio::test]
    async fn a_read_is_bounded_and_loses_nothing() {
        let (ours, mut peer) = duplex(64 << 10);
        let mut ours = ShortReads::new(ours);
        let sent: Vec<u8> = (0..40_000_u32).map(|number| number.to_le_bytes()[0]).collect();
        peer.write_all(&sent).await.unwrap();
        drop(peer);
        let (mut read, mut part) = (Vec::new(), vec![0; 64 << 10]);
        loop {
            let length = ours.read(&mut part).await.unwrap();
            if length == 0 {
                break;
            }
            assert!(length <= ShortReads::<()>::MOST, "{length}");
            read.extend_from_slice(&part[..length]);
        }
        assert_eq!(read, sent);
    }

    #[tokio::test]
    async fn written_bytes_arrive() {
        let (ours, mut peer) = duplex(64);
        let mut ours = ShortReads::new(ours);
        ours.write_all(b"answer").await.unwrap();
        ours.shutdown().await.unwrap();
        let mut read = Vec::new();
        peer.read_to_end(&mut read).await.unwrap();
        assert_eq!(read, b"answer");
    }
}
