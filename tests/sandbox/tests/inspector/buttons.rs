//! What each button does, and what a form that is wrong gets.

use serde_json::json;

use crate::inspector::{CV2, PAN, Shop, order};

#[test]
fn the_clock_is_turned() {
    let mut shop = Shop::new();
    let page = shop.shown("pages/clock");
    assert!(page.says("2026-05-04 10:00:00 UTC") && page.says("as real time"), "{}", page.text());
    for (seconds, now) in [
        ("30", "2026-05-04 10:00:30"),
        ("120", "2026-05-04 10:02:30"),
        ("1860", "2026-05-04 10:33:30"),
        ("86400", "2026-05-05 10:33:30"),
        ("864000", "2026-05-15 10:33:30"),
    ] {
        assert!(page.html.contains(&format!("name=\"advanceSeconds\" value=\"{seconds}\"")), "{seconds}");
        assert!(shop.done("pages/clock", &[("advanceSeconds", seconds)]).says(now), "{now}");
    }
    assert!(shop.done("pages/clock", &[("speed", "0")]).says("stands still"));
    assert!(shop.done("pages/clock", &[("speed", "60")]).says("60 × as fast"));
    assert!(shop.done("pages/clock", &[("set", "2031-01-01 12:30")]).says("2031-01-01 12:30:00 UTC"));
    let real = shop.done("pages/clock", &[("real", "1")]);
    assert!(real.says("2026-05-04 10:00:00 UTC") && real.says("the same") && real.says("as real time"));
    assert_eq!(shop.control("clock")["now"], "2026-05-04T10:00:00Z");
}

#[test]
fn an_invalid_clock_change_has_no_effect() {
    let mut shop = Shop::new();
    for (pairs, problem) in [
        (&[("set", "tomorrow")][..], "set must be an RFC 3339 date-time"),
        (&[("advanceSeconds", "-1")], "advanceSeconds must be a number"),
        (&[("advanceSeconds", "1e999")], "advanceSeconds must be a number"),
        (&[("speed", "fast")], "speed must be a number"),
        (&[("set", "2031-01-01"), ("advanceSeconds", "1")], "cannot be given together"),
        (&[], "give one of"),
    ] {
        let page = shop.press("pages/clock", pairs);
        assert_eq!(page.status, 400, "{pairs:?}");
        assert!(page.says(problem) && page.html.contains("role=\"alert\""), "{}", page.text());
    }
    assert!(shop.press("pages/clock", &[("set", "<b>\"")]).html.contains("value=\"&#60;b&#62;&#34;\""));
    assert_eq!(shop.control("clock")["offsetSeconds"], 0);
}

#[test]
fn faults_are_added_and_removed() {
    let mut shop = Shop::new();
    assert!(shop.shown("pages/faults").says("There are no faults."));
    let more = [("times", "2"), ("milliseconds", "1500"), ("status", "503")];
    for (method, kind, shown) in [
        ("transaction/auth", "drop-reply", "drop-reply transaction/auth 2 of 2"),
        ("*", "delay", "delay any 2 of 2 1500 ms"),
        ("enterprise/gettoken", "status", "status enterprise/gettoken 2 of 2 HTTP 503"),
    ] {
        let page = shop.done("pages/faults", &[&[("method", method), ("kind", kind)], &more[..]].concat());
        assert!(page.says(shown), "{}", page.text());
    }
    shop.send_as("main", "transaction/auth", &order("100", "r"));
    let page = shop.shown("pages/faults");
    assert!(page.says("drop-reply transaction/auth 1 of 2"));
    let remove = page.paths_below("/_sandbox/pages/faults/");
    assert_eq!(remove.len(), 4, "{remove:?}");
    let second = remove[1].strip_prefix("/_sandbox/").unwrap();
    assert!(!shop.done(second, &[]).says("1500 ms"));
    // Twice is as good as once.
    shop.done(second, &[]);
    assert_eq!(shop.control("faults").as_array().unwrap().len(), 2);
    assert!(shop.done("pages/faults/clear", &[]).says("There are no faults."));
    assert_eq!(shop.control("faults"), json!([]));
}

