//! Drives one machine, renews its lease meanwhile, and passes on the events that reached other servers.

use std::{pin::pin, sync::Arc, time::Duration};

use pg_hyper::{
    Drive, DriveError, DriveStep, LimitError, LimitFuture, SharedLimit, SharedPermit, Transport,
    proto::{
        machine::{Moment, SavedState, throttle::StopReason},
        model::method::ServiceInfo,
    },
};

use super::{
    Fleet,
    keeper::{Keeper, Trouble},
    limits::NotPermitted,
};
use crate::{IntentKey, IntentStore, StoreError, machines::StoredMachine};

/// How long a machine stays in this process after an event. One is rarely alone: a callback and the customer's return arrive together. And
/// without this time a flood of events could pass a machine from server to server, whose clocks may differ, at any rate.
const STAYS: Duration = Duration::from_secs(60);

/// The reason why a drive has ended.
pub(super) enum Ran<D, O> {
    Done(O, SavedState, Waiting),
    /// The machine asks its owner a question, and has processed the events up to this number.
    Asks(D, SavedState, i32),
    /// The machine waits until this moment, and has processed the events up to this number.
    Waits(Moment, SavedState, i32),
    Trouble(Trouble),
}

/// The events that waited when a machine began.
#[derive(Clone, Copy)]
pub(super) struct Waiting {
    /// The number before the first event: events up to this number were processed earlier.
    pub(super) before: i32,
    /// The number of the last event.
    pub(super) last: i32,
}

/// What a drive does next.
enum Next<D, O> {
    Step(DriveStep<D, O>),
    /// It waits until this moment.
    Rest(Moment),
}

/// The limits of the account, for the requests of one machine. If nothing is permitted, the drive ends.
struct RunLimit<S, T> {
    fleet: Fleet<S, T>,
    keeper: Arc<Keeper<S>>,
}

impl<S: IntentStore, T: Transport + Clone + 'static> SharedLimit for RunLimit<S, T> {
    fn permit<'a>(&'a self, service: &'a ServiceInfo) -> LimitFuture<'a, Result<Box<dyn SharedPermit>, LimitError>> {
        Box::pin(async move {
            let refuse = |trouble: Trouble, why: LimitError| {
                self.keeper.fail(trouble);
                Err(why)
            };
            let mut stop = pin!(self.fleet.0.stop.notified());
            stop.as_mut().enable();
            let shuts_down = || LimitError::Stopped("this worker shuts down".to_owned());
            if self.fleet.is_stopping() {
                return refuse(Trouble::Stopping, shuts_down());
            }
            let permitted = tokio::select! {
                biased;
                () = stop => return refuse(Trouble::Stopping, shuts_down()),
                permitted = self.fleet.0.limits.permit_one(service) => permitted,
            };
            match permitted {
                Ok(permit) => {
                    self.keeper.permit();
                    Ok(permit)
                }
                Err(NotPermitted::Stopped(reason)) => {
                    refuse(Trouble::Stopped(reason.clone()), LimitError::Stopped(reason))
                }
                Err(NotPermitted::Store(error)) => {
                    refuse(Trouble::from(error.clone()), LimitError::Unavailable(Box::new(error)))
                }
            }
        })
    }
}

