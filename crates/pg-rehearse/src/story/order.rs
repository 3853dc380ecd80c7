//! Orders of the hosted checkout: made by the shop if the plan says how, and paid on the page as a customer pays.

use bytes::Bytes;
use http::{Request, header};
use pg_sandbox::cards::{CARDS, Scenario};
use serde_json::{Value, json};

use crate::{
    adapter::Ran,
    finding::Lane,
    house::{House, SetupError, form, text},
    plan::{Job, Means},
    shop::{Call, Seen},
    stage::Stage,
};

/// The price of an order, in the smallest unit of its currency.
pub(crate) const PRICE: u64 = 998;

/// An order of 9.98 GBP that waits for its payment.
pub(crate) struct Order {
    pub(crate) name: String,
    /// The token of the shop's link. Without it the runner pays by a link of its own, and the shop may not know the order.
    token: Option<String>,
}

impl Order {
    /// Has the shop make the order, if the plan says how.
    pub(crate) async fn made(stage: &mut Stage, name: &str) -> Result<Self, SetupError> {
        let name = name.to_owned();
        let plan = &stage.troupe.plan;
        // A running shop calls the service at one address, where the drills of a command do not listen.
        let is_reached = plan.calls_shop(stage.drill.job()) || !plan.calls_shop(Job::Checkout);
        if !plan.has(Job::Checkout) || !is_reached {
            return Ok(Self { name, token: None });
        }
        let line = input(stage, &name, "GBP");
        let ran = stage.run(Job::Checkout, &line).await;
        let token = token_of(&ran).ok_or_else(|| format!("job checkout: {}", no_link(&ran)))?;
        Ok(Self { name, token: Some(token) })
    }

    /// Whether the shop made it.
    pub(crate) fn is_known(&self) -> bool {
        self.token.is_some()
    }

    /// Pays it as a customer does. Returns the token of its link and the key of the payment.
    pub(crate) fn pay(&self, stage: &mut Stage) -> Result<(String, String), SetupError> {
        let Some(token) = &self.token else { return paid(stage, &self.name, "9.98", "GBP") };
        let key = key_of(&pay(&stage.house, token)?);
        stage.prepared()?;
        Ok((token.clone(), key))
    }

    /// Returns why a drill proves nothing about a shop that may not know the order.
    pub(crate) fn unknown(&self, sign: &str) -> String {
        format!(
            "the shop may not know the order {}: {sign}. Add the job checkout, so that the shop makes the order",
            self.name
        )
    }
}

/// Returns the JSON line of the job `checkout`.
pub(crate) fn input(stage: &Stage, order: &str, currency: &str) -> Value {
    let success = match stage.troupe.plan.jobs.get(&Job::CheckoutReturn) {
        Some(Means::Url(url)) => format!("{url}{}order={order}", if url.contains('?') { "&" } else { "?" }),
        _ => format!("https://shop.example/success?order={order}"),
    };
    json!({
        "job": Job::Checkout.name(),
        "order": order,
        "amount": PRICE,
        "currency": currency,
        "successUrl": success,
    })
}

/// Opens the success page as a customer who comes back.
pub(crate) async fn come_back(stage: &Stage, what: &str, query: &[(&str, &str)]) -> Result<Seen, SetupError> {
    stage.wire().note(Lane::Wire, Lane::Integration, format!("success page: {what}"));
    let call = Call::page(&stage.address(Job::CheckoutReturn), query);
    let seen = stage.visit(Job::CheckoutReturn, call).await.map_err(|silent| format!("success page: {silent}"))?;
    stage.wire().note(Lane::Integration, Lane::Wire, format!("HTTP {}", seen.status));
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

pub(crate) fn key_of(location: &str) -> String {
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
    let key = key_of(&pay(&stage.house, &token)?);
    stage.prepared()?;
    Ok((token, key))
}

/// Pays on the hosted page as a customer does. Returns where the browser is sent.
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
