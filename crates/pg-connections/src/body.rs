//! Reads request bodies, within the byte limit of all bodies together.

use bytes::{Buf, BufMut as _, Bytes, BytesMut};
use http_body::{Body, SizeHint};
use http_body_util::BodyExt as _;

use crate::{BodyPermit, ConnectionSlot};

/// A complete body.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct HeldBody {
    /// The body.
    pub bytes: Bytes,
    /// The share of this body in the bytes that all bodies may use: drop it once the request is answered.
    pub held: Option<BodyPermit>,
}

/// Why a body was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyError {
    /// The body is longer than allowed.
    TooLarge,
    /// The body ended early.
    Incomplete,
}

/// Maximum number of bytes to reserve for a body before they are read.
const READ_AHEAD: usize = 64 << 10;
/// The same maximum for a body without a declared length.
const READ_AHEAD_OF_CHUNKS: usize = 8 << 10;

/// Reads a body of at most `limit` bytes. Each part is read once there is room for it; until then the peer keeps it. Of
/// a longer body, up to `drained` bytes in total are read and dropped, so that a peer that is still sending can read
/// the response. Set a timeout for the future: a slow body may never end.
///
/// With 0 for `drained`, a body whose declared length is above the limit is refused before it is asked for. That is for
/// requests with a header `Expect`, which send no body until then (RFC 9110 §10.1.1).
///
/// An incomplete body takes no more memory than it has reserved. The buffers of the HTTP server come on top:
/// [`ShortReads`](crate::ShortReads) keeps those of hyper small.
///
/// # Errors
///
/// [`BodyError`] says which limit the body exceeds.
pub async fn read_body<B: Body>(
    place: &ConnectionSlot,
    body: B,
    limit: usize,
    drained: usize,
) -> Result<HeldBody, BodyError> {
    let mut body = std::pin::pin!(body);
    let mut read = Parts::default();
    let mut held: Option<BodyPermit> = None;
    let mut length = 0_usize;
    loop {
        let next = next_part(&body.size_hint(), limit.checked_sub(length));
        if let Some(next) = next
            && read.room() == 0
        {
            hold(place, next, &mut held).await?;
            read.reserved(next);
        }
        if next.is_none() && length >= drained {
            return Err(BodyError::TooLarge);
        }
        let Some(frame) = body.frame().await else { break };
        let Ok(mut data) = frame.map_err(|_| BodyError::Incomplete)?.into_data() else { continue };
        let part = data.remaining();
        length = length.saturating_add(part);
        if next.is_some() && length <= limit {
            read.fill(&mut data);
            if data.has_remaining() {
                hold(place, data.remaining(), &mut held).await?;
                read.reserved(data.remaining());
                read.fill(&mut data);
            }
        } else if length <= drained {
            (read, held) = (Parts::default(), None);
            place.released();
        } else {
            break;
        }
    }
    if length > limit { Err(BodyError::TooLarge) } else { Ok(HeldBody { bytes: read.whole(), held }) }
}

/// The parts of a body, each in memory of exactly the reserved length: a growing buffer has up to twice the length of its content,
/// and both its old and its new memory while it grows.
#[derive(Default)]
struct Parts(Vec<BytesMut>);

impl Parts {
    /// Adds memory of this length, which the body has reserved.
    fn reserved(&mut self, bytes: usize) {
        if bytes > 0 {
            self.0.push(BytesMut::with_capacity(bytes));
        }
    }

    /// Reserved bytes that are not read yet.
    fn room(&self) -> usize {
        self.0.last().map_or(0, |part| part.capacity() - part.len())
    }

    /// Takes as many bytes as fit.
    fn fill(&mut self, data: &mut impl Buf) {
        let room = self.room();
        if let Some(part) = self.0.last_mut() {
            part.put(data.take(room));
        }
    }

    /// Returns all bytes in one piece. A short body is not copied.
    fn whole(mut self) -> Bytes {
        if self.0.len() == 1 {
            return self.0.pop().map(BytesMut::freeze).unwrap_or_default();
        }
        let mut all = BytesMut::with_capacity(self.0.iter().map(BytesMut::len).sum());
        self.0.into_iter().for_each(|part| all.put(part));
        all.freeze()
    }
}

/// Returns how many further bytes to reserve before reading on. `None` if the body will be dropped: it is longer than
/// the limit.
fn next_part(hint: &SizeHint, room: Option<usize>) -> Option<usize> {
    let rest = hint.exact().map(|rest| usize::try_from(rest).unwrap_or(usize::MAX));
    match (room?, rest) {
        (room, Some(rest)) => (rest <= room).then(|| rest.min(READ_AHEAD)),
        (room, None) => Some(room.min(READ_AHEAD_OF_CHUNKS)),
    }
}

