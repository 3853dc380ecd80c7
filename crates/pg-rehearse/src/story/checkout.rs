//! The hosted checkout: the link, the payment on the page, and the public success page.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Request, header};
use pg_sandbox::cards::{CARDS, Scenario};
use serde_json::json;

use super::{Played, page};
use crate::{
    adapter::{Claim, Ran},
    drill::Drill,
    finding::{Finding, Lane},
    house::{House, SetupError, form, text},
    judge::{broken, doubt, fault},
    plan::{Job, Means},
    report::Outcome,
    shop::{Call, Seen},
    stage::{Setting, Stage, Troupe},
    wire::{Act, Answer, On, Rule},
};

/// The actions of the customer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Checkout {
    /// Opens the success page with a key that does not exist.
    ByHand,
    /// Opens the success page without a key.
    WithoutKey,
    /// Opens the success page with the key of a cheaper order.
    OtherKey,
    /// Pays, and comes back; the callback is lost.
    Pays,
    /// Comes back twice.
    Twice,
    /// Comes back without paying.
    Abandons,
    /// Pays in two tabs.
    TwoTabs,
    /// Comes back with a wrong key while lookups fail.
    LookupDown,
    /// Opens the link after it has expired, and orders again.
    Expired,
}

impl Checkout {
    pub(crate) const fn job(self) -> Job {
        match self {
            Self::ByHand | Self::WithoutKey | Self::OtherKey | Self::LookupDown => Job::CheckoutReturn,
            _ => Job::Checkout,
        }
    }
}

const PRICE: u64 = 998;

pub(crate) async fn play(troupe: &Arc<Troupe>, drill: &'static Drill, round: u32, story: Checkout) -> Played {
    let mut setting = Setting::plain();
    if story == Checkout::LookupDown {
        setting.rules = vec![Rule::all(On::Lookup, Act::Answer { executed: false, answer: Answer::Gateway(503) })];
    }
    let mut stage = Stage::set(troupe, drill, round, setting).await?;
    let findings = match story {
        Checkout::ByHand | Checkout::WithoutKey | Checkout::OtherKey | Checkout::LookupDown => {
            by_hand(&mut stage, story).await?
        }
        _ if story != Checkout::TwoTabs && !troupe.plan.has(Job::CheckoutReturn) => {
            return Ok(Outcome::not_applicable(drill, "the plan has no job checkout_return".to_owned()));
        }
        _ => linked(&mut stage, story).await?,
    };
    Ok(stage.judged(findings))
}

pub(crate) async fn come_back(stage: &Stage, what: &str, query: &[(&str, &str)]) -> Result<Seen, SetupError> {
    stage.wire().note(Lane::Wire, Lane::Integration, format!("success page: {what}"));
    let call = Call::page(&stage.address(Job::CheckoutReturn), query);
    let seen = stage.visit(Job::CheckoutReturn, call).await.map_err(|silent| format!("success page: {silent}"))?;
    stage.wire().note(Lane::Integration, Lane::Wire, format!("HTTP {}", seen.status));
    Ok(seen)
}

/// Opens the success page without a payment.
async fn by_hand(stage: &mut Stage, story: Checkout) -> Result<Vec<Finding>, SetupError> {
    let order = stage.order.clone();
    let key = match story {
        Checkout::OtherKey => paid(stage, "another-order", "0.01")?.1,
        Checkout::WithoutKey => String::new(),
        _ => stage.dice.letters(32),
    };
    let price = PRICE.to_string();
    let mut query = vec![("order", &*order), ("amount", &*price)];
    if story != Checkout::WithoutKey {
        query.push(("trans_key", &key));
    }
    let why = match story {
        Checkout::OtherKey => "the success page accepts the key of a payment of 0.01 for an order of 9.98",
        Checkout::LookupDown => "the success page says paid although the service could not be asked",
        _ => "the success page says paid, but nothing was charged: any visitor can open it",
    };
    let seen = come_back(stage, "opened by hand", &query).await?;
    if page::says_paid(&seen) {
        return Ok(vec![fault("success-page-trusted", why)]);
    }
    if story == Checkout::LookupDown || page::is_read(&seen) {
        return Ok(Vec::new());
    }
    Ok(unread(stage).await?.into_iter().collect())
}

/// Pays, and comes back: if that page is not read as paid either, nothing follows from another page of this shop.
async fn unread(stage: &mut Stage) -> Result<Option<Finding>, SetupError> {
    let (order, price) = (stage.order.clone(), PRICE.to_string());
    let key = paid(stage, &order, "9.98")?.1;
    let seen =
        come_back(stage, "after a payment", &[("order", &order), ("amount", &price), ("trans_key", &key)]).await?;
    Ok((!page::is_read(&seen)).then(|| {
        doubt(
            "page-not-read",
            "the success page says nothing that is read as paid, even after a payment: print a claim, so that this \
             can be tested",
        )
    }))
}

