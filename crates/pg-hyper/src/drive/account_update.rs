//! `client.update_accounts(…)`.

use std::{convert::Infallible, fmt, future::ready, sync::Arc};

use pg_model::CardKey;
use pg_proto::{
    Misuse, UpdaterHint,
    machine::{
        ResumeError, SavedState,
        account_update::{AccountUpdate, BatchResult, Progress, Summary, UpdateDemand, UpdateInput, UpdatePlan},
    },
};

use super::{Drive, DriveStep};
use crate::{Client, DriveError, DurableFile, HyperTransport, Notification, Received, StoreError, Transport};

/// The source of the card keys of an account update. Every iterator of card keys is a source.
///
/// After a crash it is read again from its start. The part that was already read must be unchanged.
pub trait KeySource: Send {
    /// Why the source cannot be read.
    type Error;

    /// Returns the next keys, at most `at_most`; none at the end of the source. Dropping the future must not lose any
    /// keys.
    fn keys(&mut self, at_most: usize) -> impl Future<Output = Result<Vec<CardKey>, Self::Error>> + Send;
}

impl<I> KeySource for I
where
    I: Iterator<Item: Into<CardKey>> + Send,
{
    type Error = Infallible;

    fn keys(&mut self, at_most: usize) -> impl Future<Output = Result<Vec<CardKey>, Infallible>> + Send {
        ready(Ok(self.take(at_most).map(Into::into).collect()))
    }
}

/// An account update in progress: a stream of [`UpdateEvent`]s, read with [`next`](Self::next).
/// [`Client::update_accounts`] has an example.
#[must_use = "it does nothing until `next` is called"]
pub struct AccountUpdateDrive<S, T = HyperTransport> {
    drive: Drive<AccountUpdate, T>,
    source: S,
    /// The keys that were read last, and their place: the machine may ask for them again.
    recent: (u64, Vec<CardKey>),
    /// Keys that the machine has asked for.
    wanted: Option<(u64, usize)>,
    /// The result that was returned last.
    handed: Option<u64>,
    shown: Progress,
    ended: bool,
}

/// An event of an account update.
#[derive(Clone, Debug)]
pub enum UpdateEvent {
    /// The present progress.
    Progress(Progress),
    /// The result of a batch. The next call confirms that you have it, so store it durably first.
    Result(Arc<BatchResult>),
    /// The update has ended. This is the last event.
    Ended(Summary),
}

impl<T: Transport + Clone + 'static> Client<T> {
    /// Refreshes any number of stored cards through the account updater. See
    /// [`machine::account_update`](pg_proto::machine::account_update) for its promises.
    ///
    /// ```no_run
    /// use pg_hyper::{Client, DurableFile, UpdateEvent, proto::machine::account_update::{UpdateEnd, UpdatePlan}};
    ///
    /// # async fn refresh(client: Client, keys: Vec<String>) -> Result<(), Box<dyn std::error::Error>> {
    /// let plan = UpdatePlan::new("updater key");
    /// let file = DurableFile::new("update.json");
    /// let updating = match file.saved()? {
    ///     Some(saved) => client.resume_update(&saved, plan, keys.into_iter())?,
    ///     None => client.update_accounts(plan, keys.into_iter())?,
    /// };
    /// let mut updating = updating.store_in(file.clone());
    /// while let Some(update) = updating.next().await? {
    ///     match update {
    ///         UpdateEvent::Progress(progress) => println!("{} of {}", progress.finished, progress.read),
    ///         UpdateEvent::Result(batch) => println!("batch {}: {} cards", batch.number, batch.entries.len()),
    ///         // Another list begins with another state; after every other end this one is resumed.
    ///         UpdateEvent::Ended(summary) if summary.end == UpdateEnd::Complete => file.remove()?,
    ///         UpdateEvent::Ended(summary) => println!("{:?}", summary.end),
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If the plan's updater key or callback address breaks a rule.
    pub fn update_accounts<S: KeySource>(&self, plan: UpdatePlan, keys: S) -> Result<AccountUpdateDrive<S, T>, Misuse> {
        AccountUpdate::new(Arc::clone(self.shared_account()), plan)
            .map(|machine| AccountUpdateDrive::new(self.drive(machine), keys))
    }

    /// Resumes an account update from the state that was saved last. `keys` start again from the beginning.
    ///
    /// # Errors
    ///
    /// [`ResumeError`] if `saved` is not the state of an account update or was saved for another account, or if the
    /// plan is invalid.
    pub fn resume_update<S: KeySource>(
        &self,
        saved: &SavedState,
        plan: UpdatePlan,
        keys: S,
    ) -> Result<AccountUpdateDrive<S, T>, ResumeError> {
        AccountUpdate::resume(saved, Arc::clone(self.shared_account()), plan)
            .map(|machine| AccountUpdateDrive::new(self.drive(machine).resumed_from(saved), keys))
    }
}

