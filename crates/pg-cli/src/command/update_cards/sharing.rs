//! The limits that a run shares with a fleet: requests per minute and in flight, and the stop after wrong credentials.

use std::sync::Arc;

use pg_hyper::{Client, Transport, proto::Account};
use pg_intents::{
    FleetLimits, FleetPlan, FleetStartError, IntentFilter, IntentStore, LimitWait, SqliteStore, StoreError,
};
use tokio::sync::mpsc;

use crate::{
    command::intents,
    failure::{Exit, Failure},
    output, shell,
};

/// The limits that a run shares with the processes over a store of intents, if it shares any.
pub(super) struct Sharing {
    shared: Option<Box<dyn Shared>>,
    waits: mpsc::UnboundedReceiver<LimitWait>,
    /// The messages that were already printed.
    said: Vec<LimitWait>,
    /// The account's name in the store.
    account: String,
}

/// [`FleetLimits`] over any store.
trait Shared: Send {
    fn limit(&self) -> Arc<dyn pg_hyper::SharedLimit>;

    fn close(&self) -> pg_hyper::LimitFuture<'_, ()>;
}

impl<S: IntentStore> Shared for FleetLimits<S> {
    fn limit(&self) -> Arc<dyn pg_hyper::SharedLimit> {
        Arc::new(self.clone())
    }

    fn close(&self) -> pg_hyper::LimitFuture<'_, ()> {
        Box::pin(Self::close(self))
    }
}

impl Sharing {
    /// Shares nothing.
    pub(super) fn none() -> Self {
        Self { shared: None, waits: mpsc::unbounded_channel().1, said: Vec::new(), account: String::new() }
    }

    /// Shares the limits of this account over this store.
    ///
    /// # Errors
    /// If the store cannot be used, or sending was stopped.
    pub(super) async fn over(address: &str, account: &Account, plan: FleetPlan) -> Result<Self, Failure> {
        let unsent = |failure: Failure| failure.with("; nothing was sent");
        if intents::address::is_postgres(address).map_err(unsent)? {
            return Self::over_postgres(address, account, &plan).await;
        }
        intents::address::check_file(address).map_err(unsent)?;
        Self::of(SqliteStore::connect(address).map_err(|error| not_opened(&error, address))?, account, &plan).await
    }

    #[cfg(feature = "postgres")]
    async fn over_postgres(address: &str, account: &Account, plan: &FleetPlan) -> Result<Self, Failure> {
        let store = pg_intents::PostgresStore::connect(address).await.map_err(|error| not_opened(&error, address))?;
        Self::of(store, account, plan).await
    }

    #[cfg(not(feature = "postgres"))]
    async fn over_postgres(_: &str, _: &Account, _: &FleetPlan) -> Result<Self, Failure> {
        Err(crate::command::without_postgres().with("; nothing was sent"))
    }

    async fn of<S: IntentStore>(store: S, account: &Account, plan: &FleetPlan) -> Result<Self, Failure> {
        let store = Arc::new(store);
        let (told, waits) = mpsc::unbounded_channel();
        let limits = FleetLimits::new(Arc::clone(&store), account, plan).await.map_err(|error| match error {
            FleetStartError::Store(error) => unusable(&error),
            error => Failure::misuse(format!("nothing was sent: {error}")),
        })?;
        let limits = limits.on_wait(move |why| {
            // The run has ended.
            let _ = told.send(why);
        });
        if let Some(reason) = limits.stopped().await.map_err(|error| unusable(&error))? {
            let why = stopped(limits.account(), &reason);
            return Err(Failure::new(Exit::Refused, format!("nothing was sent: {why}")));
        }
        warn_of_another_name(&*store, limits.account()).await.map_err(|error| unusable(&error))?;
        let account = limits.account().to_owned();
        Ok(Self { shared: Some(Box::new(limits)), waits, said: Vec::new(), account })
    }

    pub(super) fn with<T: Transport + Clone>(&self, client: Client<T>) -> Client<T> {
        match &self.shared {
            Some(shared) => client.with_shared_limit(shared.limit()),
            None => client,
        }
    }

    /// Returns what the run waits for, once for each reason. Without a store, never returns.
    pub(super) async fn waits(&mut self) -> &'static str {
        loop {
            let Some(why) = self.waits.recv().await else { return std::future::pending().await };
            if self.said.contains(&why) {
                continue;
            }
            self.said.push(why);
            return match why {
                LimitWait::Minute => {
                    "the processes that use this store have sent as many requests as the account may send in a minute: \
                     waiting"
                }
                _ => "waiting for requests of other processes that use this store",
            };
        }
    }

    /// Returns what to do after sending was stopped for all processes. `None` without a store.
    pub(super) fn advice_after_stop(&self) -> Option<String> {
        self.shared.as_ref().map(|_| resuming(&self.account))
    }

    /// Returns the unused share of the limits.
    pub(super) async fn close(&self) {
        if let Some(shared) = &self.shared {
            shared.close().await;
        }
    }
}

/// Returns what to do about a stop.
fn stopped(account: &str, reason: &str) -> String {
    format!("sending was stopped for all processes of the account: {reason}; {}", resuming(account))
}

fn resuming(account: &str) -> String {
    format!(
        "correct the credentials, then let all send again with `pg intents --store STORE --account {} resume`",
        shell::word(account)
    )
}

fn unusable(error: &StoreError) -> Failure {
    Failure::new(intents::exit(error), format!("nothing was sent: {error}"))
}

fn not_opened(error: &StoreError, address: &str) -> Failure {
    Failure::new(intents::exit(error), format!("nothing was sent: {}", intents::explained(error, address)))
}

/// Warns about an account name that the fleet does not use: the run would then share nothing with the fleet.
async fn warn_of_another_name<S: IntentStore>(store: &S, account: &str) -> Result<(), StoreError> {
    let one = IntentFilter { most: 1, ..IntentFilter::default() };
    let own = store.list(IntentFilter { account: Some(account.to_owned()), ..one.clone() }).await?;
    if own.is_empty()
        && let [other, ..] = &store.list(one).await?[..]
    {
        output::say(&format!(
            "pg: the store has no payments of the account {account}, but of {}: if that is the same account, pass the name that the \
             fleet gives it with --identity; otherwise nothing is shared with that fleet",
            other.key.account
        ));
    }
    Ok(())
}
