//! The start of a world: its future orders and faults.

use std::time::Duration;

use bytes::Bytes;
use http::Response;
use pg_model::{ApiRequest, CardKey, TokeniseTransactionKey};
use pg_proto::machine::{Backoff, charge::ChargeBounds};

use crate::{
    agenda::{CardKeyChange, Millis, SimulatedEvent},
    dice::Dice,
    job::{CV2, Card, Job, Kind},
    scenario::{Disturbance, Scenario},
    secrets::Secrets,
    task::Task,
    world::{BEGIN, OTHER_CARDS, TROUBLED, World},
};

/// A future order.
pub(crate) struct Order {
    number: usize,
    client: usize,
    at: Millis,
    job: Job,
}

/// The cards of customers, the more frequent ones several times.
const CARDS: [Card; 10] = [
    card("4000000000001000"),
    card("5200000000001005"),
    card("340000000001007"),
    card("4000000000001000"),
    card("6011000000001002"),
    card("4000000000002008"),
    card("4000000000003006"),
    card("4000000000004004"),
    // The bank does not answer, and has charged.
    card("4000000000011009"),
    Card { number: "4000000000001000", year: "25" },
];
/// Stored cards. The account updater has an update for most of them.
const STORED: [Card; 4] =
    [card("4000000000001000"), card("4000000000008005"), card("4000000000009003"), card("4000000000010001")];
/// Cards with an authentication by the bank: it accepts the customer, never does, or does not support it.
const ASKED: [Card; 5] = [
    card("4000000000005001"),
    card("5200000000005006"),
    card("4000000000005001"),
    card("4000000000006009"),
    card("4000000000007007"),
];
/// Has an invalid check digit.
const MISTYPED: Card = card("4000000000001001");

const fn card(number: &'static str) -> Card {
    Card { number, year: "49" }
}

/// Two to eight orders, most of them within a few minutes.
pub(crate) fn orders(scenario: Scenario) -> Vec<Order> {
    let mut dice = Dice::new(scenario.seed, "orders");
    let count = usize::try_from(dice.between(2, 8)).unwrap_or_default();
    let spread = dice.pick(&[1_000, 120_000, 1_200_000]);
    let all = (0..count).map(|number| {
        let kind = dice.pick(&[
            Kind::Auth,
            Kind::Preauth,
            Kind::CardKey,
            Kind::Session,
            Kind::Session,
            Kind::Update,
            Kind::ThreeDSecure,
            Kind::Checkout,
            Kind::Checkout,
        ]);
        let card = if dice.per_mille(40) { MISTYPED } else { dice.pick(&CARDS) };
        let bounds = ChargeBounds::default()
            .attempts(u32::try_from(dice.between(1, 5)).unwrap_or_default())
            .lookups(u32::try_from(dice.between(4, 10)).unwrap_or_default())
            .within(Duration::from_secs(dice.pick(&[600, 600, 1_200, 3_600])))
            .pauses(Backoff::default());
        let job = Job {
            kind,
            name: format!("order-{number}"),
            pence: dice.between(50, 20_000),
            card,
            key: String::new(),
            source: Vec::new(),
            batch_size: usize::try_from(dice.between(1, 4)).unwrap_or(1),
            expires: None,
            version_5: false,
            bounds,
        };
        let client = usize::from(dice.per_mille(300));
        let at = BEGIN + 1_000 + dice.below(spread);
        let lives = dice.pick(&[None, Some(900), Some(2_700), Some(7_200)]);
        let job = Job { expires: lives.map(|seconds| at / 1_000 + seconds), ..job };
        Order { number, client, at, job }
    });
    // All random numbers are drawn, so that leaving an order out does not change the others.
    let all: Vec<Order> = all.collect();
    all.into_iter().filter(|order| scenario.places(order.number)).collect()
}

/// Adds the secrets of the orders, which no output may contain.
pub(crate) fn hide(orders: &[Order], secrets: &mut Secrets) {
    secrets.add_code(CV2);
    for card in STORED.iter().chain(&ASKED) {
        secrets.add("a card number", card.number);
    }
    for card in &OTHER_CARDS {
        secrets.add("a card number", card.number);
    }
    for order in orders {
        secrets.add("a card number", order.job.card.number);
    }
}

/// Plans the orders, and stores the cards that are charged by card key.
pub(crate) fn place(world: &mut World<'_>, orders: Vec<Order>) {
    let mut dice = Dice::new(world.scenario.seed, "foreign payments");
    for Order { number, client, at, mut job } in orders {
        // Earlier or later than the order, so that either may come first.
        let foreign = (dice.per_mille(80), (at + dice.below(20_000)).saturating_sub(5_000).max(BEGIN));
        if foreign.0 && job.kind.pays() && world.scenario.has(Disturbance::SharedReferences) {
            world.agenda.plan(foreign.1, SimulatedEvent::ForeignPayment { task: world.tasks.len() });
        }
        if matches!(job.kind, Kind::CardKey | Kind::ThreeDSecure) {
            job.key = stored_card(world, client, &job);
        }
        if job.kind == Kind::Update {
            job.source = stored_cards(world, client, &job);
            // The card that may be changed.
            job.key = job.source[0].as_str().to_owned();
        }
        world.agenda.plan(at, SimulatedEvent::Begin { task: world.tasks.len() });
        world.tasks.push(Task::new(client, number, job));
    }
}

/// Returns two to six keys of cards that were stored long ago, some of them twice.
fn stored_cards(world: &mut World<'_>, client: usize, job: &Job) -> Vec<CardKey> {
    let named = |number| Job { name: format!("{}-{number}", job.name), ..job.clone() };
    let mut keys: Vec<CardKey> =
        (0..2 + job.pence % 5).map(|number| stored_card(world, client, &named(number)).into()).collect();
    if job.pence.is_multiple_of(3) {
        keys.push(keys[0].clone());
    }
    keys
}

