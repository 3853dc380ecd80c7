//! A body that is not a reply gives an error with the place, and without text of the body.

use pg_model::{
    AccountUpdaterBatch, CardKeyDetails, Encoding, METHODS, Session, Transaction, Transactions, decode, decode_as,
    method::AuthScheme,
};

use crate::{read, response, try_read};

// spec: 1 §7, A44
#[test]
fn a_response_of_another_server_is_no_reply() {
    for body in [
        "",
        " \n",
        "\u{feff}",
        "OK",
        "502 Bad Gateway",
        "<html><head><title>502</title></head><body><h1>Bad Gateway</h1></body></html>",
        "<!DOCTYPE html>\n<html><body>blocked<br></body></html>",
        "<response><sessionKey>k</sessionKey></response>",
        "<serviceresponse><sessionKey>k</sessionKey></serviceresponse>",
        "[]",
        "[{\"sessionKey\":\"k\"}]",
        "null",
        "\"k\"",
        "600",
        "{\"message\":\"Forbidden\"}",
        "<serviceResponse><message>Forbidden</message></serviceResponse>",
        "<serviceResponse/>",
        "{}",
    ] {
        let error = decode::<Session>(body.as_bytes()).expect_err(body);
        assert!(error.to_string().starts_with("the body "), "{error}");
    }
}

/// A payment that was made must not be taken for one that is not there.
#[test]
fn an_error_page_of_a_proxy_is_not_an_empty_lookup() {
    for body in [
        "{\"message\":\"proxy\"}".to_owned(),
        "{\"message\":\"proxy\",\"status\":200}".to_owned(),
        response("<message>proxy</message>"),
        "{\"data\":{\"transactions\":{}}}".to_owned(),
        "{\"transactions\":\"proxy\",\"cardKeyDetails\":\"proxy\"}".to_owned(),
        "{\"transactions\":[\"proxy\"],\"cardKeyDetails\":[\"proxy\"]}".to_owned(),
        "{\"transactions\":{},\"cardKeyDetails\":{},\"message\":\"proxy\"}".to_owned(),
    ] {
        assert!(decode::<CardKeyDetails>(body.as_bytes()).is_err(), "{body}");
        assert!(decode::<Transactions>(body.as_bytes()).is_err(), "{body}");
    }
}

// spec: 1 §4.2, 2 §4.4, A43: an empty lookup names its list
#[test]
fn a_lookup_is_empty_only_if_its_body_names_an_empty_list() {
    fn lists(name: &str) -> [String; 8] {
        [
            format!("{{\"{name}\":{{}}}}"),
            format!("{{ \"{name}\" : [ ] }}"),
            format!("\u{feff}{{\"{name}\":{{}},\"errorCode\":null}}"),
            response(&format!("<{name}/>")),
            response(&format!("<{name}></{name}>")),
            response(&format!("<{name}>\n</{name}>")),
            response(&format!("<{name}><!-- none --></{name}>")),
            format!("<?xml version=\"1.0\"?>\n{}", response(&format!("<{name} />"))),
        ]
    }
    let none = ["{}", " { }\n", "{\"errorCode\":null}", "<serviceResponse/>", "<serviceResponse></serviceResponse>"];
    let no_list = |name: &str| {
        ["null", "\"\"", "0", "false", "[null]", "[[]]", "{\"0\":null}", "{\"0\":\"\"}"]
            .map(|value| format!("{{\"{name}\":{value}}}"))
    };
    for body in lists("cardKeyDetails") {
        assert!(decode::<CardKeyDetails>(body.as_bytes()).expect(&body).record.card_key_details.is_empty());
    }
    for body in lists("transactions") {
        assert!(decode::<Transactions>(body.as_bytes()).expect(&body).record.transactions.is_empty());
    }
    for body in none.map(str::to_owned).into_iter().chain(no_list("cardKeyDetails")).chain(lists("transactions")) {
        assert!(decode::<CardKeyDetails>(body.as_bytes()).is_err(), "{body}");
    }
    for body in none.map(str::to_owned).into_iter().chain(no_list("transactions")).chain(lists("cardKeyDetails")) {
        assert!(decode::<Transactions>(body.as_bytes()).is_err(), "{body}");
    }
    let none = "the body has no list called transactions";
    let more = "the body has other members beside the empty list transactions";
    let with =
        ["{\"transactions\":{},\"count\":0}", "<serviceResponse><transactions/><count>0</count></serviceResponse>"];
    for (body, expected) in [("{}", none), ("{\"count\":0}", none), (with[0], more), (with[1], more)] {
        assert_eq!(decode::<Transactions>(body.as_bytes()).expect_err(body).to_string(), expected, "{body}");
    }
}

