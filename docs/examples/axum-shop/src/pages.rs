//! The pages, without any styling.

use axum::response::Html;
use pg_hyper::proto::{CardForm, model::RedirectData};

use crate::orders::{Order, Status};

pub(crate) fn product(pence: u64) -> Html<String> {
    let price = pounds(pence);
    page(
        "Tea",
        &format!(r#"<p>A pound of tea, {price}.</p><form method="post" action="/orders"><button>Buy</button></form>"#),
    )
}

/// The order and its possible actions. `lead` is the next page for the customer.
pub(crate) fn order(order: &Order, lead: Option<&str>) -> Html<String> {
    let here = format!("/orders/{}", order.id);
    let body = match (&order.status, lead) {
        (Status::Open { .. }, None) => format!(
            r#"<p>To pay: {}.</p><p><a href="{here}/card">Pay by card</a></p>
<form method="post" action="{here}/hosted"><button>Pay on the hosted page</button></form>"#,
            pounds(order.pence)
        ),
        (Status::Paid { transaction }, _) => format!("<p>Paid. Thank you! Transaction {}.</p>", escaped(transaction)),
        (Status::NotPaid { why }, _) => format!(
            r#"<p>Not paid: {}.</p><form method="post" action="{here}/again"><button>Try again</button></form>"#,
            escaped(why)
        ),
        (Status::Unknown { .. }, _) => {
            "<p>We do not know yet whether you have paid. Please do not pay again: we will find out.</p>".to_owned()
        }
        (Status::Hosted(hosted), _) if hosted.withdrawn => {
            r#"<meta http-equiv="refresh" content="2"><p>One moment: once it is certain that nothing was paid on the payment
page, you can pay in another way.</p>"#.to_owned()
        }
        (status, Some(lead)) => {
            let withdraw = format!(
                r#"<form method="post" action="{here}/withdraw"><button>Pay in another way</button></form>"#
            );
            let withdraw = if status.hosted().is_some() { &withdraw } else { "" };
            format!(r#"<p><a href="{}">Continue with your payment</a></p>{withdraw}"#, escaped(lead))
        }
        (_, None) => {
            r#"<meta http-equiv="refresh" content="2"><p>One moment, your payment is under way …</p>"#.to_owned()
        }
    };
    page("Your order", &body)
}

/// The card form, with the `problem` of the last one. The browser posts the form to the service, and the redirect
/// returns its errors.
pub(crate) fn card(form: &CardForm, back: Option<&RedirectData>, problem: &str) -> Html<String> {
    let problem = match problem {
        "" => String::new(),
        problem => format!("<p>{}. Please enter your card again.</p>", escaped(problem)),
    };
    let errors: String = back.map_or_else(String::new, |back| {
        let line = |(field, error): (&str, &str)| format!("<li>{}: {}</li>", escaped(field), escaped(error));
        back.errors.iter().map(|(field, error)| line((field, &error.error_message))).collect()
    });
    let name = back.map_or("", |back| &back.cardholder_name);
    let body = format!(
        r#"{problem}<ul>{errors}</ul><form method="post" action="{action}" autocomplete="on">
{hidden}<p><label>Card number <input name="cardNumber" inputmode="numeric" autocomplete="cc-number" required></label>
<p><label>Expiry <input name="cardExpiryDate" placeholder="MMYY" autocomplete="cc-exp" required></label>
<p><label>Security code <input name="cardCV2" inputmode="numeric" autocomplete="cc-csc"></label>
<p><label>Name on the card <input name="cardholderName" autocomplete="cc-name" value="{name}"></label>
<p><button>Pay</button></form>"#,
        action = escaped(form.action()),
        hidden = form.hidden_inputs(),
        name = escaped(name),
    );
    page("Your card", &body)
}

pub(crate) fn page(title: &str, body: &str) -> Html<String> {
    Html(format!(
        "<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title><h1>{title}</h1>{body}</html>"
    ))
}

fn pounds(pence: u64) -> String {
    format!("£{}.{:02}", pence / 100, pence % 100)
}

pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