impl<S: KeySource, T: Transport + Clone + 'static> AccountUpdateDrive<S, T> {
    fn new(drive: Drive<AccountUpdate, T>, source: S) -> Self {
        Self {
            drive: drive.eager(),
            source,
            recent: (0, Vec::new()),
            wanted: None,
            handed: None,
            shown: Progress::default(),
            ended: false,
        }
    }

    /// Saves the machine before each request, see [`Drive::store`]. The machine is also saved after each reply, so that
    /// a crash causes no doubt about a batch whose submission was answered.
    pub fn store<F, Stored, E>(mut self, store: F) -> Self
    where
        F: Fn(SavedState) -> Stored + Send + Sync + 'static,
        Stored: Future<Output = Result<(), E>> + Send + 'static,
        E: Into<StoreError>,
    {
        self.drive = self.drive.store(store);
        self
    }

    /// [Saves](Self::store) the machine in this file; see [`Drive::store_in`].
    pub fn store_in(mut self, file: DurableFile) -> Self {
        self.drive = self.drive.store_in(file);
        self
    }

    /// Takes a notification of a [`Receiver`](crate::Receiver): a callback about a batch is a [hint](Self::hint), and is
    /// acknowledged when the hint is saved. Any other callback is refused: give it to the machine that waits for it, and
    /// only callbacks about batches to this function.
    pub fn receive(&mut self, received: Received) {
        if let Notification::Updater(hint) = received.notification {
            self.drive.handle_received_input(UpdateInput::Hint(hint), received.receipt);
        }
    }

    /// Reports a callback. Its content is not trusted; it is only a reason to retrieve a batch.
    pub fn hint(&mut self, hint: UpdaterHint) {
        self.drive.handle_input(UpdateInput::Hint(hint));
    }

    /// Returns the present progress.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.drive.machine().progress()
    }

    /// Returns the last error, see [`Drive::error`].
    #[must_use]
    pub const fn error(&self) -> Option<&DriveError> {
        self.drive.error()
    }

    /// Whether the update waits for the reply to a request that may have been sent, or for a state that is being saved. To
    /// stop an update without a doubtful batch, call [`next`](Self::next) until this is `false`, then drop it.
    #[must_use]
    pub fn awaits_reply(&self) -> bool {
        self.drive.awaits_reply()
    }

    /// Returns the state that would be saved now. Save it once more if the update has ended early.
    #[must_use]
    pub fn saved(&self) -> SavedState {
        self.drive.saved()
    }

    /// Waits for the next event; `None` after the end. The call confirms that the previous result is stored.
    ///
    /// The future can be dropped at any time without loss: to receive callbacks at the same time, `select!` between
    /// this and a [`Receiver`](crate::Receiver), and [pass them on](Self::receive).
    ///
    /// # Errors
    ///
    /// If the source cannot be read. You can call it again.
    pub async fn next(&mut self) -> Result<Option<UpdateEvent>, S::Error> {
        if let Some(number) = self.handed.take() {
            self.drive.handle_input(UpdateInput::Taken(number));
        }
        while !self.ended {
            if let Some((from, at_most)) = self.wanted {
                let keys = self.keys(from, at_most).await?;
                self.wanted = None;
                self.drive.handle_input(UpdateInput::Keys { from, keys });
            }
            match self.drive.turn().await {
                None => {}
                Some(DriveStep::Ask(UpdateDemand::Keys { from, at_most })) => self.wanted = Some((from, at_most)),
                Some(DriveStep::Ask(UpdateDemand::Take(result))) => {
                    self.handed = Some(result.number);
                    return Ok(Some(UpdateEvent::Result(result)));
                }
                Some(DriveStep::Done(summary)) => {
                    self.ended = true;
                    return Ok(Some(UpdateEvent::Ended(summary)));
                }
            }
            let progress = self.progress();
            if progress != self.shown {
                self.shown = progress;
                return Ok(Some(UpdateEvent::Progress(progress)));
            }
        }
        Ok(None)
    }

    /// Returns the keys of the source from this place on. The machine moves forward, or asks again for keys that it
    /// could not take.
    async fn keys(&mut self, from: u64, at_most: usize) -> Result<Vec<CardKey>, S::Error> {
        let (first, recent) = &self.recent;
        let passed = usize::try_from(from.saturating_sub(*first)).unwrap_or(usize::MAX);
        if let Some(again) = recent.get(passed..).filter(|again| !again.is_empty()) {
            return Ok(again.iter().take(at_most).cloned().collect());
        }
        let keys = self.source.keys(at_most).await?;
        self.recent = (from, keys.clone());
        Ok(keys)
    }
}

impl<S, T> fmt::Debug for AccountUpdateDrive<S, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccountUpdateDrive").field("drive", &self.drive).finish_non_exhaustive()
    }
}
