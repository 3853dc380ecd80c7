//! The card data of a session that has ended is erased (assumption 78).

use super::{Context, Refusal};
use crate::{
    records::Session,
    store::{Query, StoreError},
};

/// How many sessions one request clears away: more than one, so that none is left behind for long.
const AT_ONCE: u32 = 16;

/// Erases what sessions that have ended still hold, the longest ended first.
pub(super) fn ended(context: &mut Context<'_>) -> Result<(), Refusal> {
    let now = context.now.sortable();
    let query = Query::oldest(AT_ONCE).at_most(Session::CARD_UNTIL, &now);
    for mut session in context.records.find::<Session>(&query)? {
        erase(context, &mut session)?;
    }
    Ok(())
}

/// Erases what one session holds.
pub(super) fn erase(context: &mut Context<'_>, session: &mut Session) -> Result<(), StoreError> {
    drop(context.cv2.take(&session.key));
    session.erase();
    context.records.put(session)
}
