//! The same shop on any number of servers with one database: each request may reach any of them.
//!
//! The shop itself stores nothing about a payment. The store of intents has the rows, and every server begins, resumes
//! and settles payments through its [`Fleet`]. A server that is killed loses nothing: another server continues its
//! payments.
//!
//! Customers pay with a stored card and 3-D Secure, or on the hosted page.

use std::{error::Error, sync::Arc, time::Duration};

use axum::{
    Router,
    body::{Body, to_bytes},
    extract::{Path, Request, State},
    http::{HeaderMap, StatusCode},
    middleware::map_response,
    response::{Html, IntoResponse, Redirect, Response},
    routing::{any, get, post},
};
use pg_hyper::{
    Client, ConnectionLimits,
    proto::{
        Account, BaseUrl, CallbackOutline, CheckoutHint,
        machine::three_d_secure::{NoLiabilityShift, ThreeDSecurePlan},
        model::{CheckoutItem, Currency, Flag, GetToken, InitiateThreeDSecureCardKey, Item, Order as Basket},
    },
    serve_guarded_until,
};
use pg_intents::{Fleet, FleetError, FleetEvent, FleetPlan, FleetQuestion, FleetStep, IntentStore, PaymentOutcome};
use tokio::net::TcpListener;

use crate::{Customers, PENCE, pages, private};

/// How long a browser waits for the next step before it gets a page that asks again.
const PATIENCE: Duration = Duration::from_secs(10);
/// The maximum number of bytes of a callback: more than any callback about a checkout has.
const CALLBACK_BYTES: usize = 64 * 1024;

/// The settings that all servers of the shop share.
#[derive(Debug)]
pub struct FleetConfig {
    /// The shop's account, version 5 included.
    pub account: Account,
    /// The address at which browsers and the service reach the shop: that of the load balancer before its servers.
    pub public_url: BaseUrl,
    /// The name of this server.
    pub name: String,
    /// How long this server may be silent before others continue its payments.
    pub lease: Duration,
    /// The customers who can pay with a stored card.
    pub customers: Customers,
}

struct Shop<S> {
    fleet: Fleet<S>,
    public_url: String,
    customers: Customers,
}

type Server<S> = State<Arc<Shop<S>>>;

/// Serves the shop until `stop` ends, and works on payments that other servers left behind.
///
/// # Errors
/// If the database does not answer.
pub async fn serve<S: IntentStore>(
    listener: TcpListener,
    store: S,
    config: FleetConfig,
    stop: impl Future<Output = ()> + Send + 'static,
) -> Result<(), Box<dyn Error>> {
    let plan = FleetPlan::new(config.name).lease(config.lease).patience(PATIENCE);
    let fleet = Fleet::new(Client::new(config.account)?, Arc::new(store), plan).await?;
    let worker = fleet.clone();
    let working = tokio::spawn(async move { worker.run().await });
    let public_url = config.public_url.as_str().trim_end_matches('/').to_owned();
    let shop = Arc::new(Shop { fleet: fleet.clone(), public_url, customers: config.customers });
    let routes = Router::new()
        .route("/orders/{id}", get(order::<S>))
        .route("/orders/{id}/card", post(card::<S>))
        .route("/orders/{id}/back", any(back::<S>))
        .route("/orders/{id}/hosted", post(hosted::<S>))
        .route("/orders/{id}/paid", get(paid::<S>))
        .route("/orders/{id}/callback", get(callback::<S>).post(callback::<S>))
        .layer(map_response(private))
        .with_state(shop);
    serve_guarded_until(listener, ConnectionLimits::default(), routes, stop).await;
    // Hands the payments of this server over to the other servers.
    fleet.shut_down();
    working.await?;
    Ok(())
}

/// Pays with the stored card of the customer who has signed in. A request that is posted twice, to any servers, makes
/// one payment.
///
/// The card comes from the shop's own record: with a key from the browser, a customer could pay with the card of
/// another one. The service compares the reference with that of the card (spec 2 §4.4 for a payment, A58).
async fn card<S: IntentStore>(
    State(shop): Server<S>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let customer = shop.customers.signed_in(&headers).ok_or(Failure::NotSignedIn)?;
    let basket = Basket::new(Currency::GBP)
        .item(Item::new("Tea", PENCE))
        .unique_merchant_reference(&*id)
        .merchant_customer_reference(&*customer.reference);
    let back = shop.address(&id, "/back");
    let initiation = InitiateThreeDSecureCardKey::new(&*customer.card_key, basket).return_url(back);
    // Without 3-D Secure the shop would bear the loss of a fraud. This shop does not take that risk.
    let plan = ThreeDSecurePlan::default().without_shift(NoLiabilityShift::End);
    onward(&id, shop.fleet.three_d_secure(initiation, plan).await)
}

/// The customer returns from the bank, to any server. The return is only a reason to look the payment up.
async fn back<S: IntentStore>(State(shop): Server<S>, Path(id): Path<String>) -> Result<Redirect, Failure> {
    shop.tell(&id, FleetEvent::Returned).await?;
    Ok(to_order(&id))
}

async fn hosted<S: IntentStore>(State(shop): Server<S>, Path(id): Path<String>) -> Result<Response, Failure> {
    let request = GetToken::new()
        .item(CheckoutItem::new("Tea", format!("{}.{:02}", PENCE / 100, PENCE % 100)))
        .currency(Currency::GBP)
        .trans_reference(&*id)
        .callback_url(shop.address(&id, "/callback"))
        .success_url(shop.address(&id, "/paid"))
        .cancel_url(shop.address(&id, ""))
        .auto_redirect(Flag::YES);
    onward(&id, shop.fleet.checkout(&id, request).await)
}

