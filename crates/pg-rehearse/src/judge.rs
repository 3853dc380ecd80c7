//! Compares what an integration claimed with the ledger and with the requests that arrived.

#[cfg(test)]
mod tests;

use crate::{
    adapter::{Claim, Ran},
    books::{Entry, money},
    finding::{Finding, Verdict},
    wire::{Exchange, On},
};

/// The evidence of a drill.
pub(crate) struct Evidence<'a> {
    /// The runs of the integration, including those without a claim.
    pub(crate) ran: &'a [Ran],
    /// Whether the runs were concurrent: then none of them is the last.
    pub(crate) together: bool,
    /// The entries added to the ledger.
    pub(crate) entries: &'a [Entry],
    pub(crate) exchanges: &'a [Exchange],
    pub(crate) amount: u64,
    pub(crate) currency: &'a str,
}

/// The expected result of a charge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expect {
    /// No fault: the sale succeeds.
    Sale,
    /// A message was lost: at most one charge, and a true claim.
    Settled,
    /// The same, and the reply that was sent without a charge is also sent after one.
    Unproven,
    /// A message was lost, and the requests of the integration cannot be seen.
    Unseen,
    /// The card is declined.
    Decline,
    /// A lookup shows something else than the payment of the order.
    Another,
    /// Only the operator knows the meaning of the reply.
    Undocumented,
    /// The service refuses everything; at most this number of requests may be sent in each run.
    Refused(usize),
}

fn failed(kind: &'static str, text: impl Into<String>) -> Finding {
    Finding::new(kind, Verdict::Failed, text.into())
}

fn warning(kind: &'static str, text: impl Into<String>) -> Finding {
    Finding::new(kind, Verdict::Warning, text.into())
}

pub(crate) fn broken(text: impl Into<String>) -> Finding {
    Finding::new("adapter", Verdict::Broken, text.into())
}

/// Whether there is nothing worse than warnings.
pub(crate) fn are_warnings(findings: &[Finding]) -> bool {
    findings.iter().all(|one| one.verdict == Verdict::Warning)
}

/// Whether the integration made no claim: further parts of the drill would wait for it as long.
pub(crate) fn is_broken(findings: &[Finding]) -> bool {
    findings.iter().any(|one| one.verdict == Verdict::Broken)
}

/// Adds the findings that are not there yet: of one order that is judged again after each try.
pub(crate) fn add_new(findings: &mut Vec<Finding>, more: Vec<Finding>) {
    let new: Vec<Finding> = more.into_iter().filter(|one| !findings.contains(one)).collect();
    findings.extend(new);
}

/// Returns all findings about a charge.
pub(crate) fn charge(expect: Expect, evidence: &Evidence<'_>) -> Vec<Finding> {
    let claims: Vec<Claim> = evidence.ran.iter().filter_map(|ran| ran.claim).collect();
    let charges: Vec<&Entry> = evidence.entries.iter().filter(|entry| entry.is_charge()).collect();
    let mut findings = books(evidence, &charges);
    findings.extend(references(evidence));
    let Some(&last) = claims.last().filter(|_| evidence.ran.last().is_some_and(|ran| ran.claim.is_some())) else {
        let why = evidence.ran.last().map_or_else(|| "the adapter did not run".to_owned(), Ran::trouble);
        let held = format!("the ledger has {} for this order", count(charges.len(), "charge"));
        // What it charged and claimed before counts even if it failed.
        findings.extend(truth(&claims, &charges, evidence));
        findings.push(broken(format!("{why}; {held}")));
        return findings;
    };
    findings.extend(truth(&claims, &charges, evidence));
    findings.extend(keys(evidence, &charges));
    findings.extend(expected(expect, last, &charges, evidence));
    findings
}

/// Findings from the ledger alone.
fn books(evidence: &Evidence<'_>, charges: &[&Entry]) -> Vec<Finding> {
    let mut findings = Vec::new();
    if charges.len() > 1 {
        let all = charges.iter().map(|entry| entry.money()).collect::<Vec<_>>();
        findings.push(failed(
            "charged-twice",
            format!("the customer was charged {} times for one order: {}", charges.len(), all.join(", ")),
        ));
    }
    for entry in charges {
        if entry.amount != evidence.amount || entry.currency != evidence.currency {
            findings.push(failed(
                "wrong-amount",
                format!("{} was charged instead of {}", entry.money(), money(evidence.amount, evidence.currency)),
            ));
        }
    }
    findings
}

/// Checks that one order is paid under one reference.
fn references(evidence: &Evidence<'_>) -> Vec<Finding> {
    let payments: Vec<&Exchange> = evidence.exchanges.iter().filter(|one| one.is(On::Payment)).collect();
    let mut references: Vec<&str> = payments
        .iter()
        .filter_map(|one| one.parameter("uniqueMerchantReference"))
        .filter(|one| !one.is_empty())
        .collect();
    let without = payments.len() - references.len();
    references.sort_unstable();
    references.dedup();
    let mut findings = Vec::new();
    if references.len() > 1 {
        findings.push(failed(
            "new-reference",
            format!("the payment was sent again under another uniqueMerchantReference: {}", references.join(", ")),
        ));
    }
    if without > 1 {
        findings.push(failed(
            "resent-without-reference",
            format!(
                "the payment was sent {without} times without a uniqueMerchantReference, so each request can charge"
            ),
        ));
    }
    findings
}

