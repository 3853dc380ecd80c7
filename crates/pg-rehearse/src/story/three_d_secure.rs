//! A payment with 3-D Secure: started, interrupted by the bank's challenge, and finished after the customer's return.

mod by_card;
mod other_order;
mod two_starts;

use std::time::Duration;

use pg_sandbox::cards::{CARDS, Scenario};
use serde_json::{Value, json};

use super::{
    Played,
    charge::{trapped, without_timeout},
    order::answer_challenge,
};
use crate::{
    adapter::{Claim, End, Ran},
    books::money,
    finding::{Finding, Lane},
    house::{Card, SetupError},
    judge::{self, Evidence, Expect, broken, doubt, fault, is_broken},
    plan::{Job, Way},
    stage::Stage,
    wire::{Exchange, On, Rule},
};

/// The actions of the customer, and the fault.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ThreeDSecure {
    pub(crate) card: Scenario,
    pub(crate) rules: &'static [Rule],
    pub(crate) answer: Answer,
    pub(crate) back: Back,
    pub(crate) expect: Expect,
    /// The amount in the smallest unit of its currency.
    pub(crate) price: (u64, &'static str),
}

/// The button that the customer presses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    Authenticates,
    Fails,
    Abandons,
    /// No button; the page stays open.
    Nothing,
    /// No button, for this many seconds.
    Late(u64),
}

/// How the customer comes back to the shop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Back {
    Once,
    /// Back and forward in the browser.
    Twice,
    /// Two tabs at the same time.
    TwoTabs,
    /// With the authenticationKey of another order.
    OtherOrder,
    /// In two tabs, in each of which the customer began to pay and authenticated.
    TwoStarts,
    /// After the order was paid without 3-D Secure in another tab.
    ByCard,
}

impl ThreeDSecure {
    /// Returns the name of this part among those of its drill.
    fn label(&self) -> String {
        match self.back {
            _ if !self.rules.is_empty() => Rule::label(self.rules),
            Back::TwoTabs => "two tabs".to_owned(),
            Back::TwoStarts => "two starts".to_owned(),
            _ => money(self.price.0, self.price.1),
        }
    }
}

/// The price of orders that no shop refuses.
pub(crate) const ORDINARY: (u64, &str) = (998, "GBP");

/// A card whose authentication cannot be initiated.
const REFUSED: Scenario = Scenario::NoResponse;

/// The bank may have charged (A93).
const NO_RESPONSE_FROM_BANK: &str = "119";

/// Plays payments one after the other.
pub(crate) async fn play(stage: &mut Stage, stories: &[ThreeDSecure]) -> Played {
    let name = stage.order.clone();
    let mut findings = Vec::new();
    for (at, story) in stories.iter().enumerate() {
        let label = if stories.len() > 1 { story.label() } else { String::new() };
        stage.begin_named(&name, at, story.rules, &label);
        findings.extend(part(stage, story).await?.into_iter().map(|one| one.of_part(&label)));
        if is_broken(&findings) {
            break;
        }
    }
    findings.extend(trapped(stage, None));
    Ok(stage.judged(findings))
}

async fn part(stage: &mut Stage, story: &ThreeDSecure) -> Result<Vec<Finding>, SetupError> {
    match story.back {
        Back::OtherOrder => return other_order::play(stage, story).await,
        Back::TwoStarts => return two_starts::play(stage, story).await,
        Back::ByCard => return by_card::play(stage, story).await,
        Back::Once | Back::Twice | Back::TwoTabs => {}
    }
    let order = stage.order.clone();
    let mut line = first_step(stage, &order, story)?;
    let mut started = stage.run(Job::ThreeDSecure, &line).await;
    if started.answer.is_empty() && matches!(started.end, End::TimedOut | End::Killed) {
        line["attempt"] = 2.into();
        started = stage.run(Job::ThreeDSecure, &line).await;
    }
    let Some((key, address)) = opened(&started) else {
        return not_opened(stage, &started, story);
    };
    customer(stage, &address, story.answer)?;
    back(stage, &line, &key, story.back).await;
    stage.arrive_late();
    judged(stage, story)
}

/// Returns the JSON line that starts the authentication of an order.
fn first_step(stage: &mut Stage, order: &str, story: &ThreeDSecure) -> Result<Value, SetupError> {
    let number = CARDS.iter().find(|one| one.scenario == story.card).map_or("", |card| card.number);
    let source = stage.source(Way::SessionKey, &Card::new(number, "314"))?;
    let mut line = json!({
        "job": "three_d_secure",
        "step": "start",
        "order": order,
        "amount": story.price.0,
        "currency": story.price.1,
        "returnUrl": "https://shop.example/authenticated",
    });
    line[source.0] = source.1;
    Ok(line)
}

