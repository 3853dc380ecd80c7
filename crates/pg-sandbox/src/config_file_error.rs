//! Errors of config files.

use std::io;

/// An error in a config file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigFileError {
    /// It cannot be read.
    #[error("the config file {0} cannot be read: {1}")]
    Io(String, #[source] io::Error),
    /// Its content is invalid.
    #[error("{place}: {problem}")]
    Invalid {
        /// The position: a line and column, or an account and its key.
        place: String,
        /// The broken rule.
        problem: String,
    },
}
