//! Card numbers and CV2s that were typed into the wrong field never come back (spec 2 §1.1), are not stored and not shown.

use http::Request;

use crate::session_and_tokens::{CV2, GOOD, Landing, NEXT, PAN, Shop, with};

/// Everything that the sandbox returns afterwards.
fn told(shop: &mut Shop, session: &str) -> String {
    let lists = ["requests?limit=5", "tokens", "transactions", &format!("sessions/{session}")];
    let asked = |list: &&str| format!("/_sandbox/{list}");
    let paths: Vec<String> = lists.iter().map(asked).collect();
    paths
        .iter()
        .map(|path| {
            let request = Request::get(path.as_str()).body(bytes::Bytes::new()).unwrap();
            String::from_utf8(shop.handle(request).body().to_vec()).unwrap()
        })
        .collect()
}

/// The digits in the response and in the journal. The sandbox's own digits contain neither number nor CV2.
fn assert_hidden(shop: &mut Shop, session: &str, landing: &Landing, pairs: &[(&str, &str)]) {
    for text in [landing.text.clone(), landing.location.clone(), told(shop, session)] {
        let digits: String = text.chars().filter(char::is_ascii_digit).collect();
        for hidden in [PAN, "0000001000", "40000000", "4000%200000", "4000%2F0000", "4000%C2%A00000", "NDAwMDAw"] {
            let found = text.contains(hidden) || digits.contains(PAN);
            assert!(!found, "{pairs:?}: {hidden} in {text}");
        }
    }
}

#[test]
fn a_number_typed_into_any_field_is_masked() {
    const PARTED: &str = "4000/0000\u{a0}0000\u{2013}1000";
    for (name, value) in [
        ("cardExpiryDate", PAN),
        ("cardExpiryMonth", PAN),
        ("cardExpiryYear", PAN),
        ("cardExipryYear", PAN),
        ("cardholderName", PAN),
        ("cardHolderName", PARTED),
        ("cardDescription", PARTED),
        ("cardCV2", PAN),
        ("collectNote", PARTED),
        ("collect4000000000001000", "x"),
        ("customerSurname", PAN),
        ("cardholderAddressLine1", PARTED),
        ("formId", PAN),
        ("orderNumber", PAN),
        ("collectNote", "4000%200000%200000%201000"),
        ("collectNote", "4000%2F0000%2F0000%2F1000"),
        ("customerSurname", "4000%C2%A00000%C2%A00000%C2%A01000"),
        ("formId", "4000%200000%200000%201000"),
        ("collectNote", "NDAwMDAwMDAwMDAwMTAwMA=="),
    ] {
        let other = if name == "cardExipryYear" { "cardExpiryYear" } else { name };
        for number in [PAN, "4111111111111111", "x"] {
            let mut shop = Shop::new();
            let session = shop.initiate();
            let mut pairs = with(GOOD, &[("cardNumber", number), (other, "")]);
            pairs.push((name, value));
            let landing = shop.post(&session, &pairs);
            assert_hidden(&mut shop, &session, &landing, &[(name, value), ("cardNumber", number)]);
        }
    }
}

#[test]
fn a_number_split_over_fields_is_masked() {
    for halves in [
        [("cardExpiryMonth", "40000000"), ("cardExpiryYear", "00001000")],
        [("cardExpiryMonth", "40000000000010"), ("cardExpiryYear", "00")],
        [("cardholderName", "40000000"), ("collectRest", "00001000")],
    ] {
        for number in [PAN, "x"] {
            let mut shop = Shop::new();
            let session = shop.initiate();
            let landing = shop.post(&session, &with(GOOD, &[&[("cardNumber", number)], &halves[..]].concat()));
            assert_hidden(&mut shop, &session, &landing, &halves);
        }
    }
}

#[test]
fn swapped_fields_show_neither_number_nor_cv2() {
    for swapped in [
        [("cardNumber", CV2), ("cardCV2", PAN)],
        [("cardholderName", CV2), ("cardCV2", "Z. Other")],
        [("cardExpiryDate", CV2), ("cardCV2", "1230")],
        [("cardExpiryYear", CV2), ("cardCV2", "2030")],
        [("cardholderName", "Z. Other 9173"), ("cardCV2", CV2)],
        [("collectCvv", CV2), ("cardCV2", "")],
    ] {
        let mut shop = Shop::new();
        let session = shop.initiate();
        let landing = shop.post(&session, &with(GOOD, &swapped));
        assert!(!landing.text.contains(CV2), "{swapped:?}: {}", landing.text);
        assert!(!told(&mut shop, &session).contains(&format!("\"{CV2}\"")), "{swapped:?}");
        assert_hidden(&mut shop, &session, &landing, &swapped);
    }
}

