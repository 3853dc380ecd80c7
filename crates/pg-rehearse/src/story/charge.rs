//! Charges an order under a fault.

mod further;
mod two_orders;

use std::sync::Arc;

use pg_sandbox::cards::{CARDS, Scenario};
use serde_json::{Value, json};

use super::{Played, search, search::Place};
use crate::{
    adapter::{Claim, End, Ran},
    certificates::Certificate,
    finding::{Finding, Lane},
    house::{Card, SetupError},
    judge::{self, Evidence, Expect, are_warnings, broken, doubt, fault},
    plan::{Job, Way},
    report::Outcome,
    stage::{Credentials, Setting, Stage, Troupe},
    wire::{Act, Answer, Door, On, Rule},
};

/// A charge with its fault.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Charge {
    pub(crate) card: Scenario,
    pub(crate) amount: u64,
    pub(crate) currency: &'static str,
    /// The end of the order's name.
    pub(crate) suffix: &'static str,
    /// The required form of the card; by default the form that the integration supports.
    pub(crate) way: Option<Way>,
    pub(crate) rules: &'static [Rule],
    pub(crate) runs: Runs,
    pub(crate) entrance: Entrance,
    pub(crate) credentials: Credentials,
    pub(crate) judged: Judged,
    /// Which of the forms of a card that the integration supports the customer has who tries again after an unknown outcome. The first
    /// one is that of the first try; without as many forms it is the last one.
    pub(crate) next_form: usize,
    /// The orders that are charged too.
    pub(crate) further: &'static [Further],
}

/// Orders that are charged after the first one has passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Further {
    /// One in each other form of a card.
    EachForm,
    /// One that the customer has open in two tabs of the browser, with a session or a card in each.
    TwoTabs,
    /// One for each other form of a card, which has another form of a card when it arrives again.
    OtherForms,
    /// One whose price changes after an unknown outcome.
    OtherPrice,
    /// One after whose payment the service is down.
    Outage,
    /// One whose capture meets the fault in place of its payment, if the integration reserves and captures at once.
    Capture,
    /// One whose capture is not made, and answered with HTTP 500 and a code, if so.
    CaptureFailed,
}

