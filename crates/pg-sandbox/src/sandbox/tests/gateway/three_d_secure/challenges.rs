//! The page on which the customer authenticates.

use super::*;

fn page(response: &Response<Bytes>) -> String {
    assert_eq!(response.headers()["content-type"], "text/html; charset=utf-8");
    text(response).1
}

// spec: 2 §2.5, A107
#[test]
fn the_page_has_three_buttons_and_no_script() {
    let mut shop = Shop::open();
    let key = open(&mut shop, CHALLENGE, &[("currency", "EUR"), ("itemPrice0", "123456")]);
    let response = visit(&mut shop, &key);
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["pg-basis"], "2 3.3, A107");
    let html = page(&response);
    let buttons: Vec<&str> = html.split("name=\"outcome\" value=\"").skip(1).map(|rest| &rest[..4]).collect();
    assert_eq!(buttons, ["auth", "fail", "aban"]);
    assert!(html.contains(&format!("<form method=\"post\" action=\"/3ds/{key}\">")), "{html}");
    assert!(html.contains("\u{20ac}2,469.12") && html.contains("400000******5001"), "{html}");
    assert!(html.contains("times out at 10:15:00 UTC"), "{html}");
    for never in [CHALLENGE, CV2, "<script", "javascript:", " onclick", "http://"] {
        assert!(!html.split("<body>").nth(1).unwrap().contains(never), "{never}: {html}");
    }
}

#[test]
fn shops_may_frame_it_and_its_form_leads_to_them() {
    let mut shop = Shop::open();
    let key = open(&mut shop, CHALLENGE, &[]);
    let response = visit(&mut shop, &key);
    let policy = response.headers()["content-security-policy"].to_str().unwrap();
    assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
    // Browsers apply form-action to the redirect that follows the form.
    for part in ["form-action 'self' http: https:", "frame-ancestors *", "base-uri 'none'"] {
        assert!(policy.contains(part), "{policy}");
    }
    assert!(!response.headers().contains_key("x-frame-options"));
    assert_eq!(response.headers()["cache-control"], "no-store");
    assert_eq!(response.headers()["referrer-policy"], "no-referrer");
}

#[test]
fn nothing_that_a_merchant_sent_becomes_markup() {
    let mut shop = Shop::open();
    let hostile = "\"'><script>alert(1)</script>&";
    let key = open(&mut shop, CHALLENGE, &[("merchantReference", hostile), ("itemName0", hostile)]);
    let html = page(&visit(&mut shop, &key));
    assert!(html.contains("&#34;&#39;&#62;&#60;script&#62;"), "{html}");
    assert!(!html.contains("<script") && !html.contains(hostile));
}

// spec: 2 §3.3 Steps, A107, A110: The customer authenticates on the page, also in a frame, and returns to returnUrl;
//   without 3-D Secure they return at once.
#[test]
fn each_button_leads_back_with_its_end() {
    for (outcome, end) in [
        ("authenticate", AuthenticationEnd::Authenticated),
        ("fail", AuthenticationEnd::Failed),
        ("abandon", AuthenticationEnd::Abandoned),
    ] {
        let mut shop = Shop::open();
        let key = open(&mut shop, CHALLENGE, &[]);
        let response = press(&mut shop, &key, outcome);
        assert_eq!(location(&response), RETURN);
        assert_eq!(response.headers()["pg-basis"], "2 3.3, A107, A110");
        assert_eq!(end_of(&mut shop, &key), Some(end), "{outcome}");
    }
}

// spec: 2 §4.4
#[test]
fn the_return_address_is_used_as_it_was_sent() {
    let mut shop = Shop::open();
    for (sent, wanted) in [
        ("https://shop.example", "https://shop.example"),
        ("http://127.0.0.1:3000/back", "http://127.0.0.1:3000/back"),
        (
            "https://shop.example/back?order=7&x=%41&y=a+b#step-2",
            "https://shop.example/back?order=7&x=%41&y=a+b#step-2",
        ),
        ("https://shop.example/?#", "https://shop.example/?#"),
        ("https://shop.example/?next=https://other.example/", "https://shop.example/?next=https://other.example/"),
        ("HTTPS://shop.example/caf\u{e9}#\u{e9}", "HTTPS://shop.example/caf%C3%A9#%C3%A9"),
    ] {
        let key = open(&mut shop, CHALLENGE, &[("returnUrl", sent)]);
        assert_eq!(location(&press(&mut shop, &key, "authenticate")), wanted);
        assert_eq!(location(&visit(&mut shop, &key)), wanted);
    }
}

