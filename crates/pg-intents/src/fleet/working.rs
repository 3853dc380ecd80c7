//! Picks up intents that other workers have abandoned.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    sync::{Arc, atomic::Ordering},
    task::Poll,
};

use pg_hyper::{Transport, proto::machine::SavedState};
use tokio::task::JoinSet;

use super::{Busy, Fleet, Worked, settling::QUIET, staying::EndsLeftWork};
use crate::{
    IntentEnd, IntentRow, IntentStatus, IntentStore, StoreError,
    machines::{ForMachine, StoredMachine, for_kind},
    telemetry,
};

/// A difference of clocks, in milliseconds, that a slow answer of the database does not explain.
const CLOCKS_DIFFER: u64 = 5_000;

/// Continues an intent with the machine of its kind.
struct GoOn<'a, S, T> {
    fleet: &'a Fleet<S, T>,
    intent: &'a IntentRow,
}

impl<'a, S: IntentStore, T: Transport + Clone + 'static> ForMachine for GoOn<'a, S, T> {
    type Output = Pin<Box<dyn Future<Output = Worked> + Send + 'a>>;

    fn call<M: StoredMachine>(self) -> Self::Output {
        Box::pin(self.fleet.go_on_as::<M>(self.intent))
    }
}

impl<S: IntentStore, T: Transport + Clone + 'static> Fleet<S, T> {
    /// Claims abandoned intents and finishes them, until [`shut_down`](Self::shut_down). While the store cannot be
    /// reached, it keeps trying.
    ///
    /// Payments that calls have left to this process ([`three_d_secure`](Self::three_d_secure)) are its work too: it ends after their
    /// requests in flight have got their replies. If this future is dropped, all of this work ends as if the process had died, and other
    /// workers continue it after the leases.
    pub async fn run(&self) {
        let ends_left_work = EndsLeftWork(&self.0.left);
        let mut working = JoinSet::new();
        loop {
            // From here on, neither the end of this worker nor a notification is missed.
            let mut stop = pin!(self.0.stop.notified());
            stop.as_mut().enable();
            let mut changed = pin!(self.0.store.changed());
            let has_changed = poll_fn(|context| Poll::Ready(changed.as_mut().poll(context).is_ready())).await;
            if self.is_stopping() {
                break;
            }
            while working.try_join_next().is_some() {}
            let free = usize::try_from(self.0.plan.at_once).unwrap_or(usize::MAX).saturating_sub(working.len());
            let claimed = match free {
                0 => Vec::new(),
                free => self.claim(u32::try_from(free).unwrap_or(u32::MAX)).await.unwrap_or_else(|error| {
                    tracing::warn!(target: "pg.fleet", %error, "no intents could be claimed");
                    Vec::new()
                }),
            };
            // After a full batch, or a change, there may be more.
            let more = free > 0 && (claimed.len() == free || has_changed);
            self.spawn_each(claimed, &mut working);
            if more {
                continue;
            }
            tokio::select! {
                biased;
                () = stop => {}
                () = changed, if !has_changed => {}
                Some(_) = working.join_next(), if free == 0 => {}
                () = self.sleep(self.0.plan.poll) => {}
            }
        }
        while working.join_next().await.is_some() {}
        self.0.left.ended().await;
        drop(ends_left_work);
        self.0.limits.close().await;
    }

    /// Claims at most one batch of due intents, and works on them at the same time, since the leases of all of them have begun. Returns
    /// their number.
    ///
    /// # Errors
    /// If the store does not answer.
    pub async fn work_once(&self) -> Result<usize, StoreError> {
        let claimed = self.claim(self.0.plan.at_once).await?;
        let count = claimed.len();
        let mut working = JoinSet::new();
        self.spawn_each(claimed, &mut working);
        while let Some(ended) = working.join_next().await {
            if let Err(error) = ended
                && error.is_panic()
            {
                std::panic::resume_unwind(error.into_panic());
            }
        }
        Ok(count)
    }

    fn spawn_each(&self, claimed: Vec<(IntentRow, Busy<S, T>)>, working: &mut JoinSet<()>) {
        for (intent, busy) in claimed {
            let fleet = self.clone();
            working.spawn(async move {
                fleet.go_on(intent).await;
                drop(busy);
            });
        }
    }

    async fn claim(&self, most: u32) -> Result<Vec<(IntentRow, Busy<S, T>)>, StoreError> {
        let plan = &self.0.plan;
        // The intent's next request is held back, for all processes or for this one.
        if self.0.limits.stopped().await?.is_some() || self.0.client.stopped().is_some() {
            return Ok(Vec::new());
        }
        let claimed = self.0.store.claim(&self.0.account, &self.0.owner, most, plan.lease, &self.0.kinds).await?;
        telemetry::claimed(claimed.len());
        if let Some(intent) = claimed.first() {
            self.compare_clocks(intent);
        }
        let mut taken = Vec::with_capacity(claimed.len());
        for intent in claimed {
            // A call of this process is about to begin it, or worked on it and lost it by this claim. The call joins.
            match self.occupy(&intent.key.reference) {
                Some(busy) => taken.push((intent, busy)),
                None => self.give_up(intent.hold(), plan.poll).await,
            }
        }
        Ok(taken)
    }

    /// Continues a claimed intent of any kind. Returns `false` if this process cannot continue it; then its lease ends by itself, and
    /// the claim counts as a failure.
    pub(super) async fn go_on(&self, intent: IntentRow) -> bool {
        if intent.claims > self.0.plan.claims {
            self.park(&intent).await;
            return true;
        }
        // Only known kinds are claimed.
        let Some(going_on) = for_kind(&intent.kind, GoOn { fleet: self, intent: &intent }) else { return false };
        let worked = going_on.await;
        let is_continued = !matches!(worked, Worked::Failed(_));
        match worked {
            Worked::Ended(settled) => {
                tracing::info!(target: "pg.fleet", outcome = settled.name(), fence = intent.fence, "resumed");
            }
            Worked::Lost { .. } | Worked::Stopping | Worked::Asks(_) | Worked::Waits => {}
            Worked::Store { error, .. } => tracing::warn!(target: "pg.fleet", %error, "an intent waits for the store"),
            Worked::Failed(error) => tracing::error!(target: "pg.fleet", %error, "an intent cannot be resumed"),
        }
        is_continued
    }

    async fn go_on_as<M: StoredMachine>(&self, intent: &IntentRow) -> Worked {
        let request = match intent.request.as_deref().map(M::request).transpose() {
            Ok(request) => request,
            Err(error) => return Worked::Failed(error.into()),
        };
        self.resume::<M>(intent, request).await
    }

    /// Warns once if the clock of this server differs from that of the database, since times that customers have go by the servers'
    /// clocks.
    pub(super) fn compare_clocks(&self, intent: &IntentRow) {
        let now = i64::try_from(self.0.client.now().millis()).unwrap_or(i64::MAX);
        let ahead = now.saturating_sub(intent.read_at);
        let differ = ahead.unsigned_abs() >= CLOCKS_DIFFER;
        if differ && !self.0.clocks_differ.swap(true, Ordering::Relaxed) {
            tracing::warn!(target: "pg.fleet", ahead_in_ms = ahead, "the clock of this server differs from that of the database; synchronise both");
        }
        self.0.clocks_differ.store(differ, Ordering::Relaxed);
    }

    /// Parks an intent on which workers failed too often. A later event gives it one more claim.
    async fn park(&self, intent: &IntentRow) {
        let Some(hold) = intent.hold() else { return };
        let state = SavedState::from_text(&*intent.state);
        let why = format!("parked after {} claims without an end", intent.claims);
        let outcome = intent.outcome.clone().unwrap_or_else(|| crate::PaymentOutcome::unknown(&why));
        let end = IntentEnd {
            status: IntentStatus::Parked,
            state: state.text().to_owned(),
            outcome,
            wake: None,
            heard: 0,
            quiet: QUIET,
        };
        match Arc::clone(&self.0.store).end(&hold, end).await {
            Ok(()) => telemetry::parked(&intent.kind),
            Err(error) => tracing::warn!(target: "pg.fleet", %error, "an intent was not parked"),
        }
    }
}
