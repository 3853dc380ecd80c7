//! Stores for tests: an engine in memory, and PostgreSQL servers that end with their test.
//!
//! `PG_TEST_STORE=map cargo test -p pg-sandbox` runs the tests of the sandbox over another store than SQLite in memory.

mod authority;
mod ordered_map;
mod pass_on;
mod pooler;
mod postgres;

use pg_sandbox::{
    Sandbox, Settings, StoreKey, Timestamp,
    store::{Postgres as PostgresStore, Sqlite, Store},
};

pub use authority::Authority;
pub use ordered_map::OrderedMap;
pub use pooler::Pooler;
pub use postgres::Postgres;

/// The store that a test's sandbox runs over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// [`OrderedMap`].
    Map,
    /// SQLite in memory.
    Sqlite,
    /// A new database on the server that the tests of a process share.
    Postgres,
}

impl Choice {
    /// The choice of the environment variable `PG_TEST_STORE`: `map`, `postgres`, or `sqlite`, which is the default.
    ///
    /// # Panics
    /// When the variable has another value.
    #[must_use]
    pub fn from_environment() -> Self {
        match std::env::var("PG_TEST_STORE").as_deref() {
            Err(_) | Ok("" | "sqlite") => Self::Sqlite,
            Ok("map") => Self::Map,
            Ok("postgres") => Self::Postgres,
            Ok(other) => unknown(other),
        }
    }

    /// The choice of the environment variable; without one, every kind that needs no server.
    #[must_use]
    pub fn several() -> Vec<Self> {
        match std::env::var_os("PG_TEST_STORE") {
            Some(_) => vec![Self::from_environment()],
            None => vec![Self::Sqlite, Self::Map],
        }
    }

    /// A sandbox over an empty store of this kind.
    ///
    /// # Panics
    /// When the store or the settings are invalid.
    #[must_use]
    pub fn sandbox(self, settings: Settings, seed: [u8; 32]) -> Sandbox {
        let opened = match self {
            Self::Sqlite => Sandbox::in_memory_with(settings, seed),
            Self::Postgres => {
                let open = |url: &str| Sandbox::open_postgres(url, &StoreKey::from_bytes(seed), settings, seed);
                Postgres::shared().expect("a server").with_empty_store(&seed, open).expect("a database")
            }
            Self::Map => Sandbox::over(Box::<OrderedMap>::default(), settings, &seed, seed),
        };
        opened.expect("an empty store opens")
    }
}

/// What seals the rows of [`Choice::engine`].
const KEY: [u8; 32] = [3; 32];

impl Choice {
    /// An empty engine of this kind.
    ///
    /// # Panics
    /// When it cannot be made.
    #[must_use]
    pub fn engine(self) -> Box<dyn Store> {
        match self {
            Self::Map => Box::<OrderedMap>::default(),
            Self::Sqlite => Box::new(Sqlite::in_memory().expect("an empty store opens")),
            Self::Postgres => {
                let open = |url: &str| PostgresStore::open(url, &KEY, "one");
                let opened = Postgres::shared().expect("a server").with_empty_store(&KEY, open);
                Box::new(opened.expect("a database").expect("an empty store opens"))
            }
        }
    }
}

/// A sandbox with the built-in accounts over an empty store of the kind that the environment chooses.
#[must_use]
pub fn sandbox() -> Sandbox {
    sandbox_with(Settings::default(), [0; 32])
}

/// A sandbox over an empty store of the kind that the environment chooses.
#[must_use]
pub fn sandbox_with(settings: Settings, seed: [u8; 32]) -> Sandbox {
    Choice::from_environment().sandbox(settings, seed)
}

/// Whether the environment chooses a store that several processes may have open.
#[must_use]
pub fn is_shared() -> bool {
    Choice::from_environment() == Choice::Postgres
}

/// Whether tasks become due only by requests. A sandbox over a shared store reads the store every 5 seconds, for tasks
/// of other processes.
#[must_use]
pub fn rests(sandbox: &Sandbox, now: Timestamp) -> bool {
    match sandbox.next_due() {
        None => true,
        Some(look) => is_shared() && look.millis() - now.millis() <= 5_000,
    }
}

#[expect(clippy::panic, reason = "a test with a misspelt choice must not run over the default")]
fn unknown(choice: &str) -> Choice {
    panic!("PG_TEST_STORE is {choice}; choose map, postgres or sqlite")
}
