//! Updates stored cards through the account updater under a fault.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use pg_sandbox::cards::{CARDS, Scenario};
use serde_json::{Value, json};

use super::Played;
use crate::{
    adapter::{Claim, End, Ran},
    finding::Finding,
    house::{Card, SetupError},
    judge::{self, broken, doubt, fault},
    plan::Job,
    stage::Stage,
    wire::Rule,
};

/// A list of stored cards with its fault.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Update {
    /// The response of the card schemes for each card.
    pub(crate) responses: &'static [&'static str],
    /// Whether the list contains the first key twice.
    pub(crate) repeated: bool,
    /// The number of seconds by which each retrieval advances the service's clock.
    pub(crate) haste: u64,
    pub(crate) rules: &'static [Rule],
    /// Whether "unknown" is a valid last claim.
    pub(crate) doubt: bool,
}

impl Update {
    /// No fault.
    pub(crate) const PLAIN: Self =
        Self { responses: &["700", "702", "706"], repeated: false, haste: 50, rules: &[], doubt: false };
}

/// A batch takes two minutes (A73).
const FINISHED: Duration = Duration::from_secs(200);
/// How many times the job is started for one list.
const STARTS: u64 = 3;

pub(crate) async fn play(stage: &mut Stage, story: &Update) -> Played {
    let keys = stored(stage, story)?;
    stage.prepared()?;
    stage.house.hurry(story.haste);
    let mut list = keys.clone();
    list.extend(keys.first().filter(|_| story.repeated).cloned());
    let line = json!({"job": Job::UpdateCards.name(), "order": stage.order, "cardKeys": list});
    perform(stage, &line).await;
    let findings = judged(stage, story, &keys)?;
    Ok(stage.judged(findings))
}

/// Stores a card for each response, and configures the responses.
fn stored(stage: &mut Stage, story: &Update) -> Result<Vec<String>, SetupError> {
    let mut keys = Vec::new();
    for response in story.responses {
        let scenario = match *response {
            "700" => Some(Scenario::Updater700A),
            "702" => Some(Scenario::Updater702),
            _ => None,
        };
        let known = CARDS.iter().find(|card| Some(card.scenario) == scenario).map(|card| card.number.to_owned());
        let number = known.unwrap_or_else(|| stage.dice.card_number());
        let key = stage.house.card_key(&Card::new(&number, "314"))?;
        if !matches!(*response, "700" | "702" | "706") {
            stage.house.control("cards/updater", Some(&json!({"cardKey": key, "response": response})))?;
        }
        keys.push(key);
    }
    Ok(keys)
}

/// Starts the job, and restarts it after a kill or an unfinished result.
async fn perform(stage: &mut Stage, line: &Value) {
    for attempt in 1..=STARTS {
        let mut line = line.clone();
        if attempt > 1 {
            line["attempt"] = attempt.into();
        }
        let ran = stage.run(Job::UpdateCards, &line).await;
        match ran.claim {
            Some(Claim::Unknown) => stage.house.advance(FINISHED),
            None if matches!(ran.end, End::Killed | End::TimedOut) => {}
            _ => return,
        }
    }
}

