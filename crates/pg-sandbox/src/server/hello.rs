//! The first message of a TLS handshake, read before the handshake begins.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use rustls::server::StoresServerSessions;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf};

/// The number of bytes of a first message that are searched. Messages that resume a session are shorter.
const MOST: usize = 2_048;

/// A stream whose first bytes were inspected, and are then read again.
pub(super) struct Greeted<S> {
    /// Inspected bytes that have not been read again.
    first: Vec<u8>,
    stream: S,
}

impl<S: AsyncRead + Unpin> Greeted<S> {
    /// Waits for first bytes.
    pub(super) async fn read(mut stream: S) -> io::Result<Self> {
        let mut first = Vec::with_capacity(MOST);
        stream.read_buf(&mut first).await?;
        Ok(Self { first, stream })
    }

    /// Whether the peer resumes one of these sessions. If so, it has completed a handshake with this server before.
    pub(super) fn resumes(&self, sessions: &dyn StoresServerSessions) -> bool {
        let is_known = |name: &[u8]| !name.is_empty() && sessions.get(name).is_some();
        names(&self.first).is_some_and(|names| names.into_iter().any(is_known))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Greeted<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.first.is_empty() {
            return Pin::new(&mut self.stream).poll_read(cx, buffer);
        }
        let part = buffer.remaining().min(self.first.len());
        buffer.put_slice(&self.first[..part]);
        self.first.drain(..part);
        if self.first.is_empty() {
            // Frees its memory.
            self.first = Vec::new();
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Greeted<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// The names of sessions in a first message: its session ID (TLS 1.2, RFC 5246 §7.4.1.2) and its tickets (TLS 1.3, RFC 8446 §4.2.11).
/// `None` if it is another message, or incomplete.
fn names(bytes: &[u8]) -> Option<Vec<&[u8]>> {
    const HANDSHAKE: u8 = 22;
    const CLIENT_HELLO: u8 = 1;
    const PRE_SHARED_KEY: [u8; 2] = [0, 41];
    let mut record = Reader(bytes);
    let [HANDSHAKE, _, _] = *record.take(3)? else { return None };
    let mut message = Reader(record.vector(2)?);
    let [CLIENT_HELLO] = *message.take(1)? else { return None };
    let mut hello = Reader(message.vector(3)?);
    let (_version, _random) = (hello.take(2)?, hello.take(32)?);
    let mut names = vec![hello.vector(1)?];
    let (_suites, _compression) = (hello.vector(2)?, hello.vector(1)?);
    let mut extensions = Reader(hello.vector(2).unwrap_or_default());
    while let Some(kind) = extensions.take(2) {
        let mut data = Reader(extensions.vector(2)?);
        if kind == PRE_SHARED_KEY {
            let mut tickets = Reader(data.vector(2)?);
            while let Some(ticket) = tickets.vector(2) {
                names.push(ticket);
                let _age = tickets.take(4)?;
            }
        }
    }
    Some(names)
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(bytes)?;
        self.0 = rest;
        Some(taken)
    }

    /// Takes bytes that follow their length, which has `of_length` bytes.
    fn vector(&mut self, of_length: usize) -> Option<&'a [u8]> {
        let length = self.take(of_length)?.iter().fold(0, |length, byte| length << 8 | usize::from(*byte));
        self.take(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The records of a first message with this session ID and ticket.
    fn hello(id: &[u8], ticket: &[u8]) -> Vec<u8> {
        let vector = |length: usize, bytes: &[u8]| [&bytes.len().to_be_bytes()[8 - length..], bytes].concat();
        let identity = [&vector(2, ticket)[..], &[1, 2, 3, 4]].concat();
        let key = [vector(2, &identity), vector(2, &vector(1, &[7; 32]))].concat();
        let extensions = [&[0, 10][..], &vector(2, &[0, 2, 0, 29]), &[0, 41], &vector(2, &key)].concat();
        let body =
            [&[3, 3][..], &[9; 32], &vector(1, id), &vector(2, &[0x13, 1]), &vector(1, &[0]), &vector(2, &extensions)]
                .concat();
        [&[22, 3, 1][..], &vector(2, &[&[1][..], &vector(3, &body)].concat())].concat()
    }

    #[test]
    fn the_names_of_sessions_are_found() {
        assert_eq!(names(&hello(b"id", b"a ticket")), Some(vec![&b"id"[..], b"a ticket"]));
        assert_eq!(names(b"POST / HTTP/1.1\r\n"), None);
    }

    #[test]
    fn incomplete_and_altered_messages_name_nothing_that_they_do_not_contain() {
        let whole = hello(b"id", b"a ticket");
        for end in 0..whole.len() {
            assert_eq!(names(&whole[..end]), None);
        }
        for at in 0..whole.len() {
            for bit in 0..8 {
                let mut altered = whole.clone();
                altered[at] ^= 1 << bit;
                let named: usize = names(&altered).iter().flatten().map(|name| name.len()).sum();
                assert!(named <= whole.len());
            }
        }
    }
}
