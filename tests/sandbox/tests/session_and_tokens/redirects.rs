//! The four ways that the card form can lead (spec 2 §4.2), in both encodings.

use std::collections::HashSet;

use http::Method;

use crate::session_and_tokens::{CURRENT, CV2, ERROR_PAGE, GOOD, NEXT, PAN, Shop, body_of, with};

const FULL: &[(&str, &str)] = &[
    ("cardCV2", CV2),
    ("cardholderName", "Zoë O'Neill & Söhne"),
    ("cardholderAddressPostcode", "AB1 2CD"),
    ("customerEmail", "zoe@shop.example"),
    ("formId", "card-1"),
    ("collectNewsletter", "yes & weekly"),
    ("collectBasket", "7"),
];

// spec: 2 §1.1: First a session is opened; then the browser posts the form with its key.
// spec: 2 §1.1: Valid details are stored with the session, and the browser is redirected by 303 with masked and
//   encrypted data.
// spec: 2 §2.1 Fields of a session: formId is returned in every redirect.
// spec: 2 §2.2, A34: The browser receives formId, data and iv; data contains XML or JSON.
// spec: 2 §2.2, A82: Name and expiry are returned as entered, in one field or in two.
// spec: 2 §2.2: cardCV2 is returned without a value.
// spec: 2 §2.2, A17: Inputs whose names begin with collect are returned.
// spec: 2 §4.2, A17: Any parameter whose name begins with collect is accepted and returned.
// spec: 2 §4.2: A valid form redirects to nextPageUrl.
// spec: 2 §6: The browser's redirect carries the results of the card form.
// spec: 2 §3.1; method session/postform
#[test]
fn a_valid_form_leads_to_the_next_page() {
    let mut shop = Shop::new();
    let session = shop.initiate();
    let landing = shop.post(&session, &with(GOOD, FULL));
    assert_eq!((landing.page(), landing.form_id.as_deref()), (NEXT, Some("card-1")));
    assert_eq!(landing.names, ["formId", "data", "iv"]);
    let text = r#"{"cardholderName":"Zoë O'Neill & Söhne","cardNumber":"400000******1000","cardExpiryMonth":"12","cardExpiryYear":"2030","cardCV2":"","collectNewsletter":"yes & weekly","collectBasket":"7"}"#;
    assert_eq!(landing.text, text);
    assert!(landing.iv.len() == 16 && landing.iv.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    assert!(!landing.location.contains('+') && landing.location.ends_with(&landing.iv));
    assert_eq!(landing.basis, "2 4.2, A17, A30, A31, A32, A33, A34, A82, A83, A131");
}

// spec: 2 §2.2, A34
#[test]
fn a_valid_form_in_xml() {
    let mut shop = Shop::new();
    let session = shop.initiate();
    for path in ["/v3/session/postform", "/v3/session/postform/xml", "/v3/session/postform/xml/"] {
        let pairs = with(&with(GOOD, FULL), &[("sessionKey", &session)]);
        let landing = shop.post_raw(path, serde_urlencoded::to_string(pairs).unwrap());
        let text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<serviceResponse>\
                    <cardholderName>Zoë O&apos;Neill &amp; Söhne</cardholderName>\
                    <cardNumber>400000******1000</cardNumber>\
                    <cardExpiryMonth>12</cardExpiryMonth><cardExpiryYear>2030</cardExpiryYear>\
                    <cardCV2></cardCV2>\
                    <collectNewsletter>yes &amp; weekly</collectNewsletter><collectBasket>7</collectBasket>\
                    </serviceResponse>";
        assert_eq!((landing.page(), landing.text.as_str()), (NEXT, text));
    }
}

// spec: 2 §2.2, A20: errors contains each invalid field with code, trace code and message, and is absent otherwise.
// spec: 2 §4.2, A81: Validation errors redirect to currentPageUrl.
// spec: 2 §7: Errors of the card form are inside the redirect data.
// spec: 2 §3.1
#[test]
fn wrong_fields_lead_back_with_their_errors() {
    let mut shop = Shop::new();
    let session = shop.initiate();
    let wrong = [("cardNumber", "4000000000001001"), ("cardExpiryYear", "2025"), ("cardCV2", "12"), ("formId", "f")];
    let landing = shop.post(&session, &with(&with(GOOD, FULL), &wrong));
    assert_eq!((landing.page(), landing.form_id.as_deref()), (CURRENT, Some("f")));
    let data = landing.json();
    assert_eq!(data["cardNumber"], "400000******1001");
    assert_eq!((&data["cardExpiryYear"], &data["cardCV2"]), (&"2025".into(), &"".into()));
    assert_eq!(data["collectBasket"], "7");
    assert!(data.get("errorCode").is_none());
    for (field, code, message) in [
        ("cardNumber", "108", "Invalid card number"),
        ("cardExpiryYear", "109", "Invalid card expiry"),
        ("cardCV2", "110", "Invalid card CV2"),
    ] {
        assert_eq!(data["errors"][field]["errorCode"], code);
        assert_eq!(data["errors"][field]["errorMessage"], message);
    }
    let traces: HashSet<&str> =
        data["errors"].as_object().unwrap().values().map(|error| error["traceCode"].as_str().unwrap()).collect();
    assert!(traces.len() == 3 && traces.iter().all(|trace| trace.len() == 9));

    let body = with(&with(GOOD, &wrong), &[("sessionKey", &session)]);
    let landing = shop.post_raw("/v3/session/postform/xml", serde_urlencoded::to_string(body).unwrap());
    let error = "<errors><cardNumber><errorCode>108</errorCode><traceCode>";
    assert!(landing.page() == CURRENT && landing.text.contains(error), "{}", landing.text);
    assert_eq!(landing.faults(), [("cardNumber", "108"), ("cardExpiryYear", "109"), ("cardCV2", "110")].map(owned));
}

// spec: 2 §2.2: Data for the error page contains only errorCode, traceCode and errorMessage.
// spec: 2 §4.2, A80: A missing field redirects to errorPageUrl.
// spec: 2 §7, A80: Missing URLs give 133, 134 and 135.
// spec: 2 §2.1; 2 §3.1, A80; 2 §7; codes ErrorCode 134 135
#[test]
fn a_missing_field_leads_to_the_error_page() {
    let mut shop = Shop::new();
    let session = shop.initiate();
    for (name, code) in [
        ("nextPageUrl", "134"),
        ("currentPageUrl", "135"),
        ("cardNumber", "108"),
        ("cardExpiryMonth", "109"),
        ("cardExpiryYear", "109"),
    ] {
        let form = with(&with(GOOD, FULL), &[(name, "")]);
        let landing = shop.post(&session, &form);
        assert_eq!((landing.page(), landing.error().as_str()), (ERROR_PAGE, code), "{name}");
        assert_eq!((landing.form_id.as_deref(), landing.names.len()), (Some("card-1"), 3));
        let empty: Vec<_> = form.into_iter().chain([(name, "")]).collect();
        assert_eq!(shop.post(&session, &empty).error(), code, "{name}");
        let body = serde_urlencoded::to_string(with(&empty, &[("sessionKey", &session)])).unwrap();
        let landing = shop.post_raw("/v3/session/postform", body);
        assert!(landing.text.contains(&format!("<serviceResponse><errorCode>{code}</errorCode><traceCode>")));
        assert_eq!(landing.error(), code);
    }
    let nothing = shop.post(&session, &[]);
    assert_eq!((nothing.error().as_str(), nothing.form_id), ("134", None));
}

// spec: 2 §4.2, A80: Validation errors redirect to currentPageUrl, also that of nextPageUrl.
#[test]
fn a_malformed_next_page_is_shown_on_the_current_page() {
    let mut shop = Shop::new();
    let session = shop.initiate();
    let landing = shop.post(&session, &with(GOOD, &[("nextPageUrl", "shop.example/next"), ("cardCV2", "12")]));
    assert_eq!(landing.page(), CURRENT);
    assert_eq!(landing.faults(), [("nextPageUrl", "134"), ("cardCV2", "110")].map(owned));
    assert!(landing.basis.contains("A80"), "{}", landing.basis);
    let nowhere = shop.post(&session, &with(GOOD, &[("nextPageUrl", "x"), ("currentPageUrl", "x")]));
    assert_eq!((nowhere.page(), nowhere.error().as_str()), (ERROR_PAGE, "135"));
}

// spec: 2 §1.1, A134: Pages of the merchant must be served over TLS; developers use local pages.
#[test]
fn a_public_page_without_tls_gives_a_warning() {
    let mut shop = Shop::new();
    let session = shop.initiate();
    for (address, wanted) in [
        ("http://shop.example/card", Some("currentPageUrl has no TLS: pages of a merchant must be served over https")),
        ("http://localhost:3000/card", None),
        ("https://shop.example/card", None),
    ] {
        let body = with(&with(GOOD, &[("currentPageUrl", address)]), &[("sessionKey", &session)]);
        let response = shop.send("/v3/session/postform/json", serde_urlencoded::to_string(body).unwrap());
        let warning = response.headers().get("pg-warning").map(|warning| warning.to_str().unwrap());
        assert_eq!(warning, wanted, "{address}");
    }
}

// spec: 2 §4.2, A79: A wrong or missing session key redirects to the page of the service.
// spec: 2 §3.1, A79; codes ErrorCode 129
#[test]
fn an_unreadable_session_leads_to_the_sandboxs_own_page() {
    let mut shop = Shop::new();
    let session = shop.initiate();
    let form = serde_urlencoded::to_string(GOOD).unwrap();
    for body in [
        String::new(),
        form.clone(),
        format!("sessionKey=&{form}"),
        format!("sessionKey={}&{form}", "0".repeat(32)),
        format!("sessionKey={}&{form}", session.to_uppercase()),
        format!("sessionKey={session}x&{form}"),
        format!("sessionKey={session}&sessionKey={session}&{form}"),
        format!("x=%zz&{form}"),
    ] {
        let landing = shop.post_raw("/v3/session/postform/json", body);
        assert_eq!(landing.location, "/session-error?errorCode=129");
        assert_eq!(landing.basis, "2 4.2, A79");
        let page = shop.ask(Method::GET, &landing.location, "");
        let html = String::from_utf8(page.body().to_vec()).unwrap();
        assert!(html.contains("129") && html.contains("Invalid session key"), "{html}");
    }
}

#[test]
fn an_invalid_body_redirects_to_the_error_page() {
    let mut shop = Shop::new();
    let session = shop.initiate();
    let form = serde_urlencoded::to_string(with(GOOD, &[("sessionKey", &session)])).unwrap();
    let many: String = (0..2_000).map(|n| format!("&collect{n}=1")).collect();
    for (path, body, code) in [
        ("json", format!("{form}&cardholderName=1&cardholderName=2"), "935"),
        ("json", format!("{form}&cardholderName=a&cardHolderName=b"), "935"),
        ("json", format!("{form}&collectSize=%4"), "930"),
        ("json", format!("{form}&collectSize=%ff"), "930"),
        ("json", format!("{form}{many}"), "932"),
        ("yaml", form.clone(), "104"),
        ("json/xml", form.clone(), "104"),
    ] {
        let landing = shop.post_raw(&format!("/v3/session/postform/{path}"), body);
        assert_eq!((landing.page(), landing.error().as_str()), (ERROR_PAGE, code), "{path}");
        assert_eq!(landing.form_id, None, "{path}");
        assert!(landing.basis.contains("A80"), "{code}: {}", landing.basis);
    }
    let get = shop.ask(Method::GET, "/v3/session/postform/json", "");
    assert!(get.status() == 400 && get.body().starts_with(br#"{"errorCode":"934""#));
}

// spec: 2 §4.2, A80, A83: Errors of the body redirect with the formId of the request, if it has one that can be read.
#[test]
fn an_invalid_body_keeps_the_name_of_its_form() {
    let mut shop = Shop::new();
    let session = shop.initiate();
    let form = body_of(&with(GOOD, &[("sessionKey", &session)]));
    let many: String = (0..2_000).map(|n| format!("&collect{n}=1")).collect();
    for (body, code, form_id) in [
        (format!("{form}&formId=f1&cardholderName=1&cardholderName=2"), "935", Some("f1")),
        (format!("{form}&formId=f1&cardNumber={PAN}"), "935", Some("f1")),
        (format!("{form}&formId=f1&collectSize=%4"), "930", Some("f1")),
        (format!("{form}&collectSize=%ff&formId=f1"), "930", Some("f1")),
        (format!("{form}{many}&formId=f1"), "932", Some("f1")),
        (format!("{form}&formId=f1&formId=f1"), "935", None),
        (format!("{form}&formId=%4"), "930", None),
        (format!("{form}&formId={}&x=%4", "f".repeat(33)), "930", None),
        (format!("{form}&formId={PAN}&x=%4"), "930", Some("400000******1000")),
        (format!("{form}&cardNumber=999999999999&formId=999999999999&x=%4"), "930", Some("999999**9999")),
    ] {
        let landing = shop.post_raw("/v3/session/postform/json", body.clone());
        assert_eq!((landing.page(), landing.error().as_str()), (ERROR_PAGE, code), "{body}");
        assert_eq!(landing.form_id.as_deref(), form_id, "{body}");
    }
    let part =
        |name: &str, value: &str| format!("--x\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
    let parts = part("sessionKey", &session) + &part("formId", "f1") + "--x--\r\n";
    let posted = http::Request::post("/v3/session/postform/json")
        .header("content-type", "multipart/form-data; boundary=x")
        .body(parts.into())
        .unwrap();
    let reply = shop.handle(posted);
    let location = reply.headers()["location"].to_str().unwrap();
    assert!(location.starts_with(&format!("{ERROR_PAGE}?formId=f1&data=")), "{location}");
}

// spec: 2 §4.2, A83: The reply is a 303 to a URL of the merchant, with formId, data and iv appended before its
//   fragment.
#[test]
fn addresses_keep_their_own_query_and_fragment() {
    let mut shop = Shop::new();
    let session = shop.initiate_for("https://shop.example/error?order=7&data=mine#top");
    for (address, start, end) in [
        (
            "https://shop.example/a?order=7&x=%41&iv=old#part?x",
            "https://shop.example/a?order=7&x=%41&iv=old&data=",
            "#part?x",
        ),
        ("http://127.0.0.1:3000", "http://127.0.0.1:3000?data=", ""),
        ("https://shop.example/?", "https://shop.example/?data=", ""),
        ("https://shop.example/é#ü", "https://shop.example/%C3%A9?data=", "#%C3%BC"),
    ] {
        let landing = shop.post(&session, &with(GOOD, &[("nextPageUrl", address)]));
        assert!(landing.location.starts_with(start) && landing.location.ends_with(end), "{}", landing.location);
        assert_eq!(landing.json()["cardNumber"], "400000******1000");
        let back = shop.post(&session, &with(GOOD, &[("currentPageUrl", address), ("cardNumber", "1")]));
        assert!(back.location.starts_with(start) && back.location.ends_with(end), "{}", back.location);
    }
    let failed = shop.post(&session, &[]);
    assert!(failed.location.starts_with("https://shop.example/error?order=7&data=mine&data="));
    assert!(failed.error() == "134" && failed.location.ends_with("#top"));
}

// spec: 2 §4.2, A17; 2 §2.2, A139; 1 §2.1, A131
#[test]
fn a_redirect_names_the_assumptions_about_its_inputs_and_its_encoding() {
    let mut shop = Shop::new();
    for (input, of_input, of_xml) in [
        (("order", "7"), false, false),
        (("collectOrder", "7"), true, false),
        (("collect<order>", "7"), true, true),
        (("collectOrder", "\u{1}"), true, true),
        (("cardholderName", "A\u{ffff}"), false, true),
    ] {
        for encoding in ["json", "xml"] {
            let session = shop.initiate();
            let form = body_of(&with(GOOD, &[("sessionKey", &session), input]));
            let landing = shop.post_raw(&format!("/v3/session/postform/{encoding}"), form);
            let named = |number: &str| landing.basis.split(", ").any(|one| one == number);
            assert_eq!(named("A17"), of_input, "{input:?} {}", landing.basis);
            assert_eq!(named("A139"), of_xml && encoding == "xml", "{input:?} {}", landing.basis);
            assert_eq!(named("A131"), encoding == "json", "{input:?} {}", landing.basis);
        }
    }
}

// spec: 2 §4.2, A31
#[test]
fn every_redirect_has_a_vector_of_its_own() {
    let mut shop = Shop::new();
    let session = shop.initiate();
    let landings: Vec<_> = (0..50).map(|_| shop.post(&session, GOOD)).collect();
    let vectors: HashSet<&str> = landings.iter().map(|landing| landing.iv.as_str()).collect();
    let data: HashSet<&str> = landings.iter().map(|landing| landing.data.as_str()).collect();
    assert_eq!((vectors.len(), data.len()), (50, 50));
    assert!(landings.iter().all(|landing| landing.text == landings[0].text && !landing.text.contains(PAN)));
}

pub(crate) fn owned((field, code): (&str, &str)) -> (String, String) {
    (field.to_owned(), code.to_owned())
}
