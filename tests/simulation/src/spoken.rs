//! The dialect of a world's service, and what its clients know of it.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Response, StatusCode, header};
use pg_model::{
    Dialect, ErrorCode, Remedy, ServiceError, decode_into,
    dialect::{EmptyLookup, ErrorEntry, IvForm, KeyForm, PaddingForm, ReferenceAfterRefusal, StatusEntry, TextForm},
};
use pg_proto::ReplyError;
use pg_sandbox::{Timestamp, records::PaymentKind};

use crate::{dice::Dice, ledger::Ledger, scenario::Scenario};

/// The dialects of a world.
#[derive(Clone, Debug)]
pub(crate) struct DialectPair {
    /// The dialect of the service.
    pub(crate) service: Arc<Dialect>,
    /// The dialect of its clients: the same, or the documents alone.
    pub(crate) client: Arc<Dialect>,
    /// A status that it uses in place of 600 for approved payments, unknown to every client.
    odd: Option<String>,
    /// Whether it answers a used reference and a used authentication like a declined payment. Its clients know of no error then.
    used_like_declined: bool,
    /// How long it shows a payment as pending, with the status [`PENDING`].
    pending: Option<Duration>,
}

/// The status of a payment that is still being processed.
pub(crate) const PENDING: &str = "649";

/// HTTP statuses of errors: those of the documents more often than others.
const STATUSES: [u16; 10] = [400, 400, 400, 400, 401, 403, 403, 404, 409, 422];

impl DialectPair {
    /// Half of the worlds have the sandbox's dialect. In the others the service decides at random, and half of the
    /// clients assume nothing.
    pub(crate) fn of(scenario: Scenario) -> Self {
        let mut dice = Dice::new(scenario.seed, "dialect");
        let which = dice.below(4);
        if which < 2 || !scenario.may_differ() {
            let (service, client) = (pg_sandbox::dialect(), pg_sandbox::dialect());
            return Self { service, client, odd: None, used_like_declined: false, pending: None };
        }
        let mut service = random(&mut dice);
        let mut slow = Dice::new(scenario.seed, "pending payments");
        let pending = slow.per_mille(400).then(|| Duration::from_secs(slow.pick(&[5, 60, 300, 1_800])));
        if pending.is_some() {
            service.pending.push(StatusEntry::new(PENDING, 11));
        }
        let service = Arc::new(service);
        let used_like_declined = Dice::new(scenario.seed, "used references").per_mille(400);
        let client = match which {
            2 if used_like_declined => Arc::new(without_used(&service)),
            2 => Arc::clone(&service),
            _ => Arc::new(Dialect::documented()),
        };
        // Three digits like 600, so that no length changes.
        let odd = dice.per_mille(150).then(|| "650".to_owned());
        Self { service, client, odd, used_like_declined, pending }
    }

    /// Whether its clients can read everything that the service says of a payment.
    pub(crate) fn is_understood(&self) -> bool {
        Arc::ptr_eq(&self.service, &self.client) && self.odd.is_none() && self.pending.is_none()
    }

    /// Returns the reply as the service sends it.
    pub(crate) fn said(&self, reply: Response<Bytes>, ledger: &Ledger, now: Timestamp) -> Response<Bytes> {
        if self.used_like_declined && self.says_used(&reply) {
            let code = self.service.declined.first().map_or("", |entry| entry.code.as_str());
            return decline(code, "", reply.body().starts_with(b"{"));
        }
        if self.names_pending(&reply, ledger, now) {
            let decided = self.service.declined.iter().map(|entry| entry.code.as_str()).chain(["600"]);
            return decided.fold(reply, |reply, code| with_status(reply, code, PENDING));
        }
        match &self.odd {
            Some(odd) => with_status(reply, "600", odd),
            None => reply,
        }
    }

    /// Whether a reply is the error of a used reference or a used authentication.
    fn says_used(&self, reply: &Response<Bytes>) -> bool {
        let mut error = ServiceError::default();
        let readable = !reply.status().is_success() && decode_into(reply.body(), &mut error).is_ok();
        readable && self.service.error(&error.error_code).is_some_and(is_of_used)
    }