/// Compares the claim with the ledger.
fn truth(claims: &[Claim], charges: &[&Entry], evidence: &Evidence<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let last = claims.last().copied();
    if charges.is_empty() && claims.contains(&Claim::Paid) {
        findings.push(failed("unpaid-but-said-paid", "the integration claims paid, but the ledger has no charge"));
    }
    let denied = claims.iter().find(|claim| matches!(claim, Claim::Declined | Claim::NotCharged));
    if let (Some(denied), false) = (denied, charges.is_empty()) {
        let told =
            format!("the integration claims {}, but the ledger has {}", denied.name(), count(charges.len(), "charge"));
        findings.push(if returned(evidence.entries) < charges.iter().map(|entry| entry.amount).sum() {
            failed("charged-but-said-unpaid", told)
        } else {
            warning("charged-and-refunded", format!("{told}, and its money was given back: the customer sees both"))
        });
    } else if !evidence.together && claims.len() > 1 && last == Some(Claim::Unknown) && claims.contains(&Claim::Paid) {
        findings.push(warning("forgot", "the integration first claimed paid, and later unknown"));
    }
    if claims.contains(&Claim::Paid) {
        findings.extend(kept(charges, evidence.entries));
    }
    findings
}

/// Returns what was given back of charges.
pub(crate) fn returned(entries: &[Entry]) -> u64 {
    entries.iter().filter(|entry| entry.gives_back()).map(|entry| entry.amount).sum()
}

/// Checks that what is taken for paid was not refunded, and is more than a reservation.
pub(crate) fn kept(charges: &[&Entry], entries: &[Entry]) -> Option<Finding> {
    // A payment that was made twice is another failure.
    refunded(entries).filter(|_| charges.len() < 2).or_else(|| reserved(charges, entries))
}

/// Returns the failure of a refund that was not asked for.
pub(crate) fn refunded(entries: &[Entry]) -> Option<Finding> {
    let refund = entries.iter().find(|entry| entry.approved && entry.kind == "Refund")?;
    Some(failed("refunded", format!("the order is paid, but the ledger has a refund of {}", refund.money())))
}

/// Returns the failure of a capture or a refund that has moved other money too.
pub(crate) fn unasked(entries: &[Entry], asked: &[&str]) -> Option<Finding> {
    let other = entries.iter().find(|entry| entry.approved && !asked.contains(&entry.kind.as_str()))?;
    let kind = if other.is_charge() { "charged-twice" } else { "other-movement" };
    let asked = asked[0].to_lowercase();
    Some(failed(kind, format!("besides the {asked}, the ledger has another movement: {}", other.told())))
}

/// Checks that what is claimed as paid is more than a reservation, and was captured as a whole.
fn reserved(charges: &[&Entry], entries: &[Entry]) -> Option<Finding> {
    let of = |kind| entries.iter().filter(move |entry| entry.approved && entry.kind == kind);
    let reservation = charges.first().filter(|_| charges.iter().all(|entry| entry.kind == "PreAuth"))?;
    let captured: u64 = of("Capture").map(|entry| entry.amount).sum();
    if captured == reservation.amount {
        None
    } else if captured > 0 {
        let captured = money(captured, &reservation.currency);
        Some(failed(
            "wrong-amount",
            format!("the integration claims paid, but {captured} of {} was captured", reservation.money()),
        ))
    } else if of("CancelPreAuth").next().is_some() {
        Some(failed("unpaid-but-said-paid", "the integration claims paid, but the reservation was cancelled"))
    } else {
        Some(warning(
            "reserved-but-said-paid",
            "the integration claims paid, but the money is only reserved: capture it before the reservation lapses",
        ))
    }
}

/// Checks that the transaction in a claim exists. The key of a capture is the one that a refund needs.
fn keys(evidence: &Evidence<'_>, charges: &[&Entry]) -> Vec<Finding> {
    let paid = evidence.ran.iter().filter(|ran| ran.claim == Some(Claim::Paid));
    let named = paid.filter_map(|ran| ran.text("transactionKey")).filter(|key| !key.is_empty());
    let is_own = |key: &str| evidence.entries.iter().any(|entry| entry.approved && entry.key == key);
    let wrong = named.filter(|key| !charges.is_empty() && !is_own(key));
    wrong
        .map(|key| {
            warning(
                "wrong-key",
                format!("the integration's claim names the transaction {key}, which does not belong to this order"),
            )
        })
        .collect()
}

