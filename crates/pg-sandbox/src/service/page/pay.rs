//! The hosted payment page of a checkout token (spec 3 §1, §3.1; A119, A120, A136 and
//! 180 to 182).

use bytes::Bytes;
use http::{HeaderValue, Method, Request, header};

use super::{super::method, Basis, Context, Refusal, Reply, wrong_method};
use crate::{
    assumed,
    form::Form,
    merchants::{Merchant, Redemption},
    records::{AuthenticationEnd, CheckoutToken, CheckoutVisit, FormOutcome, Payment, Service, TokenEnd},
    service::{enterprise, transaction::authentication},
    store::Query,
};

mod brand;
mod checkout;
mod ended;
mod entered;
mod expiry;
mod fields;
mod order;
mod paid;

use crate::codes::SandboxErrorCode;
use checkout::{Alert, Page};
use entered::Entered;

/// The cookie with the key of the visit whose form this browser was shown last.
const SHOWN: &str = "shown";
/// The cookie with the key of the visit whose payment, or missing answer of the bank, this browser was shown last.
const SENT: &str = "sent";

/// Answers `/pay/…`: a token's page, or one of the final pages for customers of merchants without pages of their own.
pub(in super::super) fn pay(context: &mut Context<'_>, path: &str, request: &Request<Bytes>) -> Result<Reply, Refusal> {
    context.basis = Basis::new("3 §3.1");
    context
        .basis
        .assume_all([assumed::WHAT_THE_PAYMENT_PAGE_DOES, assumed::LANGUAGE_AND_AMOUNTS_OF_PAGES_FOR_CUSTOMERS]);
    let path = path.strip_suffix('/').unwrap_or(path);
    Ok(match (request.method(), path, path.split_once('/')) {
        (&Method::GET, "success", _) => ended::success(context),
        (&Method::GET, "cancelled", _) => ended::cancelled(context),
        (&Method::GET, _, Some((token, visit))) => resume(context, token, visit)?,
        (&Method::GET, token, None) => visit(context, token, request)?,
        (&Method::POST, token, None) if !matches!(token, "success" | "cancelled") => submit(context, token, request)?,
        (_, "success" | "cancelled", _) | (_, _, Some(_)) => wrong_method("GET, HEAD"),
        _ => wrong_method("GET, HEAD, POST"),
    })
}

/// Returns a token and the account that it belongs to.
fn find<'a>(context: &mut Context<'a>, token: &str) -> Result<Option<(CheckoutToken, &'a Merchant)>, Refusal> {
    let token = context.records.get::<CheckoutToken>(token)?;
    Ok(token.and_then(|token| {
        let merchant = context.merchant(&token.merchant)?;
        Some((token, merchant))
    }))
}

/// Opens the page, which counts as a visit unless the token has ended (A119). A visit redeems the token, so it leads to
/// `redemption_redirect_url` if there is one (spec 3 §3.1, §6; A120).
fn visit(context: &mut Context<'_>, token: &str, request: &Request<Bytes>) -> Result<Reply, Refusal> {
    let Some((mut token, merchant)) = find(context, token)? else { return Ok(ended::unknown()) };
    let end = token.end(context.now);
    // The page must not reveal that a charge without an answer has used the token up (A93).
    if end.is_none() || token.unheard && end == Some(TokenEnd::UsedUp) {
        let left = if token.visit() { Visits::Left } else { Visits::UsedUp };
        if left == Visits::Left {
            context.records.put(&token)?;
        }
        if let Some(result) = sent_before(context, &token, request, left)? {
            return Ok(result);
        }
        if left == Visits::UsedUp {
            return Ok(ended::visits_used_up(&token));
        }
    }
    if let Some(end) = end {
        return Ok(ended::page(&token, end));
    }
    if let (Redemption::Visit, Some(address)) = (merchant.redemption, &token.redemption_redirect_url) {
        context.basis.assume(assumed::THE_WAY_BACK_FROM_THE_PAYMENT_PAGE);
        return paid::on_redemption(address);
    }
    if token.amount == 0 {
        context.basis.assume(assumed::A_CHECKOUT_WITHOUT_ITEMS);
        return Ok(ended::nothing_to_pay(&token));
    }
    let visit = match open_form(context, &token, request)? {
        Some(open) => open,
        None => new_visit(context, &token)?.key,
    };
    let entered = Entered::of_customer(&token.user);
    let reply = Page { token: &token, visit: &visit, entered: &entered, alert: None, faults: &[] }.reply();
    // The browser needs the cookie before it sends the form: the reply to the form may be lost.
    remembered(context, reply, &token, SHOWN, &visit)
}

