//! A service whose store has one fault.

use pg_sandbox::{
    Timestamp,
    records::{Authentication, CardToken, CheckoutToken, Payment, Session, UniqueReference},
    store::{Kind, Query, Row, Store, StoreError, StoredRecord as _},
};

use super::Planted;
use crate::{conduct::ClientBehaviour, scenario::Disturbance};

/// Possible faults of a store. The defaults are correct.
pub(super) trait Tamper: Send {
    fn begin(&mut self, store: &mut dyn Store) -> Result<(), StoreError> {
        store.begin()
    }

    fn commit(&mut self, store: &mut dyn Store) -> Result<(), StoreError> {
        store.commit()
    }

    fn rollback(&mut self, store: &mut dyn Store) {
        store.rollback();
    }

    fn get(&mut self, store: &mut dyn Store, kind: &'static Kind, key: &str) -> Result<Option<String>, StoreError> {
        store.get(kind, key)
    }

    fn holds(&mut self, store: &mut dyn Store, kind: &'static Kind, key: &str) -> Result<bool, StoreError> {
        store.holds(kind, key)
    }

    fn remove(&mut self, store: &mut dyn Store, kind: &'static Kind, key: &str) -> Result<(), StoreError> {
        store.remove(kind, key)
    }
}

/// Reads records of this kind as something else, or as missing.
#[derive(Clone, Copy)]
pub(super) struct Misread {
    pub(super) kind: &'static Kind,
    pub(super) read: fn(String) -> Option<String>,
}

impl Tamper for Misread {
    fn get(&mut self, store: &mut dyn Store, kind: &'static Kind, key: &str) -> Result<Option<String>, StoreError> {
        let found = store.get(kind, key)?;
        Ok(if kind.table == self.kind.table { found.and_then(self.read) } else { found })
    }
}

/// The service has a store with this fault.
pub(super) struct Tampered<T>(pub(super) T);

impl<T: Tamper + Copy + Sync + 'static> ClientBehaviour for Tampered<T> {
    fn engine(&self, sqlite: Box<dyn Store>) -> Box<dyn Store> {
        Box::new(Tampering { store: sqlite, with: self.0 })
    }
}

struct Tampering<T> {
    store: Box<dyn Store>,
    with: T,
}

impl<T: Tamper> Store for Tampering<T> {
    fn begin(&mut self) -> Result<(), StoreError> {
        self.with.begin(&mut *self.store)
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        self.with.commit(&mut *self.store)
    }

    fn rollback(&mut self) {
        self.with.rollback(&mut *self.store);
    }

    fn in_transaction(&self) -> bool {
        self.store.in_transaction()
    }

    fn get(&mut self, kind: &'static Kind, key: &str) -> Result<Option<String>, StoreError> {
        self.with.get(&mut *self.store, kind, key)
    }

    fn holds(&mut self, kind: &'static Kind, key: &str) -> Result<bool, StoreError> {
        self.with.holds(&mut *self.store, kind, key)
    }

    fn put(&mut self, kind: &'static Kind, row: &Row<'_>) -> Result<(), StoreError> {
        self.store.put(kind, row)
    }

    fn remove(&mut self, kind: &'static Kind, key: &str) -> Result<(), StoreError> {
        self.with.remove(&mut *self.store, kind, key)
    }

    fn select(&mut self, kind: &'static Kind, query: &Query<'_>) -> Result<Vec<String>, StoreError> {
        self.store.select(kind, query)
    }
}

/// A record with one number in it changed.
pub(super) fn with_number(body: &str, member: &str, number: u64) -> String {
    let Ok(mut record) = serde_json::from_str::<serde_json::Value>(body) else { return body.to_owned() };
    if let Some(held) = record.get_mut(member) {
        *held = number.into();
    }
    record.to_string()
}

/// A commit is delayed until the next request.
pub(super) const REPLIES_BEFORE_COMMIT: Planted = Planted::new(
    "replies are sent before the commit",
    "what is acknowledged stays",
    500,
    &Tampered(RepliesBeforeCommit { open: false }),
);

/// The transaction is still open although its commit was reported.
#[derive(Clone, Copy)]
struct RepliesBeforeCommit {
    open: bool,
}

impl Tamper for RepliesBeforeCommit {
    fn begin(&mut self, store: &mut dyn Store) -> Result<(), StoreError> {
        if std::mem::take(&mut self.open) {
            store.commit()?;
        }
        store.begin()
    }

    fn commit(&mut self, _: &mut dyn Store) -> Result<(), StoreError> {
        self.open = true;
        Ok(())
    }

    fn rollback(&mut self, store: &mut dyn Store) {
        self.open = false;
        store.rollback();
    }
}

/// A rollback commits instead.
pub(super) const COMMITS_HALF: Planted = Planted::new(
    "a crash leaves half of a request's writes",
    "what is acknowledged stays",
    500,
    &Tampered(CommitsHalf),
);

#[derive(Clone, Copy)]
struct CommitsHalf;

impl Tamper for CommitsHalf {
    fn rollback(&mut self, store: &mut dyn Store) {
        if store.in_transaction() && store.commit().is_ok() {
            return;
        }
        store.rollback();
    }
}