// spec: 2 §3.3, A110: Of several answers, the first counts.
#[test]
fn an_end_is_an_end() {
    for (first, second) in [("authenticate", "fail"), ("fail", "authenticate"), ("abandon", "authenticate")] {
        let mut shop = Shop::open();
        let key = answered(&mut shop, CHALLENGE, first, &[]);
        let (end, payments) = (end_of(&mut shop, &key), shop.payments());
        shop.wait(10_000);
        assert_eq!(location(&press(&mut shop, &key, second)), RETURN);
        assert_eq!(location(&press(&mut shop, &key, "nonsense")), RETURN);
        assert_eq!(location(&visit(&mut shop, &key)), RETURN);
        assert_eq!((end_of(&mut shop, &key), shop.payments()), (end, payments), "{first} {second}");
    }
}

// spec: 2 §3.3, A110
#[test]
fn the_first_of_two_concurrent_answers_counts() {
    let mut shop = Shop::open();
    let key = open(&mut shop, CHALLENGE, &[]);
    let post = |outcome: &str| request(Method::POST, &format!("/3ds/{key}"), format!("outcome={outcome}"));
    let group = vec![post("fail"), post("authenticate"), post("authenticate")];
    let responses = shop.sandbox.handle_group(shop.at, group);
    assert!(responses.iter().all(|response| location(response) == RETURN));
    assert_eq!(end_of(&mut shop, &key), Some(AuthenticationEnd::Failed));
}

// spec: 2 §3.3, A107: An unanswered challenge times out.
#[test]
fn after_fifteen_minutes_no_answer_counts() {
    let mut shop = Shop::open();
    let key = open(&mut shop, CHALLENGE, &[]);
    shop.wait(899);
    assert_eq!(visit(&mut shop, &key).status(), 200);
    shop.wait(1);
    assert_eq!(location(&visit(&mut shop, &key)), RETURN);
    assert_eq!(location(&press(&mut shop, &key, "authenticate")), RETURN);
    assert_eq!(end_of(&mut shop, &key), Some(AuthenticationEnd::TimedOut));
    let just_in_time = open(&mut shop, CHALLENGE, &[]);
    shop.wait(899);
    press(&mut shop, &just_in_time, "authenticate");
    shop.wait(1);
    assert_eq!(end_of(&mut shop, &just_in_time), Some(AuthenticationEnd::Authenticated));
}

// spec: 2 §3.3, A107, A110
#[test]
fn a_card_without_3d_secure_is_sent_back_at_once() {
    let mut shop = Shop::open();
    let key = open(&mut shop, NOT_ENROLLED, &[]);
    assert_eq!(location(&visit(&mut shop, &key)), RETURN);
    assert_eq!(location(&press(&mut shop, &key, "fail")), RETURN);
    assert_eq!(end_of(&mut shop, &key), Some(AuthenticationEnd::NotEnrolled));
}

#[test]
fn the_card_of_failing_challenges_always_fails() {
    for (outcome, end) in [
        ("authenticate", AuthenticationEnd::Failed),
        ("fail", AuthenticationEnd::Failed),
        ("abandon", AuthenticationEnd::Abandoned),
    ] {
        let mut shop = Shop::open();
        for number in [ALWAYS_FAILS, "5200000000006004"] {
            let key = answered(&mut shop, number, outcome, &[]);
            assert_eq!(end_of(&mut shop, &key), Some(end));
        }
    }
}

// spec: 2 §4.4, A06
#[test]
fn without_a_return_address_there_is_a_last_page() {
    let mut shop = Shop::open();
    let token = shop.token(CHALLENGE, ("01", "2030"));
    let answer = shop.call("initiate3DSecureCardKey", &order(&[("cardKey", &token)]));
    let key = answer.text("authenticationKey");
    assert_eq!(location(&press(&mut shop, key, "authenticate")), format!("/3ds/{key}"));
    let last = visit(&mut shop, key);
    assert_eq!(last.status(), 200);
    let html = page(&last);
    assert!(html.contains("Close this page") && !html.contains("<form"), "{html}");
}

