//! A sandbox over a database that several processes share.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use zeroize::Zeroizing;

use super::{OpenError, Sandbox};
use crate::{
    key::{RandomSource as _, SeededRandom},
    settings::Settings,
    store::{KeyRing, Postgres, without_password},
    vault::{self, KeyFile, Stage},
};

/// A database, and the key that seals its records.
#[derive(Clone, PartialEq, Eq)]
pub struct SharedStore {
    url: String,
    key: StoreKey,
    older: Vec<StoreKey>,
    pub(crate) reseals: bool,
}

/// The key of a shared store, or its place.
#[derive(Clone, PartialEq, Eq)]
pub enum StoreKey {
    /// In a key file, which is created together with the store.
    File(PathBuf),
    /// The 32 bytes themselves.
    Bytes(Zeroizing<[u8; 32]>),
}

impl StoreKey {
    /// Uses a key of 32 bytes.
    #[must_use]
    pub fn from_bytes(key: [u8; 32]) -> Self {
        Self::Bytes(Zeroizing::new(key))
    }

    /// Parses a key of 64 hexadecimal digits; `None` for any other text.
    #[must_use]
    pub fn from_hex(digits: &str) -> Option<Self> {
        vault::parse_key(digits.trim()).map(Self::Bytes)
    }
}

impl SharedStore {
    /// Names a database by its URL, such as `postgres://user@host:5432/database`.
    #[must_use]
    pub fn new(url: impl Into<String>, key: StoreKey) -> Self {
        Self { url: url.into(), key, older: Vec::new(), reseals: false }
    }

    /// Adds older keys with which records may still be sealed. The key of [`SharedStore::new`] seals what is written
    /// from now on.
    #[must_use]
    pub fn older_keys(mut self, keys: impl IntoIterator<Item = StoreKey>) -> Self {
        self.older.extend(keys);
        self
    }

    /// Makes a server seal every record with the newest key before it serves; see [`SharedStore::reseal`].
    #[must_use]
    pub fn reseal_at_start(mut self, reseals: bool) -> Self {
        self.reseals = reseals;
        self
    }

    /// Seals every record with the newest key while other processes work, and retires the older keys, which are not
    /// needed afterwards. Starts over if another process brings a newer key meanwhile. Returns the number of sealed records
    /// and journal entries. The seed must be unpredictable.
    ///
    /// # Errors
    /// [`OpenError`] says what is wrong with the database or a key file. The older keys are still needed then; call the
    /// function again.
    pub fn reseal(&self, mut seed: [u8; 32]) -> Result<usize, OpenError> {
        let (new_key, mut dice) = vault::split(&mut seed);
        let mut store = open(self, &new_key, &mut dice)?;
        Ok(store.reseal()?)
    }

    /// Returns the URL without its password.
    #[must_use]
    pub fn shown(&self) -> String {
        without_password(&self.url)
    }
}

impl fmt::Debug for SharedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SharedStore").field(&self.shown()).finish()
    }
}

impl Sandbox {
    /// Opens a sandbox over a PostgreSQL database that other processes may use at the same time. Creates the tables and
    /// a key file if they are missing; with the key file of a store that exists, an empty database is refused. The seed must be
    /// unpredictable: it determines the keys.
    ///
    /// # Errors
    /// [`OpenError`] says what is wrong with the database or the key file.
    pub fn open_postgres(url: &str, key: &StoreKey, settings: Settings, seed: [u8; 32]) -> Result<Self, OpenError> {
        Self::open_shared(&SharedStore::new(url, key.clone()), settings, seed)
    }

    /// Opens the store, with older keys too if there are any. If the newest key is new to the store, it seals what
    /// every process writes from now on.
    ///
    /// # Errors
    /// [`OpenError`] says what is wrong with the database or a key file.
    pub fn open_shared(shared: &SharedStore, settings: Settings, mut seed: [u8; 32]) -> Result<Self, OpenError> {
        let (new_key, mut dice) = vault::split(&mut seed);
        let store = open(shared, &new_key, &mut dice)?;
        let root = Zeroizing::new(*store.root());
        Self::assemble(Box::new(store), settings, &root, dice)
    }
}

/// Opens the store with a key file that was created for it.
fn open(shared: &SharedStore, new_key: &[u8; 32], dice: &mut SeededRandom) -> Result<Postgres, OpenError> {
    let url = &shared.url;
    let mut name = [0; 16];
    dice.fill(&mut name);
    let name: String = name.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut older = Vec::new();
    // Checked before a key file is created, which a refusal would leave behind.
    for key in &shared.older {
        older.push(match key {
            StoreKey::Bytes(key) => key.clone(),
            StoreKey::File(path) => {
                let file = vault::load_key(path)?.ok_or_else(|| OpenError::KeyMissing(path.clone()))?;
                refuse_empty(url, path, file.stage)?;
                file.key
            }
        });
    }
    let (key, created) = match &shared.key {
        StoreKey::Bytes(key) => (key.clone(), None),
        StoreKey::File(path) => {
            let file = key_file(path, url, new_key)?;
            refuse_empty(url, path, file.stage)?;
            (file.key, Some(path).filter(|_| file.stage == Stage::New))
        }
    };
    let store = Postgres::open_with(url, KeyRing::new(&key, older), &name)?;
    if let Some(path) = created {
        vault::mark_sealed(path, &key)?;
    }
    Ok(store)
}

/// Refuses an empty database for a key whose store exists. Otherwise another database, or one that was lost, would begin a
/// new store, and used references would pay again.
fn refuse_empty(url: &str, path: &Path, stage: Stage) -> Result<(), OpenError> {
    if stage == Stage::Sealed && !Postgres::is_there(url)? {
        return Err(OpenError::StoreMissing(path.to_owned()));
    }
    Ok(())
}

/// Returns the key in a file, which is created with the store. If several processes start at the same time, one of them
/// creates it.
fn key_file(path: &Path, url: &str, new_key: &[u8; 32]) -> Result<KeyFile, OpenError> {
    if let Some(file) = vault::load_key(path)? {
        return Ok(file);
    }
    // Checked before a key is created: an existing store has one already.
    if !Postgres::is_there(url)? && vault::create_key(path, new_key)? {
        return Ok(KeyFile { key: Zeroizing::new(*new_key), stage: Stage::New });
    }
    vault::load_key(path)?.ok_or_else(|| OpenError::KeyFileMissing(path.to_owned()))
}