fn expected(expect: Expect, last: Claim, charges: &[&Entry], evidence: &Evidence<'_>) -> Vec<Finding> {
    let charged = !charges.is_empty();
    let mut findings = Vec::new();
    match expect {
        Expect::Sale if !charged && last != Claim::Paid => {
            findings.push(failed(
                "sale-lost",
                format!("nothing went wrong, but the integration claims {} without a charge", last.name()),
            ));
        }
        Expect::Sale if last == Claim::Unknown => {
            findings.push(failed(
                "outcome-not-read",
                "the service replied that the payment is approved, but the integration claims unknown",
            ));
        }
        Expect::Unproven if !charged && matches!(last, Claim::Declined | Claim::NotCharged) => findings.push(warning(
            "unproven",
            format!(
                "the integration claims {}, which is true here, but nothing proves it: a gateway sends this reply after a charge too",
                last.name()
            ),
        )),
        Expect::Settled | Expect::Unproven | Expect::Sale => findings.extend(unknown(last, charged, evidence, true)),
        Expect::Another if last == Claim::Paid => findings.push(failed(
            "another-payment",
            "what the lookup shows is not the payment of this order, but the integration claims paid",
        )),
        Expect::Another => findings.extend(unknown(last, charged, evidence, true)),
        Expect::Unseen => findings.extend(unknown(last, charged, evidence, false)),
        Expect::Decline if last == Claim::Unknown => {
            let is_sent = evidence.exchanges.iter().any(|one| one.is(On::Payment));
            findings.push(if is_sent {
                warning("decline-not-read", "the card was declined, but the integration claims unknown")
            } else {
                warning("nothing-sent", "no payment was sent, but the integration claims unknown: claim not-charged")
            });
        }
        Expect::Decline => {}
        Expect::Undocumented if last != Claim::Unknown => findings.push(failed(
            "undocumented-status",
            format!("the reply has an undocumented status code, but the integration claims {}", last.name()),
        )),
        Expect::Undocumented => {}
        Expect::Refused(most) => {
            let allowed = most * evidence.ran.len().max(1);
            let sent = evidence.exchanges.iter().filter(|one| one.is(On::Any)).count();
            if sent > allowed {
                // Only invalid credentials count for a lockout (spec 1 §5.5).
                let why = if most > 1 {
                    "a denied permission stays denied"
                } else {
                    "more than five with wrong credentials lock the address out"
                };
                let told = format!("{sent} requests were sent, at most {allowed} were expected: {why}");
                findings.push(failed("went-on-after-refusal", told));
            }
            if last == Claim::Declined {
                findings.push(warning(
                    "not-a-decline",
                    "the service refused the caller, but the integration claims that the card was declined",
                ));
            }
        }
    }
    findings
}

/// Checks that an unknown outcome was looked up.
fn unknown(last: Claim, charged: bool, evidence: &Evidence<'_>, needs_lookup: bool) -> Vec<Finding> {
    if last != Claim::Unknown {
        return Vec::new();
    }
    let payment = evidence.exchanges.iter().position(|one| one.is(On::Payment));
    let all = evidence.exchanges;
    let (sent, later) = all.split_at(payment.map_or(all.len(), |at| at + 1));
    let keys: Vec<&str> = evidence.entries.iter().map(|entry| entry.key.as_str()).collect();
    let looked_up = (sent.len()..all.len()).any(|at| all[at].looks_up(&all[..at], &keys));
    if payment.is_some() && !looked_up && needs_lookup {
        let why = match later.iter().rev().find(|one| one.looks_up_payment()) {
            None => "without looking the payment up by its reference".to_owned(),
            Some(other) => match other.refusal() {
                Some(code) => format!("and its lookups find no payment: the service refuses them with error {code}"),
                None => "and looks up another reference than that of the payment".to_owned(),
            },
        };
        return vec![failed("never-looked-up", format!("the integration claims unknown {why}"))];
    }
    // If two ran at the same time, the other one may have made that lookup.
    let by_another = evidence.together && evidence.ran.iter().any(|ran| ran.claim == Some(Claim::Paid));
    if charged && !by_another && later.iter().any(|one| one.showed_payment) {
        return vec![warning(
            "found-and-unknown",
            "a lookup showed the payment, but the integration still claims unknown",
        )];
    }
    Vec::new()
}

pub(crate) fn count(number: usize, what: &str) -> String {
    match number {
        0 => format!("no {what}"),
        1 => format!("one {what}"),
        _ => format!("{number} {what}s"),
    }
}

/// For stories with their own checks.
pub(crate) fn fault(kind: &'static str, text: impl Into<String>) -> Finding {
    failed(kind, text)
}

/// For an integration that never met the fault of its drill, for example because it `sent no payment`.
pub(crate) fn untouched(what: &str) -> Finding {
    failed("no-payment", format!("the integration {what}, so the fault of this drill never happened"))
}

/// For stories with their own checks.
pub(crate) fn doubt(kind: &'static str, text: impl Into<String>) -> Finding {
    warning(kind, text)
}
