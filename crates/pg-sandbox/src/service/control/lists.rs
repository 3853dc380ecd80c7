//! Records, newest first, as the control interface shows them: `GET /_sandbox/transactions` and
//! the others. They contain no secret and no card number.

use bytes::Bytes;
use http::{HeaderValue, Request, StatusCode};
use serde_json::{Map, Value, json};

use super::{
    Answer, Context, Refusal, batches, callbacks, error,
    listing::{Listing, Page},
    named_account, requests, shown,
};
use crate::{
    records::{
        Authentication, Batch, Callback, CardToken, CheckoutToken, Details, HeldCard, Payment, Session, TextMessage,
    },
    secret_parameter,
    service::accounts,
    store::{Query, StoredRecord},
    timestamp::Timestamp,
};

mod authentications;
mod checkouts;
mod transactions;

/// The maximum number of operations shown for one transaction.
const OPERATIONS: u32 = 100;

/// A list of the control interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum List {
    Requests,
    Transactions,
    Tokens,
    Sessions,
    Authentications,
    Checkouts,
    Batches,
    Callbacks,
    Sms,
}

impl List {
    /// All lists.
    pub(in super::super) const ALL: [Self; 9] = [
        Self::Requests,
        Self::Transactions,
        Self::Tokens,
        Self::Sessions,
        Self::Authentications,
        Self::Checkouts,
        Self::Batches,
        Self::Callbacks,
        Self::Sms,
    ];

    /// Returns the list of this name.
    pub(in super::super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|list| list.name() == name)
    }

    /// Returns the name in paths.
    pub(in super::super) const fn name(self) -> &'static str {
        match self {
            Self::Requests => "requests",
            Self::Transactions => "transactions",
            Self::Tokens => "tokens",
            Self::Sessions => "sessions",
            Self::Authentications => "authentications",
            Self::Checkouts => "checkouts",
            Self::Batches => "batches",
            Self::Callbacks => "callbacks",
            Self::Sms => "sms",
        }
    }

    /// Returns a page of the list.
    pub(in super::super) fn page(self, context: &mut Context<'_>, listing: &Listing) -> Result<Page<Value>, Refusal> {
        match self {
            Self::Requests => Ok(requests::page(context.journal, listing, made(context))?),
            Self::Transactions => page(context, listing, transactions::view),
            Self::Tokens => page(context, listing, token),
            Self::Sessions => page(context, listing, session),
            Self::Authentications => page(context, listing, authentications::view),
            Self::Checkouts => page(context, listing, checkouts::view),
            Self::Batches => page(context, listing, |batch: &Batch, _| batch.view()),
            Self::Callbacks => page(context, listing, |callback: &Callback, _| callback.view()),
            Self::Sms => page(context, listing, |message: &TextMessage, _| message.view()),
        }
    }

    /// Returns one entry of the list, with details; `None` if it does not exist.
    pub(in super::super) fn entry(self, context: &mut Context<'_>, key: &str) -> Result<Option<Value>, Refusal> {
        match self {
            Self::Requests => Ok(requests::entry(context.journal, key)?),
            Self::Transactions => entry(context, key, transactions::view),
            Self::Tokens => entry(context, key, token),
            Self::Sessions => entry(context, key, session),
            Self::Authentications => entry(context, key, authentications::view),
            Self::Checkouts => entry(context, key, checkouts::view),
            Self::Batches => batches::whole(context, key),
            Self::Callbacks => callbacks::whole(context, key),
            Self::Sms => entry(context, key, |message: &TextMessage, _| message.view()),
        }
    }

    /// Returns the operations on a transaction, as entries of the transactions; newest first, up to a limit.
    pub(in super::super) fn operations_on(context: &mut Context<'_>, key: &str) -> Result<Vec<Value>, Refusal> {
        let query = Query::newest(OPERATIONS).equal(Payment::PARENT, key);
        let found = context.records.find::<Payment>(&query)?;
        Ok(found.iter().map(|payment| transactions::view(payment, context.now)).collect())
    }

    /// Answers `GET /_sandbox/{list}`. A `Link` header leads to the next page.
    pub(in super::super) fn show(self, context: &mut Context<'_>, request: &Request<Bytes>) -> Result<Answer, Refusal> {
        let listing = match Listing::of(request) {
            Ok(listing) => listing,
            Err(problem) => return Ok(error(StatusCode::BAD_REQUEST, &problem)),
        };
        if listing.method().is_some() && self != Self::Requests {
            return Ok(error(StatusCode::BAD_REQUEST, "only requests can be filtered by method"));
        }
        if let Some(problem) = unknown_account(context, &listing)? {
            return Ok(error(StatusCode::BAD_REQUEST, &problem));
        }
        let page = self.page(context, &listing)?;
        let next = page.next.map(|key| format!("</_sandbox/{}?{}>; rel=\"next\"", self.name(), listing.next(&key)));
        let reply = shown(page.entries.into());
        Ok(match next.and_then(|next| HeaderValue::try_from(next).ok()) {
            Some(link) => reply.linking(link),
            None => reply,
        })
    }

    /// Answers `GET /_sandbox/{list}/{key}`.
    pub(in super::super) fn show_entry(
        self,
        context: &mut Context<'_>,
        key: &str,
        request: &Request<Bytes>,
    ) -> Result<Answer, Refusal> {
        Ok(self.entry_of_account(context, key, request)?.map_or_else(|| self.no_such_entry(), shown))
    }

    /// Returns one entry of the list, of the account that the call names, if it names one; `None` if it does not exist.
    pub(in super::super) fn entry_of_account(
        self,
        context: &mut Context<'_>,
        key: &str,
        request: &Request<Bytes>,
    ) -> Result<Option<Value>, Refusal> {
        let account = named_account(request);
        let is_its = |entry: &Value| account.is_none_or(|account| entry["merchant"] == account);
        Ok(self.entry(context, key)?.filter(is_its))
    }

    pub(in super::super) fn no_such_entry(self) -> Answer {
        error(StatusCode::NOT_FOUND, &format!("there is no entry with this key in {}", self.name()))
    }
}

