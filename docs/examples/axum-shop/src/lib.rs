//! A shop to copy: axum in front, `pg-hyper` behind.
//!
//! A customer pays by card with 3-D Secure, on a form of the shop that the browser posts to the service, or on the
//! service's hosted page, which sends a callback. Whatever the network does and whenever the process is killed, an
//! order is paid at most once, and the shop learns the outcome.
//!
//! One process at a time works on a folder of orders. The same shop on several servers with one database is in `fleet.rs`.
//!
//! - `orders.rs`: an order is a file, with the machine of its payment in it;
//! - `payments.rs`: how machines are begun, driven, told and resumed;
//! - this file: the routes; `pages.rs`: what they show.

use std::{error::Error, path::PathBuf, sync::Arc, time::Duration};

use axum::{
    Router,
    extract::{Path, State},
    http::{HeaderValue, StatusCode, Uri, header},
    middleware::map_response,
    response::{Html, IntoResponse, Redirect, Response},
    routing::{any, get, post},
};
use pg_hyper::{
    ConnectionLimits, Receiver, ReceiverLimits,
    proto::{
        Account, BaseUrl, CardFormResult, CheckoutHint, Redirect as CardReturn,
        machine::{Backoff, checkout::CheckoutPlan, three_d_secure::ThreeDSecurePlan},
        model::{Initiate, RedirectData},
    },
    serve_guarded_until,
};
use tokio::net::TcpListener;

use crate::{
    orders::{Order, Status},
    payments::Payments,
};

mod environment;
mod fleet;
mod orders;
mod pages;
mod payments;

pub use environment::{account_of_environment, exit_code, stopped};
pub use fleet::{FleetConfig, serve as serve_in_fleet};

/// What a pound of tea costs.
const PENCE: u64 = 499;

/// The configuration of the shop.
#[derive(Debug)]
pub struct Config {
    /// The shop's account, version 5 included.
    pub account: Account,
    /// What browsers and the service call the shop by.
    pub public_url: BaseUrl,
    /// Where the orders are kept.
    pub folder: PathBuf,
    /// The bounds of card payments.
    pub plan: ThreeDSecurePlan,
    /// The bounds of payments on the hosted page.
    pub checkout: CheckoutPlan,
    /// The pauses between lookups of a payment whose outcome is unknown.
    pub lookups: Backoff,
}

impl Config {
    /// With the usual bounds.
    #[must_use]
    pub fn new(account: Account, public_url: BaseUrl, folder: PathBuf) -> Self {
        let plan = ThreeDSecurePlan::default();
        // A customer who leaves the hosted page waits for two minutes before they can pay in another way: a payment may be
        // at its bank.
        let checkout = CheckoutPlan::default().linger(Duration::from_secs(120));
        let lookups = Backoff::new(Duration::from_secs(60), Duration::from_secs(3_600));
        Self { account, public_url, folder, plan, checkout, lookups }
    }

    /// An address of an order, from outside.
    fn address(&self, id: &str, page: &str) -> String {
        format!("{}/orders/{id}{page}", self.public_url.as_str().trim_end_matches('/'))
    }
}

/// Serves the shop until `stop` ends, and finishes the requests that are under way then. Payments that were under way
/// when a process ended, however it ended, go on at once.
///
/// # Errors
/// If the orders cannot be read, or a saved payment belongs to another account.
pub async fn serve(
    listener: TcpListener,
    config: Config,
    stop: impl Future<Output = ()> + Send + 'static,
) -> Result<(), Box<dyn Error>> {
    let callbacks = BaseUrl::parse(&format!("{}/callbacks", config.public_url.as_str().trim_end_matches('/')))?;
    let receiver = Receiver::nested(&callbacks, ReceiverLimits::default());
    let payments = Payments::open(config, receiver.service())?;
    let shop = Router::new()
        .route("/", get(|| async { pages::product(PENCE) }))
        .route("/orders", post(buy))
        .route("/orders/{id}", get(order))
        .route("/orders/{id}/card", get(card))
        .route("/orders/{id}/back", any(back))
        .route("/orders/{id}/hosted", post(hosted))
        .route("/orders/{id}/paid", get(paid))
        .route("/orders/{id}/withdraw", post(withdraw))
        .route("/orders/{id}/again", post(again))
        .layer(map_response(private))
        .with_state(Arc::clone(&payments))
        .nest_service("/callbacks", receiver.service());
    let routing = tokio::spawn(Arc::clone(&payments).route(receiver));
    // Unlike `axum::serve` it bounds connections: strangers on the Internet can neither fill the memory nor keep customers out.
    serve_guarded_until(listener, ConnectionLimits::default(), shop, stop).await;
    // The machines ran until the last request was answered: browsers wait for them.
    payments.stop();
    routing.abort();
    Ok(())
}

type Shop = State<Arc<Payments>>;

async fn buy(State(shop): Shop) -> Result<Redirect, DriveError> {
    Ok(to_order(&shop.orders.add(PENCE)?.id))
}

async fn order(State(shop): Shop, Path(id): Path<String>) -> Result<Html<String>, DriveError> {
    Ok(pages::order(&found(&shop, &id)?, shop.lead(&id).as_deref()))
}

