//! The client session service (spec 2 §4.1, §4.2). The card data of a session that has ended is erased (A78).

use pg_model::Initiate;

use super::{
    Context, Refusal, cv2,
    method::{Entry, entry},
};
use crate::{merchants::Merchant, records::Session, store::StoreError, timestamp::Timestamp};

mod initiate;
mod postform;

pub(super) use postform::postform;
pub(crate) use postform::session_in_unreadable;

/// The methods that a merchant's server calls. Browsers call the card form, which has its own replies: see
/// [`postform()`].
pub(super) const METHODS: &[Entry] = &[entry::<Initiate>()];

/// The number of sessions that are erased at a time, so that no request waits for long. The rest remains due.
const AT_ONCE: u32 = 64;

/// Erases the data of ended sessions, the earliest first.
pub(super) fn erase_ended(context: &mut Context<'_>) -> Result<(), StoreError> {
    for mut session in context.find_due::<Session>(AT_ONCE, Session::CARD_UNTIL, context.now)? {
        erase(context, &mut session)?;
    }
    let next = context.find_due::<Session>(1, Session::CARD_UNTIL, Timestamp::MAX)?;
    context.schedule.next_session_is(next.first().map(|session| session.expires));
    Ok(())
}

/// Erases the data of one session.
fn erase(context: &mut Context<'_>, session: &mut Session) -> Result<(), StoreError> {
    cv2::take(context, &session.key)?;
    session.erase();
    context.records.put(session)
}