/// Plays the complete checkout, beginning with the link.
async fn linked(stage: &mut Stage, story: Checkout) -> Result<Vec<Finding>, SetupError> {
    let success = match stage.troupe.plan.jobs.get(&Job::CheckoutReturn) {
        Some(Means::Url(url)) => format!("{url}{}order={}", if url.contains('?') { "&" } else { "?" }, stage.order),
        _ => format!("https://shop.example/success?order={}", stage.order),
    };
    let line = json!({
        "job": "checkout",
        "order": stage.order,
        "amount": PRICE,
        "currency": "GBP",
        "successUrl": success,
    });
    let ran = stage.run(Job::Checkout, &line).await;
    let Some(token) = token_of(&ran) else { return Ok(vec![no_link(&ran)]) };
    if story == Checkout::Abandons {
        let order = stage.order.clone();
        let seen = come_back(stage, "without a payment", &[("order", &order)]).await?;
        return Ok(if page::says_paid(&seen) || ran.claim == Some(Claim::Paid) {
            vec![fault("success-page-trusted", "the customer left without paying, but the integration says paid")]
        } else {
            Vec::new()
        });
    }
    if story == Checkout::Expired {
        return expired(stage, &line, &token).await;
    }
    let key = key_of(&pay(&stage.house, &token)?);
    if story == Checkout::TwoTabs {
        // A used link does not redirect, which is correct.
        drop(pay(&stage.house, &token));
        let charges = stage.entries()?.iter().filter(|entry| entry.is_charge()).count();
        return Ok(if charges > 1 {
            vec![fault("charged-twice", "the link can be paid more than once: set token_uses=1")]
        } else {
            Vec::new()
        });
    }
    returned(stage, story, &key).await
}

/// Returns the token in the link that the job made.
fn token_of(ran: &Ran) -> Option<String> {
    let link = ["url", "redemptionUrl", "redirectUrl", "link"].iter().find_map(|name| ran.text(name));
    link.and_then(|link| link.rsplit_once("/pay/")).map(|(_, token)| token.to_owned())
}

/// A link is valid for a week unless its request says otherwise (spec 3 §4.1).
const EXPIRED: Duration = Duration::from_secs(8 * 24 * 3600);

/// The customer opens an old link, and then orders again.
async fn expired(stage: &mut Stage, line: &serde_json::Value, token: &str) -> Result<Vec<Finding>, SetupError> {
    stage.house.advance(EXPIRED);
    stage.wire().note(Lane::Wire, Lane::Service, "eight days later the customer opens the link");
    // Whatever the page replies, the ledger shows whether the link was paid.
    drop(pay(&stage.house, token));
    if charged(stage)? {
        return Ok(vec![doubt("link-lives-on", "the link can be paid after eight days, at the old price")]);
    }
    let order = stage.order.clone();
    let seen = come_back(stage, "after an expired link", &[("order", &order)]).await?;
    let mut findings = Vec::new();
    if page::says_paid(&seen) {
        findings.push(fault("success-page-trusted", "the link has expired unpaid, but the success page says paid"));
    }
    let ran = stage.run(Job::Checkout, line).await;
    match token_of(&ran) {
        None => findings.push(no_link(&ran)),
        Some(token) => {
            drop(pay(&stage.house, &token));
            if !charged(stage)? {
                let why = "the customer orders again, but the link cannot be paid";
                findings.push(fault("order-cannot-be-paid", why));
            }
        }
    }
    Ok(findings)
}

fn charged(stage: &Stage) -> Result<bool, SetupError> {
    Ok(stage.entries()?.iter().any(crate::books::Entry::is_charge))
}

fn no_link(ran: &Ran) -> Finding {
    let why = if ran.answer.is_empty() {
        ran.trouble()
    } else {
        "the integration's answer has no url for the customer".to_owned()
    };
    broken(why)
}

async fn returned(stage: &Stage, story: Checkout, key: &str) -> Result<Vec<Finding>, SetupError> {
    let order = stage.order.clone();
    let before = stage.exchanges().len();
    let mut seen = Seen::default();
    for _ in 0..if story == Checkout::Twice { 2 } else { 1 } {
        seen = come_back(stage, "after the payment", &[("order", &order), ("trans_key", key)]).await?;
    }
    let entries = stage.entries()?;
    let charges: Vec<_> = entries.iter().filter(|entry| entry.is_charge()).collect();
    let mut findings = Vec::new();
    if charges.len() > 1 {
        findings.push(fault("charged-twice", format!("{} charges for one order", charges.len())));
    }
    if charges.iter().any(|entry| entry.amount != PRICE) {
        findings.push(fault("wrong-amount", "the amount charged differs from the amount of the order"));
    }
    if let Some(denied @ ("declined" | "not-charged")) = page::claim(&seen).as_deref() {
        findings.push(fault(
            "charged-but-said-unpaid",
            format!("the customer has paid, but the success page claims {denied}"),
        ));
    }
    findings.extend(looked_up(stage, &seen, before).await);
    if seen.status >= 400 {
        findings.push(fault("customer-lost", format!("the customer has paid, but gets HTTP {}", seen.status)));
    }
    Ok(findings)
}

