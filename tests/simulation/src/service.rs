//! The service: the sandbox's core over a store that can crash.

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
    agenda::Millis, conduct::ClientBehaviour, dice, job::UPDATER_KEY, ledger::Ledger, secrets::Secrets,
    spoken::DialectPair, store::CrashingStore,
};

/// Requests a minute of the first merchant.
pub(crate) const PER_MINUTE: u32 = 12;
/// The merchants; the first one is throttled.
pub(crate) const MERCHANTS: [&str; 2] = ["shop-0", "shop-1"];

pub(crate) struct Service {
    /// `None` while it is down.
    sandbox: Option<Sandbox>,
    pub(crate) store: CrashingStore,
    seed: u64,
    starts: u64,
    spoken: DialectPair,
}

impl Service {
    pub(crate) fn new(seed: u64, conduct: &dyn ClientBehaviour, secrets: Secrets, spoken: DialectPair) -> Self {
        let sqlite = Sqlite::in_memory().expect("an empty store in memory opens");
        let store = CrashingStore::new(conduct.engine(Box::new(sqlite)), secrets);
        let mut service = Self { sandbox: None, store, seed, starts: 0, spoken };
        service.start();
        service
    }

    pub(crate) const fn is_up(&self) -> bool {
        self.sandbox.is_some()
    }

    /// Starts with the store as the crash left it.
    pub(crate) fn start(&mut self) {
        self.starts += 1;
        let key = dice::bytes(self.seed, "key of the cards");
        let seed = dice::bytes(self.seed, &format!("start {}", self.starts));
        let dialect = Some(Arc::clone(&self.spoken.service));
        let settings = settings().clone().dialect(dialect);
        let opened = Sandbox::over(Box::new(self.store.clone()), settings, &key, seed);
        self.sandbox = Some(opened.expect("a store without faults opens"));
    }

    /// Ends the process at once.
    pub(crate) fn crash(&mut self) {
        self.sandbox = None;
        self.store.restart();
    }

    /// Answers requests that arrived together; `None` if it crashed.
    pub(crate) fn serve(&mut self, now: Millis, requests: Vec<Request<Bytes>>) -> Option<Vec<Response<Bytes>>> {
        let responses = self.sandbox.as_mut()?.handle_group(timestamp(now), requests);
        if self.store.has_crashed() {
            self.crash();
            return None;
        }
        let said = |ledger: &mut Ledger| {
            let (spoken, now) = (&self.spoken, timestamp(now));
            responses.into_iter().map(|response| spoken.said(response, ledger, now)).collect()
        };
        Some(self.store.ledger(said))
    }

    /// Returns the callbacks to send now; `None` if it is down or crashed.
    pub(crate) fn due(&mut self, now: Millis) -> Option<Vec<Outgoing>> {
        let due = self.sandbox.as_mut()?.due(timestamp(now));
        if self.store.has_crashed() {
            self.crash();
            return None;
        }
        Some(due)
    }

    /// Reports whether a callback arrived.
    pub(crate) fn delivered(&mut self, now: Millis, id: &str, arrived: bool) {
        let result = if arrived { Ok(StatusCode::OK) } else { Err("no answer".to_owned()) };
        if let Some(sandbox) = &mut self.sandbox {
            sandbox.delivered(timestamp(now), id, result);
        }
        if self.store.has_crashed() {
            self.crash();
        }
    }

    /// Returns when callbacks may be due.
    pub(crate) fn next_due(&self) -> Option<Millis> {
        let next = self.sandbox.as_ref()?.next_due()?;
        u64::try_from(next.millis()).ok()
    }

    /// Answers a request directly, without the network.
    pub(crate) fn serve_at_once(&mut self, now: Millis, request: Request<Bytes>) -> Response<Bytes> {
        let request = received(request, IpAddr::from([127, 0, 0, 1]));
        self.sandbox.as_mut().map(|sandbox| sandbox.handle(timestamp(now), request)).unwrap_or_default()
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