impl Charge {
    /// No fault.
    pub(crate) const PLAIN: Self = Self {
        card: Scenario::Approved,
        amount: 998,
        currency: "GBP",
        suffix: "",
        way: None,
        rules: &[],
        runs: Runs::Once,
        entrance: Entrance::Plain,
        credentials: Credentials::Right,
        judged: Judged::Money(Expect::Sale),
        next_form: 0,
        further: &[],
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
    /// Once, and once more for another order of the same amount, with the same stored card, and with the same card, as far as
    /// the integration supports them. Whether two orders are two payments is checked in place of `judged`.
    TwoOrders,
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

impl Charge {
    pub(super) fn setting(&self, troupe: &Troupe) -> Result<Setting, SetupError> {
        let door = match self.entrance {
            Entrance::Plain => Door::Plain,
            Entrance::Closing(number) => Door::Closing(number),
            Entrance::Refused => Door::Refused,
            Entrance::Tls(certificate) => Door::Tls(troupe.authority.server(certificate)?),
            Entrance::PlainForTls => Door::PlainForTls,
        };
        Ok(Setting { rules: self.rules.to_vec(), door, credentials: self.credentials })
    }
}

pub(crate) async fn play(stage: &mut Stage, story: &Charge) -> Played {
    let (troupe, drill) = (Arc::clone(&stage.troupe), stage.drill);
    stage.order.push_str(story.suffix);
    let Some(way) = stage.way(story.way) else {
        let wanted = story.way.map_or("", Way::name);
        return Ok(Outcome::not_applicable(drill, format!("the integration does not support charging by {wanted}")));
    };
    let Some(way) = with_card(stage, way, story.card) else {
        let why = "the integration supports stored cards only, and a card that is declined cannot be stored";
        return Ok(Outcome::not_applicable(drill, why.to_owned()));
    };
    let places = if let Judged::Secrets(places) = story.judged { places } else { &[] };
    if !places.is_empty()
        && let Some(why) = search::impossible(&troupe, places)
    {
        return Ok(Outcome::not_applicable(drill, why.to_owned()));
    }
    let card = card(stage, story.card);
    let watch = search::Watch::begin(stage, &card, places);
    if story.runs == Runs::TwoOrders {
        let findings = two_orders::returning_customer(stage, story, way, &card).await?;
        return Ok(stage.judged(findings));
    }
    let next = stage.troupe.ways.iter().take(story.next_form + 1).next_back().copied().filter(|_| story.next_form > 0);
    let lines = lines(stage, story, [way, next.unwrap_or(way)], &card)?;
    perform(stage, story, &lines[0], &lines[0]).await?;
    if let Some(claim) = refuses_the_name(stage, story) {
        let why = format!("the integration sends no payment for an order of this name: it claims {claim}");
        return Ok(Outcome::not_applicable(drill, why));
    }
    if ignores_environment(stage, story) {
        let why = "the running shop has one address of the service and one account, and this drill needs another: rehearse a command";
        return Ok(Outcome::not_applicable(drill, why.to_owned()));
    }
    let mut findings = match story.judged {
        Judged::Money(expect) => with_next_try(stage, expect, story, &lines[1]).await?,
        Judged::Nothing => nothing_sent(stage, story)?,
        Judged::Secrets(places) => {
            let findings = watch.find(stage, places).await;
            if let Some(why) = search::unsearched(stage, places).filter(|_| findings.is_empty()) {
                return Ok(Outcome::not_applicable(drill, why.to_owned()));
            }
            with_claims(stage, findings)
        }
        Judged::Trap => with_claims(stage, trapped(stage, Some(&card))),
        Judged::Reference => with_claims(stage, reference(stage)),
    };
    findings.extend(without_timeout(stage, story.rules));
    if drill.id == FIRST {
        findings.extend(troupe.refused.iter().map(|why| doubt("form-refused", why)));
    }
    findings.extend(untouched(stage, story).filter(|_| are_warnings(&findings)));
    if let Judged::Money(expect) = story.judged {
        further::play(stage, story, expect, way, &mut findings).await?;
    }
    Ok(stage.judged(findings))
}

/// Judges a charge. If its outcome is unknown to the integration, the customer tries again when the service is well, and both tries
/// are judged.
async fn with_next_try(
    stage: &mut Stage,
    expect: Expect,
    story: &Charge,
    next: &Value,
) -> Result<Vec<Finding>, SetupError> {
    let mut findings = money(stage, expect, story)?;
    let is_doubtful = stage.ran().last().is_some_and(|ran| ran.claim == Some(Claim::Unknown));
    // What else is expected is expected of the first try alone.
    let is_of_each = matches!(expect, Expect::Settled | Expect::Unproven | Expect::Unseen);
    let can_be_well = matches!(story.entrance, Entrance::Plain) && story.credentials == Credentials::Right;
    // A drill whose fault was not met says so, and another try would conceal it.
    let is_met = untouched(stage, story).is_none();
    if story.runs == Runs::Once && is_doubtful && is_of_each && can_be_well && is_met && are_warnings(&findings) {
        stage.wire().set_faults(&[]);
        let form = Way::ALL.into_iter().find(|way| next.get(way.name()).is_some()).map_or("", Way::name);
        let told = format!("the customer tries again by {form}, and nothing goes wrong");
        stage.wire().note(Lane::Integration, Lane::Integration, told);
        let sent = |stage: &Stage| stage.exchanges().iter().filter(|one| one.is(On::Payment)).count();
        let sent_before = sent(stage);
        let ran = stage.run(Job::Charge, next).await;
        // A shop may refuse the order, without a claim too.
        if ran.claim.is_none() && sent(stage) == sent_before {
            return Ok(findings);
        }
        judge::add_new(&mut findings, money(stage, expect, story)?);
    }
    Ok(findings)
}

/// Returns this form, or another one if the card is declined: its payment would store no card.
fn with_card(stage: &Stage, way: Way, card: Scenario) -> Option<Way> {
    if way != Way::CardKey || card == Scenario::Approved {
        return Some(way);
    }
    [Way::SessionKey, Way::Card].into_iter().find_map(|other| stage.way(Some(other)))
}

/// The drill whose outcome names the forms of a card that are not rehearsed.
const FIRST: &str = "M01";

/// Returns the claim of an integration that takes no order of the drill's name, which the documents do not ask of it.
fn refuses_the_name(stage: &Stage, story: &Charge) -> Option<&'static str> {
    let sent = stage.exchanges().iter().any(|one| one.is(On::Payment));
    let claim = stage.ran().last().and_then(|ran| ran.claim)?;
    (!story.suffix.is_empty() && !sent).then(|| claim.name())
}

/// Whether a running shop, as most do, calls the service at the address and with the account that it was started with: then
/// it met neither another door nor other credentials.
fn ignores_environment(stage: &Stage, story: &Charge) -> bool {
    let (wire, exchanges) = (stage.wire(), stage.exchanges());
    let needs_tls = matches!(story.entrance, Entrance::Tls(_) | Entrance::PlainForTls);
    let is_plain = needs_tls && wire.connections() > 0 && !wire.began_tls();
    let is_accepted = !exchanges.is_empty() && exchanges.iter().all(|one| one.error.is_none());
    let is_right = story.credentials != Credentials::Right && is_accepted;
    (is_plain || is_right) && stage.troupe.plan.calls_shop(stage.drill.job())
}

/// Returns the warning about an integration that waits for a reply longer than the drill, which kills and restarts it: a shop
/// in production would still wait.
pub(super) fn without_timeout(stage: &Stage, rules: &[Rule]) -> Option<Finding> {
    if !rules.iter().any(|rule| matches!(rule.act, Act::Hold | Act::Late(_))) {
        return None;
    }
    let (last, earlier) = stage.ran().split_last()?;
    let is_late = earlier.iter().any(|ran| ran.end == End::TimedOut) && last.claim.is_some();
    is_late.then(|| {
        let seconds = stage.timeout().as_secs();
        let end = if stage.troupe.plan.calls_shop(stage.drill.job()) { "given up" } else { "killed" };
        let why = format!(
            "the adapter took more than {seconds} seconds (timeout_seconds in the plan) and was {end}: set a timeout for each \
             reply and one for all attempts together, shorter than PG_REHEARSE_TIMEOUT_SECONDS"
        );
        doubt("no-timeout", why)
    })
}

/// Returns the failure of an integration that never met the fault, since it sent no payment. A lookup before the payment may
/// meet one of any request. Without a listener, an
/// attempt to connect cannot be seen.
fn untouched(stage: &Stage, story: &Charge) -> Option<Finding> {
    let (met, what) = match story.entrance {
        Entrance::Plain => {
            let sent = if story.credentials == Credentials::Right { On::Payment } else { On::Any };
            (stage.exchanges().iter().any(|one| one.is(sent) || one.act.is_some()), "sent no payment")
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

/// Returns the line that charges an order of another job, which the customer pays in another tab. None if the plan has no such job, or
/// if its charges do not reach the service of this drill.
pub(super) fn in_another_tab(stage: &mut Stage, order: &str) -> Result<Option<Value>, SetupError> {
    let plan = &stage.troupe.plan;
    let is_reached = plan.calls_shop(Job::Charge) == plan.calls_shop(stage.drill.job());
    let Some(way) = stage.way(None).filter(|_| plan.has(Job::Charge) && is_reached) else {
        let why = "not applicable: the plan has no job charge by which this order could be paid too";
        stage.wire().note(Lane::Integration, Lane::Integration, why);
        return Ok(None);
    };
    let card = card(stage, Scenario::Approved);
    let source = stage.source(way, &card)?;
    let mut line = input(stage, Charge::PLAIN.amount, Charge::PLAIN.currency, &source);
    line["order"] = order.into();
    Ok(Some(line))
}

/// The faults after which the outcome of a charge is unknown until the faults change.
pub(super) const UNKNOWN: &[Rule] = &[
    Rule::first(On::Payment, Act::DropReply),
    Rule::all(On::Lookup, Act::Answer { executed: false, answer: Answer::Gateway(503) }),
];

/// Returns the line of an order, and one of the same order with another session or another card, which may have another form.
fn lines(stage: &mut Stage, story: &Charge, ways: [Way; 2], card: &Card) -> Result<[Value; 2], SetupError> {
    let another = self::card(stage, story.card);
    let sources = [stage.source(ways[0], card)?, stage.source(ways[1], &another)?];
    Ok(sources.map(|source| input(stage, story.amount, story.currency, &source)))
}

/// Runs the integration for one order, for which `other` arrives if it arrives twice.
async fn perform(stage: &mut Stage, story: &Charge, line: &Value, other: &Value) -> Result<(), SetupError> {
    if story.runs == Runs::Together {
        stage.run_together(Job::Charge, [line, other]).await;
        stage.arrive_late();
        return Ok(());
    }
    until_ended(stage, line).await;
    let killed = story.rules.iter().any(|rule| matches!(rule.act, Act::Kill { .. }));
    if killed && stage.ran().len() == 1 {
        // The integration ended before the kill; it is restarted anyway.
        again(stage, line, 2).await;
    }
    match story.runs {
        Runs::Once | Runs::Together | Runs::TwoOrders => {}
        Runs::Again => drop(stage.run(Job::Charge, other).await),
        Runs::AgainForgetful => {
            stage.forget()?;
            stage.run(Job::Charge, other).await;
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
        let why = "the integration rejects a valid certificate whose authority is in SSL_CERT_FILE, so the other TLS drills prove little";
        let refused = exchanges.is_empty().then(|| doubt("good-certificate-refused", why));
        return Ok(with_claims(stage, refused.into_iter().collect()));
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

/// Returns the failures of an integration that sent secrets to the target of a redirect.
pub(super) fn trapped(stage: &Stage, card: Option<&Card>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for text in stage.wire().trapped() {
        let account = &stage.house.account;
        let mut secrets: Vec<(&str, &str)> = account.secrets().to_vec();
        secrets.extend(card.map(|card| ("card number", &*card.number)));
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
