//! The payment form (spec 3 §1).

use http::StatusCode;
use pg_model::{Amount, Currency};

use super::{
    super::{Reply, html},
    entered::{Entered, Fault},
};
use crate::{
    records::{CheckoutItem, CheckoutToken, Payment, PaymentKind},
    service::money,
};

/// The hidden input that says which form was posted.
pub(super) const VISIT: &str = "visit";

/// A form that a customer is shown, and everything that is said in it.
pub(super) struct Page<'a> {
    pub(super) token: &'a CheckoutToken,
    /// The key of the form.
    pub(super) visit: &'a str,
    pub(super) entered: &'a Entered,
    /// What came of an earlier attempt.
    pub(super) alert: Option<Alert>,
    pub(super) faults: &'a [Fault],
}

/// What came of an earlier attempt, in words.
pub(super) struct Alert {
    title: &'static str,
    text: &'static str,
}

impl Alert {
    /// For a declined payment, or for none when the bank did not answer; a form that was posted before
    /// was not brought to the bank again.
    pub(super) fn new(declined: Option<&Payment>, replay: bool) -> Self {
        let title = match declined.map(|payment| payment.status_code.as_str()) {
            None => "Your bank did not answer",
            Some("902") => "Your card was declined: not enough funds",
            Some(_) => "Your card was declined",
        };
        let text = if declined.is_none() {
            "It is not known whether your card was charged. Please ask the shop before you try again."
        } else if replay {
            "This form had been sent before, and that was the answer. Nothing was charged. You can try again here."
        } else {
            "Nothing was charged. You can try again, or use another card."
        };
        Self { title, text }
    }
}

impl Page<'_> {
    /// The page, with HTTP 200.
    pub(super) fn reply(&self) -> Reply {
        let page = html::page("Payment", &self.body());
        let reply = Reply::page(StatusCode::OK, page);
        if self.token.auto_redirect { reply.leading_away() } else { reply }
    }

    fn body(&self) -> String {
        let token = self.token;
        let sum = sum(token.amount, &token.currency);
        let (what, note) = match token.kind {
            PaymentKind::PreAuth => {
                ("Reserve", "<p class=\"note\">The amount is reserved on your card now and charged later.</p>\n")
            }
            _ => ("Pay", ""),
        };
        format!(
            "<p class=\"shop\"><bdi>{shop}</bdi></p>\n<h1>{what} {sum}</h1>\n{note}{alert}{summary}{order}{form}\
             <p class=\"after\"><a href=\"{cancel}\">Cancel and go back</a></p>\n{footer}",
            shop = html::text(&token.merchant),
            alert = self.alert(),
            summary = self.summary(),
            order = order(token, &sum),
            form = self.form(what, &sum),
            cancel = html::text(&token.cancel_url),
            footer = html::SANDBOX_NOTE,
        )
    }

    fn alert(&self) -> String {
        match &self.alert {
            None => String::new(),
            Some(alert) => format!(
                "<div class=\"alert\" role=\"alert\"><p><strong>{}</strong></p><p>{}</p></div>\n",
                alert.title, alert.text
            ),
        }
    }

    /// All faults at the top, each leading to its input.
    fn summary(&self) -> String {
        if self.faults.is_empty() {
            return String::new();
        }
        let line = |fault: &Fault| format!("<li><a href=\"#{}\">{}</a></li>", fault.field, fault.message);
        format!(
            "<div class=\"alert\" role=\"alert\"><p><strong>Please check what you entered</strong></p><ul>{}</ul></div>\n",
            self.faults.iter().map(line).collect::<String>()
        )
    }

    fn form(&self, what: &str, sum: &str) -> String {
        let (month, year) = self.entered.shown_expiry();
        let inputs = [
            INPUTS[0].html(self, ""),
            "<div class=\"row\">\n".to_owned(),
            INPUTS[1].html(self, month),
            INPUTS[2].html(self, year),
            INPUTS[3].html(self, ""),
            "</div>\n".to_owned(),
            INPUTS[4].html(self, &self.entered.name),
        ];
        format!(
            "<form method=\"post\" action=\"/pay/{token}\" novalidate>\n\
             <input type=\"hidden\" name=\"{VISIT}\" value=\"{visit}\">\n{inputs}\
             <button type=\"submit\">{what} {sum}</button>\n</form>\n",
            token = html::text(&self.token.key),
            visit = html::text(self.visit),
            inputs = inputs.concat(),
        )
    }
}

