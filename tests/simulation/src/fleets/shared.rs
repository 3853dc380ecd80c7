//! The shared state of a world: its time, log, service, random numbers, and the notes of its checks.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;
use http::{Request, Response};
use pg_proto::Account;

use super::time::Time;
use crate::{
    agenda::Millis,
    client::Client,
    conduct::Right,
    dice::Dice,
    job::CV2,
    ledger::Ledger,
    log::Log,
    network::Network,
    scenario::{Disturbance, Scenario},
    secrets::Secrets,
    service::{MERCHANTS, Service},
    spoken::DialectPair,
    weather::NetworkConditions,
    world::{BEGIN, Tally, Violation},
};

pub(super) struct Shared {
    pub(super) scenario: Scenario,
    pub(super) time: Time,
    pub(super) spoken: DialectPair,
    pub(super) merchants: Vec<Client>,
    /// The names of the accounts in rows.
    pub(super) accounts: Vec<String>,
    state: Mutex<State>,
}

/// It is never locked across an await.
pub(super) struct State {
    log: Log,
    violation: Option<Violation>,
    pub(super) tally: Tally,
    pub(super) service: Service,
    pub(super) network: Network,
    pub(super) secrets: Secrets,
    dice: Dice,
    /// Whether faults occur.
    pub(super) troubled: bool,
    pub(super) notes: Notes,
}

/// The notes of the checks.
#[derive(Default)]
pub(super) struct Notes {
    /// When the service executed requests of an account.
    pub(super) executed: BTreeMap<usize, Vec<Millis>>,
    /// The number of an account's requests that the service has refused since wrong credentials were deployed.
    pub(super) refused: BTreeMap<usize, u32>,
    /// The number of events that explain further ones: crashes, sleeping processes, lost replies and an unreachable database.
    pub(super) excuses: BTreeMap<usize, u32>,
    /// Whether the last save of a worker for a reference was committed.
    pub(super) saved: BTreeMap<(u64, String), bool>,
    /// The fleet's reference of payments for which requests use another name.
    pub(super) aliases: BTreeMap<String, String>,
    /// References of requests that the network duplicated or delayed.
    pub(super) doubled: BTreeSet<String>,
}

/// The account of a merchant with its name in rows.
pub(super) fn named(merchant: usize, account: &Account) -> Account {
    account.clone().identity(MERCHANTS[merchant])
}

impl State {
    /// Ends all faults. Messages in flight still arrive.
    pub(super) fn heals(&mut self) {
        self.troubled = false;
        self.network.weather = NetworkConditions::default();
    }
}

impl Shared {
    pub(super) fn new(scenario: Scenario) -> Arc<Self> {
        let spoken = DialectPair::of(scenario);
        let mut secrets = Secrets::default();
        let merchants: Vec<Client> =
            (0..MERCHANTS.len()).map(|number| Client::new(number, &mut secrets, &spoken.client)).collect();
        let accounts = (0..)
            .zip(&merchants)
            .map(|(number, merchant)| named(number, merchant.right_account()).bound_identity())
            .collect();
        secrets.add_code(CV2);
        let service = Service::new(scenario, 1, &Right, secrets.clone(), spoken.clone());
        let state = State {
            log: Log::new(BEGIN),
            violation: None,
            tally: Tally::default(),
            service,
            network: Network::new(scenario.seed, NetworkConditions::of(scenario)),
            secrets,
            dice: Dice::new(scenario.seed, "fleet"),
            troubled: true,
            notes: Notes::default(),
        };
        Arc::new(Self { scenario, time: Time::new(BEGIN), spoken, merchants, accounts, state: Mutex::new(state) })
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn note(&self, what: fmt::Arguments<'_>) {
        let now = self.time.now();
        self.state().log.note(now, what);
    }

    /// Records a violated check, which ends the world.
    pub(super) fn violated(&self, check: &'static str, what: String) {
        self.note(format_args!("VIOLATED {check}: {what}"));
        self.state().violation.get_or_insert(Violation { check, what });
        self.time.end();
    }

    pub(super) fn violation(&self) -> Option<Violation> {
        self.state().violation.clone()
    }

    pub(super) fn log(&self) -> String {
        self.state().log.text().to_owned()
    }

    /// Returns true with this chance in a thousand, while there are faults of this kind.
    pub(super) fn fault(&self, kind: Disturbance, per_mille: u64) -> bool {
        let mut state = self.state();
        // The number is drawn even without faults of this kind, so that leaving a fault out changes little else.
        let falls = state.dice.per_mille(per_mille);
        falls && state.troubled && self.scenario.has(kind)
    }

    pub(super) fn between(&self, least: u64, most: u64) -> u64 {
        self.state().dice.between(least, most)
    }

    pub(super) fn below(&self, limit: usize) -> usize {
        usize::try_from(self.state().dice.below(limit as u64)).unwrap_or_default()
    }

    pub(super) fn is_troubled(&self) -> bool {
        self.state().troubled
    }

    /// Reads the committed data of the service.
    pub(super) fn ledger<T>(&self, look: impl FnOnce(&mut Ledger) -> T) -> T {
        let store = self.state().service.store.handle();
        store.ledger(look)
    }

    /// Permits one more request with wrong credentials.
    pub(super) fn excuse(&self, account: usize) {
        *self.state().notes.excuses.entry(account).or_default() += 1;
    }

    /// Sends a request of a browser over a reliable network; `None` if the service is down.
    pub(super) fn browse(&self, request: Request<Bytes>) -> Option<Response<Bytes>> {
        let request = crate::service::received(request, std::net::IpAddr::from([203, 0, 113, 7]));
        let now = self.time.now();
        self.state().service.serve(now, vec![request])?.pop()
    }
}
