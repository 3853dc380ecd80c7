//! Sealed stores: the keys that an operator gives, and their change.

use pg_intents::{IntentRow, RewritableStore, SealKey, SealKeyError, SealedStore, Sealing};
use serde::Serialize;

use super::{Arguments, failure};
use crate::{
    account::variable,
    failure::{Exit, Failure},
    output,
};

/// The environment variable with the key.
const KEY: &str = "PG_INTENTS_KEY";
/// The environment variable with older keys.
const OLDER: &str = "PG_INTENTS_KEY_OLDER";

pub(super) const NO_KEY: &str =
    "to seal payments, give the key: --store-key FILE, or PG_INTENTS_KEY with 64 hexadecimal digits";

/// Returns the given keys; `None` without any.
pub(super) fn given(arguments: &Arguments) -> Result<Option<Sealing>, Failure> {
    let misuse = |error: SealKeyError| Failure::misuse(error.to_string());
    let from = |name: &'static str| move |error: SealKeyError| Failure::misuse(format!("{name}: {error}"));
    let older = variable(OLDER)?.unwrap_or_default();
    let newest = match (&arguments.store_key, variable(KEY)?) {
        (Some(file), _) => SealKey::from_file(file).map_err(misuse)?,
        (None, Some(digits)) => SealKey::from_hex(&digits).map_err(from(KEY))?,
        (None, None) if !arguments.store_key_older.is_empty() => return Err(without_key("--store-key-older")),
        (None, None) if !older.is_empty() => return Err(without_key(OLDER)),
        (None, None) => return Ok(None),
    };
    let mut sealing = Sealing::new(newest);
    for file in &arguments.store_key_older {
        sealing = sealing.older(SealKey::from_file(file).map_err(misuse)?);
    }
    for digits in older.split_whitespace() {
        sealing = sealing.older(SealKey::from_hex(digits).map_err(from(OLDER))?);
    }
    Ok(Some(sealing))
}

fn without_key(older: &str) -> Failure {
    Failure::misuse(format!("{older} needs --store-key or {KEY}"))
}

/// Reports for how many payments only the unencrypted part is shown.
pub(super) fn tell(rows: &[&IntentRow], arguments: &Arguments) {
    let sealed = rows.iter().filter(|row| row.sealed_with().is_some()).count();
    if sealed == 0 {
        return;
    }
    let has_key = arguments.store_key.is_some() || variable(KEY).is_ok_and(|key| key.is_some());
    let how = match has_key {
        true => "cannot be opened: they were altered, or are sealed with a key that was not given",
        false => "are sealed: --store-key FILE or PG_INTENTS_KEY shows their outcomes",
    };
    output::say(&format!("{sealed} of these payments {how}"));
}

/// The results of the payments.
#[derive(Serialize)]
struct Counts {
    sealed: u64,
    current: u64,
    unopened: u64,
}

pub(super) async fn reseal<S: RewritableStore>(store: &SealedStore<S>, json: bool) -> Result<Exit, Failure> {
    let done = store.reseal().await.map_err(failure)?;
    let (sealed, current, unopened) = (done.sealed, done.current, done.unopened);
    let ended = match done.first_unopened {
        None => Ok(Exit::Done),
        Some(first) => {
            Err(Failure::new(Exit::Refused, format!("{unopened} payments are unchanged; the first: {first}")))
        }
    };
    let ended = if json {
        output::result(&Counts { sealed, current, unopened }, ended)
    } else {
        output::data(&format!("{sealed} payments sealed with the newest key, {current} were already"))?;
        ended
    };
    if sealed > 0 {
        output::say("the older keys are still needed: repeat this after a minute, until it seals none");
    }
    ended
}
