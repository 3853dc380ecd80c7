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

use super::{Drive, DriveError, DriveStep, StoreError};
use crate::{Client, DurableFile, HyperTransport, Notification, Received, Transport};

/// Where the card keys of an account update come from. Every iterator of card keys is one.
///
/// After a crash it is read again from its beginning, and has to be the same as far as it was read.
pub trait KeySource: Send {
    /// Why it can't be read.
    type Error;

    /// The next keys, at most so many; none at its end. A future that is dropped before it has ended must not lose any.
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

/// An account update on its way: a stream of [`UpdateEvent`]s, to be taken with [`next`](Self::next).
#[must_use = "it does nothing until it is asked for what is next"]
pub struct AccountUpdateDrive<S, T = HyperTransport> {
    drive: Drive<AccountUpdate, T>,
    source: S,
    /// The keys that were read last, and their place: the machine may ask for them once more.
    recent: (u64, Vec<CardKey>),
    /// Keys that the machine has asked for.
    wanted: Option<(u64, usize)>,
    /// The result that was handed out last.
    handed: Option<u64>,
    shown: Progress,
    ended: bool,
}

/// What an account update tells.
#[derive(Clone, Debug)]
pub enum UpdateEvent {
    /// How far it is.
    Progress(Progress),
    /// The result of a batch. To ask for what is next says that it is in good hands, so store it durably before.
    Result(Arc<BatchResult>),
    /// It is over: there will be no further update.
    Ended(Summary),
}

impl<T: Transport + Clone + 'static> Client<T> {
    /// Refreshes any number of stored cards through the account updater, see
    /// [`machine::account_update`](pg_proto::machine::account_update) for what it promises.
    ///
    /// ```no_run
    /// use pg_hyper::{Client, DurableFile, UpdateEvent, proto::machine::account_update::UpdatePlan};
    ///
    /// # async fn refresh(client: Client, keys: Vec<String>) -> Result<(), Box<dyn std::error::Error>> {
    /// let plan = UpdatePlan::new("updater key");
    /// let mut updating = client
    ///     .update_accounts(plan, keys.into_iter())?
    ///     .store_in(DurableFile::new("update.json"));
    /// while let Some(update) = updating.next().await? {
    ///     match update {
    ///         UpdateEvent::Progress(progress) => println!("{} of {}", progress.finished, progress.read),
    ///         UpdateEvent::Result(batch) => println!("batch {}: {} cards", batch.number, batch.entries.len()),
    ///         UpdateEvent::Ended(summary) => println!("{:?}", summary.end),
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the plan's updater key or callback address breaks a rule.
    pub fn update_accounts<S: KeySource>(&self, plan: UpdatePlan, keys: S) -> Result<AccountUpdateDrive<S, T>, Misuse> {
        AccountUpdate::new(self.account().clone(), plan)
            .map(|machine| AccountUpdateDrive::new(self.drive(machine), keys))
    }

    /// Goes on with an account update from what was stored last. `keys` begin at their beginning again.
    ///
    /// # Errors
    /// When that is no account update's state, was saved for another account, or the plan is wrong.
    pub fn resume_update<S: KeySource>(
        &self,
        saved: &SavedState,
        plan: UpdatePlan,
        keys: S,
    ) -> Result<AccountUpdateDrive<S, T>, ResumeError> {
        AccountUpdate::resume(saved, self.account().clone(), plan)
            .map(|machine| AccountUpdateDrive::new(self.drive(machine), keys))
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

    /// Stores the machine before each request, see [`Drive::store`]; and after each reply, so that a crash leaves no doubt
    /// about a batch whose submission was answered.
    pub fn store<F, Stored, E>(mut self, store: F) -> Self
    where
        F: Fn(SavedState) -> Stored + Send + Sync + 'static,
        Stored: Future<Output = Result<(), E>> + Send + 'static,
        E: Into<StoreError>,
    {
        self.drive = self.drive.store(store);
        self
    }

    /// [Stores](Self::store) the machine in this file; see [`Drive::store_in`].
    pub fn store_in(mut self, file: DurableFile) -> Self {
        self.drive = self.drive.store_in(file);
        self
    }

    /// Takes what a [`Receiver`](crate::Receiver) received: a callback is a [hint](Self::hint), everything else is ignored. The
    /// callback is acknowledged once the hint is stored.
    pub fn receive(&mut self, received: Received) {
        if let Notification::Updater(hint) = received.notification {
            self.drive.handle_received_input(UpdateInput::Hint(hint), received.receipt);
        }
    }

    /// A callback came in. Nothing in it is believed: it is a reason to look.
    pub fn hint(&mut self, hint: UpdaterHint) {
        self.drive.handle_input(UpdateInput::Hint(hint));
    }

    /// How far it is.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.drive.machine().progress()
    }

    /// What went wrong last, see [`Drive::error`].
    #[must_use]
    pub const fn error(&self) -> Option<&DriveError> {
        self.drive.error()
    }

    /// What would be stored now: worth storing once more when it has ended before its time.
    #[must_use]
    pub fn saved(&self) -> SavedState {
        self.drive.saved()
    }

    /// Waits for the next update; none after the end. To call it says that the result that it brought before is stored.
    ///
    /// The future may be dropped at any time, and nothing is lost: to take callbacks meanwhile, `select!` between this and
    /// a [`Receiver`](crate::Receiver), and [pass them on](Self::receive).
    ///
    /// # Errors
    /// When the source can't be read. It may be called again.
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

    /// The keys of the source from there on. The machine goes forward, or asks once more for what it could not take.
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