/// The key of a card that an earlier payment has stored.
fn stored_card(world: &mut World<'_>, client: usize, job: &Job) -> String {
    let account = world.clients[client].right_account().clone();
    let mut earlier = Job { name: format!("{}-earlier", job.name), pence: 100, ..job.clone() };
    earlier.card = STORED[usize::try_from(world.stored_cards).unwrap_or_default() % STORED.len()];
    // Long ago and one after the other, so that it counts towards no limit.
    if job.kind == Kind::ThreeDSecure {
        earlier.card = ASKED[usize::try_from(world.stored_cards).unwrap_or_default() % ASKED.len()];
    }
    world.stored_cards += 1;
    let long_before = BEGIN - 24 * 3_600_000 + world.stored_cards * 60_000;
    let paid = world.service.serve_at_once(long_before, account.request(&earlier.auth()).expect("a valid request"));
    let paid = read::<pg_model::Auth>(&account, paid).into_record();
    let tokenise = TokeniseTransactionKey::new(paid.transaction_key.as_str());
    let stored = world.service.serve_at_once(long_before, account.request(&tokenise).expect("a valid request"));
    let details = read::<TokeniseTransactionKey>(&account, stored).card_key_details;
    details.first().map(|detail| detail.card_key.as_str().to_owned()).expect("the card was stored")
}

fn read<M: ApiRequest>(account: &pg_proto::Account, reply: Response<Bytes>) -> M::Output {
    account.reply::<M>(reply).expect("the service answers what is asked of it before anything fails")
}

/// Plans crashes, clock jumps, wrong credentials and strangers, and the end of all faults.
pub(crate) fn plan_troubles(world: &mut World<'_>) {
    let scenario = world.scenario;
    let mut dice = Dice::new(scenario.seed, "troubles");
    let mut plan =
        |world: &mut World<'_>, trouble, present: u64, most: u64, what: &dyn Fn(&mut Dice) -> SimulatedEvent| {
            let times = if dice.per_mille(present) { dice.between(1, most) } else { 0 };
            for _ in 0..times {
                // Most orders are placed early; faults occur at the same time.
                let span = dice.pick(&[60_000, 600_000, TROUBLED]);
                let (at, what) = (BEGIN + dice.below(span), what(&mut dice));
                if scenario.has(trouble) {
                    world.agenda.plan(at, what);
                }
            }
        };
    plan(world, Disturbance::ServerCrashes, 500, 8, &|dice| SimulatedEvent::ServerCrash {
        operations: if dice.per_mille(300) { 0 } else { 1 + u32::try_from(dice.below(30)).unwrap_or_default() },
    });
    for client in 0..world.clients.len() {
        plan(world, Disturbance::ClientCrashes, 400, 4, &|_| SimulatedEvent::ClientCrash { client });
        plan(world, Disturbance::ClockJumps, 300, 3, &|dice| SimulatedEvent::ClockJump {
            client,
            forwards: dice.per_mille(500),
            by: dice.pick(&[700, 30_000, 3_600_000]),
        });
        plan(world, Disturbance::WrongCredentials, 200, 1, &|_| SimulatedEvent::CredentialsBreak { client });
        plan(world, Disturbance::Strangers, 150, 12, &|_| SimulatedEvent::Stranger { client });
        plan(world, Disturbance::Forgeries, 300, 4, &|_| SimulatedEvent::Forge { client });
        for minutes in [10, 30, 60, 90] {
            world.agenda.plan(BEGIN + minutes * 60_000, SimulatedEvent::CredentialsMend { client });
        }
    }
    plan_operators(world);
    change_card_keys(world);
    world.agenda.plan(BEGIN + TROUBLED, SimulatedEvent::Heal);
}

/// Plans bursts and orders of operators in worlds with several processes of the service, at the time of most orders.
fn plan_operators(world: &mut World<'_>) {
    if world.service.processes() == 1 {
        return;
    }
    let mut dice = Dice::new(world.scenario.seed, "operators");
    for event in
        [SimulatedEvent::Burst, SimulatedEvent::Operate { calls: 1 + u32::try_from(dice.below(3)).unwrap_or_default() }]
    {
        let (present, at) = (dice.per_mille(150), BEGIN + dice.below(600_000));
        if present {
            world.agenda.plan(at, event);
        }
    }
}

/// Plans changes of stored cards at about the time when they are used: some are disabled or deleted, and most disabled
/// ones are enabled again.
fn change_card_keys(world: &mut World<'_>) {
    let mut dice = Dice::new(world.scenario.seed, "card keys");
    for task in 0..world.tasks.len() {
        let (present, deleted, again) = (dice.per_mille(350), dice.per_mille(250), dice.per_mille(700));
        let within = dice.pick(&[3_000, 180_000, 1_500_000]);
        let (at, pause) = (BEGIN + 1_000 + dice.below(within), dice.between(500, 600_000));
        let stored = matches!(world.tasks[task].job.kind, Kind::CardKey | Kind::ThreeDSecure | Kind::Update);
        if !present || !stored || !world.scenario.has(Disturbance::CardKeys) {
            continue;
        }
        let what = if deleted { CardKeyChange::Delete } else { CardKeyChange::Disable };
        world.agenda.plan(at, SimulatedEvent::CardKey { task, what });
        if again {
            world.agenda.plan(at + pause, SimulatedEvent::CardKey { task, what: CardKeyChange::Enable });
        }
    }
}
