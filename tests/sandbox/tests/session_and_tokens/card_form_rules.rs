//! Every rule of every parameter of the card form, one by one: a form that is valid except for one parameter leads
//! where A80 and A81 say, and names it.

use pg_model::{
    METHODS,
    field::{Field, Length},
    format::Format,
};

use crate::session_and_tokens::{CURRENT, ERROR_PAGE, GOOD, NEXT, Shop, with};

/// The page to which a form redirects, and the errors in its query.
#[derive(Debug, PartialEq)]
enum Told {
    Right,
    /// Back to the card page, with this code on this parameter.
    Invalid(String, String),
    /// To the error page with this code.
    Refused(String),
    /// To the sandbox's own page.
    NoSession,
}

/// Values that break one rule each; an empty one where the parameter is required.
fn bad(field: &Field) -> Vec<String> {
    let mut values = Vec::new();
    if field.required {
        values.push(String::new());
    }
    if let Length::Between(least, most) = field.length {
        values.push("1".repeat(usize::from(most) + 1));
        if least > 1 {
            values.push("1".repeat(usize::from(least) - 1));
        }
    }
    let broken = match field.format {
        Format::Text | Format::Lines => "a\u{7}b",
        Format::Month => "13",
        _ => "x y",
    };
    values.push(broken.to_owned());
    values
}

/// A79 to A81, written down a second time.
fn expected(name: &str, value: &str) -> Told {
    let invalid = |name: &str, code: &str| Told::Invalid(name.to_owned(), code.to_owned());
    let refused = |code: &str| Told::Refused(code.to_owned());
    match (name, value.is_empty()) {
        ("sessionKey", _) => Told::NoSession,
        ("nextPageUrl", true) => refused("134"),
        ("nextPageUrl", false) => invalid("nextPageUrl", "134"),
        ("currentPageUrl", _) => refused("135"),
        ("cardNumber", true) => refused("108"),
        ("cardNumber", false) => invalid("cardNumber", "108"),
        ("cardExpiryMonth" | "cardExpiryYear" | "cardExpiryDate", _) => invalid("cardExpiryYear", "109"),
        ("cardCV2", _) => invalid("cardCV2", "110"),
        ("collect*", _) => invalid("collectColour", "937"),
        _ => invalid(name, "937"),
    }
}

/// What becomes of a form in which one parameter has this value.
fn told(name: &str, value: &str) -> Told {
    let mut shop = Shop::new();
    let session = shop.initiate();
    let sent = if name == "collect*" { "collectColour" } else { name };
    let mut form = with(GOOD, &[(sent, value)]);
    if name == "cardExpiryDate" {
        form.retain(|pair| !matches!(pair.0, "cardExpiryMonth" | "cardExpiryYear"));
    }
    let landing = if name == "sessionKey" {
        shop.post_raw("/v3/session/postform/json", serde_urlencoded::to_string(form).unwrap())
    } else {
        shop.post(&session, &form)
    };
    match landing.page() {
        NEXT => Told::Right,
        ERROR_PAGE => Told::Refused(landing.error()),
        CURRENT => {
            let mut faults = landing.faults();
            assert_eq!(faults.len(), 1, "{name}={value:?}: {faults:?}");
            let (blamed, code) = faults.remove(0);
            Told::Invalid(blamed, code)
        }
        _ => {
            assert!(landing.location.starts_with("/session-error"), "{}", landing.location);
            Told::NoSession
        }
    }
}

// spec: 2 §2.6: Each of its fields has a maximum length.
// spec: 2 §7, A81; parameters session
#[test]
fn every_rule_of_every_parameter_of_the_form_is_kept() {
    let method = METHODS.iter().find(|method| method.name == "postform").unwrap();
    let mut rules = 0;
    for field in method.fields {
        for value in bad(field) {
            assert_eq!(told(field.wire, &value), expected(field.wire, &value), "{}={value:?}", field.wire);
            rules += 1;
        }
    }
    assert!(rules > 70, "only {rules} rules were broken");
}

#[test]
fn a_valid_value_of_every_parameter_is_accepted() {
    let method = METHODS.iter().find(|method| method.name == "postform").unwrap();
    let given = GOOD.iter().map(|pair| pair.0).chain(["sessionKey"]).collect::<Vec<_>>();
    for field in method.fields.iter().filter(|field| !given.contains(&field.wire)) {
        let value = match (field.format, field.length) {
            (Format::Cv2, _) => "1234".to_owned(),
            (Format::Expiry, _) => "122030".to_owned(),
            (_, Length::Between(_, most)) => "é".repeat(usize::from(most)),
            _ => "any text".to_owned(),
        };
        assert_eq!(told(field.wire, &value), Told::Right, "{}={value:?}", field.wire);
    }
}
