//! The hosted checkout: the link, the payment on the page, and the public success page.

mod amounts;
mod link_and_card;
mod two_links;

use std::time::Duration;

use serde_json::Value;

use super::{
    Asked, Played,
    order::{
        Meant, Order, PRICE, after_payment, come_back, input, meant, no_link, paid, pay, token_of, unclear, without_key,
    },
    page,
};
use crate::{
    adapter::{Claim, End},
    books::{Entry, money},
    clock,
    finding::{Finding, Lane},
    house::SetupError,
    judge::{self, broken, doubt, fault},
    plan::Job,
    report::Outcome,
    shop::Seen,
    stage::Stage,
    wire::{Act, Exchange, FAILURES},
};

/// The actions of the customer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Checkout {
    /// Opens the success page with a key that does not exist.
    ByHand,
    /// Opens the success page without a key.
    WithoutKey,
    /// Opens the success page with the key of a cheaper order, and of one in another currency.
    OtherKey,
    /// Opens the success page with the key of another order of the same price.
    OtherOrder,
    /// Pays, and comes back; the callback is lost.
    Pays,
    /// Pays yen, and comes back twice.
    Twice,
    /// Comes back without paying.
    Abandons,
    /// Pays in two tabs.
    TwoTabs,
    /// Pays a large order, and one in euro, whose amounts have separators.
    Separators,
    /// Asks for a second link, and pays by both.
    TwoLinks,
    /// Comes back with a wrong key while lookups fail.
    LookupDown,
    /// Opens the link after it has expired, and orders again.
    Expired,
}

impl Checkout {
    pub(crate) const fn job(self) -> Job {
        match self {
            Self::ByHand | Self::WithoutKey | Self::OtherKey | Self::OtherOrder | Self::LookupDown => {
                Job::CheckoutReturn
            }
            _ => Job::Checkout,
        }
    }

    /// The currency of the order. One of the drills has no decimals.
    const fn currency(self) -> &'static str {
        if matches!(self, Self::Twice) { "JPY" } else { "GBP" }
    }
}

pub(crate) async fn play(stage: &mut Stage, story: Checkout) -> Played {
    let drill = stage.drill;
    let findings = match story {
        _ if story.job() == Job::CheckoutReturn => by_hand(stage, story).await?,
        _ if !matches!(story, Checkout::TwoTabs | Checkout::TwoLinks)
            && !stage.troupe.plan.has(Job::CheckoutReturn) =>
        {
            Err("the plan has no job checkout_return".to_owned())
        }
        Checkout::Separators => amounts::play(stage).await?,
        _ => linked(stage, story).await?,
    };
    Ok(match findings {
        Ok(findings) => stage.judged(findings),
        Err(why) => Outcome::not_applicable(drill, why),
    })
}

/// Opens the success page without a payment of the order.
async fn by_hand(stage: &mut Stage, story: Checkout) -> Result<Asked, SetupError> {
    let name = stage.order.clone();
    let order = Order::made(stage, &name).await?;
    let mut seen = Seen::default();
    let (mut findings, mut is_ambiguous) = (Vec::new(), false);
    for foreign in keys(stage, story, &order).await? {
        let query = returning(&order, &foreign);
        let Foreign { key, why, other, failure, .. } = &foreign;
        let failure = *failure;
        let before = stage.exchanges().len();
        stage.wire().fail_lookups(failure);
        seen = match come_back(stage, "opened by hand", &query).await {
            Err(_) if failure == Some(Act::Hold) => {
                stage.wire().fail_lookups(None);
                let why = "the success page gives no answer while its lookup gets none: set a timeout for each lookup";
                return Ok(Ok(vec![doubt("no-timeout", why)]));
            }
            seen => seen?,
        };
        // A page may leave the work to a queue, and show it with the key or without.
        let is_later = !page::says_paid(&seen) && !key.is_empty() && seen.status < 400;
        if is_later {
            stage.settled_since(Job::CheckoutReturn, key, before).await;
            seen = come_back(stage, "opened again", &query).await?;
        }
        let why = if is_later { format!("{why} (it says so when it is opened again)") } else { why.clone() };
        if page::says_paid(&seen) {
            let meant = match other {
                Some(other) => meant(stage, &order, other, &seen).await?,
                None => Meant::ThisOrder,
            };
            match meant {
                Meant::ThisOrder => findings.push(fault("success-page-trusted", why)),
                Meant::Unclear => findings.push(unclear("the success page")),
                Meant::OtherOrder => {}
            }
        } else if is_later && page::says_paid(&without_key(stage, &order).await?) {
            findings.push(fault("success-page-trusted", why));
        }
        is_ambiguous |= page::is_ambiguous(&seen);
        stage.wire().fail_lookups(None);
    }
    if !findings.is_empty() {
        return Ok(Ok(findings));
    }
    let is_read = page::is_read(&seen);
    if is_read && !is_ambiguous && order.is_known() {
        return Ok(Ok(Vec::new()));
    }
    Ok(control(stage, &order, is_read)
        .await?
        .map(|findings| if findings.is_empty() && is_ambiguous { vec![ambiguous()] } else { findings }))
}