/// Whether the token can still be visited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Visits {
    Left,
    UsedUp,
}

/// Returns what became of the form that this browser sent: its payment, unless the customer wants to make another one
/// after it; a missing answer of the bank; or the challenge. The browser may not have received the reply to the form.
/// When a customer goes back to the page, browsers request it anew and fill in the form as before (A136). Without
/// visits left there is no new form.
fn sent_before(
    context: &mut Context<'_>,
    token: &CheckoutToken,
    request: &Request<Bytes>,
    visits: Visits,
) -> Result<Option<Reply>, Refusal> {
    let again = request.uri().query().and_then(|query| query.strip_prefix(paid::AGAIN));
    for cookie in [SHOWN, SENT] {
        let Some(visit) = visit_in(context, token, request, cookie)? else { continue };
        let Some((outcome, next)) = last_outcome(context, &visit)? else { continue };
        match &outcome {
            FormOutcome::Approved { transaction } if visits == Visits::Left && again == Some(transaction) => {}
            FormOutcome::Approved { transaction } => {
                if let Some(payment) = context.records.get::<Payment>(transaction)? {
                    let reply = paid::before(context, token, &payment)?;
                    return remembered(context, reply, token, SENT, &visit.key).map(Some);
                }
            }
            FormOutcome::Unanswered { .. } if visits == Visits::UsedUp => return Ok(Some(ended::unanswered(token))),
            FormOutcome::Unanswered { .. } | FormOutcome::Challenged { .. } => {
                let entered = Entered::of_customer(&token.user);
                return shown(context, token, &visit.key, &entered, &outcome, next.as_deref(), Replay::Yes).map(Some);
            }
            FormOutcome::Declined { .. } => {}
        }
    }
    Ok(None)
}

/// Returns the key of the form that this browser was shown, or that follows it after a decline, if it can still be
/// paid. All tabs of a browser show the same form, so that only one of them pays.
fn open_form(
    context: &mut Context<'_>,
    token: &CheckoutToken,
    request: &Request<Bytes>,
) -> Result<Option<String>, Refusal> {
    let Some(visit) = visit_in(context, token, request, SHOWN)? else { return Ok(None) };
    Ok(match last_outcome(context, &visit)? {
        None => Some(visit.key),
        Some((_, next)) => next,
    })
}

/// Returns the visit of the token that a cookie of this browser names.
fn visit_in(
    context: &mut Context<'_>,
    token: &CheckoutToken,
    request: &Request<Bytes>,
    cookie: &str,
) -> Result<Option<CheckoutVisit>, Refusal> {
    let cookies = request.headers().get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut cookies = cookies.flat_map(|value| value.split(';')).filter_map(|cookie| cookie.trim().split_once('='));
    let Some((_, key)) = cookies.find(|(name, _)| *name == cookie) else { return Ok(None) };
    let visit = context.records.get::<CheckoutVisit>(key)?.filter(|visit| visit.token == token.key);
    if visit.is_some() {
        context.basis.assume(assumed::ONE_CHARGE_FOR_ONE_PAYMENT_FORM);
    }
    Ok(visit)
}

/// Returns the reply with a cookie in which the browser remembers a visit.
fn remembered(
    context: &Context<'_>,
    reply: Reply,
    token: &CheckoutToken,
    cookie: &str,
    visit: &str,
) -> Result<Reply, Refusal> {
    let secure = if context.pages_have_tls() { "; Secure" } else { "" };
    let cookie = format!("{cookie}={visit}; Path=/pay/{}; HttpOnly; SameSite=Lax{secure}", token.key);
    let cookie = HeaderValue::try_from(cookie).map_err(|_| Refusal::from(SandboxErrorCode::SANDBOX_FAILURE))?;
    Ok(reply.setting_cookie(cookie))
}

/// A form shown to a customer.
fn new_visit(context: &mut Context<'_>, token: &CheckoutToken) -> Result<CheckoutVisit, Refusal> {
    let visit = CheckoutVisit {
        key: context.keys.record(context.now),
        merchant: token.merchant.clone(),
        token: token.key.clone(),
        outcome: None,
        created: context.now,
    };
    context.records.put(&visit)?;
    Ok(visit)
}

