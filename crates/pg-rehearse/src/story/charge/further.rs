//! Further orders of a drill: in other forms of a card, in two tabs, with another price, before an outage, and with a fault of their
//! capture.

use super::{Charge, Further, card, lines, perform, untouched, with_next_try};
use crate::{
    adapter::Claim,
    books::{Books, money},
    clock,
    drill::EACH_FORM,
    finding::{Finding, Lane, Verdict},
    house::SetupError,
    judge::{self, Expect, are_warnings, fault},
    plan::{Job, Way},
    stage::{CONFIRMED_WITHIN, Stage},
    wire::{Act, Answer, On, Rule},
};

/// What the order costs after its price has changed.
const NEXT_PRICE: u64 = 1_298;

/// Plays the further orders of a drill, until one fails.
pub(super) async fn play(
    stage: &mut Stage,
    story: &Charge,
    expect: Expect,
    way: Way,
    findings: &mut Vec<Finding>,
) -> Result<(), SetupError> {
    let (name, ways) = (stage.order.clone(), stage.troupe.ways.clone());
    let others: Vec<Way> = ways.into_iter().skip(1).collect();
    let is_captured = captures(stage)?;
    // Each has its own name.
    let mut at = 0;
    let of_each = EACH_FORM.contains(&stage.drill.id).then_some(&Further::EachForm);
    for further in of_each.into_iter().chain(story.further) {
        let each: Vec<Way> = match further {
            Further::EachForm | Further::OtherForms => others.clone(),
            Further::Capture | Further::CaptureFailed if !is_captured => Vec::new(),
            _ => vec![way],
        };
        for other in each {
            if !are_warnings(findings) {
                break;
            }
            at += 1;
            let rules = rules(*further, story);
            stage.begin_part(&name, at, &rules);
            findings.extend(one(stage, story, expect, (*further, way, other)).await?);
        }
    }
    if findings.iter().any(|one| one.kind == RESERVED) && captures_at_once(stage, story, way, (&name, at + 1)).await? {
        for finding in findings.iter_mut().filter(|one| one.kind == RESERVED) {
            finding.verdict = Verdict::Failed;
            finding.text.push_str("; an order without a fault is captured at once");
        }
    }
    Ok(())
}

/// The kind of the finding about a reservation that is claimed as paid.
const RESERVED: &str = "reserved-but-said-paid";

/// Returns the faults of a further order.
fn rules(further: Further, story: &Charge) -> Vec<Rule> {
    match further {
        Further::Outage => vec![Rule::first(On::Payment, Act::Outage)],
        Further::CaptureFailed => {
            let answer = Answer::Error(500, "108", "Invalid card number");
            vec![Rule::first(On::Later, Act::Answer { executed: false, answer })]
        }
        Further::Capture => {
            let of_capture =
                |rule: &Rule| Rule { on: if rule.on == On::Payment { On::Later } else { rule.on }, ..*rule };
            story.rules.iter().map(of_capture).collect()
        }
        _ => story.rules.to_vec(),
    }
}

