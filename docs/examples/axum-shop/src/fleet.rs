//! The same shop on any number of servers with one database: each request may reach any of them.
//!
//! The shop itself stores nothing about a payment. The store of intents has the rows, and every server begins, resumes
//! and settles payments through its [`Fleet`]. A server that is killed loses nothing: another server continues its
//! payments. A shop that takes money also records its paid orders elsewhere: over an older copy of the store, this shop would
//! offer them again (docs/guide/fleet.md, Backups).
//!
//! Customers pay their orders with a stored card and 3-D Secure, or on the hosted page. Each attempt to pay an order has its own
//! reference, and begins only after the previous attempt has ended without a charge.

use std::{error::Error, sync::Arc, time::Duration};

use axum::{
    Router,
    body::{Body, to_bytes},
    extract::{Path, Request, State},
    http::{HeaderMap, StatusCode, Uri, header},
    middleware::map_response,
    response::{Html, IntoResponse, Redirect, Response},
    routing::{any, get, post},
};
use pg_hyper::{
    Client, ConnectionLimits,
    proto::{
        Account, BaseUrl, CallbackOutline, CheckoutHint,
        machine::{
            checkout::CheckoutPlan,
            three_d_secure::{NoLiabilityShift, ThreeDSecurePlan},
        },
        model::{CheckoutItem, Currency, Flag, GetToken, InitiateThreeDSecureCardKey, Item, Order as Basket},
    },
    serve_guarded_until,
};
use pg_intents::{
    Fleet, FleetError, FleetEvent, FleetPlan, FleetQuestion, FleetStartError, FleetStep, IntentStore, PaymentOutcome,
};
use tokio::net::TcpListener;

use crate::{Customers, customers::Customer, pages, private};

/// How long a browser waits for the next step before it gets a page that asks again.
const PATIENCE: Duration = Duration::from_secs(10);
/// The maximum number of attempts to pay an order.
const ATTEMPTS: u32 = 20;
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
    /// How long another way to pay waits after a customer has left the hosted page, because the bank may still be processing a payment.
    pub linger: Duration,
    /// The customers with their stored cards and orders.
    pub customers: Customers,
}

struct Shop<S> {
    fleet: Fleet<S>,
    public_url: BaseUrl,
    customers: Customers,
}

type Server<S> = State<Arc<Shop<S>>>;

/// Serves the shop until `stop` ends, and works on payments that other servers left behind.
///
/// # Errors
/// If the database does not answer, or has payments of another account (`FleetStartError`).
pub async fn serve<S: IntentStore>(
    listener: TcpListener,
    store: S,
    config: FleetConfig,
    stop: impl Future<Output = ()> + Send + 'static,
) -> Result<(), Box<dyn Error>> {
    let plan = FleetPlan::new(config.name).lease(config.lease).patience(PATIENCE);
    let plan = plan.checkouts(CheckoutPlan::default().linger(config.linger));
    let fleet = Fleet::new(Client::new(config.account)?, Arc::new(store), plan).await;
    let fleet = fleet.map_err(|error| refused_start(&error))?;
    println!("the shop is at http://{}", listener.local_addr()?);
    let worker = fleet.clone();
    let working = tokio::spawn(async move { worker.run().await });
    let shop = Arc::new(Shop { fleet: fleet.clone(), public_url: config.public_url, customers: config.customers });
    let routes = Router::new()
        .route("/orders/{id}", get(order::<S>))
        .route("/orders/{id}/card", post(card::<S>))
        .route("/orders/{id}/hosted", post(hosted::<S>))
        .route("/orders/{id}/withdraw", post(withdraw::<S>))
        .route("/orders/{id}/{attempt}/back", any(back::<S>))
        .route("/orders/{id}/{attempt}/paid", get(paid::<S>))
        .route("/orders/{id}/{attempt}/callback", get(callback::<S>).post(callback::<S>))
        .layer(map_response(private))
        .with_state(shop);
    serve_guarded_until(listener, ConnectionLimits::default(), routes, stop).await;
    // Hands the payments of this server over to the other servers.
    fleet.shut_down();
    working.await?;
    Ok(())
}