/// The customer returns from the hosted page. The address names a transaction, which is looked up.
async fn paid<S: IntentStore>(
    State(shop): Server<S>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Redirect, Failure> {
    if let Ok(hint) = CheckoutHint::returned(request.uri().query().unwrap_or_default()) {
        shop.tell(&id, FleetEvent::Reported { trans_key: hint.trans_key().to_owned() }).await?;
    }
    Ok(to_order(&id))
}

/// The service sends a callback. The shop answers after it has stored the event: then any server can look the
/// transaction up.
async fn callback<S: IntentStore>(
    State(shop): Server<S>,
    Path(id): Path<String>,
    request: Request<Body>,
) -> Result<StatusCode, Failure> {
    let (head, body) = request.into_parts();
    let Ok(body) = to_bytes(body, CALLBACK_BYTES).await else { return Ok(StatusCode::BAD_REQUEST) };
    let request = Request::from_parts(head, body);
    let Ok(hint) = CheckoutHint::read(&request) else {
        eprintln!("a callback that names no transaction: {}", CallbackOutline::of(&request));
        return Ok(StatusCode::BAD_REQUEST);
    };
    shop.tell(&id, FleetEvent::Reported { trans_key: hint.trans_key().to_owned() }).await?;
    Ok(StatusCode::OK)
}

/// Shows the state of an order. The server that gets the request continues the payment if no other server does.
async fn order<S: IntentStore>(State(shop): Server<S>, Path(id): Path<String>) -> Result<Html<String>, Failure> {
    let body = match shop.fleet.step(&id).await {
        Ok(FleetStep::Done(outcome)) => outcome_of(&outcome),
        Ok(FleetStep::Ask(question)) => match address_of(&question) {
            Some(url) => format!(r#"<p><a href="{}">Continue with your payment</a></p>"#, pages::escaped(url)),
            None => "<p>One moment, your payment is under way …</p>".to_owned(),
        },
        Err(FleetError::Pending { .. }) => "<p>One moment, your payment is under way …</p>".to_owned(),
        Err(FleetError::NotWaiting { .. }) => return Err(Failure::NotFound),
        Err(error) => return Err(error.into()),
    };
    Ok(pages::page("Your order", &body))
}

/// Paid, certainly not paid, or unknown: every outcome that is not known to be one of the first two is unknown.
fn outcome_of(outcome: &PaymentOutcome) -> String {
    let paid = |key: &str| format!("<p>Paid. Thank you! Transaction {}.</p>", pages::escaped(key));
    match outcome {
        PaymentOutcome::Approved(transaction) => paid(transaction.transaction_key.as_str()),
        PaymentOutcome::PaidOnPage { trans_key } => paid(trans_key),
        PaymentOutcome::Unknown { .. } => {
            "<p>We do not know yet whether you have paid. Please do not pay again: we will find out.</p>".to_owned()
        }
        PaymentOutcome::Declined(_)
        | PaymentOutcome::Refused(_)
        | PaymentOutcome::NotSent
        | PaymentOutcome::NotPaid { .. } => "<p>Not paid.</p>".to_owned(),
    }
}

/// Returns the page to which the customer is redirected.
fn address_of(question: &FleetQuestion) -> Option<&str> {
    match question {
        FleetQuestion::Challenge { url, .. } | FleetQuestion::Redirect { url, .. } => Some(url),
        // This shop leaves no decision to a person.
        _ => None,
    }
}

/// Redirects to the page where the payment continues.
fn onward(id: &str, step: Result<FleetStep, FleetError>) -> Result<Response, Failure> {
    let to = match &step {
        Ok(FleetStep::Ask(question)) => address_of(question).map(Redirect::to),
        Err(FleetError::Pending { .. }) | Ok(FleetStep::Done(_)) => None,
        Err(_) => return Err(step.err().map_or(Failure::NotFound, Into::into)),
    };
    Ok(to.unwrap_or_else(|| to_order(id)).into_response())
}

fn to_order(id: &str) -> Redirect {
    // The id comes from a path, and is written into a path only if it is valid.
    let id: String = id.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
    Redirect::to(&format!("/orders/{id}"))
}

impl<S: IntentStore> Shop<S> {
    /// Returns an address of an order as seen from outside, which is the same on every server.
    fn address(&self, id: &str, page: &str) -> String {
        format!("{}/orders/{id}{page}", self.public_url)
    }

    /// Stores the event, unless the order has no payment.
    async fn tell(&self, id: &str, event: FleetEvent) -> Result<(), Failure> {
        match self.fleet.event(id, &event).await {
            Ok(()) => Ok(()),
            Err(FleetError::NotWaiting { .. }) => Err(Failure::NotFound),
            Err(error) => Err(error.into()),
        }
    }
}

/// The reason why no page is shown.
enum Failure {
    NotFound,
    NotSignedIn,
    /// The order has another kind of payment.
    Other,
    /// The error is logged for the operator; the customer can try again.
    Failed(FleetError),
}

impl From<FleetError> for Failure {
    fn from(error: FleetError) -> Self {
        match error {
            FleetError::OtherPayment { .. } => Self::Other,
            error => Self::Failed(error),
        }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        match self {
            Self::NotFound => (StatusCode::NOT_FOUND, "There is no such order.\n").into_response(),
            Self::NotSignedIn => (StatusCode::UNAUTHORIZED, "Please sign in first.\n").into_response(),
            Self::Other => (StatusCode::CONFLICT, "This order is being paid in another way.\n").into_response(),
            Self::Failed(error) => {
                eprintln!("{error}");
                (StatusCode::SERVICE_UNAVAILABLE, "This did not work. Please reload the page in a moment.\n")
                    .into_response()
            }
        }
    }
}
