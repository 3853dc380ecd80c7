//! A call forgets what it must keep: a report that waits, the number of an outcome, a planned lookup, the shares of others.

use pg_intents::IntentStatus;

use super::*;

/// What a call does to a row besides its own change.
type Forget = fn(&mut Stored, i64);

struct Forgetting(FileStore, Mistake);

#[derive(Clone, Copy)]
enum Mistake {
    /// This call forgets this.
    Of(&'static str, Forget),
    Shares,
    /// A call shortens the leases of every account.
    OtherAccounts,
}

impl Forgetting {
    fn after(&self, call: &str, key: &IntentKey) -> Result<(), StoreError> {
        let Mistake::Of(mistaken, forget) = self.1 else { return Ok(()) };
        let forgotten = self.0.change_one(key, |stored, now| {
            if call == mistaken {
                forget(stored, now);
            }
            Ok(())
        });
        forgotten.map(|_| ())
    }
}

impl IntentStore for Forgetting {
    pass_on! { enlist begin deliver events claim_one find list accounts stop stopped }

    async fn save(&self, hold: &IntentLease, state: &str, lease: Duration) -> Result<(), StoreError> {
        self.0.save(hold, state, lease).await?;
        self.after("save", &hold.key)
    }

    async fn renew(&self, hold: &IntentLease, lease: Duration) -> Result<(), StoreError> {
        self.0.renew(hold, lease).await?;
        self.after("renew", &hold.key)
    }

    async fn release(&self, hold: &IntentLease, wake: Duration) -> Result<(), StoreError> {
        self.0.release(hold, wake).await?;
        self.after("release", &hold.key)
    }

    async fn rest(&self, hold: &IntentLease, rest: IntentRest) -> Result<(), StoreError> {
        self.0.rest(hold, rest).await?;
        self.after("rest", &hold.key)
    }

    async fn end(&self, hold: &IntentLease, end: IntentEnd) -> Result<(), StoreError> {
        self.0.end(hold, end).await?;
        self.after("end", &hold.key)
    }

    async fn claim(
        &self,
        account: &str,
        owner: &str,
        most: u32,
        lease: Duration,
        kinds: &[IntentKind],
    ) -> Result<Vec<IntentRow>, StoreError> {
        let rows = self.0.claim(account, owner, most, lease, kinds).await?;
        rows.iter().try_for_each(|row| self.after("claim", &row.key))?;
        Ok(rows)
    }

    async fn direct(&self, key: &IntentKey, directive: Directive) -> Result<bool, StoreError> {
        let directed = self.0.direct(key, directive).await?;
        if directed {
            self.after(if directive == Directive::Park { "park" } else { "reconcile" }, key)?;
        }
        Ok(directed)
    }

    async fn untold(&self, account: &str, most: u32, visibility: Duration) -> Result<Vec<IntentRow>, StoreError> {
        let rows = self.0.untold(account, most, visibility).await?;
        rows.iter().try_for_each(|row| self.after("untold", &row.key))?;
        Ok(rows)
    }

    async fn told(&self, key: &IntentKey, event: i32) -> Result<(), StoreError> {
        self.0.told(key, event).await?;
        self.after("told", key)
    }

