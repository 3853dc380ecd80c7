//! The keys of a store, and their change while processes work.
//!
//! The table `keys` names the key that seals new rows; every process follows it. The first key of the store is its
//! root: digests of columns, identifiers of cards and ids of accounts always depend on it, so it is kept, sealed with
//! each later key. After [`super::Postgres::reseal`] all rows are sealed with the newest key, and older keys are no longer
//! needed.

use zeroize::Zeroizing;

use super::link::{Link, Trouble, hex, rows};
use crate::{
    key::SeededRandom,
    store::{
        StoreError,
        seal::{Sealer, fingerprint},
    },
    vault::{Sealed, Vault, derived, parse_key},
};

/// The first format whose programs support several keys.
pub(super) const SEVERAL: i64 = 3;
/// The place that the sealed root is bound to.
const ROOT: &str = "root key";

/// The keys that a process was given.
#[derive(Clone)]
pub struct KeyRing {
    newest: Zeroizing<[u8; 32]>,
    older: Vec<Zeroizing<[u8; 32]>>,
}

impl KeyRing {
    /// Returns the newest key, and older ones that records may be sealed with.
    #[must_use]
    pub fn new(newest: &[u8; 32], older: impl IntoIterator<Item = Zeroizing<[u8; 32]>>) -> Self {
        Self { newest: Zeroizing::new(*newest), older: older.into_iter().collect() }
    }

    fn all(&self) -> impl Iterator<Item = &[u8; 32]> {
        std::iter::once(&self.newest).chain(&self.older).map(|key| &**key)
    }

    fn named(&self, name: &str) -> Option<&[u8; 32]> {
        self.all().find(|key| hex(&fingerprint(key)) == name)
    }

    /// Returns only the newest key, as a program of an earlier format uses it.
    pub(super) fn newest(&self) -> &[u8; 32] {
        &self.newest
    }

    /// Whether the store was created with one of these keys.
    pub(super) fn holds(&self, name: &str) -> bool {
        self.named(name).is_some()
    }
}

/// The keys as the store has them.
pub(super) struct Known {
    pub(super) root: Zeroizing<[u8; 32]>,
    pub(super) sealer: Sealer,
    /// Whether the newest key that was given is new to the store.
    has_new: bool,
}

struct Listed {
    name: String,
    state: String,
    root: Option<String>,
}

fn listed(link: &mut Link) -> Result<Vec<Listed>, Trouble> {
    let messages = link.simple("SELECT fingerprint, state, root FROM payment_sandbox.keys")?;
    let read = |row: &tokio_postgres::SimpleQueryRow| {
        Some(Listed {
            name: row.get(0)?.to_owned(),
            state: row.get(1)?.to_owned(),
            root: row.get(2).map(str::to_owned),
        })
    };
    let listed: Vec<Listed> = rows(&messages).filter_map(read).collect();
    Ok(listed)
}

/// Reads the keys, in a transaction that holds the lock.
pub(super) fn read(link: &mut Link, ring: &KeyRing) -> Result<Known, Trouble> {
    let all = listed(link)?;
    let failed = |error| Err(Trouble::Failed(error));
    let newest = hex(&fingerprint(ring.newest()));
    let in_use: Vec<&Listed> = all.iter().filter(|listed| listed.state != "retired").collect();
    let given: Vec<_> = in_use.iter().filter_map(|listed| Some((*listed, ring.named(&listed.name)?))).collect();
    if given.is_empty() {
        return failed(StoreError::WrongKey);
    }
    if given.len() < in_use.len() {
        return failed(StoreError::MissingKey);
    }
    let root = given.iter().find_map(|(listed, key)| match &listed.root {
        None => Some(Zeroizing::new(**key)),
        Some(sealed) => {
            let sealed: Sealed = serde_json::from_value(sealed.clone().into()).ok()?;
            parse_key(Vault::new(key).open(ROOT, &sealed).ok()?.expose())
        }
    });
    let Some(root) = root else {
        return failed(StoreError::Damaged("its first key cannot be opened".to_owned()));
    };
    let writes = given.iter().find(|(listed, _)| listed.state == "writes").map(|(_, key)| *key);
    let Some(writes) = writes else {
        return failed(StoreError::Damaged("it names no key to write with".to_owned()));
    };
    let reads = given.iter().filter(|(listed, _)| listed.state != "writes").map(|(_, key)| *key);
    let sealer = Sealer::with_keys(&root, writes, reads);
    Ok(Known { root, sealer, has_new: !all.iter().any(|listed| listed.name == newest) })
}

/// Stores the first key, or a new one, which seals rows from now on. In a transaction that holds the lock.
pub(super) fn settle(link: &mut Link, ring: &KeyRing, first: &str, process: &str) -> Result<Known, Trouble> {
    link.simple(&format!(
        "INSERT INTO payment_sandbox.keys (fingerprint, state) SELECT '{first}', 'writes' \
         WHERE NOT EXISTS (SELECT 1 FROM payment_sandbox.keys)"
    ))?;
    let newest = hex(&fingerprint(ring.newest()));
    // A running process continues with its newer key; a starting one gets an error that asks for another order.
    if listed(link)?.iter().any(|listed| listed.name == newest && listed.state == "retired") {
        return Err(Trouble::Failed(StoreError::RetiredKey));
    }
    let known = read(link, ring)?;
    if !known.has_new {
        return Ok(known);
    }
    // The name of the process is random, and so is this nonce.
    let mut dice = SeededRandom::new(**derived(ring.newest(), format!("root of {process}").as_bytes()));
    let sealed = Vault::new(ring.newest()).seal(&mut dice, ROOT, &hex(&*known.root));
    // Base64, without quotes.
    let sealed = serde_json::to_value(&sealed).ok().and_then(|text| text.as_str().map(str::to_owned));
    let sealed = sealed.ok_or_else(|| Trouble::Failed(StoreError::Engine("a key cannot be sealed".to_owned())))?;
    link.simple(&format!(
        "UPDATE payment_sandbox.keys SET state = 'reads' WHERE state = 'writes'; \
         INSERT INTO payment_sandbox.keys (fingerprint, state, root) VALUES ('{newest}', 'writes', '{sealed}'); \
         UPDATE payment_sandbox.store SET key_changes = key_changes + 1, format = GREATEST(format, {SEVERAL})"
    ))?;
    read(link, ring)
}

/// Retires all keys except the one that seals new rows, in a transaction that holds the lock.
pub(super) const RETIRE: &str = "UPDATE payment_sandbox.keys SET state = 'retired', root = NULL WHERE state = 'reads'; \
    UPDATE payment_sandbox.store SET key_changes = key_changes + 1";
