//! One world: merchants, customers, the network, the service, and their time.

use std::{collections::BTreeMap, fmt};

use pg_sandbox::store::Kind;

use crate::{
    agenda::{EventQueue, Millis, SimulatedEvent},
    client::Client,
    conduct::ClientBehaviour,
    dice::Dice,
    log::Log,
    network::{Call, Network},
    run::OwnerEvent,
    scenario::{Disturbance, Scenario},
    secrets::Secrets,
    service::Service,
    spoken::DialectPair,
    task::Task,
    weather::NetworkConditions,
};

mod browsing;
mod callbacks;
mod challenges;
mod crashing;
mod customers;
mod driving;
mod following_up;
mod operating;
mod serving;

pub(crate) use browsing::OTHER_CARDS;
use browsing::Tab;
use callbacks::Sent;

/// 2026-05-04T10:00:00Z.
pub(crate) const BEGIN: Millis = 1_777_888_800_000;
/// After this time no new fault occurs; messages in flight still arrive.
pub(crate) const TROUBLED: Millis = 2 * 3_600_000;

/// The result of a world.
#[derive(Debug)]
pub struct Played {
    /// The world.
    pub scenario: Scenario,
    /// Its events, one per line.
    pub log: String,
    /// The first check that it violated, if any.
    pub violation: Option<Violation>,
    /// Its counts.
    pub tally: Tally,
}

/// A check that a world violated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The name of the check.
    pub check: &'static str,
    /// The violation that it found.
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.check, self.what)
    }
}

/// Counts over one world or many.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Virtual time, in milliseconds.
    pub virtual_millis: u64,
    /// Requests that reached the service.
    pub requests: u64,
    /// Crashes of the service and of merchants' servers.
    pub crashes: u64,
    /// How often machines ended, by kind and claim.
    pub claims: BTreeMap<String, u64>,
}

impl Tally {
    /// Adds another one.
    pub fn add(&mut self, other: &Self) {
        self.virtual_millis += other.virtual_millis;
        self.requests += other.requests;
        self.crashes += other.crashes;
        for (claim, times) in &other.claims {
            *self.claims.entry(claim.clone()).or_default() += times;
        }
    }
}

pub(crate) struct World<'a> {
    pub(crate) scenario: Scenario,
    pub(crate) conduct: &'a dyn ClientBehaviour,
    pub(crate) now: Millis,
    pub(crate) agenda: EventQueue,
    pub(crate) log: Log,
    pub(crate) secrets: Secrets,
    pub(crate) service: Service,
    pub(crate) spoken: DialectPair,
    pub(crate) network: Network,
    pub(crate) clients: Vec<Client>,
    pub(crate) tasks: Vec<Task>,
    pub(crate) calls: Vec<Call>,
    /// Copies of requests that the service has not taken yet.
    waiting: Vec<(usize, u32)>,
    /// Callbacks in flight, with their receivers.
    callbacks: Vec<Sent>,
    /// Tabs of customers on the payment page.
    tabs: Vec<Tab>,
    /// Reports about checkouts that will reach their merchants.
    news: Vec<(usize, OwnerEvent)>,
    /// Callbacks of which no report has come: the process that sent each, and when.
    handed_out: BTreeMap<String, (usize, Millis)>,
    /// When sessions were opened for the first client, as its limit counts them.
    pub(crate) opened: Vec<Millis>,
    /// How many more calls have to meet the fault of an operator; `None` after a crash, which may have undone one.
    pub(crate) faults_left: Option<u32>,
    /// When the service next checks for due callbacks.
    looks_at: Option<Millis>,
    /// Cards that were stored before the world began.
    pub(crate) stored_cards: u64,
    /// Whether the service crashes after its next commit, before it replies.
    mute: bool,
    /// Whether a server may crash at any send.
    crashes_at_sends: bool,
    /// Stores after each step, not only before each send.
    stores_eagerly: bool,
    pub(crate) healed: bool,
    /// Random numbers for machines and the throttle.
    random: Dice,
    chance: Dice,
    /// Random numbers for customers.
    customers: Dice,
    /// Random numbers for wrong configurations.
    mixups: Dice,
    /// Keys of payments that were committed at this step.
    pub(crate) fresh: Vec<String>,
    /// Tasks that ended at this step.
    pub(crate) ended: Vec<usize>,
    /// Records that the service has named in a reply or a callback that was sent.
    pub(crate) acknowledged: Vec<(&'static Kind, String)>,
    /// For each client, when its requests were executed, if at most two minutes after sending.
    pub(crate) executed: Vec<Vec<Millis>>,
    /// For each client, when its requests were refused for their credentials.
    pub(crate) refused: Vec<Vec<Millis>>,
    pub(crate) violation: Option<Violation>,
    pub(crate) tally: Tally,
}

