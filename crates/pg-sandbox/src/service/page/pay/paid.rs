//! After an approval: redirects to the merchant, or shows the sandbox's own page (A120).

use http::{HeaderValue, StatusCode};

use super::{
    super::{Context, Refusal, Reply, html},
    brand,
    checkout::sum,
    entered::Entered,
};
use crate::codes::SandboxErrorCode;
use crate::{
    assumed,
    merchants::Redemption,
    records::{CheckoutToken, Payment, PaymentKind},
    service::page_url::PageUrl,
};

/// The query of a page that a customer opens to pay once more, without the `trans_key` of the payment before. The query
/// names it so that a return to the page after the next payment shows that one.
pub(super) const AGAIN: &str = "again=";

/// Returns the answer to a form that was paid. If it was paid before with another card, the answer says so; what became of the card
/// that was entered now in other forms is not said (A93).
pub(super) fn reply(
    context: &mut Context<'_>,
    token: &CheckoutToken,
    payment: &Payment,
    entered: &Entered,
) -> Result<Reply, Refusal> {
    if payment.card.as_ref().is_some_and(|card| entered.is_other_than(&card.masked)) {
        let again = another_payment(context, token, payment);
        let note = format!(
            "<p role=\"alert\">Nothing was charged now: this payment was made before, with the card below.</p>{again}"
        );
        return receipt(context, token, payment, &note);
    }
    if !token.auto_redirect {
        return receipt(context, token, payment, "");
    }
    context.basis.assume_all(ASSUMED);
    Ok(Reply::see_other(with_key(&token.success_url, payment)?))
}

/// Returns the page for a customer who opens or goes back to the page of a payment that this browser has made. It leads
/// to another payment if the token allows one.
pub(super) fn before(context: &mut Context<'_>, token: &CheckoutToken, payment: &Payment) -> Result<Reply, Refusal> {
    let again = another_payment(context, token, payment);
    receipt(context, token, payment, &again)
}

/// The link to a payment after this one, if the token allows one.
fn another_payment(context: &Context<'_>, token: &CheckoutToken, payment: &Payment) -> String {
    if token.end(context.now).is_some() || token.redemptions == 0 {
        return String::new();
    }
    format!("<p class=\"after\"><a href=\"/pay/{}?{AGAIN}{}\">Make another payment</a></p>", token.key, payment.key)
}

const ASSUMED: [u16; 2] = [assumed::HOW_REDIRECT_PARAMETERS_ARE_APPENDED, assumed::THE_WAY_BACK_FROM_THE_PAYMENT_PAGE];

fn receipt(context: &mut Context<'_>, token: &CheckoutToken, payment: &Payment, again: &str) -> Result<Reply, Refusal> {
    context.basis.assume_all(ASSUMED);
    let merchant = context.merchant(&token.merchant);
    let by_approval = merchant.is_some_and(|merchant| merchant.redemption == Redemption::Approval);
    let redeemed = token.redemption_redirect_url.as_ref().filter(|_| by_approval);
    let next = with_key(redeemed.unwrap_or(&token.success_url), payment)?;
    let next = next.to_str().map_err(|_| Refusal::from(SandboxErrorCode::SANDBOX_FAILURE))?;
    Ok(Reply::page(StatusCode::OK, page(token, payment, next, again)))
}

/// Redirects to `redemption_redirect_url`, exactly as it was sent, without a key since nothing was paid.
pub(super) fn on_redemption(address: &str) -> Result<Reply, Refusal> {
    let location = PageUrl::parse(address).and_then(|page| page.with(&[]).ok());
    location.map(Reply::see_other).ok_or_else(|| SandboxErrorCode::SANDBOX_FAILURE.into())
}

/// Returns an address of the merchant with the `trans_key`, as redirect parameters are appended (A83).
fn with_key(address: &str, payment: &Payment) -> Result<HeaderValue, Refusal> {
    let page = PageUrl::parse(address).and_then(|page| page.with(&[("trans_key", &payment.key)]).ok());
    page.ok_or_else(|| SandboxErrorCode::SANDBOX_FAILURE.into())
}

fn page(token: &CheckoutToken, payment: &Payment, next: &str, again: &str) -> String {
    let (title, text) = match payment.kind {
        PaymentKind::PreAuth => ("Amount reserved", "Thank you. The amount is reserved on your card."),
        _ => ("Payment complete", "Thank you. Your card was charged."),
    };
    let card = payment.card.as_ref().map(|card| format!("{} {}", brand::of(card), card.masked)).unwrap_or_default();
    let body = format!(
        "<p class=\"shop\"><bdi>{shop}</bdi></p>\n<h1><span class=\"done\" aria-hidden=\"true\">\u{2713}</span>{title}</h1>\n\
         <p>{text}</p>\n\
         <dl><dt>Amount</dt><dd>{sum}</dd><dt>Card</dt><dd>{card}</dd><dt>Reference</dt><dd class=\"key\">{key}</dd></dl>\n\
         <p class=\"after\"><a class=\"button\" href=\"{next}\">Continue</a></p>{again}",
        shop = html::text(&token.merchant),
        sum = sum(payment.amount, &payment.currency),
        card = html::text(card.trim_start()),
        key = html::text(&payment.key),
        next = html::value(next),
    );
    html::page(&html::title_at(title, &html::text(&token.merchant)), &body)
}
