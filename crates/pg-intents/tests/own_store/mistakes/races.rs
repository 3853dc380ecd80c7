//! A call reads, decides and writes in two transactions, and another call comes between.

use pg_intents::IntentStatus;

use super::*;

/// The store, in which one call has a mistake.
struct Racing(FileStore, &'static str, Mistake);

#[derive(Clone, Copy)]
enum Mistake {
    /// It decides by what it has read, and then changes the row without a look at it.
    ChecksBefore,
    /// It changes the row if the fencing number is still the same, and writes these columns back as it has read them.
    WritesBack(fn(&mut Stored, Stored)),
    /// It changes the row if that is still right, and returns what it has read.
    ReturnsEarlier,
}

impl Racing {
    /// Changes a row if it is as this says.
    async fn change<R>(
        &self,
        call: &str,
        key: &IntentKey,
        is: impl Fn(&Stored, i64) -> bool + Send,
        change: impl Fn(&mut Stored, i64) -> R + Send,
    ) -> Result<Option<R>, StoreError> {
        if call != self.1 {
            let changed = self.0.change_one(key, |stored, now| Ok(is(stored, now).then(|| change(stored, now))));
            return changed.map(Option::flatten);
        }
        let read = self.0.read(|data, now| data.intents.get(key).filter(|stored| is(stored, now)).cloned())?;
        let Some(mut read) = read else { return Ok(None) };
        tokio::task::yield_now().await;
        let changed = self.0.change_one(key, |stored, now| {
            // Otherwise another reader returns the outcome too, and a simpler check finds it.
            let is_same = stored.row.fence == read.row.fence && (call != "untold" || is(stored, now));
            match self.2 {
                Mistake::ChecksBefore => {}
                Mistake::WritesBack(columns) if is_same => columns(stored, read),
                Mistake::ReturnsEarlier if is(stored, now) => {
                    change(stored, now);
                    return Ok(Some(change(&mut read, now)));
                }
                _ => return Ok(None),
            }
            Ok(Some(change(stored, now)))
        });
        changed.map(Option::flatten)
    }

    async fn change_held(
        &self,
        call: &str,
        hold: &IntentLease,
        change: impl Fn(&mut Stored, i64) + Send,
    ) -> Result<(), StoreError> {
        let is = |stored: &Stored, _| stored.row.hold().as_ref() == Some(hold);
        let changed = move |stored: &mut Stored, now| {
            change(stored, now);
            stored.row.changed = now;
        };
        self.change(call, &hold.key, is, changed).await?.ok_or(StoreError::Lost)
    }
}

impl IntentStore for Racing {
    pass_on! { events find list accounts stop stopped }

    async fn enlist(&self, name: &str) -> Result<String, StoreError> {
        if self.1 != "enlist" {
            return self.0.enlist(name).await;
        }
        let number = self.0.read(|data, _| data.workers + 1)?;
        tokio::task::yield_now().await;
        self.0.change(|_, _| Ok((vec![Change::Worker(number)], format!("{name}#{number}"))))
    }

    async fn begin(&self, new: NewIntent) -> Result<Begun, StoreError> {
        let found = self.0.find(&new.key).await?;
        if self.1 != "begin" || found.is_some() {
            return self.0.begin(new).await;
        }
        tokio::task::yield_now().await;
        self.0.change(|_, now| Ok((vec![Change::Intent(Box::new(Stored::begun(new, now)))], Begun::New)))
    }

    async fn save(&self, hold: &IntentLease, state: &str, lease: Duration) -> Result<(), StoreError> {
        let save =
            |stored: &mut Stored, now| (stored.row.state, stored.row.due) = (state.to_owned(), later(now, lease));
        self.change_held("save", hold, save).await
    }

    async fn renew(&self, hold: &IntentLease, lease: Duration) -> Result<(), StoreError> {
        self.change_held("renew", hold, |stored, now| stored.row.due = later(now, lease)).await
    }

    async fn release(&self, hold: &IntentLease, wake: Duration) -> Result<(), StoreError> {
        self.change_held("release", hold, |stored, now| stored.release(wake, now)).await
    }

    async fn rest(&self, hold: &IntentLease, rest: IntentRest) -> Result<(), StoreError> {
        self.change_held("rest", hold, |stored, now| stored.rest(rest.clone(), now)).await
    }

    async fn end(&self, hold: &IntentLease, end: IntentEnd) -> Result<(), StoreError> {
        self.change_held("end", hold, |stored, now| stored.end(end.clone(), now)).await
    }

    async fn deliver(&self, key: &IntentKey, event: &str) -> Result<bool, StoreError> {
        let has_not_ended = |stored: &Stored, _| stored.row.status != IntentStatus::Ended;
        match self.change("deliver", key, has_not_ended, |stored, now| stored.deliver(event, now)).await? {
            Some(delivered) => Ok(delivered),
            // With a mistake, the event may be lost.
            None => self.0.read(|data, now| data.intents.get(key).is_some_and(|stored| has_not_ended(stored, now))),
        }
    }

    async fn claim(
        &self,
        account: &str,
        owner: &str,
        most: u32,
        lease: Duration,
        kinds: &[IntentKind],
    ) -> Result<Vec<IntentRow>, StoreError> {
        let is_due = |stored: &Stored, now| stored.is_due(account, kinds, now);
        let claim = |stored: &mut Stored, now| {
            *stored = stored.claimed(owner, lease, kinds, now);
            stored.at(now)
        };
        let mut due: Vec<(i64, IntentKey)> = self.0.read(|data, now| {
            let due = data.intents.values().filter(|stored| is_due(stored, now));
            due.map(|stored| (stored.row.due, stored.row.key.clone())).collect()
        })?;
        due.sort_by_key(|(due, _)| *due);
        let mut rows = Vec::new();
        for (_, key) in due.into_iter().take(most as usize) {
            rows.extend(self.change("claim", &key, is_due, claim).await?);
        }
        Ok(rows)
    }

    async fn claim_one(
        &self,
        key: &IntentKey,
        owner: &str,
        lease: Duration,
        kinds: &[IntentKind],
    ) -> Result<Option<Claimed>, StoreError> {
        let is_free = |stored: &Stored, now| stored.is_free_for(owner, kinds, now);
        let claim = |stored: &mut Stored, now| {
            *stored = stored.claimed(owner, lease, kinds, now);
            stored.at(now)
        };
        match self.change("claim_one", key, is_free, claim).await? {
            Some(row) => Ok(Some(Claimed::Taken(Box::new(row)))),
            None => Ok(self.0.find(key).await?.map(|row| Claimed::Not(Box::new(row)))),
        }
    }

    async fn direct(&self, key: &IntentKey, directive: Directive) -> Result<bool, StoreError> {
        let has_not_ended = |stored: &Stored, _| stored.row.status != IntentStatus::Ended;
        let direct = |stored: &mut Stored, now| {
            // With a mistake, it may have ended meanwhile.
            stored.row.status = stored.row.status.min(IntentStatus::Parked);
            stored.direct(directive, now)
        };
        Ok(self.change("direct", key, has_not_ended, direct).await?.unwrap_or(false))
    }

    async fn untold(&self, account: &str, most: u32, visibility: Duration) -> Result<Vec<IntentRow>, StoreError> {
        let is_untold = |stored: &Stored, now| stored.is_untold(account, now);
        let hide = |stored: &mut Stored, now| {
            *stored = stored.hidden(visibility, now);
            stored.at(now)
        };
        let untold: Vec<IntentKey> = self.0.read(|data, now| {
            let untold = data.intents.values().filter(|stored| is_untold(stored, now));
            untold.map(|stored| stored.row.key.clone()).take(most as usize).collect()
        })?;
        let mut rows = Vec::new();
        for key in untold {
            rows.extend(self.change("untold", &key, is_untold, hide).await?);
        }
        Ok(rows)
    }

    async fn told(&self, key: &IntentKey, event: i32) -> Result<(), StoreError> {
        let tell = |stored: &mut Stored, _| stored.row.told = stored.row.told.max(event);
        self.change("told", key, |stored, _| event <= stored.row.event, tell).await.map(|_| ())
    }

    async fn shares(&self, wish: ShareWish<'_>) -> Result<u32, StoreError> {
        if self.1 != "shares" {
            return self.0.shares(wish).await;
        }
        let mut shares = self.0.read(|data, _| data.shares.get(wish.account).cloned().unwrap_or_default())?;
        tokio::task::yield_now().await;
        self.0.change(|_, now| {
            let usable = take_shares(&mut shares, &wish, now);
            Ok((vec![Change::Shares(wish.account.to_owned(), shares)], usable))
        })
    }
}

const ALL: Mistake = Mistake::WritesBack(|stored, read| *stored = read);
const STATE: Mistake = Mistake::WritesBack(|stored, read| stored.row.state = read.row.state);
const DUE: Mistake = Mistake::WritesBack(|stored, read| stored.row.due = read.row.due);
const OUTCOME: Mistake =
    Mistake::WritesBack(|stored, read| (stored.row.outcome, stored.row.event) = (read.row.outcome, read.row.event));
const TOLD: Mistake = Mistake::WritesBack(|stored, read| stored.row.told = read.row.told);
const NOTHING: Mistake = Mistake::WritesBack(|_, _| {});

const ATOMIC: &str = "Each method is one atomic change";

fn are_found(mistakes: &[(&'static str, Mistake, &str, &str)]) {
    for (at, (call, mistake, promise, done)) in mistakes.iter().enumerate() {
        is_found(&format!("mistake {at}, of {call}"), |store| Racing(store, call, *mistake), promise, done);
    }
}

#[test]
fn a_call_that_decides_by_what_it_read_before_is_found() {
    use Mistake::ChecksBefore;
    are_found(&[
        ("enlist", ChecksBefore, "Returns a name that no worker had before", "enlisted `same` twice at the same time"),
        (
            "begin",
            ChecksBefore,
            "Of several calls at the same time, one stores",
            "began \"race\" for w1, w2, w3 and w4 at the same time",
        ),
        ("shares", ChecksBefore, "There are `total` shares", "w1 and w2 each took 2 of 3 free shares at the same time"),
        (
            "claim",
            ChecksBefore,
            "Two workers that claim at the same time",
            "six were due; claimed at most 4 for w1, w2 and w3 at the same time",
        ),
        (
            "claim_one",
            ChecksBefore,
            "Two workers that claim at the same time",
            "claimed \"one 1\" for w1 and w2 at the same time",
        ),
        (
            "untold",
            ChecksBefore,
            "The same outcome is returned again only after",
            "one outcome was not acknowledged; read the outbox twice at the same time",
        ),
        ("save", ChecksBefore, ATOMIC, "w1's lease was over: save by w1, and claim by w2, at the same time"),
        ("renew", ChecksBefore, ATOMIC, "w1's lease was over: renew by w1, and claim by w2, at the same time"),
        ("release", ChecksBefore, ATOMIC, "w1's lease was over: release by w1, and claim by w2, at the same time"),
        ("rest", ChecksBefore, ATOMIC, "w1's lease was over: rest by w1, and claim by w2, at the same time"),
        ("end", ChecksBefore, ATOMIC, "w1's lease was over: end as unknown by w1, and claim by w2, at the same time"),
        ("direct", ChecksBefore, ATOMIC, "end under the lease, and parked by an operator at the same time"),
    ]);
}

#[test]
fn a_change_that_another_call_loses_is_found() {
    are_found(&[
        ("save", ALL, ATOMIC, "saved under the lease, and delivered an event at the same time"),
        ("rest", ALL, ATOMIC, "rested under the lease, and delivered an event at the same time"),
        ("end", ALL, ATOMIC, "ended under the lease, and delivered an event at the same time"),
        ("deliver", ALL, ATOMIC, "saved under the lease, and delivered an event at the same time"),
        ("claim", ALL, ATOMIC, "claim for an unknown intent, and delivered an event at the same time: events"),
        ("claim_one", ALL, ATOMIC, "claim_one for an unknown intent, and delivered an event at the same time: events"),
        ("renew", ALL, ATOMIC, "renew for an unknown intent, and delivered an event at the same time: events"),
        ("release", ALL, ATOMIC, "release for an unknown intent, and delivered an event at the same time: events"),
        ("told", ALL, ATOMIC, "told for an unknown intent, and delivered an event at the same time: events"),
        ("untold", ALL, ATOMIC, "untold for an unknown intent, and delivered an event at the same time: events"),
        ("direct", ALL, ATOMIC, "park for an unknown intent, and delivered an event at the same time: events"),
        ("deliver", NOTHING, ATOMIC, "claim for an unknown intent, and delivered an event at the same time: events"),
        ("told", DUE, ATOMIC, "told for an unknown intent, and delivered an event at the same time: is due"),
        ("untold", DUE, ATOMIC, "untold for an unknown intent, and delivered an event at the same time: is due"),
        ("claim", STATE, ATOMIC, "w1's lease was over: save by w1, and claim by w2, at the same time"),
        ("claim_one", STATE, ATOMIC, "w1's lease was over: save by w1, and claim_one by w2, at the same time"),
        ("direct", STATE, ATOMIC, "save under the lease, and parked by an operator at the same time: state"),
        ("told", OUTCOME, ATOMIC, "an unknown intent: ended as paid, and told for its first outcome"),
        ("untold", OUTCOME, ATOMIC, "an unknown intent: ended as paid, and untold for its first outcome"),
        ("end", TOLD, ATOMIC, "an unknown intent: ended as paid, and told for its first outcome"),
    ]);
}

#[test]
fn a_claim_that_returns_what_it_read_before_is_found() {
    use Mistake::ReturnsEarlier;
    are_found(&[
        (
            "claim",
            ReturnsEarlier,
            ATOMIC,
            "w1's lease was over: release by w1, and claim by w2, at the same time; both",
        ),
        (
            "claim_one",
            ReturnsEarlier,
            ATOMIC,
            "w1's lease was over: release by w1, and claim_one by w2, at the same time",
        ),
    ]);
}
