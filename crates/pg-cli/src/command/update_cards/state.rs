//! The state file beside the input, from which a run resumes.

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
    super::result_file,
    durable,
    input::{Input, Print},
    row::Format,
};
use crate::failure::Failure;

/// The stored state. It contains no card keys and no credentials, but the secret URL for callbacks.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct State {
    /// The version of the file format.
    update_cards: u32,
    pub(super) input: Print,
    /// A hash that distinguishes accounts.
    pub(super) account: String,
    /// Absolute, so that the run can be resumed from another folder.
    pub(super) output: PathBuf,
    pub(super) format: Format,
    pub(super) written: Written,
    /// Whether all results are in the output, which is not changed any more.
    #[serde(default)]
    pub(super) finished: bool,
    /// The last part of the URL for callbacks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) token: Option<String>,
    /// The saved machine; none before its first step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    machine: Option<Box<RawValue>>,
}

/// The results that are durable.
///
/// Results are written before the machine is notified, so a state may be stored in between. Therefore it names the
/// batch that was written last: the machine may offer only that batch again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Written {
    /// Bytes of the output. Later bytes were written before a crash, and are written again.
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
            finished: false,
            token: None,
            machine: None,
        }
    }

    /// Returns the saved machine, if it had started.
    pub(super) fn machine(&self) -> Option<SavedState> {
        self.machine.as_ref().map(|text| SavedState::from_text(text.get()))
    }

    /// Reads the state of an earlier run, if there is one.
    ///
    /// # Errors
    /// If it cannot be read, or is not a state file.
    pub(super) fn read(path: &Path) -> Result<Option<Self>, Failure> {
        let shown = path.display();
        let text = match read(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            text => text.map_err(|error| Failure::misuse(format!("cannot read {shown}: {error}")))?,
        };
        let unusable = |why: &str| Failure::misuse(format!("{shown} {why}; {BEGIN_AGAIN}"));
        // The message has the place of the mistake, without the text.
        let state: Self = serde_json::from_str(&text)
            .map_err(|error| unusable(&format!("is not a state file of pg update-cards (line {})", error.line())))?;
        if state.update_cards > VERSION {
            return Err(unusable("was written by a later version of pg"));
        }
        Ok(Some(state))
    }

    /// Whether it is of a finished run of another input, so that nothing is left to resume.
    pub(super) fn is_over(&self, new: &Self) -> bool {
        self.finished && self.input != new.input
    }

    /// Checks whether the run may be resumed. `same_account` confirms the account.
    ///
    /// # Errors
    /// If the input, the account or the output has changed; the message says what to do.
    pub(super) fn check(
        &self,
        new: &Self,
        same_account: bool,
        output_named: bool,
        format_named: bool,
    ) -> Result<(), Failure> {
        let differs = if self.input != new.input {
            format!(
                "a different file: it had {} bytes with {} card keys, this one has {} with {}, or different ones",
                self.input.bytes, self.input.keys, new.input.bytes, new.input.keys
            )
        } else if self.account != new.account && !same_account {
            "a different account (PG_API_KEY); if only the key was replaced, add --same-account".to_owned()
        } else if output_named && result_file::located(&self.output) != result_file::located(&new.output) {
            format!("results in {}; omit --output to resume", self.output.display())
        } else if format_named && self.format != new.format {
            format!("results as {}; omit --format to resume", self.format.name())
        } else {
            return Ok(());
        };
        Err(Failure::misuse(format!("the run stored beside this file was started with {differs}; {BEGIN_AGAIN}")))
    }
}

pub(super) const BEGIN_AGAIN: &str = "--restart discards that run and starts over; batches that the service already has are then \
submitted twice";

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
    /// If the file cannot be written; the earlier one is kept.
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
            .map_err(|error| io::Error::new(error.kind(), format!("cannot write {}: {error}", path.display())))
    }

    /// Deletes its file: there is nothing to resume.
    ///
    /// # Errors
    /// If it cannot be deleted.
    pub(super) fn forget(&self) -> io::Result<()> {
        self.path.as_ref().map_or(Ok(()), std::fs::remove_file)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic under the lock cannot leave it inconsistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Distinguishes accounts by 32 bits of a hash, which do not reveal a key.
pub(super) fn print_of_account(api_key: &str) -> String {
    let hash = Sha512::new().chain_update("pg update-cards ").chain_update(api_key).finalize();
    hash.iter().take(4).map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the path of an input's state.
pub(super) fn path_beside(input: &Path) -> PathBuf {
    durable::beside(input, ".pg-state")
}
/// Reads a file. Opening a named pipe would wait for its other end.
fn read(path: &Path) -> io::Result<String> {
    if result_file::is_named_pipe(path) {
        return Err(io::Error::other("it is a named pipe"));
    }
    std::fs::read_to_string(path)
}
