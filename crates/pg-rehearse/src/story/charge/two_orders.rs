//! Two orders of one customer, who has the same card: each is paid under a reference of its own.

use super::{Charge, input, until_ended};
use crate::{
    adapter::{Claim, Ran},
    finding::Finding,
    house::{Card, SetupError},
    judge::{self, broken, fault},
    plan::Way,
    stage::Stage,
    wire::{Exchange, On},
};

/// Charges two orders of one customer, in each form in which a returning customer has the same card.
pub(super) async fn returning_customer(
    stage: &mut Stage,
    story: &Charge,
    first: Way,
    card: &Card,
) -> Result<Vec<Finding>, SetupError> {
    let same = [Way::CardKey, Way::Card].into_iter().filter_map(|way| stage.way(Some(way)));
    let mut ways: Vec<Way> = same.collect();
    if ways.is_empty() {
        ways.push(first);
    }
    let mut number = 0;
    for way in ways {
        let source = stage.source(way, card)?;
        // What the runner does for the second order is not judged. A session is of one order.
        let next = if way == Way::SessionKey { stage.source(way, card)? } else { source.clone() };
        let (ran, before) = (stage.ran().len(), stage.exchanges().len());
        let mut of_first = None;
        for source in [source, next] {
            let mut line = input(stage, story.amount, story.currency, &source);
            number += 1;
            if number > 1 {
                line["order"] = format!("{}-{number}", stage.order).into();
            }
            until_ended(stage, &line).await;
            of_first.get_or_insert(stage.exchanges().len() - before);
        }
        stage.arrive_late();
        let exchanges = stage.exchanges();
        let sent = exchanges[before..].split_at(of_first.unwrap_or_default());
        let findings = two_orders(stage, way, &stage.ran()[ran..], sent)?;
        if !findings.is_empty() {
            return Ok(findings);
        }
    }
    Ok(Vec::new())
}

/// Checks that each of two orders was paid, under a reference of its own.
fn two_orders(
    stage: &Stage,
    way: Way,
    ran: &[Ran],
    sent: (&[Exchange], &[Exchange]),
) -> Result<Vec<Finding>, SetupError> {
    if let Some(silent) = ran.iter().find(|ran| ran.claim.is_none()) {
        return Ok(vec![broken(silent.trouble())]);
    }
    let entries = stage.entries()?;
    if let Some(refunded) = judge::refunded(&entries) {
        return Ok(vec![refunded]);
    }
    let charges = entries.iter().filter(|entry| entry.is_charge()).count();
    let paid = ran.iter().filter(|ran| ran.claim == Some(Claim::Paid)).count();
    let references = |sent: &[Exchange]| -> Vec<String> {
        let payments = sent.iter().filter(|one| one.is(On::Payment));
        payments.filter_map(|one| one.parameter("uniqueMerchantReference")).map(str::to_owned).collect()
    };
    let (first, second) = (references(sent.0), references(sent.1));
    let shared = second.iter().find(|reference| !reference.is_empty() && first.contains(reference));
    let told = format!("two orders of one customer, paid by {}: {}", way.name(), judge::count(charges, "charge"));
    Ok(match shared {
        Some(reference) if paid > charges => vec![fault(
            "unpaid-but-said-paid",
            format!(
                "{told}, but the integration claims paid for both: it sent both with the uniqueMerchantReference {reference}"
            ),
        )],
        Some(reference) => {
            vec![fault(
                "shared-reference",
                format!("{told}; the integration sent both with the uniqueMerchantReference {reference}"),
            )]
        }
        None if paid > charges => {
            vec![fault("unpaid-but-said-paid", format!("{told}, but the integration claims paid for {paid}"))]
        }
        None if charges < 2 => vec![fault("sale-lost", format!("nothing went wrong, but {told}"))],
        None if charges > 2 => vec![fault("charged-twice", told)],
        None if paid < 2 => vec![fault("charged-but-said-unpaid", format!("{told}, but paid is claimed for {paid}"))],
        None => Vec::new(),
    })
}