/// Returns what the operator reads: the variable to look at, and why.
fn refused_start(error: &FleetStartError) -> String {
    match error {
        FleetStartError::Store(error) => format!("SHOP_STORE: {error}"),
        error => format!("SHOP_ACCOUNT is the account's name: {error}"),
    }
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
    shop.posted_here(&headers)?;
    let (customer, pence) = shop.order_of(&headers, &id)?;
    let attempt = shop.attempt(&id).await?;
    let basket = Basket::new(Currency::GBP)
        .item(Item::new("Tea", pence))
        .unique_merchant_reference(reference(&id, attempt))
        .merchant_customer_reference(&*customer.reference);
    let back = shop.address(&id, &format!("/{attempt}/back"));
    let initiation = InitiateThreeDSecureCardKey::new(&*customer.card_key, basket).return_url(back);
    // Without 3-D Secure the shop would bear the loss of a fraud. This shop does not take that risk.
    let plan = ThreeDSecurePlan::default().without_shift(NoLiabilityShift::End);
    onward(&id, shop.fleet.three_d_secure(initiation, plan).await)
}

/// The customer returns from the bank, to any server. The return is only a reason to look the payment up.
async fn back<S: IntentStore>(
    State(shop): Server<S>,
    Path((id, attempt)): Path<(String, u32)>,
) -> Result<Redirect, Failure> {
    shop.tell(&reference(&id, attempt), FleetEvent::Returned).await?;
    Ok(to_order(&id))
}

async fn hosted<S: IntentStore>(
    State(shop): Server<S>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    shop.posted_here(&headers)?;
    let (_, pence) = shop.order_of(&headers, &id)?;
    let attempt = shop.attempt(&id).await?;
    let reference = reference(&id, attempt);
    let request = GetToken::new()
        .item(CheckoutItem::new("Tea", format!("{}.{:02}", pence / 100, pence % 100)))
        .currency(Currency::GBP)
        .trans_reference(&*reference)
        .callback_url(shop.address(&id, &format!("/{attempt}/callback")))
        .success_url(shop.address(&id, &format!("/{attempt}/paid")))
        .cancel_url(shop.address(&id, ""))
        .auto_redirect(Flag::YES);
    onward(&id, shop.fleet.checkout(&reference, request).await)
}

