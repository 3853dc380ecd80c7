//! Bodies, bounded in size and time, each and together.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use pg_connections::{Hold, Place};

use crate::form::FormError;

/// How long a body may take.
const BODY_TIME: Duration = Duration::from_secs(30);
/// How much of a body that is too long is read and dropped, so that its sender, who is still
/// sending, gets to read the answer.
const DRAINED: usize = 64 << 20;

/// A complete body.
#[derive(Default)]
pub(super) struct Body {
    pub(super) bytes: Bytes,
    /// Its share of the bytes that all bodies may have.
    pub(super) held: Option<Hold>,
}

/// Reads a body of at most `limit` bytes.
pub(super) async fn read(body: Incoming, limit: usize, place: &Place) -> Result<Body, FormError> {
    match tokio::time::timeout(BODY_TIME, collect(body, limit, place)).await {
        Ok(result) => result,
        Err(_) => Err(FormError::Incomplete),
    }
}

async fn collect(mut body: Incoming, limit: usize, place: &Place) -> Result<Body, FormError> {
    let mut read = BytesMut::new();
    let mut held: Option<Hold> = None;
    let mut length = 0;
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| FormError::Incomplete)?.into_data() else { continue };
        length += data.len();
        if length <= limit {
            let more = place.hold(data.len()).await.ok_or(FormError::TooLarge { limit })?;
            match &mut held {
                Some(held) => held.join(more),
                None => held = Some(more),
            }
            read.extend_from_slice(&data);
        } else if length <= DRAINED {
            read = BytesMut::new();
            held = None;
        } else {
            break;
        }
    }
    if length > limit { Err(FormError::TooLarge { limit }) } else { Ok(Body { bytes: read.freeze(), held }) }
}