    /// Whether a reply names a payment that the service still shows as pending: half of all payments, for a while.
    fn names_pending(&self, reply: &Response<Bytes>, ledger: &Ledger, now: Timestamp) -> bool {
        let Some(pending) = self.pending else { return false };
        let text = String::from_utf8_lossy(reply.body());
        values(&text, "transactionKey").filter_map(|key| ledger.payments.get(key)).any(|payment| {
            matches!(payment.kind, PaymentKind::Auth | PaymentKind::PreAuth)
                && payment.parent.is_none()
                && payment.key.bytes().last().is_some_and(|last| last % 2 == 0)
                && payment.created.plus(pending) > now
        })
    }

    /// Whether the service rejects the credentials, which counts towards a lockout. A status alone does not: it may be
    /// this service's status for an empty lookup. In version 5 it has the codes of both versions.
    pub(crate) fn refuses_credentials(&self, reply: &Response<Bytes>) -> bool {
        let mut error = ServiceError::default();
        let readable = !reply.status().is_success() && decode_into(reply.body(), &mut error).is_ok();
        let status = reply.status().as_u16();
        readable && self.service.error_meaning(5, &error.error_code, status).remedy == Remedy::FixCredentials
    }

    /// Whether a reply is this service's answer to an empty lookup: its status or its code, and no other error.
    pub(crate) fn says_nothing_found(&self, status: StatusCode, error: &ReplyError) -> bool {
        match self.service.lookup.nothing {
            Some(EmptyLookup::NotFound) => status == StatusCode::NOT_FOUND,
            Some(EmptyLookup::Error) => {
                let entry = self.service.error_for("unknown-transaction-key");
                matches!((error, entry), (ReplyError::Refused(refused), Some(entry)) if *refused.code() == entry.code)
            }
            _ => false,
        }
    }
}

/// The situations in which a payment was sent before.
pub(crate) const USED: [&str; 2] = ["duplicate-unique-reference", "authentication-already-used"];

fn is_of_used(entry: &ErrorEntry) -> bool {
    entry.situations.iter().any(|situation| USED.contains(&situation.as_str()))
}

/// What a client knows of a service that has no error for a used reference.
fn without_used(service: &Dialect) -> Dialect {
    let mut dialect = service.clone();
    dialect.errors.retain(|entry| !is_of_used(entry));
    dialect
}