fn judged(stage: &Stage, story: &Update, keys: &[String]) -> Result<Vec<Finding>, SetupError> {
    stage.house.advance(FINISHED);
    let batches = stage.house.control("batches", None)?;
    let batches: Vec<&str> =
        batches.as_array().into_iter().flatten().filter_map(|one| one["batchKey"].as_str()).collect();
    let batches = batches.iter().map(|batch| details(stage, batch)).collect::<Result<Vec<_>, _>>()?;
    let mut findings = Vec::new();
    let twice = submitted_twice(&batches);
    if twice > 0 {
        let told = judge::count(twice, "card");
        findings.push(fault(
            "submitted-twice",
            format!("{told} submitted in more than one batch, so a card may get two new keys"),
        ));
    }
    let entries = batches.concat();
    let Some((ran, claim)) = stage.ran().last().and_then(|ran| ran.claim.map(|claim| (ran, claim))) else {
        findings.push(broken(stage.ran().last().map(Ran::trouble).unwrap_or_default()));
        return Ok(findings);
    };
    match claim {
        Claim::Declined | Claim::NotCharged if !batches.is_empty() => findings.push(fault(
            "submitted-but-denied",
            format!("the integration claims {}, but the service has the batch", claim.name()),
        )),
        Claim::Declined | Claim::NotCharged if !story.doubt => findings.push(fault(
            "not-refreshed",
            format!("nothing went wrong, but the integration claims {} without a batch", claim.name()),
        )),
        Claim::Paid if batches.is_empty() => {
            findings.push(fault("done-without-a-batch", "the integration claims paid, but the service has no batch"));
        }
        Claim::Unknown if !story.doubt => findings.push(fault(
            "result-not-read",
            "the batch has finished and its result can be read, but the integration still claims unknown",
        )),
        _ => {}
    }
    let reported = ran.answer.get("cards").and_then(Value::as_array).cloned().unwrap_or_default();
    if !batches.is_empty() && (claim == Claim::Paid || !reported.is_empty()) {
        // The result of a submission whose reply was lost cannot be known.
        let in_doubt = story.doubt && claim == Claim::Unknown;
        findings.extend(cards(&reported, &entries, keys, claim, in_doubt));
    }
    Ok(findings)
}

/// Returns the entries of a finished batch.
fn details(stage: &Stage, batch: &str) -> Result<Vec<Value>, SetupError> {
    let batch = stage.house.call("token/retrieveAccountUpdater", &[("batchKey", batch)])?;
    Ok(batch["cardKeyDetails"].as_array().cloned().unwrap_or_default())
}

/// Returns the number of cards that more than one batch contains. A batch may answer twice for one card.
fn submitted_twice(batches: &[Vec<Value>]) -> usize {
    let mut seen = BTreeSet::new();
    let mut twice = BTreeSet::new();
    for batch in batches {
        let keys: BTreeSet<&str> = batch.iter().filter_map(|entry| entry["oldCardKey"].as_str()).collect();
        twice.extend(keys.into_iter().filter(|key| !seen.insert(*key)));
    }
    twice.len()
}

/// Compares the reported cards with the responses of the schemes.
fn cards(reported: &[Value], entries: &[Value], keys: &[String], claim: Claim, in_doubt: bool) -> Vec<Finding> {
    let text = |value: &Value, name: &str| value[name].as_str().unwrap_or_default().to_owned();
    let truth: BTreeMap<String, &Value> = entries.iter().map(|entry| (text(entry, "oldCardKey"), entry)).collect();
    let mut findings = Vec::new();
    let mut seen = BTreeSet::new();
    for card in reported {
        let key = text(card, "cardKey");
        let Some(entry) = truth.get(&key) else {
            findings.push(fault("unknown-card", "the integration reports a card that was not in the list"));
            continue;
        };
        if !seen.insert(key.clone()) {
            findings.push(fault(
                "reported-twice",
                "the integration reports one card twice, so its result is applied twice",
            ));
        }
        let (new, response) = (text(entry, "cardKey"), text(entry, "response"));
        let (told, state) = (text(card, "newCardKey"), text(card, "state"));
        // A card whose state is unknown needs no new key.
        if told != new && (state != "unknown" || !told.is_empty()) {
            let (what, right) = match (told.is_empty(), new.is_empty()) {
                (true, _) => ("no new key", "one"),
                (false, true) => ("a wrong new key", "none"),
                (false, false) => ("a wrong new key", "another one"),
            };
            let why = format!("the integration reports {what}: response {response} contains {right}");
            findings.push(fault("wrong-card", why));
        }
        if in_doubt && state == "unknown" {
            continue;
        }
        if state == "unknown" && wanted(&response) != "unknown" {
            findings.push(doubt(
                "state-not-read",
                format!(
                    "the integration reports a card as unknown, but response {response} means {}",
                    wanted(&response)
                ),
            ));
        } else if state != wanted(&response) && matches!(state.as_str(), "updated" | "unchanged" | "closed") {
            findings.push(fault(
                "wrong-state",
                format!(
                    "the integration reports a card as {state}, but response {response} means {}",
                    wanted(&response)
                ),
            ));
        }
    }
    if claim == Claim::Paid {
        let missing = keys.iter().filter(|key| !seen.contains(*key)).count();
        if missing > 0 {
            findings.push(fault(
                "card-missed",
                format!("the integration claims paid, but reports nothing about {}", judge::count(missing, "card")),
            ));
        }
    }
    findings.dedup();
    findings
}

