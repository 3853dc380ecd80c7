//! A shop to copy: axum in front, `pg-hyper` behind.
//!
//! A customer pays by card with 3-D Secure, on a form of the shop that the browser posts to the service, or on the
//! service's hosted page, which sends a callback. Whatever the network does and whenever the process is killed, an
//! order is paid at most once, and the shop learns the outcome.
//!
//! Only one process at a time works on a folder of orders. The same shop on several servers with one database is in
//! `fleet.rs`.
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

mod customers;
mod environment;
mod fleet;
mod orders;
mod pages;
mod payments;

pub use customers::Customers;
pub use environment::{account_of_environment, exit_code, listener, public_url, stopped};
pub use fleet::{FleetConfig, serve as serve_in_fleet};

/// The price of a pound of tea.
const PENCE: u64 = 499;

/// The configuration of the shop.
#[derive(Debug)]
pub struct Config {
    /// The shop's account, version 5 included.
    pub account: Account,
    /// The address at which browsers and the service reach the shop.
    pub public_url: BaseUrl,
    /// The folder of the orders.
    pub folder: PathBuf,
    /// The bounds of card payments.
    pub plan: ThreeDSecurePlan,
    /// The bounds of payments on the hosted page.
    pub checkout: CheckoutPlan,
    /// The pauses between lookups of a payment whose outcome is unknown.
    pub lookups: Backoff,
}

impl Config {
    /// Creates a configuration with the usual bounds.
    #[must_use]
    pub fn new(account: Account, public_url: BaseUrl, folder: PathBuf) -> Self {
        let plan = ThreeDSecurePlan::default();
        // A customer who leaves the hosted page waits for two minutes before another way to pay is offered, because the
        // bank may still be processing a payment.
        let checkout = CheckoutPlan::default().linger(Duration::from_secs(120));
        let lookups = Backoff::new(Duration::from_secs(60), Duration::from_secs(3_600));
        Self { account, public_url, folder, plan, checkout, lookups }
    }

    /// Returns an address of an order as seen from outside.
    fn address(&self, id: &str, page: &str) -> String {
        format!("{}/orders/{id}{page}", self.public_url.as_str().trim_end_matches('/'))
    }
}

/// Serves the shop until `stop` ends, and then finishes the requests in progress. At its start it continues the
/// payments that were in progress when the last process ended, however it ended.
///
/// # Errors
/// If the orders cannot be read, or a payment in progress belongs to another account.
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
    // Unlike `axum::serve`, this server limits connections: strangers on the Internet can neither fill the memory with
    // connections nor keep customers out. It does not limit orders: each one is a file and stays in memory. A real shop
    // lets only a customer with a basket begin an order, and deletes orders that were never paid.
    serve_guarded_until(listener, ConnectionLimits::default(), shop, stop).await;
    // The machines run until the last request is answered, because browsers wait for them.
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
    // The address proves nothing. The worst that a forged address can do is to start a payment.
    let returned = uri.query().and_then(|query| CardReturn::parse(query).ok());
    let cipher = shop.client.account().session_cipher()?;
    let posted = returned.as_ref().and_then(|returned| order.session(&returned.form_id));
    let result = returned.as_ref().and_then(|returned| returned.open(&cipher).ok());
    match (posted, result) {
        (Some((session, _)), Some(CardFormResult::Accepted(_))) => {
            // The session of this form pays, whatever sessions were opened since. If two tabs of the order have posted a card
            // in it, that is the card that was posted last.
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

/// Shows the form of the newest session, or of a new one. The other sessions stay valid: one of them may have a card.
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

/// The customer returns from the bank. The return is only a reason to look the payment up.
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

/// The customer returns from the hosted page. The address names a transaction, which is looked up.
async fn paid(State(shop): Shop, Path(id): Path<String>, uri: Uri) -> Result<Redirect, DriveError> {
    found(&shop, &id)?;
    if let Ok(hint) = CheckoutHint::returned(uri.query().unwrap_or_default()) {
        shop.returned(&id, hint.trans_key())?;
    }
    Ok(to_order(&id))
}

/// The customer wants to pay in another way. Another attempt begins only after the page is closed and nothing was paid
/// on it.
async fn withdraw(State(shop): Shop, Path(id): Path<String>) -> Result<Redirect, DriveError> {
    found(&shop, &id)?;
    shop.tell(&id, |status| {
        if let Status::Hosted(hosted) = status {
            hosted.withdrawn = true;
        }
    })?;
    Ok(to_order(&id))
}

/// Begins another attempt under another reference, but only if the previous attempt has certainly failed.
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
    // The id comes from a path, and is written into a path only if it is valid.
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

/// The address of an order works like a password: no page of another site and no cache may get it. With `no-referrer`, browsers would
/// not say either from which page they post.
async fn private(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    let policy = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'; base-uri 'none'");
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    response
}

/// The reason why no page is shown.
enum DriveError {
    NotFound,
    /// The error is logged for the operator; the customer can try again.
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