/// Nothing in such a reply says that its request was done. The card form is answered by a redirect, which has no body.
#[test]
fn a_reply_without_content_is_the_reply_of_no_method() {
    for info in METHODS.iter().filter(|info| info.credentials != AuthScheme::Session) {
        for body in ["{}", "<serviceResponse/>", "<serviceResponse></serviceResponse>"] {
            let reply = decode_as(body.as_bytes(), (info.new_reply)());
            assert!(reply.is_err(), "{}: {body}", info.rust);
        }
    }
}

#[test]
fn a_reply_without_a_required_field_names_it() {
    let error = decode::<Transaction>(b"{\"transactionKey\":\"k\"}").expect_err("no status code");
    assert_eq!(error.to_string(), "the body lacks transactionStatusCode");
    let error = decode::<AccountUpdaterBatch>(b"<serviceResponse><createdOn>x</createdOn></serviceResponse>");
    assert_eq!(error.expect_err("no batch key").to_string(), "the body lacks batchKey");
}

#[test]
fn the_place_is_that_of_the_mistake() {
    for (body, place) in [
        // JSON: behind the character that is wrong, as serde_json counts.
        ("{\"a\":1,}", (1, 8)),
        ("{\n  \"a\": 1\n  \"b\": 2\n}", (3, 3)),
        ("\u{feff}{\n\"a\":x}", (2, 5)),
        ("{\"a\":\n", (2, 1)),
        ("{\"é\":\"é\",x", (1, 10)),
        ("{} x", (1, 4)),
        // XML: where the tag, the reference or the text begins that is wrong.
        ("<serviceResponse>\n  <a>1</b>\n</serviceResponse>", (2, 7)),
        ("<serviceResponse>\n<a>\n&nope;</a></serviceResponse>", (3, 1)),
        ("<serviceResponse>\n<a>x &nope;</a></serviceResponse>", (2, 6)),
        ("\u{feff}<serviceResponse>\r\n<a>é&nope;</a></serviceResponse>", (2, 5)),
        ("\n\n <html>\n</html>", (3, 2)),
        ("<serviceResponse/>\n  <x/>", (2, 3)),
        ("<serviceResponse>\n <a>", (2, 5)),
        ("<serviceResponse>\n <!-- a", (2, 2)),
        ("<serviceResponse>\n <a", (2, 2)),
    ] {
        let error = try_read::<Session>(body).expect_err(body);
        assert_eq!(error.place(), Some(place), "{body:?}: {error}");
    }
}

#[test]
fn the_place_of_a_byte_that_is_not_utf_8_is_known() {
    for body in [&b"{\n \"a\": \"\xc3\xa9\xff\"}"[..], b"<serviceResponse>\n <a>\xc3\xa9\xff</a></serviceResponse>"] {
        let error = pg_model::decode_into(body, &mut Session::default()).expect_err("not UTF-8");
        let column = if body[0] == b'{' { 9 } else { 6 };
        assert_eq!(error.place(), Some((2, column)), "{error}");
        assert!(error.to_string().contains("is not UTF-8"), "{error}");
    }
}

#[test]
fn no_text_of_the_body_gets_into_the_error() {
    let canary = "4111111111111111";
    for body in [
        format!("{{\"a\":\"{canary}\",{canary}}}"),
        format!("{{\"a\":{canary}x}}"),
        format!("{{\"{canary}"),
        format!("[\"{canary}\"]"),
        format!("\"{canary}\""),
        canary.to_owned(),
        format!("<{canary}>"),
        format!("<serviceResponse><a{canary}></b></serviceResponse>"),
        format!("<serviceResponse><a>&{canary};</a></serviceResponse>"),
        format!("<serviceResponse><a>{canary}"),
        format!("<serviceResponse>{canary}<b {canary}='</serviceResponse>"),
    ] {
        let error = try_read::<Session>(&body).expect_err(&body);
        for shown in [error.to_string(), format!("{error:?}")] {
            assert!(!shown.contains("4111"), "{shown}");
        }
    }
}

#[test]
fn the_first_character_tells_the_encoding_of_a_body() {
    for (body, encoding) in [
        ("<a/>", Some(Encoding::Xml)),
        (" \n{}", Some(Encoding::Json)),
        ("\u{feff} <a/>", Some(Encoding::Xml)),
        ("[]", Some(Encoding::Json)),
        ("", None),
        ("ok", None),
    ] {
        assert_eq!(Encoding::of(body.as_bytes()), encoding, "{body:?}");
    }
    assert!(read::<Session>("{}").session_key.is_empty());
}