#[test]
fn the_browser_is_not_sent_on_with_the_number_in_its_address() {
    for (name, code) in [("nextPageUrl", "134"), ("currentPageUrl", "135")] {
        for number in ["4000-0000-0000-1000", "4000%200000%200000%201000", "%34000000000001000"] {
            let mut shop = Shop::new();
            let session = shop.initiate();
            let landing = shop.post(&session, &with(GOOD, &[(name, &format!("https://shop.example/?card={number}"))]));
            assert_eq!(landing.error(), code);
            assert_hidden(&mut shop, &session, &landing, &[]);
        }
    }
}

#[test]
fn masking_gives_a_warning() {
    let mut shop = Shop::new();
    let session = shop.initiate();
    let body =
        [&[("sessionKey", &*session)], &with(GOOD, &[("collectNote", PAN), ("collectOrder", "17")])[..]].concat();
    let response = shop.send("/v3/session/postform/json", serde_urlencoded::to_string(body).unwrap());
    let wanted = "collectNote contains a value like a card number or a CV2, which was masked";
    assert_eq!(response.headers()["pg-warning"], wanted);
}

#[test]
fn a_token_shows_no_number_that_was_typed_into_its_texts() {
    let mut shop = Shop::new();
    let paid = shop.done(
        "transaction/auth",
        &[
            ("cardNumber", PAN),
            ("cardExpiryMonth", "12"),
            ("cardExpiryYear", "30"),
            ("cardholderName", "4000 0000 0000 1000"),
            ("currency", "GBP"),
            ("itemName0", "Tea"),
            ("itemPrice0", "499"),
        ],
    );
    let key = paid["transactionKey"].as_str().unwrap().to_owned();
    let token = shop.done("token/tokeniseTransactionKey", &[("transactionKey", &key)]);
    let record = &token["cardKeyDetails"]["0"];
    assert_eq!(record["card"]["cardholderName"], "4000 00** **** 1000", "{token}");
    let card = record["cardKey"].as_str().unwrap().to_owned();
    shop.done("token/updateCardKeyDetails", &[("cardKey", &card), ("cardDescription", "4000.0000.0000.1000")]);
    let record = shop.done("token/lookup", &[("cardKey", &card)]);
    assert_eq!(record["cardKeyDetails"]["0"]["card"]["cardDescription"], "4000.00**.****.1000");
}

#[test]
fn a_readable_form_is_read_whatever_its_content_type() {
    for content_type in [
        "application/x-www-form-urlencoded; charset=ISO-8859-1",
        "application/x-www-form-urlencoded;charset=windows-1252",
        "text/plain",
        "application/octet-stream",
        "",
    ] {
        let mut shop = Shop::new();
        let session = shop.initiate();
        let body = serde_urlencoded::to_string([&[("sessionKey", &*session)], GOOD].concat()).unwrap();
        let mut request = Request::post("/v3/session/postform/json");
        if !content_type.is_empty() {
            request = request.header("content-type", content_type);
        }
        let response = shop.handle(request.body(body.into()).unwrap());
        let location = response.headers()["location"].to_str().unwrap();
        assert!(location.starts_with(NEXT), "{content_type}: {location}");
    }
}

#[test]
fn a_form_in_parts_leads_to_the_error_page_of_its_session() {
    let mut shop = Shop::new();
    let session = shop.initiate();
    let body = format!(
        "--b\r\nContent-Disposition: form-data; name=\"cardNumber\"\r\n\r\n{PAN}\r\n--b\r\nContent-Disposition: form-data; \
         name=\"sessionKey\"\r\n\r\n{session}\r\n--b--\r\n"
    );
    let request = Request::post("/v3/session/postform/json").header("content-type", "multipart/form-data; boundary=b");
    let response = shop.handle(request.body(body.into()).unwrap());
    let location = response.headers()["location"].to_str().unwrap();
    assert!(location.starts_with(crate::session_and_tokens::ERROR_PAGE), "{location}");
}

#[test]
fn check_boxes_and_line_breaks_do_not_refuse_the_form() {
    let mut shop = Shop::new();
    let session = shop.initiate();
    let mut pairs = GOOD.to_vec();
    let more =
        [("collectSize", "S"), ("news", "a"), ("collectSize", "L"), ("news", "b"), ("collectNote", "two\r\nlines")];
    pairs.extend(more);
    let landing = shop.post(&session, &pairs);
    assert_eq!(landing.page(), NEXT);
    let data = landing.json();
    assert_eq!((data["collectSize"].as_str(), data["collectNote"].as_str()), (Some("S,L"), Some("two\r\nlines")));
    // The same in XML.
    pairs.push(("sessionKey", &session));
    let landing = shop.post_raw("/v3/session/postform/xml", serde_urlencoded::to_string(&pairs).unwrap());
    let shown = landing.shown();
    let collected: Vec<_> = shown.collect.iter().collect();
    assert_eq!(collected, [("collectSize", "S,L"), ("collectNote", "two\r\nlines")]);
    // Two values for one field of the card are two readings.
    let landing = shop.post(&session, &[GOOD, &[("cardNumber", PAN)]].concat());
    assert_eq!(landing.error(), "935");
}