/// Checks that the shop asked the service about the customer who has paid, unless its page says that it knows.
async fn looked_up(stage: &Stage, seen: &Seen, before: usize) -> Option<Finding> {
    let claim = page::claim(seen);
    if page::says_paid(seen) || seen.status >= 400 || claim.as_deref().is_some_and(|claim| claim != "unknown") {
        return None;
    }
    if stage.asked_since(before).await {
        let is_found = stage.exchanges().iter().skip(before).any(|one| one.showed_payment);
        let why = "a lookup showed the payment, but the success page still claims unknown";
        return (claim.is_some() && is_found).then(|| doubt("found-and-unknown", why));
    }
    let why = "the customer has paid and comes back, but the payment is not looked up";
    Some(if claim.is_some() { fault("never-looked-up", why) } else { doubt("never-looked-up", why) })
}

fn key_of(location: &str) -> String {
    let query = location.split_once('?').map(|(_, query)| query).unwrap_or_default();
    let found = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "trans_key");
    found.map(|(_, key)| key.into_owned()).unwrap_or_default()
}

/// Pays on the hosted page as the runner. Returns the token and the key of the payment.
pub(crate) fn paid(stage: &mut Stage, order: &str, value: &str) -> Result<(String, String), SetupError> {
    let account = &stage.house.account;
    let fields = [
        ("api_key", &*account.enterprise_api_key),
        ("api_password", &account.enterprise_api_password),
        ("version", "5"),
        ("item_name[0]", "Tea"),
        ("item_price[0]", value),
        ("currency", "GBP"),
        ("trans_reference", order),
        ("success_url", "https://shop.example/success"),
        ("cancel_url", "https://shop.example/cancel"),
        ("auto_redirect", "1"),
    ];
    let response = stage.house.send(form("http://localhost/enterprise/gettoken", &fields)?).map_err(text)?;
    let body = String::from_utf8_lossy(response.body()).into_owned();
    let token = body.split_once("<tokenid>").and_then(|(_, rest)| rest.split_once("</tokenid>"));
    let token = token.map(|(token, _)| token.to_owned()).ok_or_else(|| format!("no token: {body}"))?;
    let key = key_of(&pay(&stage.house, &token)?);
    stage.prepared()?;
    Ok((token, key))
}

/// Pays on the hosted page as a customer does. Returns where the browser is sent.
fn pay(house: &House, token: &str) -> Result<String, SetupError> {
    let address = format!("http://localhost/pay/{token}");
    let opened = Request::get(&address).body(Bytes::new()).map_err(text)?;
    let opened = house.send(opened).map_err(text)?;
    let page = String::from_utf8_lossy(opened.body()).into_owned();
    let number = CARDS.iter().find(|card| card.scenario == Scenario::Approved).map_or("", |card| card.number);
    let mut fields = hidden(&page);
    for (name, value) in
        [("cardNumber", number), ("cardExpiry", "12 / 49"), ("cardCV2", "123"), ("cardholderName", "Ada Lovelace")]
    {
        fields.push((name.to_owned(), value.to_owned()));
    }
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (&**name, &**value)).collect();
    let response = house.send(form(&address, &fields)?).map_err(text)?;
    let location = response.headers().get(header::LOCATION).and_then(|location| location.to_str().ok());
    if let Some(location) = location {
        return Ok(location.to_owned());
    }
    // A page of the service with a link to the next page.
    let body = String::from_utf8_lossy(response.body()).into_owned();
    let link = body
        .split("href=\"")
        .skip(1)
        .filter_map(|rest| rest.split_once('"'))
        .map(|(link, _)| link.replace("&amp;", "&"));
    link.into_iter().find(|link| link.contains("trans_key=")).ok_or_else(|| {
        format!("the payment page answers HTTP {} without a redirect or a link", response.status().as_u16())
    })
}

/// Returns the hidden inputs of a page of the sandbox.
pub(crate) fn hidden(page: &str) -> Vec<(String, String)> {
    let attribute = |tag: &str, name: &str| {
        let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
        rest.split_once('"').map(|(value, _)| value.replace("&amp;", "&"))
    };
    page.split("<input")
        .skip(1)
        .filter_map(|tag| tag.split_once('>').map(|(tag, _)| tag))
        .filter(|tag| attribute(tag, "type").as_deref() == Some("hidden"))
        .filter_map(|tag| attribute(tag, "name").zip(attribute(tag, "value")))
        .collect()
}
