//! Captures and refunds, which are protected by a reference only if the integration sends one.

use serde_json::json;

use super::{
    Played,
    charge::{Runs, trapped, without_timeout},
};
use crate::{
    adapter::{Claim, End, Ran},
    books::{Entry, money},
    finding::Finding,
    house::{SetupError, text},
    judge::{self, broken, doubt, fault, is_broken, untouched},
    plan::Job,
    stage::Stage,
    wire::{Act, Exchange, On, Rule},
};

/// A capture or a refund with its fault.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Later {
    pub(crate) amount: u64,
    pub(crate) currency: &'static str,
    /// Whether the runner has refunded the whole payment, or cancelled the reservation, before.
    pub(crate) is_ended: bool,
    /// How many times it is ordered. Each of two orders is of this amount.
    pub(crate) runs: Runs,
    pub(crate) fault: Option<Rule>,
    /// What happens to each lookup after it.
    pub(crate) lookups: Option<Act>,
}

impl Later {
    /// Whether nothing goes wrong.
    const fn is_plain(&self) -> bool {
        self.fault.is_none() && !self.is_ended
    }

    /// Returns the name of this part among those of its drill.
    fn label(&self, rules: &[Rule]) -> String {
        match (self.runs, self.is_ended) {
            _ if !rules.is_empty() => Rule::label(rules),
            (_, true) => "nothing is left".to_owned(),
            (Runs::Again, _) => "ordered again".to_owned(),
            (Runs::Together, _) => "two workers".to_owned(),
            _ => money(self.amount, self.currency),
        }
    }

    /// Whether no shop has a reason to refuse its amount.
    fn is_ordinary(&self) -> bool {
        self.currency == "GBP" && self.amount <= ORIGINAL
    }
}

/// The earlier reservation or payment.
const ORIGINAL: u64 = 998;
/// One of a large amount, or in another currency: an amount in a wrong unit is not refused as more than is left.
const LARGE_ORIGINAL: u64 = 998_000;

/// Plays captures or refunds one after the other, each of another payment. Only an integration that sends
/// references can learn that its request arrived twice.
pub(crate) async fn play(stage: &mut Stage, job: Job, stories: &[Later]) -> Played {
    let name = stage.order.clone();
    let mut findings = Vec::new();
    for (at, story) in stories.iter().enumerate() {
        if story.fault.is_some_and(|rule| matches!(rule.act, Act::Twice { .. })) && !sends_references(stage) {
            continue;
        }
        let rules: Vec<Rule> =
            story.fault.into_iter().chain(story.lookups.map(|act| Rule::all(On::Lookup, act))).collect();
        let label = if stories.len() > 1 { story.label(&rules) } else { String::new() };
        stage.begin_named(&name, at, &rules, &label);
        findings.extend(part(stage, job, story).await?.into_iter().map(|one| one.of_part(&label)));
        if is_broken(&findings) {
            break;
        }
    }
    findings.extend(trapped(stage, None));
    Ok(stage.judged(findings))
}

fn sends_references(stage: &Stage) -> bool {
    let is_named = |one: &Exchange| one.parameter("uniqueMerchantReference").is_some_and(|value| !value.is_empty());
    stage.wire().exchanges().iter().filter(|one| one.is(On::Later)).all(is_named)
}

async fn part(stage: &mut Stage, job: Job, story: &Later) -> Result<Vec<Finding>, SetupError> {
    let key = original(stage, job, story)?;
    let mut line = json!({
        "job": job.name(),
        "order": stage.order,
        "transactionKey": key,
        "amount": story.amount,
        "currency": story.currency,
    });
    if story.runs == Runs::Together {
        stage.run_together(job, [&line; 2]).await;
    } else {
        let ran = stage.run(job, &line).await;
        if matches!(ran.end, End::Killed | End::TimedOut) && ran.claim.is_none() {
            line["attempt"] = 2.into();
            stage.run(job, &line).await;
        }
    }
    let is_doubtful =
        story.runs == Runs::Once && stage.ran().last().is_some_and(|ran| ran.claim == Some(Claim::Unknown));
    if story.runs == Runs::TwoOrders {
        line["order"] = format!("{}-2", stage.order).into();
    }
    // A queue or a clerk tries an order again whose outcome is unknown, when the service is up.
    stage.wire().rise();
    if matches!(story.runs, Runs::TwoOrders | Runs::Again) || is_doubtful {
        stage.run(job, &line).await;
    }
    stage.arrive_late();
    let entries = stage.entries()?;
    // One that looks first sends nothing if nothing is left.
    let is_met = |one: &Exchange| one.is(On::Later) || (story.is_ended && one.looks_up_payment());
    let has_sent = stage.exchanges().iter().any(is_met);
    let evidence = Evidence { job, ran: stage.ran(), entries: &entries, has_sent };
    let mut findings = if story.runs == Runs::TwoOrders { both(story, &evidence) } else { judged(story, &evidence) };
    findings.extend(judge::unasked(&entries, asked(job)));
    findings.extend(without_timeout(stage, story.fault.as_slice()));
    Ok(findings)
}

/// What was seen of one of them.
struct Evidence<'a> {
    job: Job,
    ran: &'a [Ran],
    entries: &'a [Entry],
    /// Whether a capture, a cancellation or a refund was sent, or a lookup that shows that nothing is left.
    has_sent: bool,
}

