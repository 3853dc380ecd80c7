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
    /// The key file is missing, or belongs to another store.
    #[error("the key file that the store's cards were sealed with is not beside it; restore that file")]
    WrongKeyFile,
    /// There is no key file, and the database holds a store already.
    #[error("the key file {path} is missing, but the store in the database has a key already; name the file of that key", path = .0.display())]
    KeyFileMissing(PathBuf),
    /// The file of an older key is missing.
    #[error("the key file {path} is missing; name the file of an older key, or leave the option out", path = .0.display())]
    KeyMissing(PathBuf),
    /// There is a key file, but its store is empty or missing.
    #[error(
        "the store is empty or missing, but its key file {path} exists; restore a copy of the store, or remove the key file \
         to begin a new store",
        path = .0.display()
    )]
    StoreMissing(PathBuf),
    /// The store is of an earlier format than the one that the key file belongs to.
    #[error(
        "the store is of an earlier format than the one that its key file belongs to, whose records cannot be altered \
         unnoticed; put a copy of the latest store back"
    )]
    EarlierStore,
    /// The dialect derives the key of redirects in a way that an account's API key does not allow.
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
