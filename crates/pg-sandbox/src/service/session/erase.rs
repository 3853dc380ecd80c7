//! The card data of a session that has ended is erased (A78).

use super::Context;
use crate::{records::Session, service::cv2, store::StoreError, timestamp::Timestamp};

/// How many sessions are cleared away at a time, so that no request waits for long; the rest stays due.
const AT_ONCE: u32 = 64;

/// Erases what sessions that have ended still hold, the longest ended first.
pub(in super::super) fn ended(context: &mut Context<'_>) -> Result<(), StoreError> {
    for mut session in context.find_due::<Session>(AT_ONCE, Session::CARD_UNTIL, context.now)? {
        erase(context, &mut session)?;
    }
    let next = context.find_due::<Session>(1, Session::CARD_UNTIL, Timestamp::MAX)?;
    context.schedule.next_session_is(next.first().map(|session| session.expires));
    Ok(())
}

/// Erases what one session holds.
pub(super) fn erase(context: &mut Context<'_>, session: &mut Session) -> Result<(), StoreError> {
    cv2::take(context, &session.key)?;
    session.erase();
    context.records.put(session)
}
