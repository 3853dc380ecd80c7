//! Charges an order under a fault.

use std::sync::Arc;

use pg_sandbox::cards::{CARDS, Scenario};
use serde_json::{Value, json};

use super::{Played, search, search::Place};
use crate::{
    adapter::{End, Ran},
    certificates::Certificate,
    drill::Drill,
    finding::{Finding, Verdict},
    house::{Card, SetupError},
    judge::{self, Evidence, Expect, broken, doubt, fault},
    plan::{Job, Way},
    report::Outcome,
    stage::{Credentials, Setting, Stage, Troupe},
    wire::{Act, Door, On, Rule},
};

/// A charge with its fault.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Charge {
    pub(crate) card: Scenario,
    pub(crate) amount: u64,
    pub(crate) currency: &'static str,
    /// The required form of the card; by default the form that the integration supports.
    pub(crate) way: Option<Way>,
    pub(crate) rules: &'static [Rule],
    pub(crate) runs: Runs,
    pub(crate) entrance: Entrance,
    pub(crate) credentials: Credentials,
    pub(crate) judged: Judged,
}

impl Charge {
    /// No fault.
    pub(crate) const PLAIN: Self = Self {
        card: Scenario::Approved,
        amount: 998,
        currency: "GBP",
        way: None,
        rules: &[],
        runs: Runs::Once,
        entrance: Entrance::Plain,
        credentials: Credentials::Right,
        judged: Judged::Money(Expect::Sale),
    };
}

/// How many times the integration is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Runs {
    /// Once, and again after a kill.
    Once,
    /// Again for the same order after the first run has ended.
    Again,
    /// The same, after the integration's state of the order is deleted.
    AgainForgetful,
    /// Two at the same time.
    Together,
}

/// How clients connect to the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entrance {
    Plain,
    Closing(u32),
    Refused,
    Tls(Certificate),
    PlainForTls,
}

/// What the drill checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Judged {
    /// Claims against the ledger.
    Money(Expect),
    /// Whether any request was sent.
    Nothing,
    /// Places where secrets appear.
    Secrets(&'static [Place]),
    /// Whether a redirect was followed with secrets.
    Trap,
    /// Whether the payment has a unique reference.
    Reference,
}

pub(crate) async fn play(troupe: &Arc<Troupe>, drill: &'static Drill, round: u32, story: &Charge) -> Played {
    let door = match story.entrance {
        Entrance::Plain => Door::Plain,
        Entrance::Closing(number) => Door::Closing(number),
        Entrance::Refused => Door::Refused,
        Entrance::Tls(certificate) => Door::Tls(troupe.authority.server(certificate)?),
        Entrance::PlainForTls => Door::PlainForTls,
    };
    let setting = Setting { rules: story.rules.to_vec(), door, credentials: story.credentials };
    let mut stage = Stage::set(troupe, drill, round, setting).await?;
    let Some(way) = stage.way(story.way) else {
        let wanted = story.way.map_or("", Way::name);
        return Ok(Outcome::not_applicable(drill, format!("the integration does not support charging by {wanted}")));
    };
    if let Judged::Secrets(places) = story.judged
        && !search::possible(troupe, places)
    {
        return Ok(Outcome::not_applicable(drill, "the plan names no logs and no dump under [hygiene]".to_owned()));
    }
    let card = card(&mut stage, story.card);
    let watch = search::Watch::begin(&stage, &card);
    perform(&mut stage, story, way, &card).await?;
    let mut findings = match story.judged {
        Judged::Money(expect) => money(&stage, expect, story)?,
        Judged::Nothing => nothing_sent(&stage, story)?,
        Judged::Secrets(places) => with_claims(&stage, watch.find(&stage, places).await),
        Judged::Trap => with_claims(&stage, trapped(&stage, &card)),
        Judged::Reference => with_claims(&stage, reference(&stage)),
    };
    findings.extend(untouched(&stage, story).filter(|_| findings.iter().all(|one| one.verdict == Verdict::Warning)));
    Ok(stage.judged(findings))
}

/// Returns the failure of an integration that never met the fault, since it sent no payment. Without a listener, an
/// attempt to connect cannot be seen.
fn untouched(stage: &Stage, story: &Charge) -> Option<Finding> {
    let (met, what) = match story.entrance {
        Entrance::Plain => {
            let sent = if story.credentials == Credentials::Right { On::Payment } else { On::Any };
            (stage.exchanges().iter().any(|one| one.is(sent)), "sent no payment")
        }
        Entrance::Refused => (true, ""),
        Entrance::Closing(_) | Entrance::Tls(_) | Entrance::PlainForTls => {
            (stage.wire().connections() > 0, "did not connect to the service")
        }
    };
    (!met).then(|| judge::untouched(what))
}

/// Returns the card of a scenario; an approved one has a unique number.
fn card(stage: &mut Stage, scenario: Scenario) -> Card {
    // The CV2 must not be part of an amount.
    let cv2 = (201 + stage.dice.below(700)).to_string();
    if scenario == Scenario::Approved {
        return Card::new(&stage.dice.card_number(), &cv2);
    }
    let number = CARDS.iter().find(|card| card.scenario == scenario).map_or("4000000000001000", |card| card.number);
    Card::new(number, &cv2)
}