/// Handles a posted form. It is sent to the bank once; posting it again shows its result (A136).
fn submit(context: &mut Context<'_>, token: &str, request: &Request<Bytes>) -> Result<Reply, Refusal> {
    let Some((mut token, merchant)) = find(context, token)? else { return Ok(ended::unknown()) };
    let form = method::form(context.settings, request)?;
    context.basis.assume_all([assumed::ONE_CHARGE_FOR_ONE_PAYMENT_FORM, assumed::EXPIRY_DATE_ON_THE_PAYMENT_PAGE]);
    let Some(visit) = visit_of(context, &token, &form)? else { return to_page(&token) };
    let entered = Entered::of(&form);
    if let Some((outcome, next)) = last_outcome(context, &visit)? {
        return shown(context, &token, &visit.key, &entered, &outcome, next.as_deref(), Replay::Yes);
    }
    if let Some(end) = token.end(context.now) {
        return Ok(ended::page(&token, end));
    }
    let faults = entered.faults(context.now);
    if !faults.is_empty() {
        let page = Page { token: &token, visit: &visit.key, entered: &entered, alert: None, faults: &faults };
        return Ok(page.reply());
    }
    let outcome = if token.three_d_secure {
        let back = format!("/pay/{}/{}", token.key, visit.key);
        match enterprise::open_authentication(context, merchant, &token, entered.card(), &entered.name, back)? {
            Some(authentication) => FormOutcome::Challenged { authentication: authentication.key },
            None => FormOutcome::Unanswered { next: new_visit(context, &token)?.key },
        }
    } else {
        let payment = enterprise::pay(context, merchant, &mut token, entered.card(), &entered.name)?;
        outcome_of(context, &token, payment, None)?
    };
    settled(context, &mut token, visit, &entered, outcome)
}

/// Handles a customer's return from the challenge: asks the bank, once (A122).
fn resume(context: &mut Context<'_>, token: &str, visit: &str) -> Result<Reply, Refusal> {
    let Some((mut token, merchant)) = find(context, token)? else { return Ok(ended::unknown()) };
    let visit = context.records.get::<CheckoutVisit>(visit)?.filter(|visit| visit.token == token.key);
    let Some(visit) = visit else { return to_page(&token) };
    context.basis.assume(assumed::ONE_CHARGE_FOR_ONE_PAYMENT_FORM);
    let entered = Entered::of_customer(&token.user);
    let Some(FormOutcome::Challenged { authentication }) = &visit.outcome else {
        return match last_outcome(context, &visit)? {
            None => to_page(&token),
            Some((outcome, next)) => {
                shown(context, &token, &visit.key, &entered, &outcome, next.as_deref(), Replay::Yes)
            }
        };
    };
    let authentication = authentication::find(context, merchant, Service::V5, authentication)?;
    if authentication.ended(context.now).is_none() {
        return see_other(&authentication.page());
    }
    if let Some(end) = token.end(context.now) {
        return Ok(ended::page(&token, end));
    }
    let end = authentication.ended(context.now);
    let payment = enterprise::pay_authenticated(context, merchant, &mut token, authentication)?;
    let outcome = outcome_of(context, &token, payment, end)?;
    settled(context, &mut token, visit, &entered, outcome)
}

/// Returns the bank's decision on a form, after a challenge with this result. Without an approval there is a new form.
fn outcome_of(
    context: &mut Context<'_>,
    token: &CheckoutToken,
    payment: Option<Payment>,
    challenge: Option<AuthenticationEnd>,
) -> Result<FormOutcome, Refusal> {
    Ok(match payment {
        Some(payment) if payment.approved() => FormOutcome::Approved { transaction: payment.key },
        Some(payment) => {
            FormOutcome::Declined { transaction: payment.key, next: new_visit(context, token)?.key, challenge }
        }
        None => FormOutcome::Unanswered { next: new_visit(context, token)?.key },
    })
}

/// Stores the result of a form and shows it.
fn settled(
    context: &mut Context<'_>,
    token: &mut CheckoutToken,
    visit: CheckoutVisit,
    entered: &Entered,
    outcome: FormOutcome,
) -> Result<Reply, Refusal> {
    if matches!(outcome, FormOutcome::Unanswered { .. }) && !token.unheard {
        token.unheard = true;
        context.records.put(token)?;
    }
    let visit = CheckoutVisit { outcome: Some(outcome.clone()), ..visit };
    context.records.put(&visit)?;
    let next = next_of(&outcome).map(str::to_owned);
    shown(context, token, &visit.key, entered, &outcome, next.as_deref(), Replay::No)
}