/// One process in most worlds, and two or three in the others.
fn processes(scenario: Scenario) -> usize {
    let mut dice = Dice::new(scenario.seed, "processes");
    let several = dice.pick(&[1, 1, 1, 2, 3]);
    if scenario.has(Disturbance::Processes) { several } else { 1 }
}

impl<'a> World<'a> {
    pub(crate) fn new(scenario: Scenario, conduct: &'a dyn ClientBehaviour, mut secrets: Secrets) -> Self {
        let spoken = DialectPair::of(scenario);
        let clients: Vec<Client> = (0..2).map(|number| Client::new(number, &mut secrets, &spoken.client)).collect();
        let mut chance = Dice::new(scenario.seed, "chance");
        let processes = processes(scenario);
        let crashes_at_sends = chance.per_mille(500) && scenario.has(Disturbance::ClientCrashes);
        Self {
            scenario,
            conduct,
            now: BEGIN,
            agenda: EventQueue::default(),
            log: Log::new(BEGIN),
            service: Service::new(scenario, processes, conduct, secrets.clone(), spoken.clone()),
            spoken,
            secrets,
            network: Network::new(scenario.seed, NetworkConditions::of(scenario)),
            executed: vec![Vec::new(); clients.len()],
            refused: vec![Vec::new(); clients.len()],
            clients,
            tasks: Vec::new(),
            calls: Vec::new(),
            waiting: Vec::new(),
            callbacks: Vec::new(),
            tabs: Vec::new(),
            news: Vec::new(),
            handed_out: BTreeMap::new(),
            opened: Vec::new(),
            faults_left: Some(0),
            looks_at: None,
            stored_cards: 0,
            mute: false,
            crashes_at_sends,
            stores_eagerly: chance.per_mille(500),
            healed: false,
            random: Dice::new(scenario.seed, "random"),
            chance,
            customers: Dice::new(scenario.seed, "customers"),
            mixups: Dice::new(scenario.seed, "mix-ups"),
            fresh: Vec::new(),
            ended: Vec::new(),
            acknowledged: Vec::new(),
            violation: None,
            tally: Tally::default(),
        }
    }

    /// Executes the next event; false if there is none.
    pub(crate) fn step(&mut self) -> bool {
        let Some((at, happening)) = self.agenda.next() else { return false };
        self.now = at;
        self.happen(happening);
        self.look_for_due();
        self.fresh = self.service.store.ledger(|ledger| std::mem::take(&mut ledger.fresh));
        true
    }

    fn happen(&mut self, happening: SimulatedEvent) {
        match happening {
            SimulatedEvent::Arrive { call, copy } => self.arrive(call, copy),
            SimulatedEvent::Serve => self.serve(),
            SimulatedEvent::Reply { call, reply } => self.reply(call, reply),
            SimulatedEvent::NoReply { call, sent } => self.no_reply(call, sent),
            SimulatedEvent::Wake { task, turn } => self.wake(task, turn),
            SimulatedEvent::AskAgain { task, turn } => self.ask_again(task, turn),
            SimulatedEvent::Begin { task } => self.begin(task),
            SimulatedEvent::Post { task, attempt } => self.post(task, attempt),
            SimulatedEvent::ServerCrash { operations } => self.plan_crash(operations),
            SimulatedEvent::ServerStart => self.start_service(),
            SimulatedEvent::ClientCrash { client } => self.crash_client(client),
            SimulatedEvent::ClientStart { client } => self.start_client(client),
            SimulatedEvent::ClockJump { client, forwards, by } => self.jump(client, forwards, by),
            SimulatedEvent::CredentialsBreak { client } => self.break_credentials(client),
            SimulatedEvent::CredentialsMend { client } => self.mend_credentials(client),
            SimulatedEvent::Stranger { client } => self.stranger(client),
            SimulatedEvent::GoOn { task, turn } => self.go_on(task, turn),
            SimulatedEvent::ForeignPayment { task } => self.pay_another(task),
            SimulatedEvent::CardKey { task, what } => self.change_card_key(task, what),
            SimulatedEvent::Visit { task } => self.visit(task),
            SimulatedEvent::Decide { task, turn } => self.decide(task, turn),
            SimulatedEvent::Browse { tab } => self.browse(tab),
            SimulatedEvent::News { news } => self.news(news),
            SimulatedEvent::Due => self.due(),
            SimulatedEvent::Callback { callback } => self.callback(callback),
            SimulatedEvent::Forge { client } => self.forge(client),
            SimulatedEvent::Burst => self.burst(),
            SimulatedEvent::Operate { calls } => self.operate(calls),
            SimulatedEvent::Heal => self.heal(),
        }
    }

    pub(crate) fn note(&mut self, what: fmt::Arguments<'_>) {
        self.log.note(self.now, what);
    }

    /// Only the first violation counts.
    pub(crate) fn violate(&mut self, check: &'static str, what: String) {
        self.violation.get_or_insert(Violation { check, what });
    }
}
