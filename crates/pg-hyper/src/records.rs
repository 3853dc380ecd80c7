//! Shows whether a TLS connection has received a part of a record.
//!
//! A TLS library keeps that part until the rest arrives, and the socket no longer shows it. It may be the start of a second
//! reply, which would be taken for the reply to the next request.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    task::{Context, Poll, ready},
};

use hyper::rt::{Read, ReadBuf, ReadBufCursor, Write};
use hyper_util::{
    client::legacy::connect::{Connected, Connection},
    rt::TokioIo,
};
use tokio::net::TcpStream;

/// The head of a record: its type, version, and length (RFC 8446 §5.1).
const HEAD: usize = 5;
/// How much is read at once: a record and its head.
const ROOM: usize = 17 << 10;

/// Whether a record has begun and not ended. Clones share the state.
#[derive(Clone, Default)]
pub(crate) struct Unfinished(Arc<AtomicBool>);

impl Unfinished {
    pub(crate) fn is_so(&self) -> bool {
        self.0.load(Relaxed)
    }
}

/// A TCP stream that follows the records it receives, if TLS runs over it.
pub(crate) struct Records {
    stream: TokioIo<TcpStream>,
    reader: Option<Reader>,
}

impl Records {
    pub(crate) fn of(stream: TokioIo<TcpStream>, is_tls: bool) -> Self {
        Self { stream, reader: is_tls.then(Reader::default) }
    }

    pub(crate) fn tcp(&self) -> &TcpStream {
        self.stream.inner()
    }

    pub(crate) fn unfinished(&self) -> Unfinished {
        self.reader.as_ref().map(|reader| reader.unfinished.clone()).unwrap_or_default()
    }
}

/// Follows the bytes of records.
#[derive(Default)]
struct Reader {
    head: [u8; HEAD],
    /// The number of bytes of the head that have arrived.
    begun: usize,
    /// The number of bytes that the record still has after its head.
    left: usize,
    unfinished: Unfinished,
}

impl Reader {
    fn follow(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.left == 0 {
                let taken = bytes.len().min(HEAD - self.begun);
                self.head[self.begun..self.begun + taken].copy_from_slice(&bytes[..taken]);
                self.begun += taken;
                bytes = &bytes[taken..];
                if self.begun == HEAD {
                    self.begun = 0;
                    self.left = usize::from(u16::from_be_bytes([self.head[3], self.head[4]]));
                }
            } else {
                let taken = bytes.len().min(self.left);
                self.left -= taken;
                bytes = &bytes[taken..];
            }
        }
        self.unfinished.0.store(self.begun > 0 || self.left > 0, Relaxed);
    }
}

impl Read for Records {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        mut buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let Self { stream, reader } = &mut *self;
        let Some(reader) = reader else { return Pin::new(stream).poll_read(context, buffer) };
        let mut room = [0; ROOM];
        let length = room.len().min(buffer.remaining());
        let mut read = ReadBuf::new(&mut room[..length]);
        ready!(Pin::new(stream).poll_read(context, read.unfilled()))?;
        reader.follow(read.filled());
        buffer.put_slice(read.filled());
        Poll::Ready(Ok(()))
    }
}

impl Write for Records {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

impl Connection for Records {
    fn connected(&self) -> Connected {
        self.stream.connected()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_unfinished_until_its_last_byte_in_whatever_pieces_it_arrives() {
        let record = |length: u8| [vec![23, 3, 3, 0, length], vec![9; length.into()]].concat();
        let all = [record(3), record(0), record(200), record(1)].concat();
        let ends = [8, 13, 218, 224];
        for piece in [1, 2, 3, 7, 224] {
            let (mut reader, mut at) = (Reader::default(), 0);
            for bytes in all.chunks(piece) {
                reader.follow(bytes);
                at += bytes.len();
                assert_eq!(reader.unfinished.is_so(), !ends.contains(&at), "{piece}: {at}");
            }
        }
    }
}
