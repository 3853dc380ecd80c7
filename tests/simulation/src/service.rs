//! The service: the sandbox's core over a store that can crash, in one process or in several behind a load balancer.

use std::{
    net::IpAddr,
    sync::{Arc, OnceLock},
};

use bytes::Bytes;
use http::{HeaderValue, Request, Response, StatusCode, Uri, header};
use pg_sandbox::{
    Outgoing, Peer, Sandbox, Settings, Timestamp,
    merchants::{EnterpriseCredentials, Merchants},
    secret::Secret,
    store::Sqlite,
};

use crate::{
    agenda::Millis,
    bank::Bank,
    conduct::ClientBehaviour,
    dice::{self, Dice},
    job::UPDATER_KEY,
    ledger::Ledger,
    scenario::Scenario,
    secrets::Secrets,
    spoken::DialectPair,
    store::{CrashingStore, Sharing},
};

/// Requests a minute of the first merchant.
pub(crate) const PER_MINUTE: u32 = 12;
/// The merchants; the first one is throttled.
pub(crate) const MERCHANTS: [&str; 2] = ["shop-0", "shop-1"];

pub(crate) struct Service {
    /// The processes; `None` while one is down.
    processes: Vec<Option<Sandbox>>,
    /// The process that answered last.
    last: usize,
    /// Chooses the process for a request.
    balancer: Dice,
    pub(crate) store: CrashingStore,
    seed: u64,
    starts: u64,
    spoken: DialectPair,
    bank: Bank,
}

impl Service {
    pub(crate) fn new(
        scenario: Scenario,
        processes: usize,
        conduct: &dyn ClientBehaviour,
        secrets: Secrets,
        spoken: DialectPair,
    ) -> Self {
        let sqlite = Sqlite::in_memory().expect("an empty store in memory opens");
        let sharing = Sharing { several: processes > 1, is_told: conduct.shares(), notices: conduct.notices_others() };
        let store = CrashingStore::new(conduct.engine(Box::new(sqlite)), sharing, secrets);
        let mut all = Vec::new();
        all.resize_with(processes, || None);
        let (seed, balancer) = (scenario.seed, Dice::new(scenario.seed, "balancer"));
        let mut service =
            Self { processes: all, last: 0, balancer, store, seed, starts: 0, spoken, bank: Bank::new(scenario) };
        service.start();
        service
    }

    /// Whether any process is up.
    pub(crate) fn is_up(&self) -> bool {
        self.processes.iter().any(Option::is_some)
    }

    /// The number of processes, up or not.
    pub(crate) const fn processes(&self) -> usize {
        self.processes.len()
    }

    /// Starts the processes that are down, with the store as the crash left it.
    pub(crate) fn start(&mut self) {
        let armed = self.store.disarm();
        let Self { processes, store, seed, starts, spoken, .. } = self;
        for process in processes.iter_mut().filter(|process| process.is_none()) {
            *starts += 1;
            let key = dice::bytes(*seed, "key of the cards");
            let dice = dice::bytes(*seed, &format!("start {starts}"));
            let dialect = Some(Arc::clone(&spoken.service));
            let settings = settings().clone().dialect(dialect);
            let opened = Sandbox::over(Box::new(store.handle()), settings, &key, dice);
            *process = Some(opened.expect("a store without faults opens"));
        }
        self.store.arm(armed);
    }

    /// Ends the process that answered last, at once.
    pub(crate) fn crash(&mut self) {
        self.processes[self.last] = None;
        self.store.restart();
    }

    /// A process that is up, as a load balancer chooses it.
    fn choose(&mut self) -> Option<&mut Sandbox> {
        let up: Vec<usize> = (0..self.processes.len()).filter(|number| self.processes[*number].is_some()).collect();
        self.last = match &up[..] {
            [] => return None,
            [only] => *only,
            several => self.balancer.pick(several),
        };
        self.processes[self.last].as_mut()
    }

    /// Answers requests that arrived together; `None` if the process crashed.
    pub(crate) fn serve(&mut self, now: Millis, requests: Vec<Request<Bytes>>) -> Option<Vec<Response<Bytes>>> {
        // An order of an operator comes before the bank, and is given only to several processes.
        let alone = self.processes() == 1;
        let mut bank = |request| self.bank.declined(request, &self.spoken).filter(|_| alone);
        let declined: Vec<_> = requests.iter().map(&mut bank).collect();
        let asked = requests.into_iter().zip(&declined).filter(|(_, declined)| declined.is_none());
        let asked = asked.map(|(request, _)| request).collect();
        let mut responses = self.choose()?.handle_group(timestamp(now), asked).into_iter();
        if self.store.has_crashed() {
            self.crash();
            return None;
        }
        let responses = declined.into_iter().filter_map(|declined| declined.or_else(|| responses.next()));
        let responses: Vec<_> = responses.collect();
        let said = |ledger: &mut Ledger| {
            let (spoken, now) = (&self.spoken, timestamp(now));
            responses.into_iter().map(|response| spoken.said(response, ledger, now)).collect()
        };
        Some(self.store.ledger(said))
    }

