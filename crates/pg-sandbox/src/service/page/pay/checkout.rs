//! The payment form (spec 3 §1).

use http::StatusCode;

use super::{
    super::{Reply, html},
    brand,
    entered::{Entered, FieldMistake},
    fields, order,
};
use crate::{
    records::{AuthenticationEnd, CheckoutToken, Payment, PaymentKind},
    service::money,
};

/// The hidden input that identifies the posted form.
pub(super) const VISIT: &str = "visit";

/// The form for a customer, with its texts.
pub(super) struct Page<'a> {
    pub(super) token: &'a CheckoutToken,
    /// The key of the form.
    pub(super) visit: &'a str,
    pub(super) entered: &'a Entered,
    /// The result of an earlier attempt.
    pub(super) alert: Option<Alert>,
    pub(super) faults: &'a [FieldMistake],
}

/// The result of an earlier attempt as text.
pub(super) struct Alert {
    title: &'static str,
    text: String,
}

impl Alert {
    /// Creates the text for a payment that was not approved, or whose result is unknown because the bank did not
    /// answer. `challenge` is the end of a challenge that was not passed (A181). `replay` says that the form was posted
    /// before, and that the bank was not asked again.
    pub(super) fn new(payment: Option<&Payment>, challenge: Option<AuthenticationEnd>, replay: bool) -> Self {
        let (title, declined) = match (challenge, payment.map(|payment| payment.status_code.as_str())) {
            (Some(AuthenticationEnd::Failed), _) => ("Your bank could not confirm that it was you", false),
            (Some(AuthenticationEnd::Abandoned), _) => ("You left before confirming that it was you", false),
            (Some(AuthenticationEnd::TimedOut), _) => ("The time to confirm that it was you has run out", false),
            (_, None) => ("Your bank did not answer", false),
            (_, Some("902")) => ("Your card was declined: not enough funds", true),
            (_, Some(_)) => ("Your card was declined", true),
        };
        let card = payment.and_then(|payment| payment.card.as_ref()).filter(|_| declined);
        let card = card.map(|card| {
            let last: String = card.masked.chars().skip(card.masked.chars().count().saturating_sub(4)).collect();
            match brand::of(card) {
                "" => format!("Card ending in {last}. "),
                brand => format!("{brand} ending in {last}. "),
            }
        });
        let rest = if payment.is_none() {
            "It is unknown whether your card was charged. Please ask the shop before you try again."
        } else if replay {
            "This form was already sent, with this result. Nothing was charged. You can try again here."
        } else {
            "Nothing was charged. You can try again, or use another card."
        };
        Self { title, text: html::text(&card.unwrap_or_default()) + rest }
    }
}

impl Page<'_> {
    /// Returns the page, with HTTP 200.
    pub(super) fn reply(&self) -> Reply {
        let token = self.token;
        let (shop, sum) = (html::text(&token.merchant), sum(token.amount, &token.currency));
        let (what, note) = match token.kind {
            PaymentKind::PreAuth => {
                ("Reserve", "<p class=\"note\">The amount is reserved on your card now and charged later.</p>\n")
            }
            _ => ("Pay", ""),
        };
        let heading = format!("{what} {sum}");
        let title = match &self.alert {
            Some(alert) => alert.title.to_owned(),
            None if self.faults.is_empty() => heading.clone(),
            None => format!("Error: {heading}"),
        };
        let bill = format!(
            "<p class=\"shop\"><bdi>{shop}</bdi></p>\n<h1>{heading}</h1>\n{note}{order}",
            order = order::html(token, &sum),
        );
        let form = format!(
            "{alert}{summary}{form}<p class=\"after\"><a href=\"{cancel}\">Cancel and go back</a></p>\n",
            alert = self.alert(),
            summary = self.summary(),
            form = self.form(&heading),
            cancel = html::value(&token.cancel_url),
        );
        let reply = Reply::page(StatusCode::OK, html::wide_page(&html::title_at(&title, &shop), &bill, &form));
        if token.auto_redirect { reply.leading_away() } else { reply }
    }

    /// Returns the alert. It has the focus, so that a screen reader reads it first.
    fn alert(&self) -> String {
        match &self.alert {
            None => String::new(),
            Some(alert) => format!(
                "<div class=\"alert\" role=\"alert\" tabindex=\"-1\" autofocus><p><strong>{}</strong></p><p>{}</p></div>\n",
                alert.title, alert.text
            ),
        }
    }

    /// Returns all mistakes at the top, each with a link to its input.
    fn summary(&self) -> String {
        if self.faults.is_empty() {
            return String::new();
        }
        let line = |fault: &FieldMistake| format!("<li><a href=\"#{}\">{}</a></li>", fault.field, fault.message);
        format!(
            "<div class=\"alert\" role=\"alert\"><p><strong>Please check what you entered</strong></p><ul>{}</ul></div>\n",
            self.faults.iter().map(line).collect::<String>()
        )
    }

    fn form(&self, heading: &str) -> String {
        format!(
            "<form method=\"post\" action=\"/pay/{token}\" novalidate>\n\
             <input type=\"hidden\" name=\"{VISIT}\" value=\"{visit}\">\n{inputs}\
             <button type=\"submit\" class=\"pay\">{heading}</button>\n</form>\n",
            token = html::value(&self.token.key),
            visit = html::value(self.visit),
            inputs = fields::html(self.entered, self.faults),
        )
    }
}

/// Returns an amount with its currency.
pub(super) fn sum(minor: u64, currency: &str) -> String {
    html::text(&money::with_currency(minor, currency))
}
