//! One connection: opened, used for one request after another, and driven by the task that waits for the reply.
//!
//! hyper leaves the driving of a connection to its user. Driving it in the calling task saves two task switches per
//! request, and a dropped call closes its connection.

use std::{
    error::Error,
    future::poll_fn,
    io,
    mem::MaybeUninit,
    pin::{Pin, pin},
    task::{Context, Poll},
};

use bytes::{Bytes, BytesMut};
use http::{Request, Response};
use http_body_util::BodyExt;
use hyper::{body::Body, client::conn::http1};
use socket2::{SockRef, Socket};
use tokio::time::Instant;

use crate::{
    TransportErrorKind,
    alarm::Alarm,
    connector::{Stream, tcp_of},
    held_body::HeldBody,
    turn::{AT_ONCE, Turns},
};
#[cfg(feature = "tls")]
use crate::{connector::unfinished_of, records::Unfinished};

/// An open connection that speaks HTTP/1.1.
pub(crate) struct Connection {
    sender: http1::SendRequest<HeldBody>,
    driver: Pin<Box<http1::Connection<Stream, HeldBody>>>,
    /// Another handle of its socket; `None` if there are no more handles.
    socket: Option<Socket>,
    #[cfg(feature = "tls")]
    unfinished: Unfinished,
    open: bool,
    alarm: Alarm,
    turns: Turns,
}

/// Number of parts of a body in a row before the deadline is checked and other tasks have their turn. All parts that were
/// received are ready at once, and they may be bytes. Most bodies have one or two parts.
const IN_A_ROW: usize = 64;

/// Why a request got no reply.
pub(crate) enum NoReply {
    /// The connection was closed before any byte was written to it.
    Unsent(Box<Request<HeldBody>>, hyper::Error),
    /// The deadline passed.
    TimeUp,
    Broken(TransportErrorKind),
}

/// The deadline passed.
struct TimeUp;

impl Connection {
    pub(crate) async fn over(stream: Stream, deadline: Instant) -> Result<Self, hyper::Error> {
        // A body contains card data. It is written from its own buffer, which is wiped. If head and body were joined,
        // hyper's buffer would keep the data as long as the connection.
        let socket = SockRef::from(tcp_of(&stream)).try_clone().ok();
        #[cfg(feature = "tls")]
        let unfinished = unfinished_of(&stream);
        let (sender, driver) = http1::Builder::new().writev(true).handshake(stream).await?;
        Ok(Self {
            sender,
            driver: Box::pin(driver),
            socket,
            #[cfg(feature = "tls")]
            unfinished,
            open: true,
            alarm: Alarm::at(deadline),
            turns: Turns::new(),
        })
    }

    /// Sends a request and waits for its reply, with a limit for the length of its body.
    pub(crate) async fn exchange(
        &mut self,
        request: Request<HeldBody>,
        limit: usize,
        deadline: Instant,
    ) -> Result<Response<Bytes>, NoReply> {
        self.alarm.set(deadline);
        let reply = self.sender.try_send_request(request);
        let response = self.driving(reply).await?.map_err(|mut error| match error.take_message() {
            Some(unsent) => NoReply::Unsent(Box::new(unsent), error.into_error()),
            None => NoReply::Broken(TransportErrorKind::Connection(error.into_error().into())),
        })?;
        let (head, body) = response.into_parts();
        Ok(Response::from_parts(head, self.collect(body, limit).await?))
    }

    /// Whether the next request can use it, checked without waiting.
    pub(crate) async fn is_ready(&mut self) -> bool {
        if !self.sender.is_ready() {
            let Self { driver, open, turns, .. } = self;
            poll_fn(|task| {
                turns.poll(task, |context| {
                    drive(driver, open, context);
                    Poll::Ready(())
                })
            })
            .await;
        }
        self.open && self.sender.is_ready()
    }

    /// Whether nothing was received since the last reply. The bytes would be taken for the reply to the next request,
    /// for example the second reply to a request that a proxy has delivered twice. hyper closes a connection on which
    /// tokio has seen such bytes, but tokio sees none while the thread is busy, and hyper sees no part of a TLS record.
    pub(crate) fn is_quiet(&self) -> bool {
        #[cfg(feature = "tls")]
        if self.unfinished.is_so() {
            return false;
        }
        let peeked = self.socket.as_ref().map(|socket| socket.peek(&mut [MaybeUninit::uninit()]));
        matches!(peeked, Some(Err(error)) if error.kind() == io::ErrorKind::WouldBlock)
    }

