//! Why the database rolls a transaction back.

use pg_connections::explain;
use tokio_postgres::Error;

use crate::store::StoreError;

/// Why a transaction is rolled back, or may be.
#[derive(Debug, Clone)]
pub(in super::super) enum Trouble {
    /// It conflicted with another transaction, and may succeed if it is repeated.
    Conflict,
    /// The connection broke.
    Broken(String),
    /// The connection broke during the commit, and the database could not be reached afterwards.
    Unknown,
    /// The connection leads to a server process that does not know the named statements.
    Elsewhere,
    /// Anything else.
    Failed(StoreError),
}

impl Trouble {
    pub(in super::super) fn error(&self) -> StoreError {
        match self {
            Self::Conflict | Self::Elsewhere => StoreError::Conflict,
            Self::Broken(why) => StoreError::Unreachable(why.clone()),
            Self::Unknown => StoreError::Unknown,
            Self::Failed(error) => error.clone(),
        }
    }

    pub(super) fn of(error: &Error) -> Self {
        let text = explain(error);
        let Some(code) = error.code() else { return Self::Broken(text) };
        match code.code() {
            // Serialisation failure, deadlock, no lock within its time.
            "40001" | "40P01" | "55P03" => Self::Conflict,
            "26000" | "42P05" => Self::Elsewhere,
            "25006" => Self::Failed(StoreError::ReadOnly),
            "53100" => Self::Failed(StoreError::Full),
            // Another password or role, no such database, a missing right.
            known if known.starts_with("28") || matches!(known, "3D000" | "42501") => {
                Self::Failed(StoreError::Denied(text))
            }
            // Connection exceptions, shutdown and start of the server, an idle transaction, an unknown end of a statement such as
            // COMMIT, too many connections.
            known
                if known.starts_with("08")
                    || known.starts_with("57P")
                    || matches!(known, "25P03" | "40003" | "53300") =>
            {
                Self::Broken(text)
            }
            _ => Self::Failed(StoreError::Engine(text)),
        }
    }
}
