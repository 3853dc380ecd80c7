//! Bodies, bounded in size and time, each and together.

use std::time::Duration;

use hyper::body::Incoming;
use pg_connections::{BodyError, ConnectionSlot, HeldBody};

use crate::form::FormError;

/// How long a body may take.
const BODY_TIME: Duration = Duration::from_secs(30);
/// How much of a body that is too long is read and dropped, so that its sender, who is still
/// sending, gets to read the answer.
const DRAINED: usize = 64 << 20;

/// Reads a body of at most `limit` bytes.
pub(super) async fn read(body: Incoming, limit: usize, place: &ConnectionSlot) -> Result<HeldBody, FormError> {
    match tokio::time::timeout(BODY_TIME, pg_connections::read_body(place, body, limit, DRAINED)).await {
        Ok(Ok(body)) => Ok(body),
        Ok(Err(BodyError::TooLarge)) => Err(FormError::TooLarge { limit }),
        Ok(Err(BodyError::Incomplete)) | Err(_) => Err(FormError::Incomplete),
    }
}