/// Returns the error of a list of an account that never existed in this store.
pub(in super::super) fn unknown_account(
    context: &mut Context<'_>,
    listing: &Listing,
) -> Result<Option<String>, Refusal> {
    let Some(name) = listing.merchant() else { return Ok(None) };
    // The records of an account that is no longer configured remain.
    if context.merchant(name).is_some()
        || accounts::reserved(&mut context.records)?.iter().any(|reserved| reserved == name)
        || accounts::find(context, name)?.is_some()
    {
        return Ok(None);
    }
    let mut known: Vec<String> = context.merchants().all().iter().map(|held| held.name.to_string()).collect();
    known.extend(accounts::listed(&mut context.records)?.into_iter().map(|made| made.name.to_string()));
    Ok(Some(format!("unknown account {:?}; known accounts: {}", pg_model::mask::text(name), known.join(", "))))
}

/// Returns when the account was created whose requests are listed: an earlier account with the same name is a different
/// account.
fn made(context: &Context<'_>) -> Timestamp {
    context.account.map_or(Timestamp::MIN, |own| own.account.created)
}

fn page<T: StoredRecord>(
    context: &mut Context<'_>,
    listing: &Listing,
    view: fn(&T, Timestamp) -> Value,
) -> Result<Page<Value>, Refusal> {
    let now = context.now;
    let page = listing.find::<T>(&mut context.records, |record| view(record, now))?;
    Ok(Page { entries: page.entries.iter().map(|record| view(record, now)).collect(), next: page.next })
}

fn entry<T: StoredRecord>(
    context: &mut Context<'_>,
    key: &str,
    view: fn(&T, Timestamp) -> Value,
) -> Result<Option<Value>, Refusal> {
    Ok(context.records.get::<T>(key)?.map(|record| view(&record, context.now)))
}

/// Returns a masked text of unknown content.
fn text(text: &str) -> Value {
    pg_model::mask::text(text).into()
}

fn optional(held: Option<&String>) -> Value {
    held.map(|held| text(held)).into()
}

/// Returns names and masked texts of unknown content.
fn texts<'a>(pairs: impl IntoIterator<Item = (&'a String, &'a String)>) -> Value {
    let members: Map<String, Value> =
        pairs.into_iter().map(|(name, value)| (pg_model::mask::text(name), text(value))).collect();
    members.into()
}

fn details(details: &Details) -> Value {
    texts(details)
}

fn card(card: &HeldCard) -> Value {
    serde_json::json!({
        "cardNumber": card.masked,
        "cardExpiryMonth": card.expiry_month,
        "cardExpiryYear": card.expiry_year,
        "cardType": card.card_type,
        "cardScheme": card.scheme,
        "cardBank": card.bank,
    })
}

fn session(session: &Session, now: Timestamp) -> Value {
    json!({
        "sessionKey": session.key,
        "merchant": session.merchant,
        "expired": session.expired(now),
        "expires": session.expires.to_string(),
        "errorPageUrl": secret_parameter::masked(&session.error_page_url),
        "merchantCustomerReference": optional(session.customer_reference.as_ref()),
        "card": session.card.as_ref().map(card),
        "details": details(&session.details),
        "collected": texts(session.collected.iter().map(|(name, value)| (name, value))),
        "created": session.created.to_string(),
    })
}

fn token(token: &CardToken, _: Timestamp) -> Value {
    json!({
        "cardKey": token.key,
        "merchant": token.merchant,
        "enabled": token.enabled,
        "cardUniqueIdentifier": token.unique_identifier,
        "merchantCustomerReference": optional(token.customer_reference.as_ref()),
        "card": card(&token.card),
        "details": details(&token.details),
        "parent": token.parent,
        "created": token.created.to_string(),
    })
}
