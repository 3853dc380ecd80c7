//! Bodies, bounded in size and time.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;

use crate::form::FormError;

/// How long a body may take.
const BODY_TIME: Duration = Duration::from_secs(30);
/// How much of a body that is too long is read and dropped, so that its sender, who is still
/// sending, gets to read the answer.
const DRAINED: usize = 64 << 20;

/// Reads a body of at most `limit` bytes.
pub(super) async fn read(body: Incoming, limit: usize) -> Result<Bytes, FormError> {
    match tokio::time::timeout(BODY_TIME, collect(body, limit)).await {
        Ok(result) => result,
        Err(_) => Err(FormError::Incomplete),
    }
}

async fn collect(mut body: Incoming, limit: usize) -> Result<Bytes, FormError> {
    let mut read = BytesMut::new();
    let mut length = 0;
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| FormError::Incomplete)?.into_data() else { continue };
        length += data.len();
        if length <= limit {
            read.extend_from_slice(&data);
        } else if length <= DRAINED {
            read = BytesMut::new();
        } else {
            break;
        }
    }
    if length > limit { Err(FormError::TooLarge { limit }) } else { Ok(read.freeze()) }
}
