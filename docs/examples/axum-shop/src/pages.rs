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
        (Status::Unknown { .. }, _) => UNKNOWN.to_owned(),
        (Status::Hosted(hosted), _) if hosted.unknown.is_some() => UNKNOWN.to_owned(),
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

pub(crate) const UNKNOWN: &str =
    "<p>We do not know yet whether you have paid. Please do not pay again: we will find out.</p>";

/// The inputs of the card form: name, label, other attributes, and the fields whose errors belong to it.
const INPUTS: [(&str, &str, &str, &[&str]); 4] = [
    ("cardNumber", "Card number", r#"inputmode="numeric" autocomplete="cc-number" required"#, &["cardNumber"]),
    (
        "cardExpiryDate",
        "Expiry",
        r#"placeholder="MMYY" autocomplete="cc-exp" required"#,
        &["cardExpiryDate", "cardExpiryMonth", "cardExpiryYear"],
    ),
    ("cardCV2", "Security code", r#"inputmode="numeric" autocomplete="cc-csc""#, &["cardCV2"]),
    ("cardholderName", "Name on the card", r#"autocomplete="cc-name""#, &["cardholderName"]),
];

/// The card form, with the `problem` of the last one. The browser posts the form to the service, and the redirect
/// returns its errors. A screen reader says each with its input, and the first of them has the focus.
pub(crate) fn card(form: &CardForm, back: Option<&RedirectData>, problem: &str) -> Html<String> {
    let problem = match problem {
        "" => String::new(),
        problem => format!("<p>{}. Please enter your card again.</p>", escaped(problem)),
    };
    let error = |fields: &[&str]| {
        let mut errors = back?.errors.iter();
        errors.find(|(field, _)| fields.contains(field)).map(|(_, error)| escaped(&error.error_message))
    };
    // Errors of fields that the customer cannot see.
    let others: String = back.map_or_else(String::new, |back| {
        let is_shown = |field: &str| INPUTS.iter().any(|(_, _, _, fields)| fields.contains(&field));
        let others = back.errors.iter().filter(|(field, _)| !is_shown(field));
        others.map(|(field, error)| format!("<p>{}: {}", escaped(field), escaped(&error.error_message))).collect()
    });
    let mut inputs = String::new();
    let mut title = "Your card";
    for (name, label, attributes, fields) in INPUTS {
        let (mut marks, mut said) = (String::new(), String::new());
        if let Some(error) = error(fields) {
            let focus = if title == "Your card" { " autofocus" } else { "" };
            title = "Error: Your card";
            marks = format!(r#" aria-invalid="true" aria-describedby="{name}-error"{focus}"#);
            said = format!(r#"<p id="{name}-error">{error}"#);
        }
        if let ("cardholderName", Some(back)) = (name, back) {
            marks += &format!(r#" value="{}""#, escaped(&back.cardholder_name));
        }
        inputs += &format!(
            r#"<p><label for="{name}">{label}</label> <input id="{name}" name="{name}"{marks} {attributes}>{said}
"#
        );
    }
    let body = format!(
        r#"{problem}{others}<form method="post" action="{action}" autocomplete="on">
{hidden}{inputs}<p><button>Pay</button></form>"#,
        action = escaped(form.action()),
        hidden = form.hidden_inputs(),
    );
    titled(title, "Your card", &body)
}

pub(crate) fn page(heading: &str, body: &str) -> Html<String> {
    titled(heading, heading, body)
}

fn titled(title: &str, heading: &str, body: &str) -> Html<String> {
    Html(format!(
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width\"><title>{title}</title>\
         <h1>{heading}</h1>{body}</html>"
    ))
}

pub(crate) fn pounds(pence: u64) -> String {
    format!("£{}.{:02}", pence / 100, pence % 100)
}

pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