async fn hold(place: &ConnectionSlot, bytes: usize, held: &mut Option<BodyPermit>) -> Result<(), BodyError> {
    if bytes > 0 {
        let more = place.hold(bytes).await.ok_or(BodyError::TooLarge)?;
        match held {
            Some(held) => held.join(more),
            None => *held = Some(more),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::{
        cell::Cell,
        convert::Infallible,
        net::{IpAddr, Ipv4Addr},
        pin::{Pin, pin},
        task::{Context, Poll, Waker},
    };

    use http_body::Frame;

    use super::*;
    use crate::{ConnectionLimits, ConnectionSlots, places::Admission};

    /// A body of `left` bytes, of which the peer sends ten at a time.
    struct Sent<'a> {
        left: usize,
        is_declared: bool,
        reads: &'a Cell<usize>,
    }

    impl Body for Sent<'_> {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            self.reads.set(self.reads.get() + 1);
            let part = self.left.min(10);
            self.left -= part;
            Poll::Ready((part > 0).then(|| Ok(Frame::data(Bytes::from(vec![b'a'; part])))))
        }

        fn size_hint(&self) -> SizeHint {
            if self.is_declared { SizeHint::with_exact(self.left as u64) } else { SizeHint::default() }
        }
    }

    fn slots() -> ConnectionSlots {
        ConnectionSlots::new(ConnectionLimits { body_bytes: 100, free_body_bytes: 0, ..ConnectionLimits::default() })
    }

    fn admitted(slots: &ConnectionSlots) -> ConnectionSlot {
        match slots.admit(IpAddr::V4(Ipv4Addr::LOCALHOST)) {
            Admission::Admitted(slot) => slot,
            Admission::Full | Admission::Refused => panic!("there is room"),
        }
    }

    fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
        future.poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn a_body_is_read_only_when_the_budget_has_room() {
        let slots = slots();
        let (first, second, reads) = (admitted(&slots), admitted(&slots), Cell::new(0));
        first.working();
        let Poll::Ready(Some(all)) = poll(pin!(first.hold(100))) else { panic!("there is room") };
        for is_declared in [true, false] {
            let mut read = pin!(read_body(&second, Sent { left: 30, is_declared, reads: &reads }, 50, 100));
            assert!(poll(read.as_mut()).is_pending());
            assert_eq!(reads.get(), 0);
        }
        drop(all);
        for is_declared in [true, false] {
            let body = Sent { left: 30, is_declared, reads: &reads };
            let Poll::Ready(Ok(body)) = poll(pin!(read_body(&second, body, 50, 100))) else { panic!("it is read") };
            assert_eq!(body.bytes.len(), 30);
        }
    }

    #[test]
    fn a_body_that_is_too_long_is_dropped_without_holding_any_of_it() {
        let slots = slots();
        let (first, second, reads) = (admitted(&slots), admitted(&slots), Cell::new(0));
        first.working();
        let _all = poll(pin!(first.hold(100)));
        let body = Sent { left: 60, is_declared: true, reads: &reads };
        let read = poll(pin!(read_body(&second, body, 50, 100)));
        assert!(matches!(read, Poll::Ready(Err(BodyError::TooLarge))));
        assert_eq!(reads.get(), 7);
    }

    #[test]
    fn a_declared_body_that_is_too_long_is_not_asked_for_if_none_of_it_is_to_be_dropped() {
        let (slots, reads) = (slots(), Cell::new(0));
        let place = admitted(&slots);
        let body = Sent { left: 60, is_declared: true, reads: &reads };
        let read = poll(pin!(read_body(&place, body, 50, 0)));
        assert!(matches!(read, Poll::Ready(Err(BodyError::TooLarge))));
        assert_eq!(reads.get(), 0);
    }

    /// To close its connection would free nothing.
    #[test]
    fn a_body_that_was_dropped_holds_nothing() {
        let slots = slots();
        let (first, second, third, reads) = (admitted(&slots), admitted(&slots), admitted(&slots), Cell::new(0));
        let body = Sent { left: 60, is_declared: false, reads: &reads };
        let read = poll(pin!(read_body(&first, body, 50, 100)));
        assert!(matches!(read, Poll::Ready(Err(BodyError::TooLarge))));
        let _all = poll(pin!(second.hold(100)));
        second.working();
        assert!(poll(pin!(third.hold(1))).is_pending());
        assert!(poll(pin!(first.closed())).is_pending());
    }
}