/// A decline of version 3, with or without the type of the transaction.
pub(crate) fn decline(code: &str, kind: &str, in_json: bool) -> Response<Bytes> {
    if in_json {
        return said_in("json", format!(r#"{{"transactionStatusCode":"{code}","transactionType":"{kind}"}}"#));
    }
    let status = format!("<transactionStatusCode>{code}</transactionStatusCode>");
    said_in("xml", format!("<serviceResponse>{status}<transactionType>{kind}</transactionType></serviceResponse>"))
}

/// A reply of the service in XML or JSON.
pub(crate) fn said_in(content: &str, body: String) -> Response<Bytes> {
    let reply = Response::builder().header(header::CONTENT_TYPE, format!("application/{content}"));
    reply.body(Bytes::from(body)).expect("a reply")
}

/// Replaces the status of a reply; both have three digits.
pub(crate) fn with_status(reply: Response<Bytes>, code: &str, instead: &str) -> Response<Bytes> {
    reply.map(|body| {
        let text = String::from_utf8_lossy(&body);
        let json = |code: &str| format!("\"transactionStatusCode\":\"{code}\"");
        let xml = |code: &str| format!("<transactionStatusCode>{code}<");
        Bytes::from(text.replace(&json(code), &json(instead)).replace(&xml(code), &xml(instead)))
    })
}

/// Returns the dialect of a service that decides at random, in the words of surveys: an empty lookup with a code that always comes with
/// HTTP 404 is that error.
pub(crate) fn random_dialect(seed: u64) -> Dialect {
    let mut dialect = random(&mut Dice::new(seed, "dialect"));
    let gives_404 = |situation| dialect.error_for(situation).is_some_and(|entry| entry.http == Some(404));
    let (transaction, card) = (gives_404("unknown-transaction-key"), gives_404("unknown-card-key"));
    for (form, gives_404) in [(&mut dialect.lookup.nothing, transaction), (&mut dialect.lookup.no_card, card)] {
        if gives_404 && *form == Some(EmptyLookup::NotFound) {
            *form = Some(EmptyLookup::Error);
        }
    }
    dialect
}

/// The sandbox's dialect with other codes, statuses, forms and rules.
fn random(dice: &mut Dice) -> Dialect {
    let mut dialect = (*pg_sandbox::dialect()).clone();
    "random".clone_into(&mut dialect.name);
    dialect.lookup.nothing = Some(dice.pick(&[EmptyLookup::EmptyList, EmptyLookup::Error, EmptyLookup::NotFound]));
    dialect.lookup.no_card = Some(dice.pick(&[EmptyLookup::EmptyList, EmptyLookup::Error, EmptyLookup::NotFound]));
    dialect.refused_reference = Some(dice.pick(&[ReferenceAfterRefusal::UsedUp, ReferenceAfterRefusal::Free]));
    let data = &mut dialect.session_data;
    data.key = Some(dice.pick(&[KeyForm::Verbatim, KeyForm::Sha256]));
    data.iv = Some(dice.pick(&[IvForm::Text, IvForm::Hex]));
    data.padding = Some(dice.pick(&[PaddingForm::Pkcs7, PaddingForm::Zero]));
    data.text = Some(dice.pick(&[TextForm::Base64, TextForm::Base64Url, TextForm::Hex]));
    "No".clone_into(&mut dialect.checkout.failed[0]);
    // Statuses are 6xx, as in the documents.
    let mut statuses = vec![600, 607, 608, 649, 650];
    let mut status = |dice: &mut Dice| fresh(dice, &mut statuses, 601, 699).to_string();
    for entry in &mut dialect.declined {
        entry.code = status(dice).into();
    }
    for entry in dialect.authentication.iter_mut().filter(|entry| entry.code.message().is_none()) {
        entry.code = status(dice).into();
    }
    let mut codes: Vec<u64> = ErrorCode::KNOWN.iter().filter_map(|code| code.as_str().parse().ok()).collect();
    let like_a_wrong_one = dice.per_mille(300);
    for entry in dialect.errors.iter_mut().filter(|entry| !entry.situations.is_empty()) {
        let is = |situation: &str| entry.situations.iter().any(|name| name == situation);
        let code = fresh(dice, &mut codes, 200, 999).to_string();
        let http = dice.pick(&STATUSES);
        if is("duplicate-unique-reference") && like_a_wrong_one {
            entry.code = ErrorCode::INVALID_MERCHANT_REFERENCE;
            continue;
        }
        // A service that fails reports it by its HTTP status.
        let breaks_down = entry.http.is_some_and(|http| http >= 500);
        entry.code = code.into();
        entry.http = if breaks_down { entry.http } else { Some(http) };
    }
    dialect
}

/// Returns an unused number.
fn fresh(dice: &mut Dice, taken: &mut Vec<u64>, least: u64, most: u64) -> u64 {
    loop {
        let number = dice.between(least, most);
        if !taken.contains(&number) {
            taken.push(number);
            return number;
        }
    }
}

/// All values of this name in XML or JSON.
pub(crate) fn values<'a>(text: &'a str, name: &str) -> impl Iterator<Item = &'a str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (found, after) = value(rest, name)?;
        rest = after;
        Some(found)
    })
}

/// The next value of this name in XML or JSON, and what follows it.
pub(crate) fn value<'a>(text: &'a str, name: &str) -> Option<(&'a str, &'a str)> {
    let mut rest = text;
    loop {
        let at = rest.find(name)? + name.len();
        rest = &rest[at..];
        let Some(begin) = rest.strip_prefix("\":\"").or_else(|| rest.strip_prefix('>')) else { continue };
        let end = begin.find(['"', '<'])?;
        if end > 0 {
            return Some((&begin[..end], &begin[end..]));
        }
    }
}
