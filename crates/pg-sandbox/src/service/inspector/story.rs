//! The history of one order: the requests that named or created it, as a sequence diagram and as a table.

use serde_json::Value;

use super::{
    Context, Html, List, Listing, Refusal, requests,
    view::{self, Shown},
};
use crate::sequence_diagram::{Step, draw};

const LANES: [&str; 4] = ["integration", "wire", "service", "ledger"];
const INTEGRATION: usize = 0;
const WIRE: usize = 1;
const SERVICE: usize = 2;
const LEDGER: usize = 3;

/// The number of the newest requests that are searched.
const NEWEST: u32 = 1_000;

/// Returns the section of a transaction and its operations; empty if the journal no longer has its requests.
pub(super) fn of(context: &mut Context<'_>, payment: Shown<'_>, operations: &[Shown<'_>]) -> Result<Html, Refusal> {
    let entries: Vec<Shown<'_>> = std::iter::once(payment).chain(operations.iter().copied()).collect();
    let mut names: Vec<String> = entries.iter().map(|entry| entry.text("transactionKey").into_owned()).collect();
    names.extend(["uniqueMerchantReference", "parent"].map(|name| payment.text(name).into_owned()));
    names.retain(|name| !name.is_empty());
    let account = payment.text("merchant");
    let page = List::Requests.page(context, &Listing::newest(NEWEST).of_account(&account))?;
    let requests: Vec<&Value> = page.entries.iter().rev().filter(|one| concerns(Shown(one), &names)).collect();
    if requests.is_empty() {
        return Ok(Html::new());
    }
    let mut told = Vec::new();
    let mut recorded = Vec::new();
    requests.iter().for_each(|one| tell(&mut told, &mut recorded, Shown(one), &entries));
    let steps: Vec<Step<'_>> = told.iter().map(Told::step).collect();
    let label = "Sequence diagram of the requests in the table below";
    let picture = Html::new()
        .raw("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Sequence diagram\">")
        .put(draw(label, &LANES, &steps))
        .raw("</div>\n");
    let rows: Vec<Shown<'_>> = requests.iter().rev().map(|one| Shown(one)).collect();
    Ok(view::section("History of this order", picture.put(requests::LOOK.table(context, &rows).or(""))))
}

/// Whether a request names the order, or its reply does.
fn concerns(request: Shown<'_>, names: &[String]) -> bool {
    let parameters = request.pairs("parameters");
    let reply = request.text("reply");
    names.iter().any(|name| parameters.iter().any(|(_, value)| value == name) || reply.contains(name.as_str()))
}

/// A step with its text.
struct Told {
    from: usize,
    to: usize,
    text: String,
    fault: bool,
}

impl Told {
    fn step(&self) -> Step<'_> {
        let step = Step::new(self.from, self.to, &self.text);
        if self.fault { step.fault() } else { step }
    }
}

fn tell(told: &mut Vec<Told>, recorded: &mut Vec<String>, request: Shown<'_>, entries: &[Shown<'_>]) {
    let mut say = |from, to, text: String, fault| told.push(Told { from, to, text, fault });
    let (method, status, fault) = (request.text("method"), request.count("status"), request.text("fault"));
    let name = if method.is_empty() { request.text("path") } else { method };
    say(INTEGRATION, WIRE, name.into_owned(), false);
    if !fault.is_empty() {
        say(WIRE, WIRE, format!("fault: {fault}"), true);
    }
    if matches!(&*fault, "drop-request" | "status") {
        if status > 0 {
            say(WIRE, INTEGRATION, format!("HTTP {status}"), false);
        }
        return;
    }
    say(WIRE, SERVICE, "arrives".to_owned(), false);
    let reply = request.text("reply");
    for entry in entries {
        let key = entry.text("transactionKey").into_owned();
        if reply.contains(&key) && !recorded.contains(&key) {
            let (kind, state) = (entry.text("transactionType"), entry.text("transactionStatusCode"));
            let decided = if entry.flag("approved") { "approved" } else { "not approved" };
            say(SERVICE, LEDGER, format!("{kind} of {} {decided} ({state})", entry.money("amount")), false);
            recorded.push(key);
        }
    }
    if fault != "drop-reply" {
        let code = request.text("errorCode");
        let error = if code.is_empty() { String::new() } else { format!(", error {code}") };
        say(WIRE, INTEGRATION, format!("HTTP {status}{error}"), false);
    }
}
