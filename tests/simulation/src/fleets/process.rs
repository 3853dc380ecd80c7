//! A process of a fleet: it starts, works, sleeps, is killed, is replaced by another version, and starts again.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use pg_faulty_intents::{FaultyStore, StoreBug};
use pg_hyper::ClientBuilder;
use pg_intents::{Fleet, FleetPlan};
use pg_proto::machine::{Backoff, charge::ChargeBounds, checkout::CheckoutPlan};
use tokio::task::{AbortHandle, JoinHandle};

use super::{
    database::{Connection, Database},
    seat::{Seat, SeatClock},
    shared::named,
    wire::Wire,
};
use crate::{agenda::Millis, service::PER_MINUTE};

pub(super) type Worker = Fleet<FaultyStore<Connection>, Wire>;

pub(super) struct Process {
    pub(super) seat: Arc<Seat>,
    pub(super) database: Arc<Database>,
    bug: Option<StoreBug>,
    state: Mutex<Running>,
}

#[derive(Default)]
struct Running {
    worker: Option<Worker>,
    run: Option<JoinHandle<()>>,
    tasks: Vec<AbortHandle>,
    starts: u64,
    newer: bool,
    /// Whether it starts with wrong credentials.
    wrong: bool,
}

/// An event in the life of a process.
#[derive(Clone, Copy, Debug)]
pub(super) enum Blow {
    Kill,
    /// A shutdown that hands leases over.
    Stop,
    Sleep(Millis),
    /// A deploy of the next version.
    Newer,
    /// A deploy of wrong credentials.
    Wrong,
    /// A deploy of the right credentials, and the operator resumes sending.
    Mended,
    /// The last start: the next version, with the right credentials.
    Healed,
}

impl Process {
    pub(super) fn new(seat: Arc<Seat>, database: Arc<Database>, bug: Option<StoreBug>, newer: bool) -> Arc<Self> {
        let state = Mutex::new(Running { newer, ..Running::default() });
        Arc::new(Self { seat, database, bug, state })
    }

    /// The worker, while the process is up.
    pub(super) fn worker(&self) -> Option<Worker> {
        self.state().worker.clone()
    }

