//! Accounts and references are compared wrongly: two orders are taken for one.

use std::collections::BTreeSet;

use super::*;

struct Keys(FileStore, Mistake);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mistake {
    BeginIgnoresAccount,
    BeginIgnoresCase,
    BeginComparesPrefix,
    AccountIgnoresCase,
    ClaimIgnoresAccount,
    ClaimOneIgnoresAccount,
    SaveIgnoresAccount,
    ToldIgnoresAccount,
    DirectIgnoresAccount,
}

impl Keys {
    /// Returns the keys of other accounts with the same reference, if this is the mistake.
    fn twins(&self, mistake: Mistake, key: &IntentKey) -> Result<Vec<IntentKey>, StoreError> {
        if self.1 != mistake {
            return Ok(Vec::new());
        }
        let is_twin = |other: &&IntentKey| other.reference == key.reference && *other != key;
        self.0.read(|data, _| data.intents.keys().filter(is_twin).cloned().collect())
    }
}

impl IntentStore for Keys {
    pass_on! { enlist renew release end rest deliver events find list accounts untold shares stop stopped }

    async fn begin(&self, new: NewIntent) -> Result<Begun, StoreError> {
        let folded = |key: &IntentKey| match self.1 {
            Mistake::BeginIgnoresAccount => (String::new(), key.reference.clone()),
            Mistake::BeginIgnoresCase => (key.account.clone(), key.reference.to_lowercase()),
            Mistake::AccountIgnoresCase => (key.account.to_lowercase(), key.reference.clone()),
            Mistake::BeginComparesPrefix => (key.account.clone(), key.reference.chars().take(255).collect()),
            _ => (key.account.clone(), key.reference.clone()),
        };
        let found = self.0.read(|data, now| {
            let mut all = data.intents.values();
            all.find(|stored| folded(&stored.row.key) == folded(&new.key)).map(|stored| stored.at(now))
        })?;
        match found {
            Some(row) => Ok(Begun::Existing(Box::new(row))),
            None => self.0.begin(new).await,
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
        if self.1 != Mistake::ClaimIgnoresAccount {
            return self.0.claim(account, owner, most, lease, kinds).await;
        }
        let accounts: BTreeSet<String> =
            self.0.read(|data, _| data.intents.keys().map(|key| key.account.clone()).collect())?;
        let mut claimed = Vec::new();
        for account in accounts {
            claimed.extend(self.0.claim(&account, owner, most, lease, kinds).await?);
        }
        Ok(claimed)
    }

    async fn claim_one(
        &self,
        key: &IntentKey,
        owner: &str,
        lease: Duration,
        kinds: &[IntentKind],
    ) -> Result<Option<Claimed>, StoreError> {
        for twin in self.twins(Mistake::ClaimOneIgnoresAccount, key)? {
            self.0.claim_one(&twin, owner, lease, kinds).await?;
        }
        self.0.claim_one(key, owner, lease, kinds).await
    }

    async fn save(&self, hold: &IntentLease, state: &str, lease: Duration) -> Result<(), StoreError> {
        for key in self.twins(Mistake::SaveIgnoresAccount, &hold.key)? {
            let _ = self.0.save(&IntentLease { key, ..hold.clone() }, state, lease).await;
        }
        self.0.save(hold, state, lease).await
    }

    async fn told(&self, key: &IntentKey, event: i32) -> Result<(), StoreError> {
        for twin in self.twins(Mistake::ToldIgnoresAccount, key)? {
            self.0.told(&twin, event).await?;
        }
        self.0.told(key, event).await
    }

    async fn direct(&self, key: &IntentKey, directive: Directive) -> Result<bool, StoreError> {
        for twin in self.twins(Mistake::DirectIgnoresAccount, key)? {
            self.0.direct(&twin, directive).await?;
        }
        self.0.direct(key, directive).await
    }
}

#[test]
fn keys_that_are_taken_for_one_are_found() {
    const TEXTS: &str = "Accounts and references are compared byte by byte";
    for (mistake, promise, done) in [
        (
            Mistake::BeginIgnoresAccount,
            "Stores a new intent",
            "began \"once\" of \"conformance mistaken other\", which was new",
        ),
        (Mistake::BeginIgnoresCase, TEXTS, "began \"Order é\", which is like no earlier reference"),
        (Mistake::BeginComparesPrefix, TEXTS, "began \"rrr"),
        (
            Mistake::AccountIgnoresCase,
            TEXTS,
            "began \"same\" of \"conformance mistaken Shop é\", which is like no earlier account",
        ),
        (
            Mistake::ClaimIgnoresAccount,
            "Claims due intents of an account",
            "began \"same\" for two accounts, then claimed those of the first",
        ),
        (
            Mistake::ClaimOneIgnoresAccount,
            "Claims one intent",
            "claimed \"same\" of one account, then read that of the other",
        ),
        (
            Mistake::SaveIgnoresAccount,
            "change a row only if it still has the number",
            "w1 had \"same\" of two accounts; saved that of the first",
        ),
        (
            Mistake::ToldIgnoresAccount,
            "Acknowledges the outcome with this number",
            "two accounts had outcome 1 of \"same\"; acknowledged that of one",
        ),
        (Mistake::DirectIgnoresAccount, "raises the fencing number", "Park of \"same\" of one account"),
    ] {
        is_found(&format!("{mistake:?}"), |store| Keys(store, mistake), promise, done);
    }
}