/// A reference whose payment was declined is accepted again.
pub(super) const COUNTS_APPROVED_REFERENCES_ONLY: Planted = Planted::new(
    "only approved payments use up their reference",
    "one payment an intent",
    500,
    &Tampered(CountsApprovedReferencesOnly),
);

#[derive(Clone, Copy)]
struct CountsApprovedReferencesOnly;

impl Tamper for CountsApprovedReferencesOnly {
    fn get(&mut self, store: &mut dyn Store, kind: &'static Kind, key: &str) -> Result<Option<String>, StoreError> {
        let found = store.get(kind, key)?;
        if kind.table != UniqueReference::KIND.table {
            return Ok(found);
        }
        let used = found.as_deref().and_then(|body| serde_json::from_str::<UniqueReference>(body).ok());
        let Some(key) = used.and_then(|used| used.transaction) else { return Ok(None) };
        let paid = store.get(Payment::KIND, &key)?.and_then(|body| serde_json::from_str::<Payment>(&body).ok());
        Ok(found.filter(|_| paid.is_some_and(|paid| paid.approved())))
    }
}

/// A reference is accepted any number of times.
pub(super) const FORGETS_REFERENCES: Planted =
    Planted::new("references are not remembered", "one payment an intent", 200, &Tampered(ForgetsReferences));

#[derive(Clone, Copy)]
struct ForgetsReferences;

impl Tamper for ForgetsReferences {
    fn get(&mut self, store: &mut dyn Store, kind: &'static Kind, key: &str) -> Result<Option<String>, StoreError> {
        if kind.table == UniqueReference::KIND.table { Ok(None) } else { store.get(kind, key) }
    }
}

/// A lookup of a reference finds nothing.
pub(super) const FINDS_NOTHING: Planted = Planted::new(
    "lookups miss existing payments",
    "unknowns can be reconciled",
    500,
    &Tampered(Misread { kind: UniqueReference::KIND, read: |_| None }),
);

/// An authentication that the customer failed is read as one that was passed.
pub(super) const FAILED_AUTHENTICATIONS_PASS: Planted = Planted::new(
    "a failed authentication counts as passed",
    "only an authenticated customer pays",
    500,
    &Tampered(Misread {
        kind: Authentication::KIND,
        read: |body| Some(body.replace("\"end\":\"Failed\"", "\"end\":\"Authenticated\"")),
    }),
);

/// A card key is read as enabled in every case.
pub(super) const DISABLED_CARDS_PAY: Planted = Planted::new(
    "a card that is disabled still pays",
    "only what is valid pays",
    500,
    &Tampered(Misread {
        kind: CardToken::KIND,
        read: |body| Some(body.replace("\"enabled\":false", "\"enabled\":true")),
    }),
)
.needs(Disturbance::CardKeys);

/// A deleted card key is kept.
pub(super) const DELETED_CARDS_PAY: Planted =
    Planted::new("a card that is deleted still pays", "only what is valid pays", 1_000, &Tampered(DeletedCardsPay))
        .needs(Disturbance::CardKeys);

#[derive(Clone, Copy)]
struct DeletedCardsPay;

impl Tamper for DeletedCardsPay {
    fn remove(&mut self, store: &mut dyn Store, kind: &'static Kind, key: &str) -> Result<(), StoreError> {
        if kind.table == CardToken::KIND.table { Ok(()) } else { store.remove(kind, key) }
    }
}

/// A session does not expire.
pub(super) const SESSIONS_LAST: Planted = Planted::new(
    "a session pays after it has expired",
    "only what is valid pays",
    1_000,
    &Tampered(Misread {
        kind: Session::KIND,
        read: |body| Some(with_number(&body, "expires", Timestamp::MAX.millis().unsigned_abs())),
    }),
);

/// A payment does not use its checkout token up.
pub(super) const TOKENS_LAST: Planted = Planted::new(
    "a payment does not use up its checkout token",
    "a token is paid as often as it may be",
    300,
    &Tampered(Misread { kind: CheckoutToken::KIND, read: |body| Some(body.replace("\"uses\":0", "\"uses\":1")) }),
);

/// A capture does not see the captures before it.
pub(super) const CAPTURES_UNCHECKED: Planted = Planted::new(
    "captures are not checked against the remaining reservation",
    "amounts fit",
    500,
    &Tampered(Misread {
        kind: Payment::KIND,
        read: |body| Some(with_number(&body, "captured", 0).replace("\"closed\":true", "\"closed\":false")),
    }),
);

/// A refund does not see the refunds before it.
pub(super) const REFUNDS_UNCHECKED: Planted = Planted::new(
    "refunds are not checked against earlier refunds",
    "amounts fit",
    500,
    &Tampered(Misread { kind: Payment::KIND, read: |body| Some(with_number(&body, "refunded", 0)) }),
);

/// A refund of a capture does not see the refunds before it.
pub(super) const REFUNDS_OF_CAPTURES_UNCHECKED: Planted = Planted::new(
    "refunds of a capture are not checked against its earlier refunds",
    "amounts fit",
    500,
    &Tampered(Misread {
        kind: Payment::KIND,
        read: |body| {
            let is_capture = body.contains("\"kind\":\"Capture\"");
            Some(if is_capture { with_number(&body, "refunded", 0) } else { body })
        },
    }),
);
