//! The file beside the input that a run goes on from.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use pg_hyper::proto::machine::SavedState;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha512};

use super::{
    durable,
    input::{Input, Print},
    row::Format,
};
use crate::failure::Failure;

/// What is stored. It contains no card keys and no credentials, but the secret address that callbacks are sent to.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct State {
    /// The version of this file's shape.
    update_cards: u32,
    pub(super) input: Print,
    /// Tells accounts apart, and no more.
    pub(super) account: String,
    pub(super) output: PathBuf,
    pub(super) format: Format,
    pub(super) written: Written,
    /// The last part of the address that callbacks come to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) token: Option<String>,
    /// What the machine goes on from; none before its first step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    machine: Option<Box<RawValue>>,
}

/// What of the results is in good hands.
///
/// Results are written before the machine hears of it, so a state may be stored in between. That is why it names the
/// batch that was written last: the machine may offer that one again, and no other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Written {
    /// Bytes of the output. What lies behind them was written before a crash, and is written again.
    pub(super) bytes: u64,
    /// Rows in them, without a header.
    pub(super) rows: u64,
    /// The batch that was written last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) last_batch: Option<u64>,
}

const VERSION: u32 = 1;

impl State {
    pub(super) fn new(input: &Input, account: String, output: PathBuf, format: Format) -> Self {
        Self {
            update_cards: VERSION,
            input: input.print.clone(),
            account,
            output,
            format,
            written: Written::default(),
            token: None,
            machine: None,
        }
    }

    /// What the machine goes on from, if it had begun.
    pub(super) fn machine(&self) -> Option<SavedState> {
        self.machine.as_ref().map(|text| SavedState::from_text(text.get()))
    }

    /// Reads what an earlier run has stored, if there was one.
    ///
    /// # Errors
    /// When it can't be read, or is of something else.
    pub(super) fn read(path: &Path) -> Result<Option<Self>, Failure> {
        let shown = path.display();
        let text = match std::fs::read_to_string(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            text => text.map_err(|error| Failure::misuse(format!("{shown} can't be read: {error}")))?,
        };
        let unusable = |why: &str| Failure::misuse(format!("{shown} {why}; {BEGIN_AGAIN}"));
        // Where in it, and nothing of the text.
        let state: Self = serde_json::from_str(&text)
            .map_err(|error| unusable(&format!("is no state of pg update-cards (line {})", error.line())))?;
        if state.update_cards > VERSION {
            return Err(unusable("was stored by a later version of pg"));
        }
        Ok(Some(state))
    }

    /// Whether it may be gone on with.
    ///
    /// # Errors
    /// When the input, the account or the output is another one; says what to do.
    pub(super) fn check(&self, new: &Self, output_named: bool, format_named: bool) -> Result<(), Failure> {
        let differs = if self.input != new.input {
            format!(
                "another file than this one: it had {} bytes with {} card keys, this one has {} with {}, or other ones",
                self.input.bytes, self.input.keys, new.input.bytes, new.input.keys
            )
        } else if self.account != new.account {
            "another account than this one (PG_API_KEY)".to_owned()
        } else if output_named && self.output != new.output {
            format!("results in {}; leave --output out to go on", self.output.display())
        } else if format_named && self.format != new.format {
            format!("results as {}; leave --format out to go on", self.format.name())
        } else {
            return Ok(());
        };
        Err(Failure::misuse(format!("the run that is stored beside this file was begun with {differs}; {BEGIN_AGAIN}")))
    }
}

const BEGIN_AGAIN: &str = "--restart forgets that run and begins anew, and what the service has of it is then submitted \
                           twice";

/// The state in memory and, unless the input is standard input, in its file.
#[derive(Clone)]
pub(super) struct Keeper {
    path: Option<PathBuf>,
    state: Arc<Mutex<State>>,
}

impl Keeper {
    pub(super) fn new(path: Option<PathBuf>, state: State) -> Self {
        Self { path, state: Arc::new(Mutex::new(state)) }
    }

    /// Changes what will be stored with the next machine.
    pub(super) fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
    }

    /// Stores it with this machine, durably.
    ///
    /// # Errors
    /// When the file can't be written; the one before is still there.
    pub(super) fn keep(&self, saved: &SavedState) -> io::Result<()> {
        self.lock().machine = Some(RawValue::from_string(saved.text().to_owned())?);
        self.keep_as_it_is()
    }

    /// Stores it, durably.
    ///
    /// # Errors
    /// As [`keep`](Self::keep).
    pub(super) fn keep_as_it_is(&self) -> io::Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        let text = serde_json::to_string(&*self.lock())? + "\n";
        durable::replace(path, &text)
            .map_err(|error| io::Error::new(error.kind(), format!("{} can't be written: {error}", path.display())))
    }

    /// Takes its file away: there is nothing to go on with.
    ///
    /// # Errors
    /// When it stays.
    pub(super) fn forget(&self) -> io::Result<()> {
        self.path.as_ref().map_or(Ok(()), std::fs::remove_file)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing that holds the lock can leave it in disorder.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells accounts apart: 32 bits of a hash, which do not reveal a key.
pub(super) fn print_of_account(api_key: &str) -> String {
    let hash = Sha512::new().chain_update("pg update-cards ").chain_update(api_key).finalize();
    hash.iter().take(4).map(|byte| format!("{byte:02x}")).collect()
}

/// Where the state of an input is.
pub(super) fn path_beside(input: &Path) -> PathBuf {
    durable::beside(input, ".pg-state")
}
