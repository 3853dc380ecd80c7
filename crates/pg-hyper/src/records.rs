//! Shows whether a TLS connection has received a part of a record, and has reads of any connection pause.
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
/// Number of reads in a row that find bytes before the deadline is checked. hyper and rustls read on while they find interim heads or empty
/// records, and tokio ends that only within its own tasks, so not in a blocking client.
const IN_A_ROW: usize = 16;

/// Whether a record has begun and not ended. Clones share the state.
#[derive(Clone, Default)]
pub(crate) struct Unfinished(Arc<AtomicBool>);

impl Unfinished {
    #[cfg(feature = "tls")]
    pub(crate) fn is_so(&self) -> bool {
        self.0.load(Relaxed)
    }
}

/// A TCP stream that follows the records it receives, if TLS runs over it. A poll that reads from it ends, however much the peer sends.
pub(crate) struct Records {
    stream: TokioIo<TcpStream>,
    reader: Option<Reader>,
    /// Reads since the last one that found no bytes.
    in_a_row: usize,
}

impl Records {
    pub(crate) fn of(stream: TokioIo<TcpStream>, is_tls: bool) -> Self {
        Self { stream, reader: is_tls.then(Reader::default), in_a_row: 0 }
    }

    pub(crate) fn tcp(&self) -> &TcpStream {
        self.stream.inner()
    }

    #[cfg(feature = "tls")]
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
        let Self { stream, reader, in_a_row } = &mut *self;
        if *in_a_row == IN_A_ROW {
            *in_a_row = 0;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let Some(reader) = reader else {
            let read = Pin::new(stream).poll_read(context, buffer);
            *in_a_row = if read.is_ready() { *in_a_row + 1 } else { 0 };
            return read;
        };
        let mut room = [0; ROOM];
        let length = room.len().min(buffer.remaining());
        let mut read = ReadBuf::new(&mut room[..length]);
        let ended = Pin::new(stream).poll_read(context, read.unfilled());
        *in_a_row = if ended.is_ready() { *in_a_row + 1 } else { 0 };
        ready!(ended)?;
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
    use std::{
        sync::atomic::AtomicUsize,
        task::{Wake, Waker},
    };

    use tokio::net::TcpListener;

    use super::*;

    #[derive(Default)]
    struct Woken(AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Relaxed);
        }
    }

    #[tokio::test]
    async fn a_read_pauses_and_goes_on_although_there_are_bytes() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        for is_tls in [false, true] {
            let stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
            let (peer, _) = listener.accept().await.unwrap();
            peer.writable().await.unwrap();
            peer.try_write(&[0; 100]).unwrap();
            stream.readable().await.unwrap();
            let mut records = Records::of(TokioIo::new(stream), is_tls);
            let woken = Arc::new(Woken::default());
            let waker = Waker::from(Arc::clone(&woken));
            let mut read = || {
                let (mut byte, mut context) = ([0; 1], Context::from_waker(&waker));
                Pin::new(&mut records).poll_read(&mut context, ReadBuf::new(&mut byte).unfilled()).is_ready()
            };
            let found: Vec<bool> = (0..20).map(|_| read()).collect();
            let pauses: Vec<usize> = (0..20).filter(|at| !found[*at]).collect();
            assert_eq!((pauses, woken.0.load(Relaxed)), (vec![IN_A_ROW], 1));
        }
    }

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
                assert_eq!(reader.unfinished.0.load(Relaxed), !ends.contains(&at), "{piece}: {at}");
            }
        }
    }
}