async fn one(
    stage: &mut Stage,
    story: &Charge,
    expect: Expect,
    (further, way, other): (Further, Way, Way),
) -> Result<Vec<Finding>, SetupError> {
    let card = card(stage, story.card);
    let first = if further == Further::EachForm { other } else { way };
    let [line, next] = lines(stage, story, [first, other], &card)?;
    let (findings, of) = match further {
        Further::EachForm => {
            perform(stage, story, &line, &line).await?;
            let mut findings = with_next_try(stage, expect, story, &next).await?;
            findings.extend(untouched(stage, story).filter(|_| are_warnings(&findings)));
            (findings, format!("by {}", other.name()))
        }
        Further::TwoTabs => {
            perform(stage, story, &line, &next).await?;
            let of = if way == Way::SessionKey { "sessions" } else { "cards" };
            (super::money(stage, expect, story)?, format!("one order with two {of}"))
        }
        Further::OtherForms => {
            perform(stage, story, &line, &next).await?;
            let of = format!("one order by {} and then by {}", way.name(), other.name());
            // A shop may refuse the other form without a claim.
            let is_refused = stage.ran().len() > 1 && stage.ran().last().is_some_and(|ran| ran.claim.is_none());
            let mut findings = super::money(stage, expect, story)?;
            findings.retain(|one| one.verdict != Verdict::Broken || !is_refused);
            (findings, of)
        }
        Further::OtherPrice => {
            perform(stage, story, &line, &line).await?;
            (other_price(stage, story, next).await?, "one order whose price changes".to_owned())
        }
        // What is refused cannot be seen.
        Further::Outage => {
            perform(stage, story, &line, &line).await?;
            (with_next_try(stage, Expect::Unseen, story, &next).await?, "before an outage of the service".to_owned())
        }
        // Without a reference of its own a capture cannot be looked up, and a lookup of its reservation does not show it.
        Further::Capture | Further::CaptureFailed => {
            perform(stage, story, &line, &line).await?;
            let mut findings = with_next_try(stage, Expect::Unseen, story, &next).await?;
            findings.retain(|one| one.kind != "found-and-unknown");
            (findings, "one order whose capture meets the fault".to_owned())
        }
    };
    Ok(findings.into_iter().map(|one| one.of_part(&of)).collect())
}

/// The customer whose outcome is unknown tries again, and the order costs more. The shop may refuse, charge the rest, or give the first
/// payment back: what the customer pays for it is not more than its new price.
async fn other_price(
    stage: &mut Stage,
    story: &Charge,
    mut next: serde_json::Value,
) -> Result<Vec<Finding>, SetupError> {
    if stage.ran().last().is_none_or(|ran| ran.claim != Some(Claim::Unknown)) {
        return Ok(Vec::new());
    }
    stage.wire().set_faults(&[]);
    let told = format!("the order now costs {}, and the customer tries again", money(NEXT_PRICE, story.currency));
    stage.wire().note(Lane::Integration, Lane::Integration, told.clone());
    next["amount"] = NEXT_PRICE.into();
    stage.run(Job::Charge, &next).await;
    let entries = stage.entries()?;
    let charges: Vec<_> = entries.iter().filter(|entry| entry.is_charge()).collect();
    let paid: u64 = charges.iter().map(|entry| entry.amount).sum();
    let kept = paid.saturating_sub(judge::returned(&entries));
    let claim = stage.ran().last().and_then(|ran| ran.claim);
    if kept > 0 && matches!(claim, Some(Claim::NotCharged | Claim::Declined)) {
        let why =
            format!("{told}: the integration claims that nothing was charged, but {}", money(kept, story.currency));
        return Ok(vec![fault("charged-but-said-unpaid", format!("{why} of the order are"))]);
    }
    if kept <= NEXT_PRICE {
        return Ok(Vec::new());
    }
    let all: Vec<String> = charges.iter().map(|entry| entry.money()).collect();
    let why = format!("the customer was charged {} times for one order: {}", charges.len(), all.join(", "));
    Ok(vec![fault("charged-twice", why)])
}

/// Whether the order was reserved and captured.
fn captures(stage: &Stage) -> Result<bool, SetupError> {
    Ok(stage.entries()?.iter().any(|entry| entry.approved && entry.kind == "Capture"))
}

/// Whether the integration captures an order without a fault when it claims paid, and has left the order before uncaptured.
async fn captures_at_once(
    stage: &mut Stage,
    story: &Charge,
    way: Way,
    (name, at): (&str, usize),
) -> Result<bool, SetupError> {
    stage.begin_part(name, at, &[]);
    let card = card(stage, story.card);
    let [line, _] = lines(stage, story, [way; 2], &card)?;
    stage.run(Job::Charge, &line).await;
    if !captures(stage)? {
        return Ok(false);
    }
    if !stage.troupe.plan.calls_shop(Job::Charge) {
        return Ok(true);
    }
    // A running shop may capture shortly after its claim.
    let before = Books::read(&stage.house)?;
    clock::pause(CONFIRMED_WITHIN).await;
    Ok(Books::read(&stage.house)?.since(&before).is_empty())
}