#[test]
fn an_invalid_fault_is_named_and_the_input_is_kept() {
    let mut shop = Shop::new();
    let entered = [("method", "transaction/auth"), ("kind", "status"), ("times", "3"), ("status", "200")];
    let page = shop.press("pages/faults", &entered);
    assert_eq!(page.status, 400);
    assert!(page.says("status must be a whole number from 400 to 599"), "{}", page.text());
    for kept in ["value=\"3\"", "value=\"200\"", "<option value=\"transaction/auth\" selected>"] {
        assert!(page.html.contains(kept), "{kept}");
    }
    for (name, value) in [("times", "0"), ("times", "many"), ("kind", "none"), ("method", "none"), ("times", "")] {
        let mut pairs = vec![("method", "*"), ("kind", "garble"), ("times", "1")];
        pairs.retain(|pair| pair.0 != name);
        pairs.push((name, value));
        assert_eq!(shop.press("pages/faults", &pairs).status, 400, "{name}={value}");
    }
    for _ in 0..256 {
        shop.press("pages/faults", &[("method", "*"), ("kind", "garble"), ("times", "1")]);
    }
    let page = shop.press("pages/faults", &[("method", "*"), ("kind", "garble"), ("times", "1")]);
    assert!(page.status == 400 && page.says("256 faults are already pending"), "{}", page.text());
}

#[test]
fn callback_behaviour_is_set_and_callbacks_are_resent() {
    let mut shop = Shop::new();
    let path = "pages/callbacks";
    assert!(shop.shown(path).says("Callbacks arrive once and on time."));
    for (kind, shown) in [("fail", "is never sent – 3"), ("late", "comes late 90 3"), ("twice", "comes twice – 3")]
    {
        let page = shop.done("pages/callbacks/behaviour", &[("kind", kind), ("seconds", "90"), ("times", "3")]);
        assert!(page.says(shown), "{}", page.text());
    }
    for (pairs, problem) in [
        (&[("kind", "late"), ("seconds", "x"), ("times", "1")][..], "seconds must be"),
        (&[("kind", "never"), ("times", "1")], "kind must be"),
        (&[("kind", "fail"), ("times", "0")], "times must be"),
    ] {
        let page = shop.press("pages/callbacks/behaviour", pairs);
        assert!(page.status == 400 && page.says(problem), "{}", page.text());
    }
    assert!(shop.done("pages/callbacks/behave", &[]).says("Callbacks arrive once and on time."));

    let token = shop.token();
    shop.batch(&token);
    shop.wait(121);
    let sent = shop.due();
    assert_eq!(sent.len(), 1);
    shop.delivered(&sent[0].id, Ok(http::StatusCode::OK));
    let entry = format!("{path}/{}", sent[0].id);
    assert!(shop.shown(&entry).says("State delivered"), "{}", shop.shown(&entry).text());
    let page = shop.done(&format!("{entry}/redeliver"), &[]);
    assert!(page.says("State pending") && page.says("Sent once"), "{}", page.text());
    assert_eq!(shop.due().len(), 1);
}

#[test]
fn a_batch_can_be_made_to_fail() {
    let mut shop = Shop::new();
    let token = shop.token();
    let batch = shop.batch(&token);
    let page = shop.shown(&format!("pages/batches/{batch}"));
    assert!(page.says("State pending") && page.says(&token), "{}", page.text());
    let page = shop.done(&format!("pages/batches/{batch}/spoil"), &[]);
    assert!(page.says("State pending spoiled") && !page.says("Spoil it"), "{}", page.text());
    assert_eq!(shop.control(&format!("batches/{batch}"))["spoiled"], true);
}

#[test]
fn the_answers_of_the_schemes_can_be_set() {
    let mut shop = Shop::new();
    let token = shop.token();
    let page = shop.done("pages/updater", &[("cardKey", &token), ("response", "705")]);
    assert!(page.says("411111******1111 705"), "{}", page.text());
    assert!(shop.done("pages/updater/forget", &[]).says("The schemes give their default answers."));
    let page = shop.press("pages/updater", &[("cardKey", "nothing"), ("response", "705")]);
    assert!(page.status == 400 && page.says("no token with this cardKey"), "{}", page.text());
    // A number in the wrong place is not shown again: it is looked for in every answer.
    let page = shop.press("pages/updater", &[("cardKey", PAN), ("response", "713")]);
    assert!(page.status == 400 && page.html.contains("400000******2008"), "{}", page.html);
}

#[test]
fn bodies_that_are_no_forms_are_refused() {
    let mut shop = Shop::new();
    for body in ["a=1&a=2", "a=%zz", &format!("{}=1", "x".repeat(2 << 20))] {
        let request =
            http::Request::post("/_sandbox/pages/faults").header("content-type", "application/x-www-form-urlencoded");
        let page = shop.send(request.body(body.to_owned().into()).unwrap());
        assert_eq!(page.status, 400, "{}", page.text());
        assert!(page.says("This cannot be done"));
    }
    let request = http::Request::post("/_sandbox/pages/faults").header("content-type", "application/json");
    assert_eq!(shop.send(request.body(format!("{{\"cv2\": \"{CV2}\"}}").into()).unwrap()).status, 400);
}
