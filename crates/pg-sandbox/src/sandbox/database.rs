//! A sandbox over a database.

use zeroize::Zeroizing;

use super::{OpenError, Sandbox};
use crate::{
    StoreKey,
    key::{RandomSource as _, SeededRandom},
    settings::Settings,
    store::{Postgres, StoreError},
    vault::{self, KeyFile, Stage},
};

impl Sandbox {
    /// A sandbox over a PostgreSQL database that other processes may use at the same time. Creates the tables and a key
    /// file if they are missing. The seed must be unpredictable: it determines the keys.
    ///
    /// # Errors
    /// [`OpenError`] says what is wrong with the database or the key file.
    pub fn open_postgres(url: &str, key: &StoreKey, settings: Settings, seed: [u8; 32]) -> Result<Self, OpenError> {
        let mut dice = SeededRandom::new(seed);
        let mut name = [0; 16];
        dice.fill(&mut name);
        let name: String = name.iter().map(|byte| format!("{byte:02x}")).collect();
        let path = match key {
            StoreKey::Bytes(key) => {
                let store = Postgres::open(url, key, &name)?;
                return Self::assemble(Box::new(store), settings, key, dice);
            }
            StoreKey::File(path) => path,
        };
        let KeyFile { key, stage } = match vault::load_key(path)? {
            Some(file) => file,
            None => {
                // Before a key is made for it: a store that is there has one already.
                if Postgres::is_there(url)? {
                    return Err(OpenError::WrongKeyFile);
                }
                let mut key = Zeroizing::new([0; 32]);
                dice.fill(&mut *key);
                vault::create_key(path, &key)?;
                KeyFile { key, stage: Stage::New }
            }
        };
        let store = Postgres::open(url, &key, &name).map_err(|error| match error {
            StoreError::WrongKey => OpenError::WrongKeyFile,
            error => error.into(),
        })?;
        if stage == Stage::New {
            vault::mark_sealed(path, &key)?;
        }
        Self::assemble(Box::new(store), settings, &key, dice)
    }
}
