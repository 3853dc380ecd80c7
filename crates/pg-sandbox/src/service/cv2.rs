//! The CV2 of a session, until the first authorisation (A101).
//!
//! No outcome depends on its digits. A sandbox with its own store keeps it in memory. Sandboxes that share a store
//! record only that the session was given a CV2, and drop the digits at once, so that no backup contains them.

use super::Context;
use crate::{
    records::{Meta, Session},
    secret::Secret,
    store::StoreError,
    timestamp::Timestamp,
};

/// Replaces the CV2 of a session with the CV2 of its posted form, if the form has one.
pub(super) fn posted(context: &mut Context<'_>, session: &Session, cv2: Option<Secret>) -> Result<(), StoreError> {
    match cv2 {
        Some(_) if context.is_shared => context.records.put(&Meta::cv2(&session.key)),
        Some(cv2) => {
            // The sweep of this memory uses only the sandbox's clock. The end of the session drops the CV2 on any
            // clock.
            let until = if session.own_clock { Timestamp::MAX } else { session.expires };
            context.cv2.keep(&session.key, cv2, until);
            Ok(())
        }
        None => take(context, &session.key).map(drop),
    }
}

/// Drops the CV2 of a session and returns whether there was one.
pub(super) fn take(context: &mut Context<'_>, session_key: &str) -> Result<bool, StoreError> {
    if context.is_shared {
        context.records.remove::<Meta>(&Meta::cv2_key(session_key))
    } else {
        Ok(context.cv2.take(session_key).is_some())
    }
}
