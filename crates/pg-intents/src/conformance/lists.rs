//! Lists of intents and accounts, and what belongs to an account.

use super::{
    HOUR, OVER, Suite, ending, hold_of,
    promise::{
        ACCOUNTS, CLAIM, CLAIM_ONE, DELIVER, DIRECT, EVENTS_AFTER, FENCED, FIND, LIST, SHARES, STOP, TOLD, UNTOLD,
    },
};
use crate::{Directive, IntentFilter, IntentRest, IntentStatus, IntentStore, ShareWish};

impl<S: IntentStore> Suite<'_, S> {
    pub(super) async fn lists_are_filtered(&self) {
        let list = async |filter| LIST.ok("listed intents", self.store.list(filter).await);
        let references = async |statuses: &[IntentStatus], claims, most| {
            let account = Some(self.account.clone());
            let rows = list(IntentFilter { account, reference: None, statuses: statuses.to_vec(), claims, most }).await;
            rows.into_iter().map(|intent| intent.key.reference).collect::<Vec<_>>()
        };
        let has = |all: &[String], reference: &str| all.iter().any(|listed| listed == reference);
        let open = references(&[IntentStatus::Open], 0, 100).await;
        let is = has(&open, "held") && !has(&open, "ends");
        LIST.holds("listed open intents", is, &open, "\"held\", and not \"ends\", which has ended");
        let ended = references(&[IntentStatus::Ended], 0, 100).await;
        let is = has(&ended, "ends") && !has(&ended, "held");
        LIST.holds("listed ended intents", is, &ended, "\"ends\", and not \"held\", which is open");
        LIST.is("listed at most 2: how many", references(&IntentStatus::ALL, 0, 2).await.len(), 2);
        let claimed = references(&[IntentStatus::Open], 1, 100).await;
        LIST.is("listed open intents with at least one claim", claimed, ["single"]);
        let account = Some(self.account.clone());
        let rows =
            list(IntentFilter { reference: Some("ends".to_owned()), account: account.clone(), ..Default::default() });
        LIST.is("listed an account's intents with the reference \"ends\": how many", rows.await.len(), 1);
        let rows = list(IntentFilter { account: account.clone(), most: 1000, ..Default::default() }).await;
        let changed: Vec<i64> = rows.iter().map(|row| row.changed).collect();
        let is = changed.is_sorted_by(|one, next| one >= next);
        LIST.holds("listed an account's intents: their times of change", is, &changed, "the latest first");
        let (most, done) = (3, "listed the 3 intents that were changed last: their times of change");
        let few = list(IntentFilter { account, most, ..Default::default() }).await;
        LIST.is(done, few.iter().map(|row| row.changed).collect::<Vec<_>>(), &changed[..3]);
    }

    pub(super) async fn accounts_are_listed_once_each(&self) {
        let accounts = async |from: &str, most| ACCOUNTS.ok("listed accounts", self.store.accounts(from, most).await);
        let all = accounts("", u32::MAX).await;
        let own = [self.account.clone(), format!("{} other", self.account)];
        for account in &own {
            let listed = all.iter().filter(|listed| *listed == account).count();
            ACCOUNTS.holds("listed all accounts", listed == 1, &all, &format!("{account:?} once"));
        }
        // Other runs have accounts too, and may have added some meanwhile.
        let (mut all, mut from_one) = (all, accounts(&self.account, u32::MAX).await);
        all.retain(|listed| own.contains(listed));
        from_one.retain(|listed| own.contains(listed));
        let at = all.iter().position(|listed| *listed == self.account).unwrap_or_default();
        ACCOUNTS.is("listed accounts from one on", from_one, &all[at..]);
        ACCOUNTS.is("listed one account from one on", accounts(&self.account, 1).await, [&*self.account]);
        ACCOUNTS.is("listed no account from one on", accounts(&self.account, 0).await, [""; 0]);
        let missing = format!("{} missing", self.account);
        let found = accounts(&missing, 1).await;
        let is = found != [&*missing];
        ACCOUNTS.holds("listed accounts from one without intents on", is, &found, "only accounts with intents");
    }

    /// Two accounts use the same references: merchants of one marketplace number their orders alike.
    pub(super) async fn accounts_are_apart(&self) {
        let (one, other) = (self.apart("one"), self.apart("two"));
        one.submitted("same").await;
        other.submitted("same").await;
        let before = other.row("same").await;
        let done = "began \"same\" for two accounts, then claimed those of the first: their accounts";
        let claimed = one.claim("w1", 10, HOUR).await;
        CLAIM.is(done, claimed.iter().map(|row| &*row.key.account).collect::<Vec<_>>(), [&*one.account]);
        DELIVER.is("delivered to \"same\" of one account", self.store.deliver(&one.key("same"), "e").await, Ok(true));
        let events = self.store.events(&other.key("same"), 0).await;
        EVENTS_AFTER.is("delivered to \"same\" of one account, then read the events of the other", events, Ok(vec![]));
        let end = ending(IntentStatus::Unknown, "unknown", Some(OVER));
        self.end("ended \"same\" of one account", &hold_of(&claimed[0]), end).await;
        let untold = self.store.untold(&other.account, 10, OVER).await;
        UNTOLD.is("ended \"same\" of one account, then read the outbox of the other", untold, Ok(vec![]));
        Self::unchanged(FIND, "changed \"same\" of another account", &other.row("same").await, &before);
        let filter = |account: &str| IntentFilter { account: Some(account.to_owned()), ..Default::default() };
        for suite in [&one, &other] {
            let listed = LIST.ok("listed the intents of an account", self.store.list(filter(&suite.account)).await);
            let accounts: Vec<&str> = listed.iter().map(|row| &*row.key.account).collect();
            LIST.is("listed the intents of an account that has one: their accounts", accounts, [&*suite.account]);
        }
        STOP.is("stopped one account", self.store.stop(&one.account, Some("why")).await, Ok(()));
        let stopped = self.store.stopped(&other.account).await;
        STOP.is("stopped one account, then asked whether the other is", stopped, Ok(None));
        for suite in [&one, &other] {
            let wish = ShareWish {
                account: &suite.account,
                owner: "w1",
                total: 1,
                most: 1,
                lease: HOUR,
                longest: HOUR,
                quarantine: HOUR,
            };
            SHARES.is("took the one share of each of two accounts", self.store.shares(wish).await, Ok(1));
        }
    }

    /// A worker has both intents under the same fencing number.
    pub(super) async fn intents_of_accounts_are_apart(&self) {
        let (one, other) = (self.apart("three"), self.apart("four"));
        one.submitted("same").await;
        other.submitted("same").await;
        for change in ["saved", "renewed", "rested", "released", "ended"] {
            let before = [one.row("same").await, other.row("same").await];
            let done = "claimed \"same\" of one account, then read that of the other";
            let row = one.take("same", "w1", HOUR).await;
            Self::unchanged(CLAIM_ONE, done, &other.row("same").await, &before[1]);
            CLAIM_ONE.is("claimed \"same\" of an account: its key", &row.key, &before[0].key);
            other.take("same", "w1", HOUR).await;
            let (hold, before) = (hold_of(&row), other.row("same").await);
            let rest = IntentRest { state: "rests".to_owned(), asks: Some("page".to_owned()), heard: 0, wake: OVER };
            let changed = match change {
                "saved" => self.store.save(&hold, "saved", OVER).await,
                "renewed" => self.store.renew(&hold, OVER).await,
                "rested" => self.store.rest(&hold, rest).await,
                "released" => self.store.release(&hold, OVER).await,
                _ => self.store.end(&hold, ending(IntentStatus::Unknown, "unknown", None)).await,
            };
            let done = format!("w1 had \"same\" of two accounts; {change} that of the first, then read the other");
            FENCED.is(&done, changed, Ok(()));
            Self::unchanged(FENCED, &done, &other.row("same").await, &before);
        }
        let hold = hold_of(&other.row("same").await);
        self.end("ended \"same\" of the second account", &hold, ending(IntentStatus::Unknown, "unknown", None)).await;
        TOLD.is("acknowledged outcome 1 of one account", self.store.told(&one.key("same"), 1).await, Ok(()));
        let untold = UNTOLD.ok("read the outbox", self.store.untold(&other.account, 10, OVER).await);
        let done =
            "two accounts had outcome 1 of \"same\"; acknowledged that of one, then read the outbox of the other";
        TOLD.is(done, untold.iter().map(|row| &row.key).collect::<Vec<_>>(), [&other.key("same")]);
        for directive in [Directive::Park, Directive::Reconcile] {
            let before = other.row("same").await;
            let directed = self.store.direct(&one.key("same"), directive).await;
            DIRECT.is(&format!("{directive:?} while it had not ended"), directed, Ok(true));
            let done = format!("{directive:?} of \"same\" of one account, then read that of the other");
            Self::unchanged(DIRECT, &done, &other.row("same").await, &before);
        }
    }
}
