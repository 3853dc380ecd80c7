//! The store that these tests run over: SQLite in memory, or what `PG_TEST_STORE` names, as for the tests of `tests/`.

use pg_stores::{Choice, Postgres};

use super::*;
use crate::{SharedStore, StoreKey, records::Meta};

/// The engine outside this crate, compiled within it: to these unit tests the crate of `pg-stores` is another one.
#[expect(unreachable_pub, reason = "it is public in its own crate")]
#[path = "../../../../../tests/stores/src/ordered_map.rs"]
mod ordered_map;

const SEED: [u8; 32] = [0; 32];

/// An empty sandbox with the built-in accounts.
pub(super) fn empty() -> Sandbox {
    empty_with(Settings::default())
}

/// An empty sandbox.
pub(super) fn empty_with(settings: Settings) -> Sandbox {
    let opened = match Choice::from_environment() {
        Choice::Sqlite => Sandbox::in_memory_with(settings, SEED),
        Choice::Map => Sandbox::over(Box::<ordered_map::OrderedMap>::default(), settings, &SEED, SEED),
        Choice::Postgres => {
            let key = StoreKey::from_bytes(SEED);
            let open = |url: &str| Sandbox::open_shared(&SharedStore::new(url, key), settings, SEED);
            Postgres::shared().unwrap().with_empty_store(&SEED, open).unwrap()
        }
    };
    opened.unwrap()
}

/// Gives a session a CV2, as its form does.
pub(super) fn give_cv2(sandbox: &mut Sandbox, session: &str, cv2: &str, expires: Timestamp) {
    if sandbox.store.is_shared() {
        put(sandbox, &Meta::cv2(session));
    } else {
        sandbox.cv2.keep(session, crate::secret::Secret::new(cv2), expires);
    }
}

/// Whether a session has a CV2.
pub(super) fn has_cv2(sandbox: &mut Sandbox, session: &str) -> bool {
    if sandbox.store.is_shared() {
        let noted = Transaction::new(&mut *sandbox.store).get::<Meta>(&Meta::cv2_key(session));
        noted.unwrap().is_some()
    } else {
        sandbox.cv2.take(session).is_some()
    }
}

/// Inserts a record directly into the store.
pub(super) fn put<T: StoredRecord>(sandbox: &mut Sandbox, record: &T) {
    sandbox.store.begin().unwrap();
    let mut records = Transaction::new(&mut *sandbox.store);
    records.put(record).unwrap();
    records.keep().unwrap();
    sandbox.store.commit().unwrap();
}

/// Whether tasks become due only by requests. A sandbox over a shared store checks every 5 seconds for tasks of other
/// processes.
pub(super) fn rests(sandbox: &Sandbox, now: Timestamp) -> bool {
    match sandbox.next_due() {
        None => true,
        Some(look) => sandbox.store.is_shared() && look.millis() - now.millis() <= 5_000,
    }
}