    /// Returns the callbacks that a process sends now, nothing if it is down; `None` if it crashed.
    pub(crate) fn due(&mut self, process: usize, now: Millis) -> Option<Vec<Outgoing>> {
        let Some(sandbox) = &mut self.processes[process] else { return Some(Vec::new()) };
        self.last = process;
        let due = sandbox.due(timestamp(now));
        if self.store.has_crashed() {
            self.crash();
            return None;
        }
        Some(due)
    }

    /// Reports to a process whether its callback arrived; false if it crashed.
    pub(crate) fn delivered(&mut self, process: usize, now: Millis, id: &str, arrived: bool) -> bool {
        let result = if arrived { Ok(StatusCode::OK) } else { Err("no answer".to_owned()) };
        let Some(sandbox) = &mut self.processes[process] else { return true };
        self.last = process;
        sandbox.delivered(timestamp(now), id, result);
        let crashed = self.store.has_crashed();
        if crashed {
            self.crash();
        }
        !crashed
    }

    /// Returns when callbacks may be due. Several processes check every few seconds for tasks of others; checks before
    /// anything in the store is due are skipped.
    pub(crate) fn next_due(&self) -> Option<Millis> {
        let next = self.processes.iter().flatten().filter_map(Sandbox::next_due).min()?;
        let work = if self.processes.len() > 1 { self.store.next_work()? } else { next };
        u64::try_from(next.max(work).millis()).ok()
    }

    /// Answers a request directly, without the network and without a crash.
    pub(crate) fn serve_at_once(&mut self, now: Millis, request: Request<Bytes>) -> Response<Bytes> {
        let request = received(request, IpAddr::from([127, 0, 0, 1]));
        let armed = self.store.disarm();
        let response = self.choose().map(|sandbox| sandbox.handle(timestamp(now), request)).unwrap_or_default();
        self.store.arm(armed);
        response
    }
}

/// Converts a request to the form that a server receives: a path, the host in a header, and the peer's address.
pub(crate) fn received(request: Request<Bytes>, from: IpAddr) -> Request<Bytes> {
    let (mut parts, body) = request.into_parts();
    if let Some(host) = parts.uri.authority().and_then(|host| HeaderValue::from_str(host.as_str()).ok()) {
        parts.headers.insert(header::HOST, host);
        parts.uri = parts.uri.path_and_query().cloned().map_or_else(|| parts.uri.clone(), Uri::from);
    }
    parts.extensions.insert(Peer(from));
    Request::from_parts(parts, body)
}

pub(crate) fn timestamp(now: Millis) -> Timestamp {
    Timestamp::from_millis(i64::try_from(now).unwrap_or(i64::MAX))
}

/// The accounts of every world.
pub(crate) fn settings() -> &'static Settings {
    static SETTINGS: OnceLock<Settings> = OnceLock::new();
    SETTINGS.get_or_init(|| {
        let model = Settings::default().merchants.by_name("main").cloned().expect("a built-in account");
        let merchants = MERCHANTS.iter().enumerate().map(|(number, name)| {
            let mut merchant = model.clone();
            (*name).clone_into(&mut merchant.name);
            merchant.api_key = Secret::new(format!("SimulationApiKeyOfShopNumber000{number}"));
            merchant.api_password = Secret::new(format!("simulation-password-{number}"));
            merchant.sha_key = Secret::new(format!("simulation-sha-key-{number}"));
            merchant.requests_per_minute = (number == 0).then_some(PER_MINUTE);
            merchant.account_updater_key = Some(Secret::new(UPDATER_KEY));
            merchant.enterprise = Some(EnterpriseCredentials::new(
                Secret::new(format!("SimulationV5ApiKeyOfShopNumber_0{number}")),
                Secret::new(format!("SimulationV5PasswordOfShopNumb_0{number}")),
            ));
            merchant
        });
        let merchants = Merchants::with(merchants.collect()).expect("accounts with keys of their own");
        Settings::default().merchants(merchants)
    })
}
