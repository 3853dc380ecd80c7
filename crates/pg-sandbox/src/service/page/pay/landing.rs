//! Pages for customers of merchants without pages of their own (spec 3 §4.1; A114).

use http::StatusCode;

use super::super::{Context, Reply, html};
use crate::assumed;

/// After an approval. It shows no part of its query, which anyone can write.
pub(super) fn success(context: &mut Context<'_>) -> Reply {
    page(context, "Thank you", "Your payment has been made. You can close this page.")
}

/// After the customer cancelled.
pub(super) fn cancelled(context: &mut Context<'_>) -> Reply {
    page(context, "Payment cancelled", "Nothing was charged. You can close this page.")
}

fn page(context: &mut Context<'_>, title: &str, text: &str) -> Reply {
    context.basis.assume(assumed::MERCHANT_DEFAULTS_OF_GETTOKEN);
    let body = format!("<h1>{title}</h1>\n<p>{text}</p>");
    Reply::page(StatusCode::OK, html::page(title, &body))
}
