//! Callbacks to the shop: genuine, forged, repeated, late, slow, too large.

mod forged;
mod settled;

use std::time::Duration;

use serde_json::json;

use super::{
    Asked, Played,
    order::{Order, come_back},
    page,
};
use crate::{
    clock,
    finding::{Finding, Lane},
    house::{Card, SetupError},
    judge::{self, doubt, fault},
    plan::{Job, Means},
    report::Outcome,
    shop::{self, Call, Seen, Silent},
    stage::{CONFIRMED_WITHIN, Setting, Stage, Troupe},
    wire::{Act, On, Rule},
};

/// The kind of callback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Callback {
    GenuineBatch,
    ForgedBatch,
    GenuinePayment,
    ForgedPayment,
    OtherPayment,
    Twice,
    /// The customer comes back before the callback.
    Late,
    /// The customer comes back while the shop handles the callback.
    Overtaken,
    /// Another callback arrives byte by byte meanwhile.
    Slow,
    Huge,
    Garbage,
    Secrets,
}

impl Callback {
    /// Whether it is about a payment, so that the shop has to know the order.
    const fn is_payment(self) -> bool {
        !matches!(self, Self::GenuineBatch | Self::ForgedBatch | Self::Huge | Self::Garbage | Self::Secrets)
    }

    pub(super) fn setting(self) -> Setting {
        const SLOW: Rule = Rule::first(On::Lookup, Act::Slow(700));
        Setting::with(if self == Self::Overtaken { &[SLOW] } else { &[] })
    }

    /// Returns what the plan lacks for it.
    fn lacks(self, troupe: &Troupe) -> Option<&'static str> {
        let is_url = matches!(troupe.plan.jobs.get(&Job::Callback), Some(Means::Url(_)));
        match self {
            Self::Slow if !is_url => Some("a command has no connection over which a body could arrive slowly"),
            Self::Late | Self::Overtaken if !troupe.plan.has(Job::CheckoutReturn) => {
                Some("the plan has no job checkout_return")
            }
            _ => None,
        }
    }
}

async fn ordered(stage: &mut Stage) -> Result<Order, SetupError> {
    let name = stage.order.clone();
    Order::made(stage, &name).await
}

pub(crate) async fn play(stage: &mut Stage, story: Callback) -> Played {
    let drill = stage.drill;
    if let Some(why) = story.lacks(&stage.troupe) {
        return Ok(Outcome::not_applicable(drill, why.to_owned()));
    }
    let order = if story.is_payment() { Some(ordered(stage).await?) } else { None };
    let findings = match (story, &order) {
        (Callback::Slow, Some(order)) => slow(stage, order).await?,
        (Callback::Late | Callback::Overtaken, Some(order)) => with_customer(stage, story, order).await?,
        (_, Some(order)) => payment(stage, story, order).await?,
        (Callback::GenuineBatch | Callback::ForgedBatch, None) => batch(stage, story).await?,
        (Callback::Huge, None) => huge(stage).await?,
        (_, None) => garbage(stage, story).await?,
    };
    let findings = match findings {
        Ok(findings) if findings.is_empty() => refusal_of_all(stage, story, order).await?.map_or(Ok(findings), Err),
        other => other,
    };
    Ok(match findings {
        Ok(findings) => stage.judged(findings),
        Err(why) => Outcome::not_applicable(drill, why),
    })
}

async fn post(stage: &Stage, what: &str, content_type: &'static str, body: String) -> Result<Seen, Silent> {
    stage.wire().note(Lane::Wire, Lane::Integration, format!("callback: {what}"));
    let call = Call::post(&stage.address(Job::Callback), content_type, body);
    let seen = stage.visit(Job::Callback, call).await;
    let told = match &seen {
        Ok(seen) => format!("HTTP {}", seen.status),
        Err(silent) => silent.to_string(),
    };
    stage.wire().note(Lane::Integration, Lane::Wire, told);
    seen
}

fn reached(seen: Result<Seen, Silent>) -> Result<Seen, SetupError> {
    seen.map_err(|silent| format!("cannot reach the callback address: {silent}"))
}

