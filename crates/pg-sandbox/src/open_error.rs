//! Why a sandbox cannot be opened.

use std::path::PathBuf;

use pg_crypto::KeyError;

use crate::{store::StoreError, vault::KeyFileError};

/// Why a sandbox cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The store cannot be opened.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The key file beside the store cannot be used.
    #[error(transparent)]
    KeyFile(#[from] KeyFileError),
    /// The key file beside the store is missing.
    #[error("the key file {path} is missing; restore it", path = .0.display())]
    KeyFileLost(PathBuf),
    /// The key belongs to another store.
    #[error("the key belongs to another store; restore the key file with which the store's cards were sealed")]
    WrongKeyFile,
    /// There is no key file, but the database already holds a store.
    #[error("the key file {path} is missing, but the store in the database already has a key; name the file of that key", path = .0.display())]
    KeyFileMissing(PathBuf),
    /// The file of an older key is missing.
    #[error("the key file {path} is missing; name the file of an older key, or leave the option out", path = .0.display())]
    KeyMissing(PathBuf),
    /// There is a key file, but its store is empty or missing.
    #[error(
        "the store is empty or missing, but its key file {path} exists; check the address of the store, restore a copy of it, or \
         move the key file away to begin a new store; keep it: no store that it belongs to can be read without it",
        path = .0.display()
    )]
    StoreMissing(PathBuf),
    /// The store has an earlier format than the store to which the key file belongs.
    #[error(
        "the store has an earlier format than the store of its key file, whose records cannot be altered unnoticed; put back a copy of the latest store"
    )]
    EarlierStore,
    /// A configured account has the name of an account that was created at run time in this store.
    #[error(
        "the configured account {0} has the name of an account that was created at run time in this store; choose another \
         name, or start without the configured account, run `pg sandbox account remove {0}`, and start again with it"
    )]
    NameTaken(String),
    /// The dialect's derivation of the key of redirects does not fit an account's API key.
    #[error(
        "the dialect's [session_data] key does not fit the account {account}: {problem}; leave it out, or use \"verbatim\" or \
         \"sha256\""
    )]
    UnfitKey {
        /// The account's name.
        account: String,
        /// What is wrong.
        #[source]
        problem: KeyError,
    },
}