/// A key with which the success page of an unpaid order is opened.
struct Foreign {
    key: String,
    /// What is wrong if the page then says paid.
    why: String,
    /// Whether the address also has what a callback says about a payment.
    has_status: bool,
    /// How lookups fail meanwhile.
    failure: Option<Act>,
    /// The order that was paid with it, if the shop made it.
    other: Option<Order>,
}

impl Foreign {
    fn new(key: String, why: &str) -> Self {
        Self { key, why: why.to_owned(), has_status: false, failure: None, other: None }
    }

    /// One of a visitor who adds the status of a payment to the address.
    fn with_status(key: String) -> Self {
        let why = "the success page says paid for an address with status=1, but nothing was charged: any visitor can write it";
        Self { has_status: true, ..Self::new(key, why) }
    }
}

async fn keys(stage: &mut Stage, story: Checkout, order: &Order) -> Result<Vec<Foreign>, SetupError> {
    let by_hand = "the success page says paid, but nothing was charged: any visitor can open it";
    Ok(match story {
        Checkout::OtherKey => vec![
            Foreign::new(
                paid(stage, "another-order", "0.01", "GBP")?.1,
                "the success page accepts the key of a payment of 0.01 GBP for an order of 9.98 GBP",
            ),
            Foreign::new(
                paid(stage, "another-order", "9.98", "USD")?.1,
                "the success page accepts the key of a payment of 9.98 USD for an order of 9.98 GBP",
            ),
        ],
        Checkout::OtherOrder => {
            let other = Order::made(stage, &format!("{}-other", order.name)).await?;
            let why = "the success page accepts the key of the payment of another order: one payment opens every order \
                       of that price";
            let key = other.pay(stage)?.1;
            vec![Foreign { other: Some(other), ..Foreign::new(key, why) }]
        }
        Checkout::WithoutKey => {
            vec![Foreign::new(String::new(), by_hand), Foreign::with_status(String::new())]
        }
        Checkout::LookupDown => FAILURES
            .map(|(what, how)| {
                let why = format!("the success page says paid while lookups {what}");
                Foreign { failure: Some(how), ..Foreign::new(stage.dice.letters(32), &why) }
            })
            .into(),
        _ => {
            let key = stage.dice.letters(32);
            vec![Foreign::new(key.clone(), by_hand), Foreign::with_status(key)]
        }
    })
}

/// Returns the parameters of the success page; an empty key is left out.
fn returning<'a>(order: &'a Order, foreign: &'a Foreign) -> Vec<(&'static str, &'a str)> {
    let mut query = vec![("order", &*order.name), ("amount", "998")];
    if !foreign.key.is_empty() {
        query.push(("trans_key", &*foreign.key));
    }
    if foreign.has_status {
        query.extend([("trans_reference", &*order.name), ("trans_type", "auth")]);
        query.extend([("trans_value", "9.98"), ("currency", "GBP"), ("status", "1")]);
    }
    query
}

/// Pays the order, and comes back: if that page refuses the payment too or looks nothing up, the shop does not know the
/// order; if it is not read as paid either, nothing follows from another page of this shop.
async fn control(stage: &mut Stage, order: &Order, is_read: bool) -> Result<Asked, SetupError> {
    let key = order.pay(stage)?.1;
    let before = stage.exchanges().len();
    let seen = after_payment(stage, &order.name, &key, "after a payment").await?;
    if !order.is_known() {
        let asked = stage.asked_about(&key, before).await;
        if seen.status >= 400 {
            let sign = format!("its success page returns HTTP {} after a payment of it too", seen.status);
            return Ok(Err(order.unknown(&sign)));
        }
        if !page::says_paid(&seen) && !asked {
            return Ok(Err(order.unknown("its success page looks nothing up after a payment of it either")));
        }
    }
    Ok(Ok(if is_read || page::is_read(&seen) { Vec::new() } else { vec![not_read(&seen)] }))
}

fn not_read(seen: &Seen) -> Finding {
    let why = page::not_opened(seen).map_or_else(
        || "says nothing that is read as paid, even 1.5 seconds after a payment: print a claim".to_owned(),
        |elsewhere| format!("{elsewhere}: print a claim there"),
    );
    doubt("page-not-read", format!("the success page {why}, so that this can be tested"))
}