/// Shows the card form. The service redirects the browser back here, with or without errors.
async fn card(State(shop): Shop, Path(id): Path<String>, uri: Uri) -> Result<Response, DriveError> {
    let order = found(&shop, &id)?;
    if !matches!(order.status, Status::Open { .. }) {
        return Ok(to_order(&id).into_response());
    }
    // Nothing in the address is proof of anything: the worst that a forged one does is to try to pay.
    let returned = uri.query().and_then(|query| CardReturn::parse(query).ok());
    let cipher = shop.client.account().session_cipher()?;
    let posted = returned.as_ref().and_then(|returned| order.session(&returned.form_id));
    let result = returned.as_ref().and_then(|returned| returned.open(&cipher).ok());
    match (posted, result) {
        (Some((session, _)), Some(CardFormResult::Accepted(_))) => {
            // Paid with the session that has this card, whichever forms other tabs have opened since.
            shop.by_card(&order, session)?;
            Ok(onward(&shop, &id).await.into_response())
        }
        (Some(_), Some(CardFormResult::Invalid(data))) => show(&shop, &id, false, Some(data.get()), "").await,
        // The session has expired, or a field is missing.
        (Some((_, newest)), Some(CardFormResult::Failed(error))) => {
            show(&shop, &id, newest, None, &error.get().error_message).await
        }
        (None, Some(_)) => show(&shop, &id, false, None, "That form was an old one").await,
        (_, None) => show(&shop, &id, false, None, "").await,
    }
}

/// Shows the form of the newest session, or of a new one. The others stay: a card may be in them.
async fn show(
    shop: &Payments,
    id: &str,
    anew: bool,
    data: Option<&RedirectData>,
    problem: &str,
) -> Result<Response, DriveError> {
    let here = shop.config.address(id, "/card");
    let mut order = found(shop, id)?;
    if anew || matches!(&order.status, Status::Open { sessions } if sessions.is_empty()) {
        let session = shop.client.call(&Initiate::new(here.as_str())).await?.session_key;
        order = shop.orders.change(id, |order| {
            if let Status::Open { sessions } = &mut order.status {
                sessions.push(session.to_string());
            }
        })?;
    }
    let Status::Open { sessions } = &order.status else { return Ok(to_order(id).into_response()) };
    let Some(session) = sessions.last() else { return Err(DriveError::NotFound) };
    let form = shop.client.account().card_form(session.as_str(), here.as_str(), here.as_str());
    Ok(pages::card(&form.form_id(order.form(sessions.len() - 1)), data, problem).into_response())
}

/// The customer is back from their bank. That is only a reason to ask how it went.
async fn back(State(shop): Shop, Path(id): Path<String>) -> Result<Redirect, DriveError> {
    found(&shop, &id)?;
    shop.tell(&id, |status| {
        if let Status::Card { returned, .. } = status {
            *returned = true;
        }
    })?;
    Ok(to_order(&id))
}

async fn hosted(State(shop): Shop, Path(id): Path<String>) -> Result<Redirect, DriveError> {
    let order = found(&shop, &id)?;
    if matches!(order.status, Status::Open { .. }) {
        shop.hosted(&order)?;
    }
    Ok(onward(&shop, &id).await)
}

/// The customer is back from the hosted page, and the address names a transaction, which is looked up.
async fn paid(State(shop): Shop, Path(id): Path<String>, uri: Uri) -> Result<Redirect, DriveError> {
    found(&shop, &id)?;
    if let Ok(hint) = CheckoutHint::returned(uri.query().unwrap_or_default()) {
        shop.returned(&id, hint.trans_key())?;
    }
    Ok(to_order(&id))
}

/// The customer wants to pay in another way. Only once the page is closed and nothing was paid on it, there is another attempt.
async fn withdraw(State(shop): Shop, Path(id): Path<String>) -> Result<Redirect, DriveError> {
    found(&shop, &id)?;
    shop.tell(&id, |status| {
        if let Status::Hosted(hosted) = status {
            hosted.withdrawn = true;
        }
    })?;
    Ok(to_order(&id))
}

/// Another attempt, under another reference: only when the one before has certainly failed.
async fn again(State(shop): Shop, Path(id): Path<String>) -> Result<Redirect, DriveError> {
    found(&shop, &id)?;
    shop.orders.change(&id, |order| {
        if matches!(order.status, Status::NotPaid { .. }) {
            order.attempt += 1;
            order.status = Status::Open { sessions: Vec::new() };
        }
    })?;
    Ok(to_order(&id))
}

fn found(shop: &Payments, id: &str) -> Result<Order, DriveError> {
    shop.orders.get(id).ok_or(DriveError::NotFound)
}

fn to_order(id: &str) -> Redirect {
    // The id comes out of a path, and goes back into one only if it is an id.
    let id: String = id.chars().filter(char::is_ascii_hexdigit).collect();
    Redirect::to(&format!("/orders/{id}"))
}

/// Redirects to the page where the payment continues.
async fn onward(shop: &Payments, id: &str) -> Redirect {
    match shop.next_lead(id).await {
        Some(lead) => Redirect::to(&lead),
        None => to_order(id),
    }
}

/// The address of an order works like a password: no other page and no cache may get it.
async fn private(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    let policy = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'; base-uri 'none'");
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    response
}

/// Why there is no page.
enum DriveError {
    NotFound,
    /// Told to the operator; the customer can try again.
    Failed(Box<dyn Error>),
}

impl<E: Into<Box<dyn Error>>> From<E> for DriveError {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

impl IntoResponse for DriveError {
    fn into_response(self) -> Response {
        match self {
            Self::NotFound => (StatusCode::NOT_FOUND, "There is no such order.\n").into_response(),
            Self::Failed(error) => {
                eprintln!("{error}");
                (StatusCode::SERVICE_UNAVAILABLE, "This did not work. Please reload the page in a moment.\n")
                    .into_response()
            }
        }
    }
}
