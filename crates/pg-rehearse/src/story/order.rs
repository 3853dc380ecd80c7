//! Orders of the hosted checkout: made by the shop if the plan says how, and paid on the page as a customer pays.

use std::sync::OnceLock;

use bytes::Bytes;
use http::{Request, Response, header};
use pg_sandbox::cards::{CARDS, Scenario};
use serde_json::{Value, json};

use super::page;
use crate::{
    adapter::Ran,
    finding::{Finding, Lane},
    house::{House, SetupError, form, text},
    judge::doubt,
    plan::{Job, Means},
    shop::{Call, Seen},
    stage::Stage,
    wire::Exchange,
};

/// The price of an order, in the smallest unit of its currency.
pub(crate) const PRICE: u64 = 998;

/// An order of 9.98 GBP that waits for its payment.
pub(crate) struct Order {
    pub(crate) name: String,
    /// The token of the shop's link. Without it the runner pays by a link of its own, and the shop may not know the order.
    token: Option<String>,
    /// What the shop gave with the link, and the service sends back in its callback.
    given: Vec<(&'static str, String)>,
    /// The token of the link that was paid, and the key of the payment.
    paid: OnceLock<(String, String)>,
}

impl Order {
    /// Has the shop make the order, if the plan says how.
    pub(crate) async fn made(stage: &mut Stage, name: &str) -> Result<Self, SetupError> {
        let name = name.to_owned();
        let plan = &stage.troupe.plan;
        // A running shop calls the service at one address, where the drills of a command do not listen.
        let is_reached = plan.calls_shop(stage.drill.job()) || !plan.calls_shop(Job::Checkout);
        if !plan.has(Job::Checkout) || !is_reached {
            let given = vec![("trans_reference", name.clone())];
            return Ok(Self { name, token: None, given, paid: OnceLock::new() });
        }
        let before = stage.exchanges().len();
        let line = input(stage, &name, "GBP");
        let ran = stage.run(Job::Checkout, &line).await;
        let token = token_of(&ran).ok_or_else(|| format!("job checkout: {}", no_link(&ran)))?;
        let exchanges = stage.exchanges();
        let requested = exchanges.iter().skip(before).rev().find(|one| one.method == "enterprise/gettoken");
        // A link that was requested earlier has the name of its order, as far as is known.
        let given = requested.map_or_else(
            || vec![("trans_reference", name.clone())],
            |one| {
                let given = |name: &'static str| Some((name, one.parameter(name)?.to_owned()));
                GIVEN.into_iter().filter_map(given).filter(|(_, value)| !value.is_empty()).collect()
            },
        );
        Ok(Self { name, token: Some(token), given, paid: OnceLock::new() })
    }

    /// Whether the shop made it.
    pub(crate) fn is_known(&self) -> bool {
        self.token.is_some()
    }

    /// Pays it as a customer does, once. Returns the token of its link and the key of the payment.
    pub(crate) fn pay(&self, stage: &mut Stage) -> Result<(String, String), SetupError> {
        if let Some(paid) = self.paid.get() {
            return Ok(paid.clone());
        }
        let paid = if let Some(token) = &self.token {
            let key = pay(&stage.house, token)?;
            stage.prepared()?;
            (token.clone(), key)
        } else {
            paid(stage, &self.name, "9.98", "GBP")?
        };
        Ok(self.paid.get_or_init(|| paid).clone())
    }

    /// Returns the service's callback about a payment of it (spec 3 §6), with a key that may belong to another one. An attacker
    /// who wants the order knows the token of its link.
    pub(crate) fn callback(&self, token: &str, key: &str) -> String {
        self.callback_of(self.token.as_deref().unwrap_or(token), key, "9.98")
    }

    /// The same with the token and the price of the payment that the key belongs to.
    pub(crate) fn callback_of(&self, token: &str, key: &str, value: &str) -> String {
        let given = |name| self.given.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str());
        let kind = given("trans_type").map_or_else(|| "auth".to_owned(), str::to_ascii_lowercase);
        let mut form = form_urlencoded::Serializer::new(String::new());
        form.append_pair("tokenid", token)
            .append_pair("trans_key", key)
            .append_pair("trans_type", &kind)
            .append_pair("trans_value", value)
            .append_pair("currency", given("currency").unwrap_or("GBP"))
            .append_pair("status", "1");
        for name in ["trans_reference", "trans_class"] {
            form.extend_pairs(given(name).map(|value| (name, value)));
        }
        form.finish()
    }

    /// Returns why a drill proves nothing about a shop that may not know the order.
    pub(crate) fn unknown(&self, sign: &str) -> String {
        format!(
            "the shop may not know the order {}: {sign}. Add the job checkout, so that the shop makes the order",
            self.name
        )
    }
}

/// The parameters of `gettoken` that are in the callback.
const GIVEN: [&str; 4] = ["trans_type", "currency", "trans_reference", "trans_class"];

