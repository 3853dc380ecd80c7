//! Who may call, and what is refused before a method is asked (spec 3 §5, §7, §9).

use http::Method;

use crate::hosted_checkout::{ORDER, Shop};

const METHODS: [&str; 9] =
    ["gettoken", "repeat", "refund", "capture", "cancel", "sms", "address", "transaction_lookup", "canceltoken"];

// spec: 3 §4: api_key, api_password and version are required.
// spec: 3 §5: Every request carries credentials and version, and no signature.
// spec: 3 §9, A111: version is always 5.
// spec: codes ErrorCode 1 3; codes SandboxErrorCode 939
#[test]
fn every_method_wants_key_password_and_version() {
    let shop = Shop::new();
    let enterprise = shop.sandbox.settings().merchants.by_name("main").unwrap().enterprise.clone().unwrap();
    let (key, password) =
        (("api_key", enterprise.api_key.expose()), ("api_password", enterprise.api_password.expose()));
    let version = ("version", "5");
    for method in METHODS {
        for (pairs, status, wanted) in [
            (&[][..], 400, "1"),
            (&[password, version], 401, "3"),
            (&[("api_key", "wrong"), password, version], 401, "3"),
            (&[("api_key", ""), password, version], 401, "3"),
            (&[key, version], 401, "3"),
            (&[key, ("api_password", "wrong"), version], 401, "3"),
            (&[key, password], 400, "939"),
            (&[key, password, ("version", "3")], 400, "939"),
            (&[key, password, ("version", "6")], 400, "939"),
            (&[key, password, ("version", "5.0")], 400, "939"),
            (&[key, password, ("version", "")], 400, "939"),
            (&[key, ("api_password", "wrong"), ("version", "3")], 401, "3"),
        ] {
            // So many failures of one address would lock it out.
            let answer = Shop::new().call_bare(method, pairs);
            assert_eq!((answer.status, answer.code().as_str()), (status, wanted), "{method} {pairs:?}");
        }
    }
}

// spec: 3 §5
#[test]
fn credentials_of_version_3_are_others() {
    let mut shop = Shop::new();
    let main = shop.sandbox.settings().merchants.by_name("main").unwrap().clone();
    let pairs = [("api_key", main.api_key.expose()), ("api_password", main.api_password.expose()), ("version", "5")];
    assert_eq!(shop.call_bare("sms", &pairs).code(), "3");
}

#[test]
fn the_version_is_an_integer() {
    let mut shop = Shop::new();
    let enterprise = shop.sandbox.settings().merchants.by_name("main").unwrap().enterprise.clone().unwrap();
    for (version, wanted) in [
        ("5", None),
        ("05", None),
        ("0005", None),
        ("", Some("939")),
        ("+5", Some("939")),
        (" 5", Some("939")),
        ("5.0", Some("939")),
        ("50", Some("939")),
        ("4", Some("939")),
    ] {
        let own = [
            ("api_key", enterprise.api_key.expose()),
            ("api_password", enterprise.api_password.expose()),
            ("version", version),
        ];
        let answer = shop.call_bare("gettoken", &[&own, ORDER].concat());
        assert_eq!((answer.status != 200).then(|| answer.code()).as_deref(), wanted, "{version:?}");
    }
}

// spec: 3 §5, A53: Wrong credentials of this service lock an address out like those of version 3.
// spec: 3 §8 Limits, A129: The service has no limit of requests.
#[test]
fn failures_lock_out_and_nothing_is_throttled() {
    let mut shop = Shop::new();
    for _ in 0..6 {
        assert_eq!(shop.call_bare("gettoken", &[("api_key", "wrong")]).code(), "3");
    }
    let blocked = shop.call("gettoken", ORDER);
    assert_eq!((blocked.status, blocked.code().as_str()), (403, "121"));
    let mut shop = Shop::new();
    shop.become_merchant("strict");
    for _ in 0..150 {
        shop.done("gettoken", ORDER);
    }
}

// spec: 3 §7, A39: An error is XML with errorcode, a number.
// spec: 3 §4, A41, A49
#[test]
fn paths_methods_and_bodies_are_refused_in_xml() {
    let mut shop = Shop::new();
    assert_eq!(shop.call_raw("nothing", "a=1").code(), "103");
    assert_eq!(shop.call_raw("gettoken/xml", "a=1").code(), "103");
    assert_eq!(shop.call_raw("gettoken", "a=%").code(), "930");
    assert_eq!(shop.call_raw("gettoken", "a=1&a=2").code(), "935");
    assert_eq!(shop.call_raw("gettoken/", "").code(), "1");
    for name in METHODS {
        for method in [Method::GET, Method::PUT, Method::DELETE] {
            let response = shop.ask(method, &format!("/enterprise/{name}"), "");
            let body = String::from_utf8(response.body().to_vec()).unwrap();
            assert!(response.status() == 400 && body.contains("<errorcode>934</errorcode>"), "{body}");
        }
    }
    let request = http::Request::post("/enterprise/sms").header("content-type", "application/json");
    let response = shop.send(request.body("{}".into()).unwrap());
    assert!(String::from_utf8_lossy(response.body()).contains("<errorcode>933</errorcode>"));
}

// spec: 3 §7, A112: Other codes are those of version 3 and of the sandbox.
#[test]
fn required_parameters_have_to_be_there() {
    let mut shop = Shop::new();
    for (method, pairs, wanted) in [
        ("repeat", &[][..], "938"),
        ("repeat", &[("prev_trans_key", "x"), ("trans_value", "1")], "938"),
        ("repeat", &[("prev_trans_key", "x"), ("trans_type", "Auth")], "107"),
        ("repeat", &[("prev_trans_key", "x"), ("trans_type", "authorise"), ("trans_value", "1")], "937"),
        ("repeat", &[("prev_trans_key", "x"), ("trans_type", "Auth"), ("trans_value", "1")], "943"),
        ("refund", &[("trans_value", "1")], "938"),
        ("refund", &[("prev_trans_key", "x")], "107"),
        ("capture", &[("prev_trans_key", "x"), ("trans_value", "-1")], "107"),
        ("cancel", &[("prev_trans_key", "x"), ("trans_value", "1,00")], "107"),
        ("cancel", &[("prev_trans_key", "x"), ("trans_value", "1")], "943"),
        ("sms", &[("message", "Hello")], "938"),
        ("sms", &[("msisdn", "447700900123")], "938"),
        ("address", &[("property_name", "1")], "938"),
        ("transaction_lookup", &[], "938"),
        ("canceltoken", &[("tokenid", "")], "938"),
    ] {
        assert_eq!(shop.refused(method, pairs), wanted, "{method} {pairs:?}");
    }
}