    /// Reads the complete body of a reply, up to the limit. Most bodies arrive in one piece, which is not copied.
    async fn collect<B>(&mut self, mut body: B, limit: usize) -> Result<Bytes, NoReply>
    where
        B: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Unpin,
    {
        let too_large = || NoReply::Broken(TransportErrorKind::ReplyTooLarge(limit));
        if body.size_hint().lower() > limit as u64 {
            return Err(too_large());
        }
        let mut first = Bytes::new();
        let mut whole = BytesMut::new();
        let mut frames = 0_usize;
        while !body.is_end_stream()
            && let Some(frame) = self.driving(body.frame()).await?
        {
            let frame = frame.map_err(|error| NoReply::Broken(TransportErrorKind::Connection(error.into())))?;
            frames += 1;
            if frames.is_multiple_of(IN_A_ROW) {
                if self.alarm.has_passed() {
                    return Err(NoReply::TimeUp);
                }
                let_others_run().await;
            }
            let Ok(piece) = frame.into_data() else { continue };
            if first.len() + whole.len() + piece.len() > limit {
                return Err(too_large());
            }
            if first.is_empty() && whole.is_empty() {
                first = piece;
            } else {
                whole.extend_from_slice(&std::mem::take(&mut first));
                whole.extend_from_slice(&piece);
            }
        }
        Ok(if whole.is_empty() { first } else { whole.freeze() })
    }

    /// Waits for a result of the connection, until the deadline.
    async fn driving<F: Future>(&mut self, awaited: F) -> Result<F::Output, TimeUp> {
        let mut awaited = pin!(awaited);
        let Self { driver, open, alarm, turns, .. } = self;
        let mut polls = 0_usize;
        poll_fn(|task| {
            turns.poll(task, |context| {
                // Polls the connection, which may hold data back until then.
                if let Poll::Ready(output) = awaited.as_mut().poll(context) {
                    return Poll::Ready(Ok(output));
                }
                drive(driver, open, context);
                // A connection that has ended has already stored its result.
                if let Poll::Ready(output) = awaited.as_mut().poll(context) {
                    return Poll::Ready(Ok(output));
                }
                // While a peer sends without pause, for example interim responses, the runtime seldom looks at its timers.
                polls += 1;
                if polls > AT_ONCE && alarm.has_passed() {
                    return Poll::Ready(Err(TimeUp));
                }
                alarm.poll(context).map(|()| Err(TimeUp))
            })
        })
        .await
    }
}

/// Ends the turn of the task. tokio's own function would wait for another runtime in a blocking client.
async fn let_others_run() {
    let mut has_run = false;
    poll_fn(|task| {
        if std::mem::replace(&mut has_run, true) {
            return Poll::Ready(());
        }
        task.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

fn drive(driver: &mut Pin<Box<http1::Connection<Stream, HeldBody>>>, open: &mut bool, context: &mut Context<'_>) {
    *open = *open && driver.as_mut().poll(context).is_pending();
}

impl From<TimeUp> for NoReply {
    fn from(_: TimeUp) -> Self {
        Self::TimeUp
    }
}

#[cfg(test)]
mod tests {
    use std::{convert::Infallible, time::Duration};

    use hyper::body::Frame;
    use tokio::net::TcpListener;

    use super::*;
    use crate::{alarm::now, connector::Connector};

    /// A body whose next byte is always there, and takes a millisecond.
    struct Endless(usize);

    impl Body for Endless {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            task: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            self.0 += 1;
            // The clock advances although the future is not ready.
            let _ = pin!(tokio::time::advance(Duration::from_millis(1))).poll(task);
            Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b"a")))))
        }
    }

    /// A connection whose deadline passes in a second.
    async fn open() -> Connection {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let uri = format!("http://{}/", listener.local_addr().unwrap()).parse().unwrap();
        let second = Duration::from_secs(1);
        let stream = Connector::new().open(uri, second).await.unwrap();
        Connection::over(stream, now() + second).await.unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_that_always_has_something_to_read_ends_at_the_deadline() {
        let mut connection = open().await;
        let mut polls = 0;
        let reading = poll_fn(|task| {
            polls += 1;
            // The clock advances although the future is not ready.
            let _ = pin!(tokio::time::advance(Duration::from_millis(1))).poll(task);
            task.waker().wake_by_ref();
            Poll::<()>::Pending
        });
        assert!(connection.driving(reading).await.is_err());
        assert!((1000..1010).contains(&polls), "{polls}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_is_always_ready_ends_at_the_deadline_and_lets_other_tasks_run() {
        let mut connection = open().await;
        let other = tokio::spawn(async {});
        let mut body = Endless(0);
        let collected = connection.collect(&mut body, 100_000).await;
        assert!(matches!(collected, Err(NoReply::TimeUp)));
        assert!((1000..1100).contains(&body.0), "{}", body.0);
        assert!(other.is_finished());
    }
}
