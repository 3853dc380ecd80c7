//! Request bodies, bounded in size and time, each and together.

use std::time::Duration;

use hyper::body::Incoming;
use pg_connections::{BodyError, ConnectionSlot, HeldBody};

use crate::form::FormError;

/// The time limit of a body.
const BODY_TIME: Duration = Duration::from_secs(30);
/// How much of an oversized body is read and discarded, so that its sender, which is still
/// sending, can read the response.
const DRAINED: usize = 64 << 20;

/// Reads a body of at most `limit` bytes.
pub(super) async fn read(body: Incoming, limit: usize, place: &ConnectionSlot) -> Result<HeldBody, FormError> {
    match tokio::time::timeout(BODY_TIME, pg_connections::read_body(place, body, limit, DRAINED)).await {
        Ok(Ok(body)) => Ok(body),
        Ok(Err(BodyError::TooLarge)) => Err(FormError::TooLarge { limit }),
        Ok(Err(BodyError::Incomplete)) | Err(_) => Err(FormError::Incomplete),
    }
}
