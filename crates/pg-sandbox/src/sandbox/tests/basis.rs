//! The assumptions that a reply names because they decide it.

use http::Method;

use super::{requests::*, stores::empty};

const UNKNOWN: (&str, &str) = ("cardKey", "none");

fn basis(path: &str, body: &str) -> String {
    let response = empty().handle(now(), request(Method::POST, path, body.to_owned()));
    response.headers()["pg-basis"].to_str().unwrap().to_owned()
}

// spec: 1 §2.4, A130; 1 §4.7, A130; 2 §4.4, A130
#[test]
fn a_method_whose_path_is_not_shown_names_the_assumption_about_it() {
    for (path, wanted) in [
        ("/v3/token/preauthCardKey", "1 7, A20, A38, A40, A49, A130"),
        ("/v3/token/createToken/json", "1 7, A20, A38, A40, A49, A130, A131"),
        ("/v3/transaction/preauthSessionKey", "2 7, A20, A38, A40, A49, A130"),
        ("/v3/transaction/initiate3DSecure", "2 7, A20, A38, A40, A49, A130"),
        ("/v3/token/nothing", "1 7, A20, A38, A40, A49"),
        ("/v3/session/nothing", "2 7, A20, A38, A40, A49"),
        ("/enterprise/preauth", "3 7, A39, A40, A49, A112"),
    ] {
        assert_eq!(basis(path, ""), wanted, "{path}");
    }
}

// spec: 1 §5, A02; 1 §5, A26
#[test]
fn the_order_of_names_and_arrays_decide_whether_a_signature_is_valid() {
    for (pairs, assumed) in [
        (vec![UNKNOWN, ("b", "1"), ("B", "2")], "A02, "),
        (vec![UNKNOWN, ("x[]", "1")], "A26, "),
        (vec![UNKNOWN, ("x[]", "")], "A26, "),
        (vec![UNKNOWN, ("x[]", ""), ("x[]", "")], "A26, "),
        (vec![UNKNOWN, ("x[0]", "")], "A26, "),
        (vec![UNKNOWN, ("x[0]", "1"), ("y", "1"), ("Y", "1")], "A02, A26, "),
        (vec![UNKNOWN, ("b", "1"), ("c", "2")], ""),
        (vec![UNKNOWN, ("b", "1"), ("B", "")], ""),
    ] {
        let body = signed(&account("main"), &pairs);
        assert_eq!(basis("/v3/token/lookup", &body), format!("1 4.2, {assumed}A41, A42, A43, A55, A56, A69"));
        let (start, _) = body.split_once("shaSignature=").unwrap();
        let body = format!("{start}shaSignature={}", "0".repeat(128));
        let (before, after) = (assumed.replace("A26, ", ""), assumed.replace("A02, ", ""));
        assert_eq!(basis("/v3/token/lookup", &body), format!("2 7, {before}A20, {after}A38, A40, A52, A53"));
    }
}

// spec: 1 §1, A71, A102; 1 §4.8, A45, A77
#[test]
fn a_refused_account_updater_names_what_decides() {
    let updater = ("accountUpdaterKey", "wrong");
    for (merchant, path, pairs, wanted) in [
        ("strict", "requestAccountUpdater", vec![updater, ("cardKey", "k")], "A20, A38, A40, A71, A102"),
        ("strict", "retrieveAccountUpdater", vec![("batchKey", "x")], "A20, A28, A38, A40, A71, A102"),
        ("main", "requestAccountUpdater", vec![updater, ("cardKey", "k")], "A20, A38, A40, A71"),
        (
            "main",
            "requestAccountUpdater",
            vec![updater, ("cardKey", "k"), ("callbackUrl", "foo")],
            "A20, A38, A40, A45, A77",
        ),
    ] {
        let body = signed(&account(merchant), &pairs);
        assert_eq!(basis(&format!("/v3/token/{path}"), &body), format!("1 7, {wanted}"), "{merchant} {pairs:?}");
    }
}

// spec: 1 §2.1, A131; 2 §2.2, A139
#[test]
fn the_encoding_names_the_assumptions_about_its_values() {
    let mut sandbox = empty();
    let key = token(&mut sandbox, "main");
    let card = ("cardKey", key.as_str());
    for (name, json, xml) in [("A Tester", true, false), ("A\u{fffe}Tester", true, true)] {
        let body = signed(&account("main"), &[card, ("cardholderName", name)]);
        post(&mut sandbox, "/v3/token/updateCardKeyDetails", body);
        for (encoding, number, expected) in
            [("json", "A131", json), ("xml", "A131", false), ("json", "A139", false), ("xml", "A139", xml)]
        {
            let body = signed(&account("main"), &[card]);
            let path = format!("/v3/token/lookup/{encoding}");
            let response = sandbox.handle(now(), request(Method::POST, &path, body));
            let basis = response.headers()["pg-basis"].to_str().unwrap();
            assert_eq!(basis.contains(number), expected, "{name:?} {encoding}: {basis}");
        }
    }
    assert!(basis("/v3/token/lookup/json", "").ends_with(", A131"));
    assert!(!basis("/v3/token/lookup/xml", "").contains("A131"));
}