/// Opens the success page of an order without a key.
pub(crate) async fn without_key(stage: &Stage, order: &Order) -> Result<Seen, SetupError> {
    come_back(stage, "without a key", &[("order", &order.name), ("amount", "998")]).await
}

/// Opens the success page of a paid order, and once more if the shop needs a moment to look the payment up.
pub(crate) async fn after_payment(stage: &Stage, order: &str, key: &str, what: &str) -> Result<Seen, SetupError> {
    after_payment_of(stage, order, PRICE, key, what).await
}

/// The same of another price.
pub(crate) async fn after_payment_of(
    stage: &Stage,
    order: &str,
    price: u64,
    key: &str,
    what: &str,
) -> Result<Seen, SetupError> {
    let (before, price) = (stage.exchanges().len(), price.to_string());
    let query = [("order", order), ("amount", &*price), ("trans_key", key)];
    let seen = come_back(stage, what, &query).await?;
    let is_final =
        page::says_paid(&seen) || seen.status >= 400 || page::claim(&seen).is_some_and(|claim| claim != "unknown");
    if is_final || !stage.settled_since(Job::CheckoutReturn, key, before).await {
        return Ok(seen);
    }
    come_back(stage, "opened again", &query).await
}

/// Opens the success page of a paid order once more, if a lookup since this number of requests has shown the payment. A shop
/// with a queue may look it up after `after_payment` has read the page: without a lookup nothing follows from that page.
pub(crate) async fn after_lookup(
    stage: &Stage,
    order: &str,
    price: u64,
    key: &str,
    before: usize,
) -> Result<Option<Seen>, SetupError> {
    let is_shown = |one: &Exchange| one.is_lookup_of(key) && one.showed_payment;
    if !stage.exchanges().iter().skip(before).any(is_shown) {
        return Ok(None);
    }
    stage.settled_since(Job::CheckoutReturn, key, before).await;
    let query = [("order", order), ("amount", &*price.to_string()), ("trans_key", key)];
    come_back(stage, "opened after a lookup", &query).await.map(Some)
}

/// Whose payment a shop means that says paid about an order that was given the key of another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meant {
    /// Of the order that is not paid, or of no order.
    ThisOrder,
    /// Truly of the other one.
    OtherOrder,
    /// Of the other one, without saying so.
    Unclear,
}

/// Returns which order is meant by what was seen: a shop may find the order by what the service says about the key.
pub(crate) async fn meant(stage: &Stage, order: &Order, other: &Order, seen: &Seen) -> Result<Meant, SetupError> {
    if !order.is_known() {
        return Ok(Meant::ThisOrder);
    }
    let has_page = stage.troupe.plan.has(Job::CheckoutReturn);
    if has_page && page::says_paid(&without_key(stage, order).await?) {
        return Ok(Meant::ThisOrder);
    }
    let rest = seen.body.replace(&*other.name, "");
    if rest.len() < seen.body.len() && !rest.contains(&*order.name) {
        return Ok(Meant::OtherOrder);
    }
    // A shop that keeps no state says nothing of either order without a key.
    let is_other = has_page && page::says_paid(&without_key(stage, other).await?);
    Ok(if is_other { Meant::Unclear } else { Meant::ThisOrder })
}

/// Returns the warning about a page that says paid and not what.
pub(crate) fn unclear(what: &str) -> Finding {
    let why = format!("{what} says paid for the key of another order, which is paid, without naming it");
    doubt("paid-without-order", why)
}

/// Returns the JSON line of the job `checkout`.
pub(crate) fn input(stage: &Stage, order: &str, currency: &str) -> Value {
    input_of(stage, order, PRICE, currency)
}

/// The same of another price.
pub(crate) fn input_of(stage: &Stage, order: &str, price: u64, currency: &str) -> Value {
    let success = match stage.troupe.plan.jobs.get(&Job::CheckoutReturn) {
        Some(Means::Url(url)) => format!("{url}{}order={order}", if url.contains('?') { "&" } else { "?" }),
        _ => format!("https://shop.example/success?order={order}"),
    };
    json!({
        "job": Job::Checkout.name(),
        "order": order,
        "amount": price,
        "currency": currency,
        "successUrl": success,
    })
}

/// Opens the success page as a customer who comes back.
pub(crate) async fn come_back(stage: &Stage, what: &str, query: &[(&str, &str)]) -> Result<Seen, SetupError> {
    stage.wire().note(Lane::Wire, Lane::Integration, format!("success page: {what}"));
    let call = Call::page(&stage.address(Job::CheckoutReturn), query);
    let seen = stage.visit(Job::CheckoutReturn, call).await.map_err(|silent| format!("success page: {silent}"))?;
    stage.note_page(&seen);
    stage.found(page::secrets(&stage.house.account, &seen, "the success page"));
    Ok(seen)
}