/// A reservation or a payment made by the runner.
fn original(stage: &mut Stage, job: Job, story: &Later) -> Result<String, SetupError> {
    let number = stage.dice.card_number();
    let price = if story.is_ordinary() { ORIGINAL } else { LARGE_ORIGINAL }.to_string();
    let method = if job == Job::Capture { "transaction/preauth" } else { "transaction/auth" };
    let paid = stage.house.call(
        method,
        &[
            ("cardNumber", &number),
            ("cardExpiryMonth", "12"),
            ("cardExpiryYear", "49"),
            ("currency", story.currency),
            ("itemName0", "Tea"),
            ("itemPrice0", &price),
        ],
    )?;
    let key = paid["transactionKey"].as_str().ok_or_else(|| text("no transaction key"))?;
    if story.is_ended && job == Job::Capture {
        stage.house.call("transaction/cancelpreauth", &[("transactionKey", key)])?;
    } else if story.is_ended {
        stage.house.call("transaction/refund", &[("transactionKey", key), ("transactionValue", &price)])?;
    }
    stage.prepared()?;
    Ok(key.to_owned())
}

/// Returns the types of transactions that a job may make. What is left of a reservation after a capture may be cancelled.
const fn asked(job: Job) -> &'static [&'static str] {
    if matches!(job, Job::Capture) { &["Capture", "CancelPreAuth"] } else { &["Refund"] }
}

impl Evidence<'_> {
    /// What the job makes.
    const fn what(&self) -> &'static str {
        if matches!(self.job, Job::Capture) { "capture" } else { "refund" }
    }

    /// The failure of a job that was done more often than it was ordered.
    const fn twice(&self) -> &'static str {
        if matches!(self.job, Job::Capture) { "captured-twice" } else { "refunded-twice" }
    }

    /// Returns its transactions in the ledger.
    fn done(&self) -> Vec<&Entry> {
        let kind = asked(self.job)[0];
        self.entries.iter().filter(|entry| entry.approved && entry.kind == kind).collect()
    }
}

/// Checks that each order of two has its own refund. A shop may refuse the second one.
fn both(story: &Later, evidence: &Evidence<'_>) -> Vec<Finding> {
    if let Some(silent) = evidence.ran.iter().find(|ran| ran.claim.is_none()) {
        return vec![broken(silent.trouble())];
    }
    let what = evidence.what();
    if !evidence.has_sent {
        return vec![untouched(&format!("sent no {what}"))];
    }
    let done = evidence.done();
    let claimed = |claim| evidence.ran.iter().filter(|ran| ran.claim == Some(claim)).count();
    let (paid, unknown) = (claimed(Claim::Paid), claimed(Claim::Unknown));
    let of = if evidence.job == Job::Capture { "reservation" } else { "payment" };
    let told = format!("two {what}s of one {of}: {}", judge::count(done.len(), what));
    if let Some(wrong) = done.iter().find(|entry| entry.amount != story.amount) {
        let right = money(story.amount, story.currency);
        vec![fault("wrong-amount", format!("{} instead of {right} was moved", wrong.money()))]
    } else if paid > done.len() {
        vec![fault("nothing-moved-but-said-paid", format!("{told}, but the integration claims paid for {paid}"))]
    } else if done.len() > 2 {
        vec![fault(evidence.twice(), told)]
    } else if done.len() > paid + unknown {
        vec![fault("moved-but-denied", format!("{told}, but the integration denies one"))]
    } else if unknown > 0 {
        vec![fault("outcome-not-read", "nothing went wrong, but the integration claims unknown")]
    } else {
        Vec::new()
    }
}

fn judged(story: &Later, evidence: &Evidence<'_>) -> Vec<Finding> {
    let what = evidence.what();
    let done = evidence.done();
    let moved: u64 = done.iter().map(|entry| entry.amount).sum();
    let mut findings = Vec::new();
    let amounts = format!("{} instead of {}", money(moved, story.currency), money(story.amount, story.currency));
    if moved > story.amount && done.len() > 1 {
        let verb = if evidence.job == Job::Capture { "captured" } else { "refunded" };
        let times = if done.len() == 2 { "twice".to_owned() } else { format!("{} times", done.len()) };
        findings.push(fault(evidence.twice(), format!("{verb} {times}: {amounts}")));
    } else if moved != 0 && moved != story.amount {
        findings.push(fault("wrong-amount", format!("{amounts} was moved")));
    }
    let claims: Vec<Claim> = evidence.ran.iter().filter_map(|ran| ran.claim).collect();
    // One that is started again after a kill or a timeout needs no claim before.
    let needed = if story.runs == Runs::Once { 1 } else { evidence.ran.len() };
    if let Some(silent) = evidence.ran.iter().rev().take(needed).find(|ran| ran.claim.is_none()) {
        findings.push(broken(silent.trouble()));
        return findings;
    }
    let denied = claims.iter().find(|claim| matches!(claim, Claim::Declined | Claim::NotCharged));
    if moved == 0 && claims.contains(&Claim::Paid) {
        findings.push(fault("nothing-moved-but-said-paid", "the integration claims paid, but no money was moved"));
    }
    if let Some(denied) = denied.filter(|_| moved > 0) {
        findings.push(fault(
            "moved-but-denied",
            format!("the integration claims {}, but the money was moved", denied.name()),
        ));
    }
    if let Some(denied) = denied.filter(|_| story.is_plain() && moved == 0) {
        let told = format!("the integration claims {}, and no money was moved", denied.name());
        findings.push(if story.is_ordinary() || evidence.has_sent {
            fault("nothing-moved", format!("nothing went wrong, but {told}"))
        } else {
            let amount = money(story.amount, story.currency);
            doubt("amount-refused", format!("a {what} of {amount} is not sent: {told}"))
        });
    }
    if story.is_plain() && story.runs == Runs::Once && claims.contains(&Claim::Unknown) {
        findings.push(fault("outcome-not-read", "nothing went wrong, but the integration claims unknown"));
    }
    if findings.is_empty() && !evidence.has_sent {
        findings.push(untouched(&format!("sent no {what}")));
    }
    findings
}