/// Returns why the drill proves nothing, if the address also refuses a genuine callback.
async fn refusal_of_all(
    stage: &mut Stage,
    story: Callback,
    order: Option<Order>,
) -> Result<Option<String>, SetupError> {
    let (is_batch, is_payment) = match story {
        Callback::ForgedBatch => (true, false),
        Callback::ForgedPayment | Callback::OtherPayment | Callback::Slow => (false, true),
        Callback::Huge | Callback::Garbage | Callback::Secrets => (true, true),
        // These post a genuine callback anyway.
        _ => return Ok(None),
    };
    let mut why = None;
    if is_payment {
        let order = match order {
            Some(order) => order,
            None => ordered(stage).await?,
        };
        let genuine = paid_callback(stage, &order)?;
        let seen = reached(post(stage, "a payment", FORM, genuine).await)?;
        why = refused(&seen, PAYMENT);
    }
    if is_batch && (!is_payment || why.is_some()) {
        let genuine = finished_batch(stage)?;
        let seen = reached(post(stage, "a finished batch", "application/json", genuine.to_string()).await)?;
        why = refused(&seen, BATCH);
    }
    Ok(why)
}

const PAYMENT: &str = "a payment of the hosted checkout";
const BATCH: &str = "a batch of the account updater";

fn refused(seen: &Seen, what: &str) -> Option<String> {
    (seen.status >= 400).then(|| format!("the address returns HTTP {} for {what}", seen.status))
}

/// Returns the service's callback about a finished batch.
fn finished_batch(stage: &mut Stage) -> Result<serde_json::Value, SetupError> {
    let card = Card::new(&stage.dice.card_number(), "314");
    let card_key = stage.house.card_key(&card)?;
    let updater = stage.house.account.updater_key.clone();
    let made =
        stage.house.call("token/requestAccountUpdater", &[("accountUpdaterKey", &updater), ("cardKey", &card_key)])?;
    let batch_key = made["batchKey"].as_str().unwrap_or_default().to_owned();
    stage.house.advance(Duration::from_secs(200));
    stage.prepared()?;
    stage.house.call("token/retrieveAccountUpdater", &[("batchKey", &batch_key)])
}

async fn batch(stage: &mut Stage, story: Callback) -> Result<Asked, SetupError> {
    let genuine = finished_batch(stage)?;
    if story == Callback::GenuineBatch {
        let seen = reached(post(stage, "a finished batch", "application/json", genuine.to_string()).await)?;
        return Ok(if let Some(why) = refused(&seen, BATCH) {
            Err(why)
        } else if stage.asked_since(0).await {
            Ok(Vec::new())
        } else {
            Ok(vec![doubt(
                "not-confirmed",
                "the callback was accepted but the batch was not retrieved: \
            callbacks are not signed",
            )])
        });
    }
    let mut forged = genuine.clone();
    forged["batchKey"] = stage.dice.letters(32).to_lowercase().into();
    if let Some(entries) = forged["cardKeyDetails"].as_array_mut() {
        for entry in entries {
            entry["response"] = json!("700");
            entry["cardKey"] = json!("00000000-FORGED-0000");
        }
    }
    let seen = reached(post(stage, "a forged batch", "application/json", forged.to_string()).await)?;
    Ok(if page::says_paid(&seen) || seen.body.contains("00000000-FORGED-0000") {
        Ok(vec![fault("callback-trusted", "a forged batch was trusted: its card keys were stored")])
    } else if seen.status < 400 && !stage.asked_since(0).await {
        Ok(vec![doubt("not-confirmed", "a forged batch was accepted without asking the service")])
    } else {
        Ok(Vec::new())
    })
}

const FORM: &str = "application/x-www-form-urlencoded";

/// Pays an order, and returns the service's callback about it.
fn paid_callback(stage: &mut Stage, order: &Order) -> Result<String, SetupError> {
    let (token, key) = order.pay(stage)?;
    Ok(order.callback(&token, &key))
}

