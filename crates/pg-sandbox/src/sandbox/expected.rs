//! Predicts, from a request's parameters, the records that the request will read. An engine whose reads wait for a
//! network reads the records of a whole group at once ([`Store::expect`](crate::store::Store::expect)). A wrong
//! prediction costs one row.

use http::Request;

use crate::{
    Peer,
    accounts::Accounts,
    inbound::{Caller, Inbound},
    merchants::Merchant,
    records::{
        Authentication, Batch, CardToken, CheckoutToken, FailedAttempts, Meta, Payment, Session, UniqueReference,
    },
    route::Route,
    settings::Settings,
    store::{Kind, StoredRecord},
};

/// A kind of record, and the key of a record.
type Expected = (&'static Kind, String);

/// Returns the records that a request will probably read.
pub(super) fn by<'a>(
    inbound: &'a Inbound,
    settings: &'a Settings,
    accounts: &'a Accounts,
) -> impl Iterator<Item = Expected> + 'a {
    let caller = inbound.journaled.as_ref().map(|journaled| &journaled.caller);
    let form = inbound.call.as_ref().and_then(|call| call.form().ok());
    let parameters = form.into_iter().flat_map(|form| form.iter()).flat_map(named);
    let unique = form.and_then(|form| form.given("uniqueMerchantReference")).zip(merchant(caller, accounts));
    let unique =
        unique.map(|(reference, merchant)| (UniqueReference::KIND, UniqueReference::key_of(merchant, reference)));
    parameters.chain(unique).chain(of_caller(inbound, caller, settings, accounts)).chain(page(&inbound.route))
}

/// Returns the record that a parameter names.
fn named((name, value): (&str, &str)) -> Vec<Expected> {
    let kind = match name {
        "sessionKey" => return vec![(Session::KIND, value.to_owned()), (Meta::KIND, Meta::cv2_key(value))],
        "cardKey" => CardToken::KIND,
        "transactionKey" | "prev_trans_key" | "trans_key" => Payment::KIND,
        "authenticationKey" => Authentication::KIND,
        "batchKey" => Batch::KIND,
        "tokenid" => CheckoutToken::KIND,
        _ => return Vec::new(),
    };
    vec![(kind, value.to_owned())]
}

/// Returns the name of the caller's account, if it is known without the records.
fn merchant<'a>(caller: Option<&'a Caller>, accounts: &'a Accounts) -> Option<&'a str> {
    match caller? {
        Caller::Merchant(name) => Some(name),
        Caller::Account { id, .. } => accounts.get(id).map(|live| &*live.account.name),
        Caller::Unknown | Caller::Session(_) => None,
    }
}

/// Returns the records that are read for every caller: the failures of its address, its requests of the last minute,
/// and the account itself if it was created at run time and its copy is out of date.
fn of_caller(inbound: &Inbound, caller: Option<&Caller>, settings: &Settings, accounts: &Accounts) -> Vec<Expected> {
    if inbound.route.method().is_none() {
        return Vec::new();
    }
    let own = match caller {
        Some(Caller::Account { .. }) => merchant(caller, accounts),
        _ => Some(""),
    };
    let address = peer(&inbound.request);
    let mut all: Vec<Expected> =
        own.map(|own| (FailedAttempts::KIND, FailedAttempts::key_of(own, &address))).into_iter().collect();
    match caller {
        Some(Caller::Merchant(name)) => {
            let is_limited = |merchant: &Merchant| merchant.requests_per_minute.is_some();
            if settings.merchants.by_name(name).is_some_and(is_limited) {
                all.push((Meta::KIND, Meta::throttle_key(name)));
            }
        }
        Some(Caller::Account { id, .. }) if !accounts.has_copy(id) => {
            all.push((Meta::KIND, Meta::account_key(id)));
            all.push((Meta::KIND, Meta::account_faults_key(id)));
        }
        _ => {}
    }
    all
}

fn peer<B>(request: &Request<B>) -> String {
    Peer::of(request).to_string()
}

/// Returns the records that a page shows.
fn page(route: &Route) -> Option<Expected> {
    match route {
        Route::Pay(path) => Some((CheckoutToken::KIND, path.split('/').next().unwrap_or_default().to_owned())),
        Route::Challenge(key) => Some((Authentication::KIND, key.clone())),
        _ => None,
    }
}