    /// Runs work in the process; it ends when the process is killed.
    pub(super) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let task = tokio::spawn(work).abort_handle();
        let mut state = self.state();
        state.tasks.retain(|task| !task.is_finished());
        state.tasks.push(task);
    }

    /// Runs the process through these events, each at its time.
    pub(super) async fn live(self: Arc<Self>, blows: Vec<(Millis, Blow)>) {
        let (shared, name) = (Arc::clone(&self.database.shared), self.seat.name.clone());
        self.start();
        for (at, blow) in blows {
            loop {
                tokio::select! {
                    biased;
                    () = self.seat.killed.notified() => {
                        shared.excuse(self.seat.account);
                        self.kill();
                        let pause = shared.between(200, 40_000);
                        shared.time.sleep(pause).await;
                        self.start();
                    }
                    () = shared.time.sleep_until(at) => break,
                }
            }
            shared.note(format_args!("{name}: {blow:?}"));
            self.suffer(blow).await;
        }
    }

    async fn suffer(self: &Arc<Self>, blow: Blow) {
        let shared = Arc::clone(&self.database.shared);
        match blow {
            Blow::Sleep(millis) => {
                shared.excuse(self.seat.account);
                return self.seat.falls_asleep(millis);
            }
            Blow::Kill => {
                shared.excuse(self.seat.account);
                self.kill();
                shared.time.sleep(shared.between(200, 40_000)).await;
            }
            Blow::Stop => self.stop().await,
            Blow::Newer => {
                self.stop().await;
                self.state().newer = true;
            }
            Blow::Wrong => {
                self.kill();
                self.state().wrong = true;
            }
            Blow::Mended => {
                self.kill();
                self.state().wrong = false;
            }
            Blow::Healed => {
                self.kill();
                let mut state = self.state();
                (state.wrong, state.newer) = (false, true);
            }
        }
        self.start();
        if matches!(blow, Blow::Mended | Blow::Healed) {
            let process = Arc::clone(self);
            self.spawn(async move { process.resume_sending().await });
        }
    }

    fn start(self: &Arc<Self>) {
        self.seat.begins_anew();
        let process = Arc::clone(self);
        self.spawn(async move { process.starts().await });
    }

    async fn starts(self: &Arc<Self>) {
        let shared = &self.database.shared;
        let (starts, newer, wrong) = {
            let mut state = self.state();
            state.starts += 1;
            (state.starts, state.newer, state.wrong)
        };
        let merchant = &shared.merchants[self.seat.account];
        let account = if wrong { merchant.wrong_account() } else { merchant.right_account() };
        let account = named(self.seat.account, account);
        let worker = loop {
            let connection = self.database.connect(&self.seat, newer);
            let wire =
                Wire { shared: Arc::clone(shared), seat: Arc::clone(&self.seat), connection: connection.number, wrong };
            let client = ClientBuilder::with_transport(account.clone(), wire)
                .clock(SeatClock(Arc::clone(&self.seat)))
                .seed(shared.scenario.seed.wrapping_add(starts))
                .build();
            let store = Arc::new(FaultyStore::new(connection, self.bug));
            match Fleet::new(client, store, self.plan()).await {
                Ok(worker) => break worker,
                Err(error) => shared.note(format_args!("{} does not start: {error}", self.seat.name)),
            }
            shared.time.sleep(1_000).await;
        };
        shared.note(format_args!("{} works as {}", self.seat.name, worker.owner()));
        let running = worker.clone();
        let run = tokio::spawn(async move { running.run().await });
        let mut state = self.state();
        state.tasks.push(run.abort_handle());
        (state.worker, state.run) = (Some(worker), Some(run));
    }

    fn plan(&self) -> FleetPlan {
        let seconds = Duration::from_secs;
        let limit = if self.seat.account == 0 { PER_MINUTE } else { u32::MAX };
        FleetPlan::new(&self.seat.name)
            .lease(seconds(15))
            .poll(seconds(10))
            .patience(seconds(60))
            .at_once(4)
            .per_minute(limit)
            .lookups([30, 60, 120, 200].map(seconds))
            .bounds(ChargeBounds::default().attempts(3).lookups(4).within(seconds(300)).pauses(Backoff::default()))
            .checkouts(CheckoutPlan::default().wait(seconds(400)).linger(seconds(120)))
            .clock(SeatClock(Arc::clone(&self.seat)))
            .apart_from(&self.database.shared.accounts)
    }

    fn kill(&self) {
        self.database.shared.state().tally.crashes += 1;
        let mut state = self.state();
        for task in state.tasks.drain(..) {
            task.abort();
        }
        (state.worker, state.run) = (None, None);
        drop(state);
        self.database.shared.note(format_args!("{} is dead", self.seat.name));
    }

    async fn stop(&self) {
        let (worker, run) = {
            let mut state = self.state();
            (state.worker.take(), state.run.take())
        };
        if let (Some(worker), Some(run)) = (worker, run) {
            worker.shut_down();
            let time = self.database.shared.time.clone();
            tokio::select! {
                biased;
                _ = run => {}
                // Like an orchestrator whose patience has ended.
                () = time.sleep(20_000) => {}
            }
        }
        self.kill();
    }

    /// The operator, who resumes sending once the credentials of all processes are right. After the last fault they check again
    /// every minute, since a client may take another refusal of the service for wrong credentials.
    async fn resume_sending(&self) {
        let time = self.database.shared.time.clone();
        time.sleep(5_000).await;
        loop {
            let resumed = match self.worker() {
                Some(worker) => worker.resume_sending().await.is_ok(),
                None => false,
            };
            if resumed && self.database.shared.is_troubled() {
                return;
            }
            time.sleep(if resumed { 60_000 } else { 1_000 }).await;
        }
    }

    fn state(&self) -> MutexGuard<'_, Running> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