async fn payment(stage: &mut Stage, story: Callback, order: &Order) -> Result<Asked, SetupError> {
    match story {
        Callback::ForgedPayment => return forged::forged_payment(stage, order).await,
        Callback::OtherPayment => return forged::other_payment(stage, order).await,
        _ => {}
    }
    let genuine = paid_callback(stage, order)?;
    let before = stage.exchanges().len();
    let times = if story == Callback::Twice { 2 } else { 1 };
    let mut seen = Seen::default();
    for _ in 0..times {
        seen = reached(post(stage, "a payment", FORM, genuine.clone()).await)?;
    }
    if seen.status >= 500 {
        return Ok(Ok(vec![fault("callback-fails", format!("a genuine callback gets HTTP {}", seen.status))]));
    }
    if let Some(why) = refused(&seen, PAYMENT) {
        return Ok(Err(why));
    }
    Ok(if let Some(again) = moved_again(stage, order)? {
        Ok(vec![again])
    } else if stage.asked_since(before).await {
        let refused = stage.refused_since(before);
        let why =
            |code| format!("the callback was accepted, and the lookup of its payment is refused with error {code}");
        Ok(match refused.map(|code| doubt("not-confirmed", why(code))) {
            None if story == Callback::GenuinePayment => settled::check(stage, order, &seen).await?,
            refused => refused,
        }
        .into_iter()
        .collect())
    } else if !order.is_known() && page::claim(&seen).is_none() {
        Err(order.unknown(NOTHING_ASKED))
    } else {
        let why = format!("the callback was accepted without looking up the payment within {}", within());
        Ok(vec![doubt("not-confirmed", why)])
    })
}

/// How long a lookup is waited for.
fn within() -> String {
    format!("{} seconds", CONFIRMED_WITHIN.as_secs_f32())
}

const NOTHING_ASKED: &str = "it accepts the callback about a payment of it without a lookup";

/// Returns the failure of a shop that charges a customer who has paid, or gives the money of its order back: that payment was part
/// of the preparation.
fn moved_again(stage: &Stage, order: &Order) -> Result<Option<Finding>, SetupError> {
    let entries = stage.entries()?;
    let charges = entries.iter().filter(|entry| entry.is_charge()).count();
    let why = || format!("{} more after the payment", judge::count(charges, "charge"));
    let charged = (charges > 0).then(|| fault("charged-twice", why()));
    Ok(charged.or_else(|| judge::refunded(&entries).filter(|_| order.is_known())))
}

/// The time between the customer's return and the callback, when one overtakes the other.
const APART: Duration = Duration::from_millis(150);

/// Plays the callback, and the customer who comes back to the success page before it or meanwhile.
async fn with_customer(stage: &mut Stage, story: Callback, order: &Order) -> Result<Asked, SetupError> {
    let (token, key) = order.pay(stage)?;
    let genuine = order.callback(&token, &key);
    let query = [("order", &*order.name), ("trans_key", &*key)];
    let (posted, page) = if story == Callback::Late {
        let page = come_back(stage, "after the payment", &query).await?;
        stage.house.advance(Duration::from_secs(3600));
        (reached(post(stage, "the payment, an hour later", FORM, genuine).await)?, page)
    } else {
        let customer = async {
            clock::pause(APART).await;
            come_back(stage, "while the callback is being handled", &query).await
        };
        let (posted, page) = tokio::join!(post(stage, "a payment", FORM, genuine), customer);
        (reached(posted)?, page?)
    };
    let mut findings = Vec::new();
    for (what, seen) in [("callback", &posted), ("success page", &page)] {
        if seen.status >= 400 {
            if let Some(sign) = refusal_of_one(stage, order, what).await? {
                return Ok(Err(order.unknown(&sign)));
            }
            findings.push(fault(
                "refused-with-the-customer",
                format!("the customer has paid, but the {what} returns HTTP {}", seen.status),
            ));
        }
        if let Some(denied @ ("declined" | "not-charged")) = page::claim(seen).as_deref() {
            findings.push(fault(
                "charged-but-said-unpaid",
                format!("the customer has paid, but the {what} claims {denied}"),
            ));
        }
    }
    findings.extend(moved_again(stage, order)?);
    Ok(Ok(findings))
}

/// Returns the sign that the shop does not know orders that it did not make: it refuses the callback about a payment of
/// another one of them too, or the customer.
async fn refusal_of_one(stage: &mut Stage, order: &Order, what: &str) -> Result<Option<String>, SetupError> {
    if order.is_known() {
        return Ok(None);
    }
    let other = Order::made(stage, &format!("{}-other", order.name)).await?;
    let (token, key) = other.pay(stage)?;
    let seen = if what == "callback" {
        reached(post(stage, "a payment of another order", FORM, other.callback(&token, &key)).await)?
    } else {
        come_back(stage, "after a payment of another order", &[("order", &other.name), ("trans_key", &key)]).await?
    };
    Ok((seen.status >= 400).then(|| format!("its {what} returns HTTP {} after the payment alone too", seen.status)))
}

