//! Final pages: of tokens that cannot be paid (spec 3 §3.1; A119), and for customers of merchants without pages of
//! their own (spec 3 §4.1; A114).

use http::StatusCode;

use super::super::{Context, Reply, html};
use crate::{
    assumed,
    records::{CheckoutToken, TokenEnd},
};

/// Returns the page of a token that has expired, or is not valid yet.
pub(super) fn page(token: &CheckoutToken, end: TokenEnd) -> Reply {
    let (title, text) = match end {
        _ if token.unheard => return unanswered(token),
        // Shown first, whatever ended the token later: a customer who has paid must not think that the payment is
        // missing.
        _ if token.paid && token.uses == 0 => {
            ("This payment has been made", "The link has expired with the payment, and nothing more will be charged.")
        }
        TokenEnd::Cancelled if token.paid => {
            (EXPIRED, "The shop has withdrawn it. What was paid here before is not affected.")
        }
        TokenEnd::Expired if token.paid => {
            (EXPIRED, "No further payment can be made here. What was paid here before is not affected.")
        }
        TokenEnd::Cancelled => (EXPIRED, "The shop has withdrawn it."),
        TokenEnd::NotStarted => ("This payment link cannot be used yet", "Please open it again later."),
        TokenEnd::UsedUp | TokenEnd::Expired => (EXPIRED, "The payment can no longer be made here."),
    };
    gone(token, title, text, !token.paid)
}

/// Returns the page of a token without visits left. Nothing says that it cannot be paid: a form that is still open can
/// be sent, and a challenge can be passed.
pub(super) fn visits_used_up(token: &CheckoutToken) -> Reply {
    if token.unheard {
        return unanswered(token);
    }
    let paid = if token.paid { " What was paid here before is not affected." } else { "" };
    let text = format!(
        "It was opened as often as the shop allows. If the payment page is still open elsewhere, you can pay there.{paid}"
    );
    gone(token, EXPIRED, &text, !token.paid)
}

/// Returns the page of an ended token for a customer whose payment the bank did not answer. It is the same whether the
/// bank has charged or not (A93).
pub(super) fn unanswered(token: &CheckoutToken) -> Reply {
    let text = "Your bank did not answer a payment made here. It is unknown whether your card was charged.";
    gone(token, EXPIRED, text, false)
}

const EXPIRED: &str = "This payment link has expired";

/// Returns the page of an ended token. `cancel_url` is for customers who give up: a customer who has paid, perhaps
/// without knowing it, must not be sent there.
fn gone(token: &CheckoutToken, title: &str, text: &str, leads_back: bool) -> Reply {
    let back = if leads_back {
        let cancel = html::value(&token.cancel_url);
        format!("<p class=\"after\"><a class=\"button\" href=\"{cancel}\">Go back to the shop</a></p>\n")
    } else {
        String::new()
    };
    let body = format!(
        "<p class=\"shop\"><bdi>{shop}</bdi></p>\n<h1>{title}</h1>\n<p>{text}</p>\n\
         <p>Please ask the shop if you did not expect this.</p>\n{back}",
        shop = html::text(&token.merchant),
    );
    Reply::page(StatusCode::GONE, html::page(&html::title_at(title, &html::text(&token.merchant)), &body))
}

/// Returns the page of a token without items: there is no amount, so there is no form (A118).
pub(super) fn nothing_to_pay(token: &CheckoutToken) -> Reply {
    let title = "There is nothing to pay";
    let body = format!(
        "<p class=\"shop\"><bdi>{shop}</bdi></p>\n<h1>{title}</h1>\n<p>The shop has asked for no amount. Nothing was \
         charged.</p>\n<p class=\"after\"><a class=\"button\" href=\"{cancel}\">Go back to the shop</a></p>\n",
        shop = html::text(&token.merchant),
        cancel = html::value(&token.cancel_url),
    );
    Reply::page(StatusCode::OK, html::page(&html::title_at(title, &html::text(&token.merchant)), &body))
}

/// Returns the page of an unknown token.
pub(super) fn unknown() -> Reply {
    let title = "This payment link is not known";
    let body = format!("<h1>{title}</h1>\n<p>The link may be incomplete. Please open it from the shop again.</p>");
    Reply::page(StatusCode::NOT_FOUND, html::page(title, &body))
}

/// Returns the page after an approval. It shows no part of its query, since anyone can write one.
pub(super) fn success(context: &mut Context<'_>) -> Reply {
    landing(context, "Thank you", "Your payment has been made. You can close this page.")
}

/// Returns the page after the customer cancelled.
pub(super) fn cancelled(context: &mut Context<'_>) -> Reply {
    landing(
        context,
        "Payment cancelled",
        "You have left the payment page. Nothing more will be charged, and you can close this page.",
    )
}

fn landing(context: &mut Context<'_>, title: &str, text: &str) -> Reply {
    context.basis.assume(assumed::MERCHANT_DEFAULTS_OF_GETTOKEN);
    let body = format!("<h1>{title}</h1>\n<p>{text}</p>");
    Reply::page(StatusCode::OK, html::page(title, &body))
}