/// One input with its label and, when it is wrong, what is wrong with it.
struct Input {
    name: &'static str,
    label: &'static str,
    attributes: &'static str,
}

const INPUTS: [Input; 5] = [
    Input {
        name: "cardNumber",
        label: "Card number",
        attributes: "required inputmode=\"numeric\" autocomplete=\"cc-number\" maxlength=\"25\"",
    },
    Input {
        name: "cardExpiryMonth",
        label: "Expiry month",
        attributes: "required inputmode=\"numeric\" autocomplete=\"cc-exp-month\" maxlength=\"2\" placeholder=\"MM\"",
    },
    Input {
        name: "cardExpiryYear",
        label: "Expiry year",
        attributes: "required inputmode=\"numeric\" autocomplete=\"cc-exp-year\" maxlength=\"4\" placeholder=\"YYYY\"",
    },
    Input {
        name: "cardCV2",
        label: "Security code",
        attributes: "required inputmode=\"numeric\" autocomplete=\"cc-csc\" maxlength=\"4\"",
    },
    Input { name: "cardholderName", label: "Name on card", attributes: "autocomplete=\"cc-name\" maxlength=\"128\"" },
];

impl Input {
    fn html(&self, page: &Page<'_>, value: &str) -> String {
        let Self { name, label, attributes } = self;
        let value = html::text(value);
        let fault = page.faults.iter().find(|fault| fault.field == *name);
        let (marks, error) = match fault {
            None => (String::new(), String::new()),
            Some(fault) => (
                format!(" aria-invalid=\"true\" aria-describedby=\"{name}-error\""),
                format!("<p class=\"error\" id=\"{name}-error\">{}</p>\n", fault.message),
            ),
        };
        format!(
            "<div class=\"field\">\n<label for=\"{name}\">{label}</label>\n\
             <input id=\"{name}\" name=\"{name}\" type=\"text\" value=\"{value}\" {attributes}{marks}>\n{error}</div>\n"
        )
    }
}

/// The items and their sum.
fn order(token: &CheckoutToken, sum: &str) -> String {
    let reference = token.reference.as_deref().map_or_else(String::new, |reference| {
        format!("<caption>Reference <bdi>{}</bdi></caption>\n", html::text(reference))
    });
    let rows: String = token.items.iter().map(|item| row(item, &token.currency)).collect();
    format!(
        "<table>\n{reference}<thead class=\"unseen\"><tr><th scope=\"col\">Item</th><th scope=\"col\">Price</th></tr></thead>\n\
         <tbody>\n{rows}</tbody>\n<tfoot><tr><th scope=\"row\">Total</th><td>{sum}</td></tr></tfoot>\n</table>\n"
    )
}

fn row(item: &CheckoutItem, currency: &str) -> String {
    let pieces = match item.pieces() {
        1 => String::new(),
        pieces => format!(" <span class=\"pieces\">\u{d7} {pieces}</span>"),
    };
    // The prices were read when the token was made.
    let price = Amount::parse(&item.price, &Currency::from(currency)).ok();
    let line = price.and_then(|price| price.times(item.pieces())).map_or(0, |line| line.minor());
    format!(
        "<tr><td><bdi>{}</bdi>{pieces}</td><td>{}</td></tr>\n",
        html::text(&item.name),
        money::separated(line, currency)
    )
}

/// An amount with its currency.
pub(super) fn sum(minor: u64, currency: &str) -> String {
    html::text(&money::with_currency(minor, currency))
}