    async fn shares(&self, wish: ShareWish<'_>) -> Result<u32, StoreError> {
        match self.1 {
            Mistake::Shares => self.0.change(|data, _| {
                let mut shares = data.shares.get(wish.account).cloned().unwrap_or_default();
                shares.truncate(wish.total as usize);
                Ok((vec![Change::Shares(wish.account.to_owned(), shares)], ()))
            })?,
            Mistake::OtherAccounts if wish.most > 0 => self.0.change(|data, now| {
                let mut all = data.shares.clone();
                all.retain(|account, _| account != wish.account);
                let longest = later(now, wish.longest);
                all.values_mut().flatten().for_each(|share| share.due = share.due.min(longest));
                Ok((all.into_iter().map(|(account, shares)| Change::Shares(account, shares)).collect(), ()))
            })?,
            _ => {}
        }
        self.0.shares(wish).await
    }
}

fn events(stored: &mut Stored, _: i64) {
    stored.events.clear();
}

fn events_of_parked(stored: &mut Stored, _: i64) {
    if stored.row.status == IntentStatus::Parked {
        stored.events.clear();
    }
}

/// Nothing but another event makes it due.
fn that_events_wait(stored: &mut Stored, _: i64) {
    if !stored.events.is_empty() {
        stored.row.due = i64::MAX;
    }
}

fn number(stored: &mut Stored, _: i64) {
    stored.row.event = 0;
}

fn outcome(stored: &mut Stored, _: i64) {
    stored.row.outcome = None;
}

fn acknowledgement(stored: &mut Stored, _: i64) {
    stored.row.told = 0;
}

fn status(stored: &mut Stored, _: i64) {
    stored.row.status = IntentStatus::Open;
}

fn lookup(stored: &mut Stored, now: i64) {
    if stored.row.due > now {
        stored.row.due = later(now, Duration::from_secs(7200));
    }
}

#[test]
fn what_a_call_forgets_is_found() {
    const ATOMIC: &str = "Each method is one atomic change";
    const NUMBER: &str = "An outcome that differs from the previous one raises `event`";
    let mistakes: [(&str, Forget, &str, String); 18] = [
        (
            "rest",
            lookup,
            "A planned lookup keeps its time",
            "ended as unknown, with a lookup in an hour; then rested".to_owned(),
        ),
        (
            "end",
            events,
            "An intent that has `Ended` keeps no events; an unknown",
            "delivered event 2, claimed, ended as unknown having heard event 1".to_owned(),
        ),
        (
            "reconcile",
            status,
            "`claims` and `lookups` start again",
            "ended as unknown, with a lookup in an hour; then reconciled".to_owned(),
        ),
        ("claim", events, ATOMIC, waiting("claim, which has not heard it: events")),
        ("renew", events, ATOMIC, waiting("renew, which has not heard it: events")),
        ("release", events, ATOMIC, waiting("release, which has not heard it: events")),
        ("release", that_events_wait, ATOMIC, waiting("release, which has not heard it: inbox, is due")),
        ("end", events_of_parked, ATOMIC, waiting("end as parked, which has not heard it: events")),
        ("untold", events, ATOMIC, waiting("untold, which has not heard it: events")),
        ("told", events, ATOMIC, waiting("told, which has not heard it: events")),
        ("park", events, ATOMIC, waiting("direct: park, which has not heard it: events")),
        ("reconcile", events, ATOMIC, waiting("direct: reconcile, which has not heard it: events")),
        ("rest", number, NUMBER, told(false, "rest")),
        ("rest", outcome, NUMBER, told(false, "rest")),
        ("park", number, NUMBER, told(false, "direct: park")),
        // The check reconciles what is parked, to end it.
        (
            "reconcile",
            number,
            "Returns the outbox",
            "ended as unknown, acknowledged: false, then end as parked".to_owned(),
        ),
        ("claim", acknowledgement, NUMBER, told(true, "claim")),
        ("release", acknowledgement, NUMBER, told(true, "release")),
    ];
    for (at, (call, forget, promise, done)) in mistakes.into_iter().enumerate() {
        let forgetting = |store| Forgetting(store, Mistake::Of(call, forget));
        is_found(&format!("mistake {at}, of {call}"), forgetting, promise, &done);
    }
    is_found(
        "shares",
        |store| Forgetting(store, Mistake::Shares),
        "Shares beyond `total`",
        "w1 took 3 shares of a total of 3; after calls with a total of 1, w3 took 3",
    );
    is_found(
        "leases of other accounts",
        |store| Forgetting(store, Mistake::OtherAccounts),
        "Otherwise, if the worker gets fewer than it wants",
        "leases of one account were shortened; then w2 asked for a share of another",
    );
}

fn waiting(call: &str) -> String {
    format!("ended as unknown, then delivered an event, then {call}")
}

fn told(is_told: bool, call: &str) -> String {
    format!("ended as unknown, acknowledged: {is_told}, then {call}: outcome, event, told")
}