impl<S: IntentStore, T: Transport + Clone + 'static> Fleet<S, T> {
    /// Ends once the row of the payment that this call is about to begin exists. While the call still waits for the client's throttle
    /// or for a shared limit, another call has created it.
    async fn until_begun(&self, keeper: &Keeper<S>) {
        while keeper.unbegun().is_some() {
            self.sleep(self.0.plan.poll).await;
            if let Some(key) = keeper.unbegun()
                && let Ok(Some(_)) = self.0.store.find(&key).await
            {
                return;
            }
        }
        std::future::pending().await
    }

    async fn events(&self, keeper: &Keeper<S>, key: &IntentKey, after: i32) -> Result<Vec<(i32, String)>, StoreError> {
        match keeper.begun() {
            Some(hold) => self.0.store.events_of(&hold, after).await,
            None => self.0.store.events(key, after).await,
        }
    }

    /// Returns the machine's next step, or when it goes on if it can rest in its row until then. That is cheaper than to hold it, if its
    /// lease would have to be renewed.
    async fn next_or_rest<M: StoredMachine>(
        &self,
        drive: &mut Drive<M, T>,
        heard_at: Option<Moment>,
    ) -> Next<M::Demand, M::Outcome> {
        loop {
            let now = self.0.client.now();
            let stays = heard_at.is_some_and(|at| at <= now && now < at.after(STAYS));
            match drive.waits_until() {
                Some(until) if drive.machine().rests() && !stays && until > now.after(self.0.plan.lease / 3) => {
                    return Next::Rest(until);
                }
                _ => {}
            }
            if let Some(step) = drive.turn().await {
                return Next::Step(step);
            }
        }
    }

    /// `inbox`: the number of events when the intent was claimed.
    pub(super) async fn drive<M: StoredMachine>(
        &self,
        machine: M,
        keeper: &Arc<Keeper<S>>,
        key: &IntentKey,
        inbox: i32,
    ) -> Ran<M::Demand, M::Outcome> {
        let saving = Arc::clone(keeper);
        let limit = RunLimit { fleet: self.clone(), keeper: Arc::clone(keeper) };
        let client = self.0.client.with_shared_limit(Arc::new(limit));
        let mut drive: Drive<M, T> = client.drive(machine).store(move |saved| {
            let keeper = Arc::clone(&saving);
            async move { keeper.save(saved).await }
        });
        let mut heard = 0;
        // The machine takes the events that wait before it begins.
        let first = if M::HEARS {
            match self.events(keeper, key, heard).await {
                Ok(events) => pass_on(&mut drive, events, &mut heard),
                Err(error) => return Ran::Trouble(Trouble::Store(error)),
            }
        } else {
            None
        };
        // Events that no longer wait were processed.
        heard = heard.max(inbox);
        let mut heard_at = first.map(|_| self.0.client.now());
        let waiting = Waiting { before: first.map_or(heard, |first| first - 1), last: heard };
        let third = self.0.plan.lease / 3;
        // All of these are polled together. A statement that is not polled keeps its connection, which the others may need.
        let mut beat = pin!(self.sleep(third));
        let mut changed = pin!(self.0.store.changed());
        let mut begun = pin!(self.until_begun(keeper));
        let mut renewing = pin!(keeper.renew());
        let mut reading = pin!(self.events(keeper, key, heard));
        let (mut waits_to_begin, mut renews, mut reads, mut news) = (true, false, false, false);
        loop {
            if M::HEARS && news && !reads {
                reading.set(self.events(keeper, key, heard));
                (reads, news) = (true, false);
            }
            tokio::select! {
                biased;
                next = self.next_or_rest(&mut drive, heard_at) => return match why_stopped(&drive, keeper) {
                    Some(trouble) => Ran::Trouble(trouble),
                    None => match next {
                        Next::Step(DriveStep::Done(outcome)) => Ran::Done(outcome, drive.saved(), waiting),
                        Next::Step(DriveStep::Ask(demand)) => Ran::Asks(demand, drive.saved(), heard),
                        Next::Rest(until) => Ran::Waits(until, drive.saved(), heard),
                    },
                },
                () = &mut beat, if !renews => {
                    renewing.set(keeper.renew());
                    renews = true;
                }
                () = &mut renewing, if renews => {
                    if let Some(trouble) = keeper.trouble() {
                        return Ran::Trouble(trouble);
                    }
                    // A request in flight gets its reply, and the next one no permit.
                    if self.is_stopping() && !keeper.is_sending() {
                        return Ran::Trouble(Trouble::Stopping);
                    }
                    beat.set(self.sleep(third));
                    (renews, news) = (false, true);
                }
                // The call joins that payment.
                () = &mut begun, if waits_to_begin => {
                    if !keeper.is_permitted() {
                        return Ran::Trouble(Trouble::Exists);
                    }
                    waits_to_begin = false;
                }
                () = &mut changed, if M::HEARS => {
                    changed.set(self.0.store.changed());
                    news = true;
                }
                read = &mut reading, if reads => {
                    reads = false;
                    match read {
                        Ok(events) => {
                            if pass_on(&mut drive, events, &mut heard).is_some() {
                                heard_at = Some(self.0.client.now());
                            }
                        }
                        Err(error) => tracing::warn!(target: "pg.fleet", %error, "events were not read"),
                    }
                }
            }
        }
    }
}

/// Returns why the machine of this drive must not continue.
fn why_stopped<M: StoredMachine, T: Transport + Clone + 'static, S: IntentStore>(
    drive: &Drive<M, T>,
    keeper: &Keeper<S>,
) -> Option<Trouble> {
    keeper.trouble().or_else(|| {
        // The request was held back: the service has refused the client's credentials, or has not accepted them yet.
        let Some(DriveError::Stopped(stop)) = drive.error() else { return None };
        let reason = stop.to_string();
        // Only a refusal of the credentials stops the other processes; the permit has reported it.
        Some(match stop {
            StopReason::Credentials(_) => Trouble::Stopped(reason),
            _ => Trouble::Unanswered(reason),
        })
    })
}

/// Passes events to the machine. After a crash a machine may receive an event twice; it ignores the second one. Returns the number of
/// the first event.
fn pass_on<M: StoredMachine, T: Transport + Clone + 'static>(
    drive: &mut Drive<M, T>,
    events: Vec<(i32, String)>,
    heard: &mut i32,
) -> Option<i32> {
    let first = events.first().map(|(number, _)| *number);
    for (number, event) in events {
        match serde_json::from_str(&event).ok().and_then(M::input) {
            Some(input) => drive.handle_input(input),
            None => tracing::warn!(target: "pg.fleet", "an event is not for this kind of payment"),
        }
        *heard = number;
    }
    first
}
