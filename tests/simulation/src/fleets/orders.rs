//! The orders of a world, and their entries in the ledger.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use http::{Request, header};
use pg_intents::{FleetError, FleetStep, IntentRow, PaymentOutcome};
use pg_model::{ApiRequest, Auth, Initiate, InitiateThreeDSecureCardKey, TokeniseTransactionKey};
use pg_proto::{
    Account,
    machine::{Backoff, charge::ChargeBounds},
};
use pg_sandbox::records::{Payment, PaymentKind};

use super::{TROUBLED, process::Worker, shared::Shared};
use crate::{
    agenda::Millis,
    dice::Dice,
    job::{CV2, Card, Job, Kind, RETURN_PAGE, hosted},
    scenario::Scenario,
    world::BEGIN,
};

/// An order, or a follow-up of one.
pub(super) struct Order {
    pub(super) account: usize,
    pub(super) job: Job,
    /// Whether it is stored for any worker to charge.
    pub(super) submitted: bool,
    /// When it is posted, and to which process of its account.
    pub(super) posts: Vec<(Millis, usize)>,
    /// The follow-up of its payment, if any.
    pub(super) follow_up: Option<Kind>,
    state: Mutex<Progress>,
}

#[derive(Default)]
pub(super) struct Progress {
    /// The outcome that a caller got, unless it was unknown.
    pub(super) settled: Option<PaymentOutcome>,
    pub(super) followed: bool,
    /// Whether the customer was redirected to the bank or to the hosted page.
    pub(super) led: bool,
    pub(super) token: Option<String>,
}

const CARDS: [&str; 5] =
    ["4000000000001000", "5200000000001005", "4000000000002008", "340000000001007", "4000000000011009"];
/// The bank approves the payment that stores them.
const STORED: [&str; 3] = ["4000000000001000", "4000000000009003", "4000000000010001"];
const ASKED: [&str; 3] = ["4000000000005001", "5200000000005006", "4000000000007007"];

/// Creates three to ten orders, most of them posted more than once.
pub(super) fn orders(scenario: Scenario, accounts: usize) -> Vec<Order> {
    let mut dice = Dice::new(scenario.seed, "fleet orders");
    let count = usize::try_from(dice.between(3, 10)).unwrap_or_default();
    let spread = dice.pick(&[2_000, 60_000, 240_000]);
    let all: Vec<Order> = (0..count).map(|number| order(number, &mut dice, spread, accounts)).collect();
    // All random numbers are drawn, so that leaving an order out does not change the others.
    all.into_iter().enumerate().filter(|(number, _)| scenario.places(*number)).map(|(_, order)| order).collect()
}

fn order(number: usize, dice: &mut Dice, spread: Millis, accounts: usize) -> Order {
    let kind = dice.pick(&[
        Kind::Auth,
        Kind::Preauth,
        Kind::CardKey,
        Kind::CardKey,
        Kind::CardKey,
        Kind::Session,
        Kind::ThreeDSecure,
        Kind::ThreeDSecure,
        Kind::Checkout,
    ]);
    let card = match kind {
        Kind::ThreeDSecure => dice.pick(&ASKED),
        Kind::CardKey => dice.pick(&STORED),
        _ => dice.pick(&CARDS),
    };
    // A hosted page with its own reference, one payment for each token, and no challenge.
    let pence = dice.pick(&[50, 170, 499, 1_002, 1_003, 12_510]);
    let follow_up = match kind {
        Kind::Preauth => Some(dice.pick(&[Kind::Capture, Kind::Cancel])),
        Kind::Auth | Kind::CardKey if dice.per_mille(400) => Some(Kind::Refund),
        _ => None,
    };
    let first = BEGIN + 1_000 + dice.below(spread);
    let again = dice.below(3);
    let posts = (0..=again).map(|nth| (first + nth * dice.below(90_000), usize::try_from(dice.below(60)).unwrap_or(0)));
    let posts = posts.collect();
    let bounds = ChargeBounds::default().pauses(Backoff::default());
    let job = Job {
        kind,
        name: format!("order-{number}"),
        pence,
        card: Card { number: card, year: "49" },
        key: String::new(),
        bounds,
        source: Vec::new(),
        batch_size: 1,
        expires: None,
        version_5: false,
    };
    let account = if accounts > 1 && dice.per_mille(250) { 1 } else { 0 };
    let submitted = kind == Kind::CardKey && dice.per_mille(300);
    Order { account, job, submitted, posts, follow_up, state: Mutex::default() }
}

impl Order {
    /// Creates the follow-up of a payment with this key.
    pub(super) fn follow_up(&self, kind: Kind, key: &str, posts: Vec<(Millis, usize)>) -> Self {
        let name = format!("{kind:?} of {}", self.job.name).to_lowercase();
        let job = Job { kind, name, key: key.to_owned(), ..self.job.clone() };
        let (account, submitted, follow_up) = (self.account, false, None);
        Self { account, job, submitted, posts, follow_up, state: Mutex::default() }
    }