fn opened(started: &Ran) -> Option<(String, String)> {
    let text = |name| started.text(name).filter(|text| !text.is_empty());
    Some((text("authenticationKey")?.to_owned(), text("authenticationUrl")?.to_owned()))
}

/// Judges an integration that started no authentication: this is correct if a fault occurred and the claim says so.
fn not_opened(stage: &Stage, started: &Ran, story: &ThreeDSecure) -> Result<Vec<Finding>, SetupError> {
    let is_refused = story.card == REFUSED;
    match started.claim {
        None if is_refused && stage.exchanges().iter().any(|one| one.is_initiation() && one.answered) => {
            let why = format!("the authentication failed with status 608, and {}", started.trouble());
            Ok(vec![fault("failed-initiation-not-read", why)])
        }
        None => Ok(vec![broken(if started.answer.is_empty() {
            started.trouble()
        } else {
            "the integration's answer lacks authenticationKey or authenticationUrl".to_owned()
        })]),
        Some(claim) if story.price != ORDINARY && claim != Claim::Paid && stage.exchanges().is_empty() => {
            let amount = money(story.price.0, story.price.1);
            let why = format!("an order of {amount} is not sent: the integration claims {}", claim.name());
            Ok(vec![doubt("amount-refused", why)])
        }
        Some(_) if story.rules.is_empty() && !is_refused => {
            Ok(vec![fault("not-initiated", "nothing went wrong, but the integration started no authentication")])
        }
        Some(_) => judged(stage, story),
    }
}

/// Returns the customer's actions on the page of the bank.
fn customer(stage: &Stage, address: &str, answer: Answer) -> Result<(), SetupError> {
    let outcome = match answer {
        Answer::Authenticates => "authenticate",
        Answer::Fails => "fail",
        Answer::Abandons => "abandon",
        Answer::Nothing => return Ok(()),
        Answer::Late(seconds) => {
            stage.house.advance(Duration::from_secs(seconds));
            return Ok(());
        }
    };
    answer_challenge(&stage.house, address, outcome)?;
    stage.wire().note(Lane::Service, Lane::Service, format!("the customer answers the bank: {outcome}"));
    Ok(())
}

async fn back(stage: &mut Stage, line: &Value, key: &str, back: Back) {
    let mut line = line.clone();
    line["step"] = "return".into();
    line["authenticationKey"] = key.into();
    if let Some(object) = line.as_object_mut() {
        object.remove("attempt");
    }
    if back == Back::TwoTabs {
        return stage.run_together(Job::ThreeDSecure, [&line; 2]).await;
    }
    let ran = stage.run(Job::ThreeDSecure, &line).await;
    if ran.claim.is_none() && matches!(ran.end, End::Killed | End::TimedOut) {
        let mut again = line.clone();
        again["attempt"] = 2.into();
        stage.run(Job::ThreeDSecure, &again).await;
    }
    if back == Back::Twice {
        stage.run(Job::ThreeDSecure, &line).await;
    }
}

fn judged(stage: &Stage, story: &ThreeDSecure) -> Result<Vec<Finding>, SetupError> {
    // The claim of the first step is not about the payment, unless it says more than was known.
    let began_paid = stage.ran().first().is_some_and(|ran| ran.claim == Some(Claim::Paid));
    let ran = if stage.ran().len() > 1 { &stage.ran()[1..] } else { stage.ran() };
    let mut findings = judged_by(stage, story, ran)?;
    if began_paid {
        findings.push(paid_at_start());
    }
    Ok(findings)
}

fn paid_at_start() -> Finding {
    fault("unpaid-but-said-paid", "the integration claims paid before the customer was authenticated")
}