/// How long a callback may take while another one arrives byte by byte.
const BESIDE: Duration = Duration::from_secs(3);

async fn slow(stage: &mut Stage, order: &Order) -> Result<Asked, SetupError> {
    let genuine = paid_callback(stage, order)?;
    // What was not reached before proves nothing.
    reached(post(stage, "an empty one", FORM, String::new()).await)?;
    let address = stage.address(Job::Callback);
    stage.wire().note(Lane::Wire, Lane::Integration, "callback: byte by byte");
    let trickling = tokio::spawn(async move { shop::trickle(&address, FORM, Duration::from_millis(50)).await });
    clock::pause(APART).await;
    let beside = post(stage, "a payment, meanwhile", FORM, genuine);
    let beside = tokio::time::timeout(BESIDE, beside).await;
    trickling.abort();
    Ok(Ok(match beside {
        Ok(Ok(seen)) if seen.status >= 500 => {
            vec![fault("callback-fails", format!("a genuine callback gets HTTP {}", seen.status))]
        }
        Ok(Ok(_)) => moved_again(stage, order)?.into_iter().collect(),
        Ok(Err(Silent::Closed(why) | Silent::Crashed { why, .. })) => vec![fault("shop-down", why)],
        Ok(Err(Silent::TimedOut)) | Err(_) => vec![fault(
            "shop-blocked",
            format!("a callback that arrives byte by byte delays another callback by {} seconds", BESIDE.as_secs()),
        )],
    }))
}

async fn huge(stage: &Stage) -> Result<Asked, SetupError> {
    // What was not reached before proves nothing.
    reached(post(stage, "an empty one", FORM, String::new()).await)?;
    let body = format!("trans_key={}", "A".repeat(8 << 20));
    match post(stage, "8 MiB", FORM, body).await {
        Err(Silent::TimedOut) => {
            return Ok(Ok(vec![fault("hangs", "a callback of 8 MiB blocks the shop until the timeout")]));
        }
        // The shop closed the connection, which is correct.
        Err(Silent::Closed(_)) => {}
        crashed @ Err(Silent::Crashed { .. }) => drop(reached(crashed)?),
        Ok(seen) if seen.status < 400 => {
            return Ok(Ok(vec![fault(
                "no-limit",
                "a callback of 8 MiB is accepted; real callbacks have a few hundred bytes",
            )]));
        }
        Ok(_) => {}
    }
    let after = post(stage, "an empty one afterwards", FORM, String::new()).await;
    Ok(match after {
        Ok(_) => Ok(Vec::new()),
        crashed @ Err(Silent::Crashed { .. }) => reached(crashed).map(|_| Ok(Vec::new()))?,
        Err(silent) => Ok(vec![fault(
            "shop-down",
            format!(
                "after a callback of 8 MiB the shop does not respond: \
            {silent}"
            ),
        )]),
    })
}

async fn garbage(stage: &Stage, story: Callback) -> Result<Asked, SetupError> {
    let mut findings = Vec::new();
    for (what, kind, body) in [
        ("neither a form nor JSON", FORM, "%%%\u{0}<<<".to_owned()),
        ("truncated JSON", "application/json", "{\"batchKey\": \"".to_owned()),
        ("nothing", FORM, String::new()),
    ] {
        let seen = reached(post(stage, what, kind, body).await)?;
        if story == Callback::Secrets {
            if let Some(sign) = page::inside(&seen.body) {
                findings
                    .push(fault("inside-shown", format!("the reply to {what} shows internals of the shop: “{sign}”")));
            }
            findings.extend(page::secrets(&stage.house.account, &seen, "the callback address"));
        } else if page::says_paid(&seen) {
            findings.push(fault("callback-trusted", format!("the reply to {what} says paid")));
        } else if seen.status >= 500 {
            findings.push(doubt("server-error", format!("{what}: HTTP {}", seen.status)));
        }
    }
    findings.dedup();
    Ok(Ok(findings))
}
