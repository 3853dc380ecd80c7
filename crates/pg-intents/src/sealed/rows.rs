//! Rows with their texts sealed or opened.
//!
//! The kind of a sealed row ends with the fingerprint of the key with which it was begun. Workers claim by kind, so programs
//! without sealing and processes without the key do not claim the row.

use super::{
    key::{SealKey, Sealing},
    text::{Place, Unopened, fingerprint, open, seal},
};
use crate::{IntentKey, IntentKind, IntentRow, StoreError, intent::SEALED};

/// The names of a row's texts in errors.
const DIGEST: &str = "digest";
const REQUEST: &str = "request";
const STATE: &str = "state";
const ASKS: &str = "question";
const OUTCOME: &str = "outcome";
const EVENT: &str = "event";

/// Returns the kind of a row that was begun with this key.
pub(super) fn tagged(kind: &str, key: &SealKey) -> String {
    [kind, SEALED, key.fingerprint()].concat()
}

/// The texts of one row, sealed with one key.
pub(super) struct Sealer<'a> {
    pub(super) key: &'a SealKey,
    pub(super) of: &'a IntentKey,
}

impl Sealer<'_> {
    fn at(&self, kind: &str, column: &'static str, text: &str) -> String {
        seal(self.key, place(self.of, kind, column), text)
    }

    /// `kind` with the fingerprint.
    pub(super) fn digest(&self, kind: &str, text: &str) -> String {
        self.at(kind, DIGEST, text)
    }

    /// `kind` with the fingerprint.
    pub(super) fn request(&self, kind: &str, text: &str) -> String {
        self.at(kind, REQUEST, text)
    }

    pub(super) fn state(&self, text: &str) -> String {
        self.at("", STATE, text)
    }

    pub(super) fn asks(&self, text: &str) -> String {
        self.at("", ASKS, text)
    }

    pub(super) fn outcome(&self, text: &str) -> String {
        self.at("", OUTCOME, text)
    }

    pub(super) fn event(&self, text: &str) -> String {
        self.at("", EVENT, text)
    }

    /// Returns the whole row.
    pub(super) fn row(&self, opened: &IntentRow) -> IntentRow {
        let kind = tagged(&opened.kind, self.key);
        IntentRow {
            digest: self.digest(&kind, &opened.digest),
            request: opened.request.as_deref().map(|text| self.request(&kind, text)),
            state: self.state(&opened.state),
            asks: opened.asks.as_deref().map(|text| self.asks(text)),
            outcome: opened.outcome.as_deref().map(|text| self.outcome(text)),
            kind,
            ..opened.clone()
        }
    }
}

fn place<'a>(of: &'a IntentKey, kind: &'a str, column: &'static str) -> Place<'a> {
    Place { account: &of.account, reference: &of.reference, kind, column }
}

impl Sealing {
    /// Returns the kinds that may be claimed: with the fingerprint of each key, and without a fingerprint if
    /// unencrypted rows are accepted.
    pub(super) fn kinds(&self, kinds: &[IntentKind]) -> Vec<IntentKind> {
        let sealed = self.keys.iter().flat_map(|key| {
            kinds.iter().map(|kind| IntentKind { name: tagged(&kind.name, key), version: kind.version })
        });
        let clear = kinds.iter().filter(|_| self.accepts_clear).cloned();
        sealed.chain(clear).collect()
    }

    /// Returns the row with its texts opened.
    pub(super) fn opened(&self, row: &IntentRow) -> Result<IntentRow, Unopened> {
        let sealed_with = row.sealed_with();
        if sealed_with.is_none() && !self.accepts_clear {
            return Err(Unopened::Clear);
        }
        // A row that was begun unencrypted gets sealed texts when it is saved.
        let text = |kind: &str, column, text: &str| match open(self, place(&row.key, kind, column), text) {
            Err(Unopened::Clear) if sealed_with.is_none() => Ok(text.to_owned()),
            Err(Unopened::Clear) => Err(Unopened::Altered(column)),
            opened => opened,
        };
        let optional = |kind: &str, column, stored: &Option<String>| {
            stored.as_deref().map(|stored| text(kind, column, stored)).transpose()
        };
        Ok(IntentRow {
            digest: text(&row.kind, DIGEST, &row.digest)?,
            request: optional(&row.kind, REQUEST, &row.request)?,
            state: text("", STATE, &row.state)?,
            asks: optional("", ASKS, &row.asks)?,
            outcome: optional("", OUTCOME, &row.outcome)?,
            kind: row.plain_kind().to_owned(),
            ..row.clone()
        })
    }

    pub(super) fn opened_outcome(&self, of: &IntentKey, text: &str) -> Result<String, Unopened> {
        open(self, place(of, "", OUTCOME), text)
    }

    /// Returns an opened event.
    pub(super) fn opened_event(&self, of: &IntentKey, text: &str) -> Result<String, Unopened> {
        match open(self, place(of, "", EVENT), text) {
            Err(Unopened::Clear) if self.accepts_clear => Ok(text.to_owned()),
            opened => opened,
        }
    }

    /// Whether sealing a row again would change nothing.
    pub(super) fn is_current(&self, row: &IntentRow) -> bool {
        let newest = self.newest().fingerprint();
        let texts =
            [Some(&row.digest), row.request.as_ref(), Some(&row.state), row.asks.as_ref(), row.outcome.as_ref()];
        row.sealed_with() == Some(newest) && texts.into_iter().flatten().all(|text| fingerprint(text) == Some(newest))
    }

    pub(super) fn is_current_event(&self, text: &str) -> bool {
        fingerprint(text) == Some(self.newest().fingerprint())
    }
}

impl Unopened {
    /// Returns the error for this intent.
    pub(super) fn of(&self, key: &IntentKey) -> StoreError {
        let why = match self {
            Self::MissingKey(fingerprint) => format!("it is sealed with the key {fingerprint}, which was not given"),
            Self::Altered(column) => {
                format!("its {column} or its kind was altered, or was copied from another row; nothing is sent for it")
            }
            Self::Clear => {
                "it is not sealed, and unencrypted intents are not accepted; `pg intents reseal --clear` seals them"
                    .to_owned()
            }
        };
        StoreError::Sealed { reference: key.reference.clone(), why }
    }
}
