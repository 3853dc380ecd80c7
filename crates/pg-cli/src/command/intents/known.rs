//! Whether the store knows `--account`: a part of a name, or an earlier address, would find nothing.

use pg_intents::IntentStore;
use pg_proto::Account;

use super::{Action, Arguments, failure};
use crate::failure::Failure;

/// The number of accounts that an error lists.
const SHOWN: u32 = 5;

/// Rejects an account that has neither payments nor a stop. The store of a run of `pg update-cards` may have a stop and no payments, and
/// that of a new fleet neither.
pub(super) async fn check<S: IntentStore>(store: &S, arguments: &Arguments) -> Result<(), Failure> {
    let Some(account) = &arguments.account else { return Ok(()) };
    let is_known = store.accounts(account, 1).await.map_err(failure)?.contains(account)
        || store.stopped(account).await.map_err(failure)?.is_some();
    if is_known {
        return Ok(());
    }
    let (is_whole, is_resume) = (Account::is_bound_identity(account), matches!(arguments.action, Some(Action::Resume)));
    let mut names = store.accounts("", SHOWN + 1).await.map_err(failure)?;
    if is_whole && (names.is_empty() || is_resume || arguments.watch) {
        return Ok(());
    }
    if let Some(more) = names.get_mut(SHOWN as usize) {
        *more = "…".to_owned();
    }
    let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    Err(Failure::misuse(format!(
        "{account}: the store has no payments of this account; accounts with payments: {names}"
    )))
}