/// The customer wants to pay in another way. Another attempt begins only after the page is closed and nothing was paid
/// on it.
async fn withdraw<S: IntentStore>(
    State(shop): Server<S>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Redirect, Failure> {
    shop.posted_here(&headers)?;
    shop.order_of(&headers, &id)?;
    match shop.tell(&reference(&id, shop.attempt(&id).await?), FleetEvent::Cancelled).await {
        // The page is closed already, and the order's page is old. Its new one shows what the customer can do.
        Ok(()) | Err(Failure::NotFound) => Ok(to_order(&id)),
        Err(failure) => Err(failure),
    }
}

/// The customer returns from the hosted page. The address names a transaction, which is looked up.
async fn paid<S: IntentStore>(
    State(shop): Server<S>,
    Path((id, attempt)): Path<(String, u32)>,
    request: Request,
) -> Result<Redirect, Failure> {
    if let Ok(hint) = CheckoutHint::returned(request.uri().query().unwrap_or_default()) {
        let trans_key = hint.trans_key().to_owned();
        shop.tell(&reference(&id, attempt), FleetEvent::Reported { trans_key }).await?;
    }
    Ok(to_order(&id))
}

/// The service sends a callback. The shop answers after it has stored the event: then any server can look the
/// transaction up.
async fn callback<S: IntentStore>(
    State(shop): Server<S>,
    Path((id, attempt)): Path<(String, u32)>,
    request: Request<Body>,
) -> Result<StatusCode, Failure> {
    let (head, body) = request.into_parts();
    let Ok(body) = to_bytes(body, CALLBACK_BYTES).await else { return Ok(StatusCode::BAD_REQUEST) };
    let request = Request::from_parts(head, body);
    let Ok(hint) = CheckoutHint::read(&request) else {
        eprintln!("a callback that names no transaction: {}", CallbackOutline::of(&request));
        return Ok(StatusCode::BAD_REQUEST);
    };
    let trans_key = hint.trans_key().to_owned();
    shop.tell(&reference(&id, attempt), FleetEvent::Reported { trans_key }).await?;
    Ok(StatusCode::OK)
}

/// Shows the state of an order to its customer. The server that gets the request continues the payment if no other
/// server does.
async fn order<S: IntentStore>(
    State(shop): Server<S>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Html<String>, Failure> {
    let (_, pence) = shop.order_of(&headers, &id)?;
    let attempt = shop.attempt(&id).await?;
    let here = to_order_path(&id);
    let ways = format!(
        r#"<form method="post" action="{here}/card"><button>Pay with your stored card</button></form>
<form method="post" action="{here}/hosted"><button>Pay on the hosted page</button></form>"#
    );
    let body = match shop.fleet.step(&reference(&id, attempt)).await {
        Ok(FleetStep::Done(outcome)) if is_not_paid(&outcome) => format!("<p>Not paid.</p>{ways}"),
        Ok(FleetStep::Done(outcome)) => outcome_of(&outcome),
        Ok(FleetStep::Ask(question)) => match address_of(&question) {
            Some(url) => {
                let withdraw = format!(
                    r#"<form method="post" action="{here}/withdraw"><button>Pay in another way</button></form>"#
                );
                let withdraw = if matches!(question, FleetQuestion::Redirect { .. }) { &*withdraw } else { "" };
                format!(r#"<p><a href="{}">Continue with your payment</a></p>{withdraw}"#, pages::escaped(url))
            }
            None => UNDER_WAY.to_owned(),
        },
        Err(FleetError::Pending { .. }) => UNDER_WAY.to_owned(),
        Err(FleetError::NotWaiting { .. }) if attempt > 1 => format!("<p>Not paid.</p>{ways}"),
        Err(FleetError::NotWaiting { .. }) => format!("<p>To pay: {}.</p>{ways}", pages::pounds(pence)),
        Err(error) => return Err(error.into()),
    };
    Ok(pages::page("Your order", &body))
}

const UNDER_WAY: &str = r#"<meta http-equiv="refresh" content="5"><p>One moment, your payment is under way …</p>"#;

/// The reference of one attempt to pay an order. It fits into the 32 characters of a reference of the hosted page: the number of an
/// order has at most 29.
fn reference(id: &str, attempt: u32) -> String {
    format!("{id}-{attempt}")
}

/// Whether another attempt may begin: this one has ended and has certainly not charged. An unknown outcome is none of these.
const fn is_not_paid(outcome: &PaymentOutcome) -> bool {
    matches!(
        outcome,
        PaymentOutcome::Declined(_)
            | PaymentOutcome::Refused(_)
            | PaymentOutcome::NotSent
            | PaymentOutcome::NotPaid { .. }
    )
}

/// Paid or unknown: every outcome that is neither known to be paid nor certainly not paid is unknown.
fn outcome_of(outcome: &PaymentOutcome) -> String {
    let paid = |key: &str| format!("<p>Paid. Thank you! Transaction {}.</p>", pages::escaped(key));
    match outcome {
        PaymentOutcome::Approved(transaction) => paid(transaction.transaction_key.as_str()),
        PaymentOutcome::PaidOnPage { trans_key } => paid(trans_key),
        _ => pages::UNKNOWN.to_owned(),
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
        // The order is paid, or is being paid in another way. Its page says so.
        Err(FleetError::Pending { .. } | FleetError::OtherPayment { .. }) | Ok(FleetStep::Done(_)) => None,
        Err(_) => return Err(step.err().map_or(Failure::NotFound, Into::into)),
    };
    Ok(to.unwrap_or_else(|| to_order(id)).into_response())
}

fn to_order(id: &str) -> Redirect {
    Redirect::to(&to_order_path(id))
}

/// The id comes from a path, and is written into a path only if it is valid.
fn to_order_path(id: &str) -> String {
    let id: String = id.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
    format!("/orders/{id}")
}

/// Returns scheme, host and port.
fn origin(uri: &Uri) -> Option<(&str, String, u16)> {
    let scheme = uri.scheme_str()?;
    let implied = if scheme == "https" { 443 } else { 80 };
    Some((scheme, uri.host()?.to_ascii_lowercase(), uri.port_u16().unwrap_or(implied)))
}

impl<S: IntentStore> Shop<S> {
    /// Returns an address of an order as seen from outside, which is the same on every server.
    fn address(&self, id: &str, page: &str) -> String {
        format!("{}/orders/{id}{page}", self.public_url)
    }

    /// Returns the customer who has signed in, and what this order of theirs costs.
    fn order_of(&self, headers: &HeaderMap, id: &str) -> Result<(&Customer, u64), Failure> {
        let customer = self.customers.signed_in(headers).ok_or(Failure::NotSignedIn)?;
        let pence = customer.pence(id).ok_or(Failure::NotFound)?;
        Ok((customer, pence))
    }

    /// Refuses what a page of another site posts with the customer's cookie. Browsers say from which site they post.
    fn posted_here(&self, headers: &HeaderMap) -> Result<(), Failure> {
        let Some(from) = headers.get(header::ORIGIN) else { return Ok(()) };
        let from = Uri::try_from(from.as_bytes()).ok();
        let here = self.public_url.as_str().parse().ok();
        let from = from.as_ref().and_then(origin);
        if from.is_some() && from == here.as_ref().and_then(origin) { Ok(()) } else { Err(Failure::Foreign) }
    }

    /// Returns the number of the attempt that pays an order, or has paid it: the first that has not ended without a charge. Two requests
    /// at the same time get the same number, so they join one payment.
    async fn attempt(&self, id: &str) -> Result<u32, Failure> {
        for attempt in 1..ATTEMPTS {
            match self.fleet.outcome(&reference(id, attempt)).await {
                Ok(Some(outcome)) if is_not_paid(&outcome) => {}
                Ok(_) | Err(FleetError::Pending { .. } | FleetError::Parked { .. }) => return Ok(attempt),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(ATTEMPTS)
    }

    /// Stores the event, unless no payment has this reference.
    async fn tell(&self, reference: &str, event: FleetEvent) -> Result<(), Failure> {
        match self.fleet.event(reference, &event).await {
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
    /// A page of another site posts with the customer's cookie.
    Foreign,
    /// The error is logged for the operator; the customer can try again.
    Failed(FleetError),
}

impl From<FleetError> for Failure {
    fn from(error: FleetError) -> Self {
        Self::Failed(error)
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        match self {
            Self::NotFound => (StatusCode::NOT_FOUND, "There is no such order.\n").into_response(),
            Self::NotSignedIn => (StatusCode::UNAUTHORIZED, "Please sign in first.\n").into_response(),
            Self::Foreign => (StatusCode::FORBIDDEN, "Please pay on a page of this shop.\n").into_response(),
            Self::Failed(error) => {
                eprintln!("{error}");
                (StatusCode::SERVICE_UNAVAILABLE, "This did not work. Please reload the page in a moment.\n")
                    .into_response()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use pg_intents::StoreError;

    use super::*;

    #[test]
    fn a_refused_start_names_the_variable_that_it_is_about() {
        let away = StoreError::Unavailable("statement timeout".to_owned());
        assert_eq!(refused_start(&away.clone().into()), format!("SHOP_STORE: {away}"));
        assert!(refused_start(&FleetStartError::Unnamed).starts_with("SHOP_ACCOUNT "));
    }
}