#[test]
fn an_invalid_form_shows_the_challenge_again() {
    let mut shop = Shop::open();
    let key = open(&mut shop, CHALLENGE, &[]);
    let path = format!("/3ds/{key}");
    for body in [
        "",
        "outcome=",
        "outcome=Authenticate",
        "outcome=authenticate&outcome=fail",
        "result=authenticate",
        "outcome=%",
        "outcome=%FF",
        "outcome=<script>alert(1)</script>",
    ] {
        let response = shop.sandbox.handle(shop.at, request(Method::POST, &path, body));
        assert_eq!(response.status(), 400, "{body}");
        let html = page(&response);
        assert!(html.contains("value=\"authenticate\"") && html.contains("role=\"alert\""), "{html}");
        assert!(!html.contains("<script"));
    }
    let json = Request::post(&path).header("content-type", "application/json").body("outcome=fail".into()).unwrap();
    assert_eq!(shop.sandbox.handle(shop.at, json).status(), 400);
    assert_eq!(end_of(&mut shop, &key), None);
}

#[test]
fn only_get_head_and_post_are_answered() {
    let mut shop = Shop::open();
    let key = open(&mut shop, CHALLENGE, &[]);
    let head = shop.sandbox.handle(shop.at, request(Method::HEAD, &format!("/3ds/{key}"), "outcome=authenticate"));
    assert_eq!((head.status(), head.body().len()), (StatusCode::OK, 0));
    for method in [Method::PUT, Method::DELETE, Method::PATCH, Method::OPTIONS] {
        let response = shop.sandbox.handle(shop.at, request(method, &format!("/3ds/{key}"), "outcome=authenticate"));
        assert_eq!(
            (response.status().as_u16(), &response.headers()["allow"]),
            (405, &"GET, HEAD, POST".parse().unwrap())
        );
        assert!(page(&response).contains("934"));
    }
    assert_eq!(end_of(&mut shop, &key), None);
    // An action that only a form may perform has no URL.
    let address = format!("/3ds/{key}?outcome=authenticate");
    let response = shop.sandbox.handle(shop.at, request(Method::GET, &address, ""));
    assert_eq!((response.status(), end_of(&mut shop, &key)), (StatusCode::OK, None));
}

// spec: codes SandboxErrorCode 960
#[test]
fn an_unknown_key_has_no_page() {
    let mut shop = Shop::open();
    let key = open(&mut shop, CHALLENGE, &[]);
    let check = shop.stored::<Authentication>(&key).unwrap().check;
    for unknown in [NO_KEY, &check, &key.to_uppercase(), "%3Cscript%3E", "..%2f..%2f"] {
        let response = visit(&mut shop, unknown);
        let html = page(&response);
        assert!(response.status() == 404 && html.contains("960"), "{unknown} {html}");
        assert_eq!(press(&mut shop, unknown, "authenticate").status(), 404);
    }
    for path in ["/3ds", "/3ds/", "/3ds/a/b"] {
        let (status, body) = text(&shop.sandbox.handle(now(), request(Method::GET, path, "")));
        assert_eq!((status, body.as_str()), (StatusCode::NOT_FOUND, "Not found\n"), "{path}");
    }
}

#[test]
fn an_authentication_outlives_the_process() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let start = || Shop { sandbox: Sandbox::open(&path, Settings::default(), [3; 32]).unwrap(), at: now() };
    let mut shop = start();
    let key = open(&mut shop, CHALLENGE, &[]);
    drop(shop);
    let mut shop = start();
    assert_eq!(location(&press(&mut shop, &key, "authenticate")), RETURN);
    drop(shop);
    let mut shop = start();
    assert_eq!(pay_with(&mut shop, "auth3DSecure", &key).code(), "600");
    drop(shop);
    assert_eq!(pay_with(&mut start(), "auth3DSecure", &key).code(), "962");
}
