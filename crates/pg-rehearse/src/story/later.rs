//! Captures and refunds, which are protected by a reference only if the integration sends one.

use serde_json::json;

use super::{Played, charge::without_timeout};
use crate::{
    adapter::{Claim, End},
    books::{Entry, money},
    finding::Finding,
    house::{SetupError, text},
    judge::{self, broken, fault, untouched},
    plan::Job,
    stage::Stage,
    wire::{On, Rule},
};

/// A capture or a refund with its fault.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Later {
    pub(crate) job: Job,
    pub(crate) amount: u64,
    /// What the runner has refunded before.
    pub(crate) refunded: u64,
    /// Whether it is done for two orders, each of this amount.
    pub(crate) twice: bool,
    pub(crate) rules: &'static [Rule],
}

impl Later {
    /// Whether nothing goes wrong.
    const fn is_plain(&self) -> bool {
        self.rules.is_empty() && self.refunded == 0
    }
}

/// The earlier reservation or payment.
const ORIGINAL: u64 = 998;

pub(crate) async fn play(stage: &mut Stage, story: &Later) -> Played {
    let key = original(stage, story)?;
    let mut line = json!({
        "job": story.job.name(),
        "order": stage.order,
        "transactionKey": key,
        "amount": story.amount,
        "currency": "GBP",
    });
    let ran = stage.run(story.job, &line).await;
    if matches!(ran.end, End::Killed | End::TimedOut) && ran.claim.is_none() {
        line["attempt"] = 2.into();
        stage.run(story.job, &line).await;
    }
    if story.twice {
        line["order"] = format!("{}-2", stage.order).into();
        stage.run(story.job, &line).await;
    }
    stage.arrive_late();
    let mut findings = if story.twice { both(stage, story)? } else { judged(stage, story)? };
    findings.extend(judge::unasked(&stage.entries()?, story.asked()));
    findings.extend(without_timeout(stage, story.rules));
    Ok(stage.judged(findings))
}

/// A reservation or a payment made by the runner.
fn original(stage: &mut Stage, story: &Later) -> Result<String, SetupError> {
    let number = stage.dice.card_number();
    let price = ORIGINAL.to_string();
    let method = if story.job == Job::Capture { "transaction/preauth" } else { "transaction/auth" };
    let paid = stage.house.call(
        method,
        &[
            ("cardNumber", &number),
            ("cardExpiryMonth", "12"),
            ("cardExpiryYear", "49"),
            ("currency", "GBP"),
            ("itemName0", "Tea"),
            ("itemPrice0", &price),
        ],
    )?;
    let key = paid["transactionKey"].as_str().ok_or_else(|| text("no transaction key"))?;
    if story.refunded > 0 {
        let value = story.refunded.to_string();
        stage.house.call("transaction/refund", &[("transactionKey", key), ("transactionValue", &value)])?;
    }
    stage.prepared()?;
    Ok(key.to_owned())
}

impl Later {
    /// The type of its transactions.
    const fn kind(&self) -> &'static str {
        if matches!(self.job, Job::Capture) { "Capture" } else { "Refund" }
    }

    /// Returns the types of transactions that it may make. What is left of a reservation after a capture may be cancelled.
    const fn asked(&self) -> &'static [&'static str] {
        if matches!(self.job, Job::Capture) { &["Capture", "CancelPreAuth"] } else { &["Refund"] }
    }

    /// Returns its transactions in the ledger.
    fn done(&self, stage: &Stage) -> Result<Vec<Entry>, SetupError> {
        Ok(stage.entries()?.into_iter().filter(|entry| entry.approved && entry.kind == self.kind()).collect())
    }
}

/// Checks that each order of two has its own refund. A shop may refuse the second one.
fn both(stage: &Stage, story: &Later) -> Result<Vec<Finding>, SetupError> {
    if let Some(silent) = stage.ran().iter().find(|ran| ran.claim.is_none()) {
        return Ok(vec![broken(silent.trouble())]);
    }
    let what = story.kind().to_lowercase();
    if !stage.exchanges().iter().any(|one| one.is(On::Later)) {
        return Ok(vec![untouched(&format!("sent no {what}"))]);
    }
    let done = story.done(stage)?;
    let claimed = |claim| stage.ran().iter().filter(|ran| ran.claim == Some(claim)).count();
    let (paid, unknown) = (claimed(Claim::Paid), claimed(Claim::Unknown));
    let told = format!("two {what}s of one payment: {}", judge::count(done.len(), &what));
    Ok(if let Some(wrong) = done.iter().find(|entry| entry.amount != story.amount) {
        let right = money(story.amount, "GBP");
        vec![fault("wrong-amount", format!("{} instead of {right} was moved", wrong.money()))]
    } else if paid > done.len() {
        vec![fault("nothing-moved-but-said-paid", format!("{told}, but the integration claims paid for {paid}"))]
    } else if done.len() > 2 {
        vec![fault("refunded-twice", told)]
    } else if done.len() > paid + unknown {
        vec![fault("moved-but-denied", format!("{told}, but the integration denies one"))]
    } else if unknown > 0 {
        vec![fault("outcome-not-read", "nothing went wrong, but the integration claims unknown")]
    } else {
        Vec::new()
    })
}

fn judged(stage: &Stage, story: &Later) -> Result<Vec<Finding>, SetupError> {
    let kind = story.kind();
    let done = story.done(stage)?;
    let moved: u64 = done.iter().map(|entry| entry.amount).sum();
    let mut findings = Vec::new();
    let amounts = format!("{} instead of {}", money(moved, "GBP"), money(story.amount, "GBP"));
    if moved > story.amount && done.len() > 1 {
        let (twice, verb) =
            if story.job == Job::Capture { ("captured-twice", "captured") } else { ("refunded-twice", "refunded") };
        let times = if done.len() == 2 { "twice".to_owned() } else { format!("{} times", done.len()) };
        findings.push(fault(twice, format!("{verb} {times}: {amounts}")));
    } else if moved != 0 && moved != story.amount {
        findings.push(fault("wrong-amount", format!("{amounts} was moved")));
    }
    let claims: Vec<Claim> = stage.ran().iter().filter_map(|ran| ran.claim).collect();
    let Some(last) = claims.last() else {
        let trouble = stage.ran().last().map(crate::adapter::Ran::trouble).unwrap_or_default();
        findings.push(broken(trouble));
        return Ok(findings);
    };
    if moved == 0 && claims.contains(&Claim::Paid) {
        findings.push(fault("nothing-moved-but-said-paid", "the integration claims paid, but no money was moved"));
    }
    if moved > 0 && matches!(last, Claim::Declined | Claim::NotCharged) {
        findings.push(fault(
            "moved-but-denied",
            format!("the integration claims {}, but the money was moved", last.name()),
        ));
    }
    if story.is_plain() && moved == 0 && matches!(last, Claim::Declined | Claim::NotCharged) {
        findings.push(fault(
            "nothing-moved",
            format!("nothing went wrong, but the integration claims {}, and no money was moved", last.name()),
        ));
    }
    if story.is_plain() && *last == Claim::Unknown {
        findings.push(fault("outcome-not-read", "nothing went wrong, but the integration claims unknown"));
    }
    if findings.is_empty() && !stage.exchanges().iter().any(|one| one.is(On::Later)) {
        findings.push(untouched(&format!("sent no {}", kind.to_lowercase())));
    }
    Ok(findings)
}