/// Judges these runs by what has happened until now.
fn judged_by(stage: &Stage, story: &ThreeDSecure, ran: &[Ran]) -> Result<Vec<Finding>, SetupError> {
    let (entries, exchanges) = (stage.entries()?, stage.exchanges());
    let evidence = Evidence {
        ran,
        together: story.back == Back::TwoTabs,
        entries: &entries,
        exchanges: &exchanges,
        amount: story.price.0,
        currency: story.price.1,
    };
    let mut findings = judge::charge(story.expect, &evidence);
    // An authentication is as good as a reference, except in a retry without a lookup.
    findings.retain(|finding| finding.kind != "resent-without-reference");
    // Each of two tabs sends the payment once.
    if story.back != Back::TwoTabs && resent_blindly(&exchanges) {
        findings.push(fault(
            "resent-without-lookup",
            "the payment was sent again without a uniqueMerchantReference and without a lookup: the sandbox refuses a used \
             authentication (A108), but the documents do not say so, and another service may charge twice",
        ));
    }
    if paid_unasked(&exchanges) {
        let why = "the payment was sent before getAuthenticationStatus was answered for its authenticationKey: call it when \
                   the customer comes back, and pay only with a liabilityShift that you accept (Y: you are not liable)";
        // Only here the answer is another one.
        let kind = "status-never-asked";
        findings.push(if story.card == Scenario::ChallengeRequired { fault(kind, why) } else { doubt(kind, why) });
    }
    if story.card == REFUSED && exchanges.iter().any(|one| one.is(On::Payment)) {
        let why = "the authentication could not be initiated, and the payment was sent without 3-D Secure: you are liable for chargebacks";
        findings.push(doubt("paid-without-authentication", why));
    }
    findings.extend(without_timeout(stage, story.rules));
    Ok(findings)
}

/// Whether an authentication was paid with before its status was known.
fn paid_unasked(exchanges: &[Exchange]) -> bool {
    let key = |one: &Exchange| one.parameter("authenticationKey").map(str::to_owned);
    let asked = |before: &[Exchange], wanted: &Option<String>| {
        before
            .iter()
            .any(|one| one.method == "transaction/getAuthenticationStatus" && one.answered && key(one) == *wanted)
    };
    exchanges.iter().enumerate().any(|(at, one)| {
        let wanted = key(one);
        one.is(On::Payment) && wanted.is_some() && !asked(&exchanges[..at], &wanted)
    })
}

/// Whether a payment that may have been executed was sent again without a reference and before a lookup.
fn resent_blindly(exchanges: &[Exchange]) -> bool {
    let mut may_be_paid = false;
    for (at, one) in exchanges.iter().enumerate() {
        if one.looks_up(&exchanges[..at], &[]) {
            may_be_paid = false;
        } else if one.is(On::Payment) {
            if may_be_paid && one.parameter("uniqueMerchantReference").is_none_or(str::is_empty) {
                return true;
            }
            let refused = one.answered && one.error.as_deref().is_some_and(|code| code != NO_RESPONSE_FROM_BANK);
            may_be_paid |= !refused;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(method: &str, error: Option<&str>, reference: &str) -> Exchange {
        Exchange {
            method: format!("transaction/{method}"),
            parameters: vec![("uniqueMerchantReference".to_owned(), reference.to_owned())],
            answered: error.is_some(),
            error: error.map(str::to_owned),
            ..Exchange::default()
        }
    }

    #[test]
    fn an_authentication_is_paid_with_only_after_its_status_is_known() {
        let call = |method: &str, key: &str, answered| Exchange {
            method: format!("transaction/{method}"),
            parameters: vec![("authenticationKey".to_owned(), key.to_owned())],
            answered,
            ..Exchange::default()
        };
        let (pay, asked) = (call("auth3DSecure", "a", true), call("getAuthenticationStatus", "a", true));
        assert!(!paid_unasked(&[asked.clone(), pay.clone()]));
        assert!(!paid_unasked(&[Exchange { method: "transaction/auth".to_owned(), ..Exchange::default() }]));
        assert!(paid_unasked(&[pay.clone(), asked]));
        let (lost, other) = (call("getAuthenticationStatus", "a", false), call("getAuthenticationStatus", "b", true));
        assert!(paid_unasked(&[lost, other, pay]));
    }

    #[test]
    fn only_a_payment_that_may_have_been_made_needs_a_lookup_before_it_is_sent_again() {
        let lost = || call("auth3DSecure", None, "");
        let status = || call("getAuthenticationStatus", None, "");
        assert!(resent_blindly(&[lost(), status(), lost()]));
        assert!(resent_blindly(&[call("auth3DSecure", Some("119"), ""), lost()]));
        assert!(!resent_blindly(&[lost(), call("lookup", None, ""), lost()]));
        assert!(!resent_blindly(&[call("auth3DSecure", Some("961"), ""), lost()]));
        assert!(!resent_blindly(&[lost(), call("auth3DSecure", None, "o-1-payment")]));
    }
}
