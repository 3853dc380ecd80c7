//! Claims, lists and the outbox choose the wrong rows, or return them in a wrong order.

use pg_intents::IntentStatus;

use super::*;

struct Choosing(FileStore, Mistake);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mistake {
    ClaimTakesNewest,
    ClaimByCreation,
    ClaimLimitsFirst,
    ListByName,
    UntoldAtOnce,
    UntoldHidesAll,
    UntoldHidesForEver,
    UntoldWithoutClaimed,
    UntoldWithoutParked,
}

impl IntentStore for Choosing {
    pass_on! {
        enlist begin save renew release end rest deliver events claim_one find accounts direct told shares stop stopped
    }

    async fn claim(
        &self,
        account: &str,
        owner: &str,
        most: u32,
        lease: Duration,
        kinds: &[IntentKind],
    ) -> Result<Vec<IntentRow>, StoreError> {
        self.0.change(|data, now| {
            let of_account = data.intents.values().filter(|stored| stored.row.key.account == account);
            let mut due: Vec<&Stored> = of_account.filter(|stored| stored.at(now).is_due()).collect();
            if self.1 != Mistake::ClaimLimitsFirst {
                due.retain(|stored| stored.is_due(account, kinds, now));
            }
            due.sort_by_key(|stored| stored.row.due);
            match self.1 {
                Mistake::ClaimTakesNewest => due.reverse(),
                Mistake::ClaimByCreation => due.sort_by_key(|stored| stored.row.created),
                _ => {}
            }
            due.truncate(most as usize);
            due.retain(|stored| stored.is_due(account, kinds, now));
            let claimed: Vec<Stored> = due.iter().map(|stored| stored.claimed(owner, lease, kinds, now)).collect();
            let rows = claimed.iter().map(|stored| stored.at(now)).collect();
            Ok((claimed.into_iter().map(|stored| Change::Intent(Box::new(stored))).collect(), rows))
        })
    }

    async fn list(&self, filter: IntentFilter) -> Result<Vec<IntentRow>, StoreError> {
        let mut rows = self.0.list(filter).await?;
        if self.1 == Mistake::ListByName {
            rows.sort_by(|one, other| one.key.cmp(&other.key));
        }
        Ok(rows)
    }

    async fn untold(&self, account: &str, most: u32, visibility: Duration) -> Result<Vec<IntentRow>, StoreError> {
        let visibility = match self.1 {
            Mistake::UntoldAtOnce => Duration::ZERO,
            Mistake::UntoldHidesForEver if visibility > Duration::ZERO => Duration::MAX,
            _ => visibility,
        };
        let mut rows = match self.1 {
            Mistake::UntoldHidesAll => self.0.untold(account, u32::MAX, visibility).await?,
            _ => self.0.untold(account, most, visibility).await?,
        };
        rows.truncate(most as usize);
        rows.retain(|row| match self.1 {
            Mistake::UntoldWithoutClaimed => row.owner.is_none(),
            Mistake::UntoldWithoutParked => row.status != IntentStatus::Parked,
            _ => true,
        });
        Ok(rows)
    }
}

#[test]
fn a_wrong_choice_is_found() {
    const UNTOLD: &str = "Returns the outbox";
    const UNTOLD_AGAIN: &str = "The same outcome is returned again only after `visibility`";
    for (mistake, promise, done) in [
        (
            Mistake::ClaimTakesNewest,
            "Claims due intents of an account, the longest due first",
            "five were due; claimed at most 3: the times",
        ),
        (
            Mistake::ClaimByCreation,
            "Claims due intents of an account, the longest due first",
            "began two, and the lease of the older one ended later",
        ),
        (
            Mistake::ClaimLimitsFirst,
            "Intents of other kinds or of later versions",
            "version 3 was due, then version 1; claimed at most 1",
        ),
        (
            Mistake::ListByName,
            "Reads intents, the most recently changed first",
            "listed an account's intents: their times of change",
        ),
        (Mistake::UntoldAtOnce, UNTOLD_AGAIN, "read the outbox with a visibility of an hour, then again"),
        (Mistake::UntoldHidesAll, UNTOLD, "two outcomes were not acknowledged; read at most 1"),
        (Mistake::UntoldHidesForEver, UNTOLD_AGAIN, "read the outbox with a visibility of a millisecond, and again"),
        (
            Mistake::UntoldWithoutClaimed,
            UNTOLD,
            "ended as unknown, acknowledged: false, then claim; then read the outbox",
        ),
        (Mistake::UntoldWithoutParked, UNTOLD, "ended as unknown, acknowledged: false, then end as parked; then read"),
    ] {
        is_found(&format!("{mistake:?}"), |store| Choosing(store, mistake), promise, done);
    }
}
