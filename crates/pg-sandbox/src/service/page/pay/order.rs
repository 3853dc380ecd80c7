//! The order: the items and their sum.

use pg_model::{Amount, Currency};

use super::super::html;
use crate::{
    records::{CheckoutItem, CheckoutToken},
    service::money,
};

/// Returns the order. On a narrow screen it is collapsed, so that the card comes first.
pub(super) fn html(token: &CheckoutToken, sum: &str) -> String {
    if token.items.is_empty() && token.reference.is_none() {
        return String::new();
    }
    let reference = token.reference.as_deref().map_or_else(String::new, |reference| {
        format!("<caption>Reference <bdi>{}</bdi></caption>\n", html::text(reference))
    });
    let rows: String = token.items.iter().map(|item| row(item, &token.currency)).collect();
    let count = match token.items.len() {
        1 => "1 item".to_owned(),
        count => format!("{count} items"),
    };
    format!(
        "<details class=\"order\">\n<summary>Your order: {count}</summary>\n<table>\n{reference}\
         <thead class=\"unseen\"><tr><th scope=\"col\">Item</th><th scope=\"col\">Price</th></tr></thead>\n\
         <tbody>\n{rows}</tbody>\n<tfoot><tr><th scope=\"row\">Total</th><td>{sum}</td></tr></tfoot>\n</table>\n</details>\n"
    )
}

fn row(item: &CheckoutItem, currency: &str) -> String {
    let pieces = match item.pieces() {
        1 => String::new(),
        pieces => format!(" <span class=\"pieces\">\u{d7} {pieces}</span>"),
    };
    // The prices were checked when the token was created.
    let price = Amount::parse(&item.price, &Currency::from(currency)).ok();
    let line = price.and_then(|price| price.times(item.pieces())).map_or(0, |line| line.minor());
    format!(
        "<tr><td><bdi>{}</bdi>{pieces}</td><td>{}</td></tr>\n",
        html::text(&item.name),
        html::text(&money::with_currency(line, currency))
    )
}