/// Returns the visit whose form was posted. A form without a key counts as the newest form of the token, so that a
/// client that sends only the five inputs is charged once too.
fn visit_of(context: &mut Context<'_>, token: &CheckoutToken, form: &Form) -> Result<Option<CheckoutVisit>, Refusal> {
    let visit = match form.get(checkout::VISIT) {
        Some(key) => context.records.get::<CheckoutVisit>(key)?,
        None => {
            let newest = Query::newest(1).equal(CheckoutVisit::TOKEN, &token.key);
            context.records.find::<CheckoutVisit>(&newest)?.pop()
        }
    };
    Ok(visit.filter(|visit| visit.token == token.key))
}

/// Shows the page to a customer who has not seen it yet.
fn to_page(token: &CheckoutToken) -> Result<Reply, Refusal> {
    see_other(&format!("/pay/{}", token.key))
}

fn see_other(path: &str) -> Result<Reply, Refusal> {
    let location = HeaderValue::try_from(path);
    location.map(Reply::see_other).map_err(|_| SandboxErrorCode::SANDBOX_FAILURE.into())
}

/// Returns the result of an earlier form, or of the forms after it, with the form that is still open.
fn last_outcome(
    context: &mut Context<'_>,
    visit: &CheckoutVisit,
) -> Result<Option<(FormOutcome, Option<String>)>, Refusal> {
    let mut found = None;
    let mut outcome = visit.outcome.clone();
    while let Some(known) = outcome {
        let next = next_of(&known).map(str::to_owned);
        let following = match &next {
            Some(next) => context.records.get::<CheckoutVisit>(next)?,
            None => None,
        };
        outcome = following.and_then(|visit| visit.outcome);
        found = Some((known, next));
    }
    Ok(found)
}

fn next_of(outcome: &FormOutcome) -> Option<&str> {
    match outcome {
        FormOutcome::Approved { .. } | FormOutcome::Challenged { .. } => None,
        FormOutcome::Declined { next, .. } | FormOutcome::Unanswered { next } => Some(next),
    }
}

/// Whether a form was posted before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Replay {
    No,
    Yes,
}

/// Returns the page for the bank's decision on the form of `visit`; after a decline, the form again.
fn shown(
    context: &mut Context<'_>,
    token: &CheckoutToken,
    visit: &str,
    entered: &Entered,
    outcome: &FormOutcome,
    next: Option<&str>,
    replay: Replay,
) -> Result<Reply, Refusal> {
    let transaction = match outcome {
        // The challenge page redirects here once it has ended.
        FormOutcome::Challenged { authentication } => return see_other(&format!("/3ds/{authentication}")),
        FormOutcome::Approved { transaction } | FormOutcome::Declined { transaction, .. } => {
            context.records.get::<Payment>(transaction)?
        }
        FormOutcome::Unanswered { .. } => None,
    };
    if let (FormOutcome::Approved { .. }, Some(payment)) = (outcome, &transaction) {
        let reply = paid::reply(context, token, payment, entered)?;
        return remembered(context, reply, token, SENT, visit);
    }
    let unanswered = matches!(outcome, FormOutcome::Unanswered { .. });
    // If the bank did not answer, the page must not reveal that a charge has used the token up (A93).
    let unheard = unanswered && token.unheard;
    if let Some(end) = token.end(context.now).filter(|end| !(unheard && *end == TokenEnd::UsedUp)) {
        return Ok(if unanswered { ended::unanswered(token) } else { ended::page(token, end) });
    }
    let challenge = match outcome {
        FormOutcome::Declined { challenge, .. } => *challenge,
        _ => None,
    };
    context.basis.assume(assumed::PAYMENT_PAGE_AFTER_A_CHALLENGE);
    let alert = Alert::new(transaction.as_ref(), challenge, replay == Replay::Yes);
    let reply = Page { token, visit: next.unwrap_or_default(), entered, alert: Some(alert), faults: &[] }.reply();
    if unanswered { remembered(context, reply, token, SENT, visit) } else { Ok(reply) }
}