/// Returns the token in the link that the job made.
pub(crate) fn token_of(ran: &Ran) -> Option<String> {
    let link = ["url", "redemptionUrl", "redirectUrl", "link"].iter().find_map(|name| ran.text(name));
    link.and_then(|link| link.rsplit_once("/pay/")).map(|(_, token)| token.to_owned())
}

/// Returns why a job made no link.
pub(crate) fn no_link(ran: &Ran) -> String {
    if ran.answer.is_empty() {
        return ran.trouble();
    }
    let answer = Value::from(ran.answer.clone());
    format!("the integration's answer has no url for the customer; it answered {answer}")
}

fn key_of(location: &str) -> String {
    let query = location.split_once('?').map(|(_, query)| query).unwrap_or_default();
    let found = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "trans_key");
    found.map(|(_, key)| key.into_owned()).unwrap_or_default()
}

/// Pays on the hosted page as the runner. Returns the token and the key of the payment.
pub(crate) fn paid(
    stage: &mut Stage,
    order: &str,
    value: &str,
    currency: &str,
) -> Result<(String, String), SetupError> {
    let account = &stage.house.account;
    let fields = [
        ("api_key", &*account.enterprise_api_key),
        ("api_password", &account.enterprise_api_password),
        ("version", "5"),
        ("item_name[0]", "Tea"),
        ("item_price[0]", value),
        ("currency", currency),
        ("trans_reference", order),
        ("success_url", "https://shop.example/success"),
        ("cancel_url", "https://shop.example/cancel"),
        ("auto_redirect", "1"),
    ];
    let response = stage.house.send(form("http://localhost/enterprise/gettoken", &fields)?).map_err(text)?;
    let body = String::from_utf8_lossy(response.body()).into_owned();
    let token = body.split_once("<tokenid>").and_then(|(_, rest)| rest.split_once("</tokenid>"));
    let token = token.map(|(token, _)| token.to_owned()).ok_or_else(|| format!("no token: {body}"))?;
    let key = pay(&stage.house, &token)?;
    stage.prepared()?;
    Ok((token, key))
}

/// Pays on the hosted page as a customer does, and authenticates if the bank asks for it. Returns the key of the payment.
pub(crate) fn pay(house: &House, token: &str) -> Result<String, SetupError> {
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
    let mut response = house.send(form(&address, &fields)?).map_err(text)?;
    if let Some(challenge) = location_of(&response).filter(|location| location.starts_with(CHALLENGES)) {
        let back = answer_challenge(house, challenge, "authenticate")?;
        if let Some(back) = location_of(&back) {
            let back = Request::get(format!("http://localhost{}", path_of(back))).body(Bytes::new());
            response = house.send(back.map_err(text)?).map_err(text)?;
        }
    }
    if let Some(location) = location_of(&response) {
        let key = key_of(location);
        return if key.is_empty() {
            Err(format!("the link could not be paid: it leads to {location}"))
        } else {
            Ok(key)
        };
    }
    // A page of the service with a link to the next page.
    let body = String::from_utf8_lossy(response.body()).into_owned();
    let link = body
        .split("href=\"")
        .skip(1)
        .filter_map(|rest| rest.split_once('"'))
        .map(|(link, _)| link.replace("&amp;", "&"));
    let link = link.into_iter().find(|link| link.contains("trans_key="));
    link.map(|link| key_of(&link)).ok_or_else(|| {
        format!("the payment page answers HTTP {} without a redirect or a link", response.status().as_u16())
    })
}

/// Where the pages of the bank are, on which customers authenticate.
const CHALLENGES: &str = "/3ds/";

fn location_of(response: &Response<Bytes>) -> Option<&str> {
    response.headers().get(header::LOCATION).and_then(|location| location.to_str().ok())
}

/// Returns the path of an address with its query.
fn path_of(address: &str) -> String {
    let path = address.split_once("://").and_then(|(_, rest)| rest.split_once('/')).map(|(_, path)| format!("/{path}"));
    path.unwrap_or_else(|| address.to_owned())
}

/// Answers a challenge on the page of the bank.
pub(crate) fn answer_challenge(house: &House, address: &str, outcome: &str) -> Result<Response<Bytes>, SetupError> {
    let address = format!("http://localhost{}", path_of(address));
    let page = house.send(Request::get(&address).body(Bytes::new()).map_err(text)?).map_err(text)?;
    let page = String::from_utf8_lossy(page.body()).into_owned();
    let mut fields = hidden(&page);
    fields.push(("outcome".to_owned(), outcome.to_owned()));
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (&**name, &**value)).collect();
    house.send(form(&address, &fields)?).map_err(text)
}

/// Returns the hidden inputs of a page of the sandbox.
fn hidden(page: &str) -> Vec<(String, String)> {
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
