//! What `--watch` asks the store at each poll.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use pg_intents::{IntentFilter, IntentKey, IntentRow, IntentStatus, IntentStore, StoreError};

use super::failure;
use crate::failure::Failure;

/// The interval of `--watch`.
const PAUSE: Duration = Duration::from_secs(2);
/// With `--watch`, a search among all payments is made at the first of so many polls, once a minute.
pub(super) const POLLS: u32 = 30;

/// Returns the filter without parked payments, if it has open or unknown ones, which an index finds among those that have ended. A payment
/// that was printed and is parked meanwhile is read by its key.
pub(super) fn few(filter: &IntentFilter) -> IntentFilter {
    let mut few = filter.clone();
    few.statuses.retain(|status| *status < IntentStatus::Parked);
    if few.statuses.is_empty() || filter.statuses.contains(&IntentStatus::Ended) {
        return filter.clone();
    }
    few
}

/// Returns the payments that were printed and are no longer among these rows: most of them have ended.
pub(super) async fn left_out<S: IntentStore>(
    store: &S,
    rows: &[IntentRow],
    printed: &HashMap<IntentKey, i64>,
) -> Result<Vec<IntentRow>, Failure> {
    let listed: HashSet<&IntentKey> = rows.iter().map(|row| &row.key).collect();
    let mut left = Vec::new();
    for key in printed.keys().filter(|key| !listed.contains(key)) {
        match store.find(key).await {
            Ok(row) => left.extend(row),
            Err(StoreError::Sealed { .. }) => {}
            Err(error) => return Err(failure(error)),
        }
    }
    Ok(left)
}

#[expect(clippy::disallowed_methods, reason = "changes are shown in real time")]
pub(super) async fn pause() {
    tokio::time::sleep(PAUSE).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ended payments stay in the table for ever.
    #[test]
    fn between_two_full_polls_a_watcher_asks_only_for_what_an_index_finds() {
        use IntentStatus::{Ended, Open, Parked, Unknown};
        let asked = |statuses: &[IntentStatus]| {
            few(&IntentFilter { statuses: statuses.to_vec(), ..IntentFilter::default() }).statuses
        };
        assert_eq!(asked(&[Open, Unknown, Parked]), [Open, Unknown]);
        // Without others, parked payments are all that is shown; with ended ones, the newest are found at once.
        for statuses in [&[Parked][..], &[Open, Unknown, Parked, Ended], &[Ended], &[Open]] {
            assert_eq!(asked(statuses), statuses);
        }
    }
}
