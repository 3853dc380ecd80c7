//! Pages of tokens that cannot be paid (spec 3 §3.1; assumption 119).

use http::StatusCode;

use super::super::{Reply, html};
use crate::records::{CheckoutToken, TokenEnd};

/// The page of a token that has ended, or has not begun.
pub(super) fn page(token: &CheckoutToken, end: TokenEnd) -> Reply {
    let (title, text) = match end {
        TokenEnd::Expired => ("This payment link has expired", "The payment can no longer be made here."),
        TokenEnd::Cancelled => ("This payment link has expired", "The shop has withdrawn it."),
        TokenEnd::NotStarted => ("This payment link cannot be used yet", "Please open it again later."),
        TokenEnd::UsedUp => {
            ("This payment has been made", "The link has expired with it, and nothing more will be charged.")
        }
    };
    let body = format!(
        "<p class=\"shop\"><bdi>{shop}</bdi></p>\n<h1>{title}</h1>\n<p>{text}</p>\n\
         <p>Please ask the shop if you did not expect this.</p>\n\
         <p class=\"after\"><a class=\"button\" href=\"{back}\">Go back to the shop</a></p>\n{footer}",
        shop = html::text(&token.merchant),
        back = html::text(&token.cancel_url),
        footer = html::SANDBOX_NOTE,
    );
    Reply::page(StatusCode::GONE, html::page(title, &body))
}

/// The page of a token that nobody has made.
pub(super) fn unknown() -> Reply {
    let title = "This payment link is not known";
    let body = format!(
        "<h1>{title}</h1>\n<p>It may be incomplete. Please open it from the shop again.</p>\n{}",
        html::SANDBOX_NOTE
    );
    Reply::page(StatusCode::NOT_FOUND, html::page(title, &body))
}
