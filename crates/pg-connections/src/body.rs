//! Bodies of requests, within the bytes that all bodies together may have.

use bytes::{Bytes, BytesMut};
use http_body::Body;
use http_body_util::BodyExt as _;

use crate::{BodyPermit, ConnectionSlot};

/// A complete body.
#[derive(Debug, Default)]
pub struct HeldBody {
    /// The body.
    pub bytes: Bytes,
    /// Its share of the bytes that all bodies may have: drop it once the request is answered.
    pub held: Option<BodyPermit>,
}

/// Why a body was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyError {
    /// It has more bytes than allowed.
    TooLarge,
    /// It ended early.
    Incomplete,
}

/// Reads a body of at most `limit` bytes. Of a longer one, up to `drained` bytes in all are read and dropped, so that a peer that is
/// still sending gets to read the response. Bound the time of the future: a slow body may take for ever.
///
/// # Errors
/// [`BodyError`] says which limit the body breaks.
pub async fn read_body<B: Body>(
    place: &ConnectionSlot,
    body: B,
    limit: usize,
    drained: usize,
) -> Result<HeldBody, BodyError> {
    let mut body = std::pin::pin!(body);
    let mut read = BytesMut::new();
    let mut held: Option<BodyPermit> = None;
    let mut length = 0_usize;
    while let Some(frame) = body.frame().await {
        let Ok(mut data) = frame.map_err(|_| BodyError::Incomplete)?.into_data() else { continue };
        let more = bytes::Buf::remaining(&data);
        length = length.saturating_add(more);
        if length <= limit {
            let more = place.hold(more).await.ok_or(BodyError::TooLarge)?;
            match &mut held {
                Some(held) => held.join(more),
                None => held = Some(more),
            }
            bytes::BufMut::put(&mut read, &mut data);
        } else if length <= drained {
            (read, held) = (BytesMut::new(), None);
        } else {
            break;
        }
    }
    if length > limit { Err(BodyError::TooLarge) } else { Ok(HeldBody { bytes: read.freeze(), held }) }
}