/// Returns the warning about a page of an unpaid order that a customer may take for that of a paid one.
fn ambiguous() -> Finding {
    let why = "the success page of an unpaid order thanks the customer or speaks of a payment, and does not say that the order is not \
               paid: say so, or print a claim";
    doubt("page-ambiguous", why)
}

/// Plays the complete checkout, beginning with the link.
async fn linked(stage: &mut Stage, story: Checkout) -> Result<Asked, SetupError> {
    let line = input(stage, &stage.order, story.currency());
    let ran = stage.run(Job::Checkout, &line).await;
    let Some(token) = token_of(&ran) else {
        let is_refused = !ran.answer.is_empty() || matches!(ran.end, End::Replied(400..));
        if story != Checkout::Twice || !is_refused {
            return Ok(Ok(vec![broken(no_link(&ran))]));
        }
        // A currency has to be configured on the account (spec 3 §4.1).
        let mut findings = vec![doubt("no-link-in-yen", format!("an order in yen cannot be paid: {}", no_link(&ran)))];
        stage.order.push_str("-in-pounds");
        let line = input(stage, &stage.order, "GBP");
        let ran = stage.run(Job::Checkout, &line).await;
        match token_of(&ran) {
            None => findings.push(broken(no_link(&ran))),
            Some(token) => {
                let key = pay(&stage.house, &token)?;
                findings.extend(returned(stage, story, "GBP", &key).await?);
            }
        }
        return Ok(Ok(findings));
    };
    if story == Checkout::Abandons {
        let order = stage.order.clone();
        let seen = come_back(stage, "without a payment", &[("order", &order)]).await?;
        return Ok(Ok(if page::says_paid(&seen) || ran.claim == Some(Claim::Paid) {
            vec![fault("success-page-trusted", "the customer left without paying, but the integration says paid")]
        } else {
            let key = pay(&stage.house, &token)?;
            unread(stage, &seen, &key).await?.into_iter().collect()
        }));
    }
    if story == Checkout::TwoLinks {
        return two_links::play(stage, &line, &token).await;
    }
    if story == Checkout::Expired {
        return expired(stage, &line, &token).await;
    }
    let key = pay(&stage.house, &token)?;
    if story == Checkout::TwoTabs {
        // A used link does not redirect, which is correct.
        drop(pay(&stage.house, &token));
        return Ok(Ok(if charges_of(stage)?.len() > 1 {
            vec![fault("charged-twice", "the link can be paid more than once: set token_uses=1")]
        } else {
            Vec::new()
        }));
    }
    returned(stage, story, story.currency(), &key).await.map(Ok)
}

/// A link is valid for a week unless its request says otherwise (spec 3 §4.1).
const EXPIRED: Duration = Duration::from_secs(8 * 24 * 3600);

/// The customer opens an old link, and then orders again.
async fn expired(stage: &mut Stage, line: &Value, token: &str) -> Result<Asked, SetupError> {
    stage.house.advance(EXPIRED);
    stage.wire().note(Lane::Wire, Lane::Service, "eight days later the customer opens the link");
    // Whatever the page replies, the ledger shows whether the link was paid.
    drop(pay(&stage.house, token));
    if charged(stage)? {
        return Ok(Ok(vec![doubt("link-lives-on", "the link can be paid after eight days, at the old price")]));
    }
    let order = stage.order.clone();
    let seen = come_back(stage, "after an expired link", &[("order", &order)]).await?;
    if page::says_paid(&seen) {
        let why = "the link has expired unpaid, but the success page says paid";
        return Ok(Ok(vec![fault("success-page-trusted", why)]));
    }
    let before = stage.exchanges().len();
    let ran = stage.run(Job::Checkout, line).await;
    if expires_by_own_clock(stage, before) {
        let why = "the shop computes token_start or token_expiry from its own clock, which the drill cannot advance";
        return Ok(Err(why.to_owned()));
    }
    let Some(again) = token_of(&ran) else { return Ok(Ok(vec![broken(no_link(&ran))])) };
    if again == token && !stage.exchanges().iter().skip(before).any(|one| one.method == REQUEST) {
        let why = "the shop gives the link that has expired again: if it compares the time with its own clock, which the drill \
                   cannot advance, this is right; otherwise the customer cannot pay";
        return Ok(Ok(vec![doubt("link-kept", why)]));
    }
    let key = pay(&stage.house, &again);
    if !charged(stage)? {
        let why = "the customer orders again, but the link cannot be paid";
        return Ok(Ok(vec![fault("order-cannot-be-paid", why)]));
    }
    Ok(Ok(unread(stage, &seen, &key?).await?.into_iter().collect()))
}