/// Returns the JSON line of a charge.
pub(crate) fn input(stage: &Stage, amount: u64, currency: &str, source: &(&'static str, Value)) -> Value {
    let mut input = json!({"job": "charge", "order": stage.order, "amount": amount, "currency": currency});
    input[source.0] = source.1.clone();
    input
}

async fn perform(stage: &mut Stage, story: &Charge, way: Way, card: &Card) -> Result<(), SetupError> {
    let source = stage.source(way, card)?;
    let line = input(stage, story.amount, story.currency, &source);
    if story.runs == Runs::Together {
        stage.run_together(Job::Charge, &line).await;
        stage.arrive_late();
        return Ok(());
    }
    until_ended(stage, &line).await;
    let killed = story.rules.iter().any(|rule| matches!(rule.act, Act::Kill { .. }));
    if killed && stage.ran().len() == 1 {
        // The integration ended before the kill; it is restarted anyway.
        again(stage, &line, 2).await;
    }
    match story.runs {
        Runs::Once | Runs::Together => {}
        Runs::Again => drop(stage.run(Job::Charge, &line).await),
        Runs::AgainForgetful => {
            stage.forget()?;
            stage.run(Job::Charge, &line).await;
        }
    }
    stage.arrive_late();
    Ok(())
}

/// Starts the integration, and starts it once more after a kill or a timeout.
async fn until_ended(stage: &mut Stage, line: &Value) {
    let mut ran = stage.run(Job::Charge, line).await;
    let mut attempt = 1;
    while attempt < 3 && ran.claim.is_none() && matches!(ran.end, End::Killed | End::TimedOut) {
        // Two timeouts are enough evidence.
        if ran.end == End::TimedOut && attempt == 2 {
            break;
        }
        attempt += 1;
        ran = again(stage, line, attempt).await;
    }
}

async fn again(stage: &mut Stage, line: &Value, attempt: u64) -> Ran {
    let mut line = line.clone();
    line["attempt"] = attempt.into();
    stage.run(Job::Charge, &line).await
}

fn money(stage: &Stage, expect: Expect, story: &Charge) -> Result<Vec<Finding>, SetupError> {
    let (entries, exchanges) = (stage.entries()?, stage.exchanges());
    let evidence = Evidence {
        ran: stage.ran(),
        together: story.runs == Runs::Together,
        entries: &entries,
        exchanges: &exchanges,
        amount: story.amount,
        currency: story.currency,
    };
    Ok(judge::charge(expect, &evidence))
}

/// Checks that a server with a wrong certificate received no request.
fn nothing_sent(stage: &Stage, story: &Charge) -> Result<Vec<Finding>, SetupError> {
    let mut findings = Vec::new();
    let exchanges = stage.exchanges();
    if let Some(first) = exchanges.first() {
        let with_card = if first.parameter("cardNumber").is_some() { ", card number included" } else { "" };
        findings.push(fault(
            "sent-to-an-impostor",
            format!(
                "the integration sent {} with its credentials to a server that it should have rejected{with_card}",
                first.method
            ),
        ));
    }
    if story.entrance == Entrance::Tls(Certificate::Valid) {
        return Ok(if exchanges.is_empty() {
            let why = "the integration rejects a valid certificate whose authority is in SSL_CERT_FILE, so the other TLS drills prove little";
            vec![doubt("good-certificate-refused", why)]
        } else {
            Vec::new()
        });
    }
    if findings.is_empty() {
        let expect = if story.credentials == Credentials::Right { Expect::Unseen } else { Expect::Refused(0) };
        findings.extend(money(stage, expect, story)?);
    }
    Ok(findings)
}

/// Returns the findings, and that the adapter's claim is missing if so.
fn with_claims(stage: &Stage, mut findings: Vec<Finding>) -> Vec<Finding> {
    if let Some(ran) = stage.ran().last().filter(|ran| ran.claim.is_none()) {
        findings.push(broken(ran.trouble()));
    }
    findings
}

fn trapped(stage: &Stage, card: &Card) -> Vec<Finding> {
    let mut findings = Vec::new();
    for text in stage.wire().trapped() {
        let account = &stage.house.account;
        let mut secrets: Vec<(&str, &str)> = account.secrets().to_vec();
        secrets.push(("card number", &card.number));
        for (name, secret) in secrets {
            if text.contains(secret) {
                findings.push(fault("secrets-followed-a-redirect", format!("the {name} was sent to another host")));
            }
        }
    }
    findings
}

fn reference(stage: &Stage) -> Vec<Finding> {
    let payments: Vec<_> = stage.exchanges().into_iter().filter(|one| one.is(On::Payment)).collect();
    let bare = payments.iter().any(|one| one.parameter("uniqueMerchantReference").is_none_or(str::is_empty));
    if bare {
        vec![fault(
            "no-reference",
            "the payment has no uniqueMerchantReference: after a lost reply it can be neither looked up nor repeated",
        )]
    } else {
        Vec::new()
    }
}