/// Returns the meaning of a response for a stored card.
fn wanted(response: &str) -> &'static str {
    match response {
        "700" | "702" | "707" | "712" => "updated",
        "701" => "closed",
        "706" => "unchanged",
        _ => "unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(reported: &Value) -> Vec<&'static str> {
        let entries = [
            json!({"oldCardKey": "a", "response": "700", "cardKey": "n"}),
            json!({"oldCardKey": "b", "response": "701"}),
        ];
        let keys = ["a".to_owned(), "b".to_owned()];
        let reported = reported.as_array().cloned().unwrap_or_default();
        cards(&reported, &entries, &keys, Claim::Paid, false).iter().map(|finding| finding.kind).collect()
    }

    #[test]
    fn a_card_that_is_unknown_after_a_lost_reply_needs_no_new_key() {
        let entries = [json!({"oldCardKey": "a", "response": "700", "cardKey": "n"})];
        let told = |card: Value| {
            let findings = cards(&[card], &entries, &["a".to_owned()], Claim::Unknown, true);
            findings.into_iter().map(|finding| finding.text).collect::<Vec<_>>()
        };
        assert_eq!(told(json!({"cardKey": "a", "state": "unknown"})), Vec::<String>::new());
        let wrong = |what| [format!("the integration reports {what}")];
        let another = json!({"cardKey": "a", "state": "unknown", "newCardKey": "x"});
        assert_eq!(told(another), wrong("a wrong new key: response 700 contains another one"));
        assert_eq!(told(json!({"cardKey": "a", "state": "updated"})), wrong("no new key: response 700 contains one"));
    }

    #[test]
    fn a_card_is_submitted_twice_if_two_batches_contain_it() {
        let (a, b) = (json!({"oldCardKey": "a"}), json!({"oldCardKey": "b"}));
        assert_eq!(submitted_twice(&[vec![a.clone(), a.clone()], vec![b.clone()]]), 0);
        assert_eq!(submitted_twice(&[vec![a.clone(), b.clone()], vec![b.clone()], vec![b]]), 1);
    }

    #[test]
    fn each_false_claim_about_a_card_is_detected() {
        let right = json!({"cardKey": "a", "state": "updated", "newCardKey": "n"});
        let closed = json!({"cardKey": "b", "state": "closed"});
        assert_eq!(kinds(&json!([right, closed])), Vec::<&str>::new());
        assert_eq!(kinds(&json!([right, right, closed])), ["reported-twice"]);
        assert_eq!(kinds(&json!([right])), ["card-missed"]);
        assert_eq!(kinds(&json!([right, {"cardKey": "b", "state": "unchanged"}])), ["wrong-state"]);
        assert_eq!(kinds(&json!([right, {"cardKey": "b", "state": "unknown"}])), ["state-not-read"]);
        assert_eq!(kinds(&json!([{"cardKey": "a", "state": "updated", "newCardKey": "x"}, closed])), ["wrong-card"]);
        assert_eq!(kinds(&json!([right, closed, {"cardKey": "c"}])), ["unknown-card"]);
    }
}