/// Returns the warning about a page of which nothing follows: it was not read before the payment, nor is it after it, or it could be
/// that of a paid order.
async fn unread(stage: &Stage, before: &Seen, key: &str) -> Result<Option<Finding>, SetupError> {
    if page::is_read(before) {
        return Ok(None);
    }
    let seen = after_payment(stage, &stage.order, key, "after a payment").await?;
    if !page::is_read(&seen) {
        return Ok(Some(not_read(&seen)));
    }
    Ok(page::is_ambiguous(before).then(ambiguous))
}

/// The request of a link.
const REQUEST: &str = "enterprise/gettoken";

/// Whether a link that was requested now starts or ends before the service's time, which is eight days ahead of the shop's.
fn expires_by_own_clock(stage: &Stage, before: usize) -> bool {
    let now = clock::unix_millis() / 1000 + i64::try_from(EXPIRED.as_secs()).unwrap_or(i64::MAX);
    let exchanges = stage.exchanges();
    let requested = exchanges.iter().skip(before).rev().find(|one| one.method == REQUEST);
    let second = |one: &Exchange, name| one.parameter(name)?.trim().parse::<i64>().ok();
    let is_past = |one| ["token_start", "token_expiry"].iter().any(|name| second(one, name).is_some_and(|at| at < now));
    requested.is_some_and(is_past)
}

fn charges_of(stage: &Stage) -> Result<Vec<Entry>, SetupError> {
    Ok(stage.entries()?.into_iter().filter(Entry::is_charge).collect())
}

fn charged(stage: &Stage) -> Result<bool, SetupError> {
    charges_of(stage).map(|charges| !charges.is_empty())
}

async fn returned(
    stage: &Stage,
    story: Checkout,
    currency: &'static str,
    key: &str,
) -> Result<Vec<Finding>, SetupError> {
    let before = stage.exchanges().len();
    let mut seen = Seen::default();
    for _ in 0..if story == Checkout::Twice { 2 } else { 1 } {
        seen = after_payment(stage, &stage.order, key, "after the payment").await?;
    }
    let entries = stage.entries()?;
    let charges: Vec<&Entry> = entries.iter().filter(|entry| entry.is_charge()).collect();
    let mut findings = Vec::new();
    if charges.len() > 1 {
        findings.push(fault("charged-twice", format!("{} charges for one order", charges.len())));
    }
    if let Some(wrong) = charges.iter().find(|entry| entry.amount != PRICE || entry.currency != currency) {
        let right = money(PRICE, currency);
        findings.push(fault("wrong-amount", format!("{} was charged instead of {right}", wrong.money())));
    }
    findings.extend(if page::says_paid(&seen) { judge::kept(&charges, &entries) } else { judge::refunded(&entries) });
    if let Some(denied @ ("declined" | "not-charged")) = page::claim(&seen).as_deref() {
        findings.push(fault(
            "charged-but-said-unpaid",
            format!("the customer has paid, but the success page claims {denied}"),
        ));
    }
    findings.extend(looked_up(stage, &seen, key, before).await);
    if seen.status >= 400 {
        findings.push(fault("customer-lost", format!("the customer has paid, but gets HTTP {}", seen.status)));
    }
    Ok(findings)
}

/// Checks that the shop asked the service about the customer who has paid, unless its page says that it knows.
async fn looked_up(stage: &Stage, seen: &Seen, key: &str, before: usize) -> Option<Finding> {
    let claim = page::claim(seen);
    if page::says_paid(seen) || seen.status >= 400 || claim.as_deref().is_some_and(|claim| claim != "unknown") {
        return None;
    }
    let is_asked = stage.asked_about(key, before).await;
    if is_asked && stage.refused_since(before).is_none() {
        let is_found = stage.exchanges().iter().skip(before).any(|one| one.showed_payment);
        let (kind, why) = if claim.is_some() {
            ("found-and-unknown", "a lookup showed the payment, but the success page still claims unknown")
        } else {
            ("page-not-read", "a lookup showed the payment, but the success page says nothing that is read as paid")
        };
        let is_elsewhere = claim.is_none() && seen.location().is_some();
        return is_found.then(|| if is_elsewhere { not_read(seen) } else { doubt(kind, why) });
    }
    let why = if is_asked {
        "the customer has paid and comes back, but the service refuses the lookup of the payment"
    } else {
        "the customer has paid and comes back, but the payment is not looked up"
    };
    Some(if claim.is_some() { fault("never-looked-up", why) } else { doubt("never-looked-up", why) })
}