    pub(super) fn progress(&self) -> MutexGuard<'_, Progress> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes one call of the application. `None` if the payment is only stored, without waiting for an outcome.
    pub(super) async fn call(&self, worker: &Worker) -> Result<Option<FleetStep>, FleetError> {
        let job = &self.job;
        let settled = match job.kind {
            Kind::Auth => worker.charge(job.auth()).await?,
            Kind::Preauth => worker.charge(job.preauth()).await?,
            Kind::CardKey if self.submitted => {
                worker.submit(job.auth_card_key()).await?;
                return Ok(None);
            }
            Kind::CardKey => worker.charge(job.auth_card_key()).await?,
            Kind::Session => worker.charge(job.auth_session_key()).await?,
            Kind::Capture => worker.operation(&job.name, job.capture()).await?,
            Kind::Cancel => worker.operation(&job.name, job.cancel()).await?,
            Kind::Refund | Kind::Repeat | Kind::Update => worker.operation(&job.name, job.refund()).await?,
            Kind::Checkout => return worker.checkout(&job.name, hosted::token(job)).await.map(Some),
            Kind::ThreeDSecure => {
                let initiation =
                    InitiateThreeDSecureCardKey::new(job.key.as_str(), job.order()).return_url(RETURN_PAGE);
                let plan = job.three_d_secure().challenge(Duration::from_secs(300)).decision(Duration::from_secs(200));
                return worker.three_d_secure(initiation, plan).await.map(Some);
            }
        };
        Ok(Some(FleetStep::Done(settled)))
    }

    /// Returns its approved payments or follow-ups in the ledger.
    pub(super) fn done(&self, shared: &Shared) -> Vec<String> {
        let token = self.progress().token.clone();
        let keys = |payments: Vec<&Payment>| payments.into_iter().map(|payment| payment.key.clone()).collect();
        shared.ledger(|ledger| match self.job.kind {
            Kind::Capture | Kind::Cancel | Kind::Refund | Kind::Repeat | Kind::Update => {
                let kind = kind_of(self.job.kind);
                keys(ledger.children(&self.job.key).filter(|child| child.kind == kind && child.approved()).collect())
            }
            Kind::Checkout => keys(token.iter().flat_map(|token| ledger.paid_by_token(token)).collect()),
            _ => keys(ledger.charges(&self.job.name).filter(|payment| payment.approved()).collect()),
        })
    }

    /// Returns how many entries the ledger may have of it.
    pub(super) const fn most(&self) -> usize {
        match self.job.kind {
            Kind::Checkout => hosted::payments(&self.job),
            _ => 1,
        }
    }

    /// Whether its last lookup was a minute after the last fault, or later.
    pub(super) fn was_looked_up_after_all(&self, row: &IntentRow, now: Millis) -> bool {
        let since = u64::try_from(row.read_at.saturating_sub(row.changed)).unwrap_or_default();
        now.saturating_sub(since) > BEGIN + TROUBLED + 60_000
    }
}

/// Stores the cards that are charged by card key, and has customers fill in the card form of sessions.
pub(super) fn prepare(shared: &Shared, orders: &mut [Order]) {
    for (number, order) in (0..).zip(orders) {
        let account = shared.merchants[order.account].right_account().clone();
        shared.state().secrets.add("a card number", order.job.card.number);
        match order.job.kind {
            Kind::CardKey | Kind::ThreeDSecure => order.job.key = stored(shared, &account, &order.job, number),
            Kind::Session => order.job.key = filled_in(shared, &account, &order.job),
            _ => {}
        }
    }
}

/// This happened long ago, one after the other, so that it counts towards no limit.
fn stored(shared: &Shared, account: &Account, job: &Job, number: u64) -> String {
    let at = BEGIN - 24 * 3_600_000 + number * 120_000;
    let earlier = Job { name: format!("{}-earlier", job.name), pence: 100, ..job.clone() };
    // The bank approves it, even if it declines the payment later.
    let paid = answer::<Auth>(shared, account, at, &earlier.auth()).into_record();
    let tokenise = TokeniseTransactionKey::new(paid.transaction_key.as_str());
    let stored = answer::<TokeniseTransactionKey>(shared, account, at, &tokenise);
    stored.card_key_details.first().map(|detail| detail.card_key.as_str().to_owned()).unwrap_or_default()
}

fn filled_in(shared: &Shared, account: &Account, job: &Job) -> String {
    let key = answer::<Initiate>(shared, account, BEGIN - 120_000, &Initiate::new("https://shop.example/error"));
    let key = key.session_key.as_str().to_owned();
    let form = account.card_form(key.as_str(), "https://shop.example/review", "https://shop.example/card");
    let mut body = form_urlencoded::Serializer::new(String::new());
    body.extend_pairs(form.hidden_fields());
    body.append_pair("cardNumber", job.card.number);
    body.append_pair("cardExpiryMonth", "12").append_pair("cardExpiryYear", job.card.year);
    body.append_pair("cardCV2", CV2).append_pair("cardholderName", "A. Customer");
    let request = Request::post(form.action()).header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
    let request = request.body(Bytes::from(body.finish())).expect("a request");
    let _ = shared.state().service.serve_at_once(BEGIN - 110_000, request);
    key
}

fn answer<M: ApiRequest>(shared: &Shared, account: &Account, at: Millis, request: &M) -> M::Output {
    let request = account.request(request).expect("a valid request");
    let reply = shared.state().service.serve_at_once(at, request);
    account.reply::<M>(reply).expect("the service answers what is asked of it before anything fails")
}

pub(super) type Orders = Mutex<Vec<Arc<Order>>>;

/// Returns the ledger entries of an order.
fn kind_of(kind: Kind) -> PaymentKind {
    match kind {
        Kind::Capture => PaymentKind::Capture,
        Kind::Cancel => PaymentKind::CancelPreAuth,
        _ => PaymentKind::Refund,
    }
}
