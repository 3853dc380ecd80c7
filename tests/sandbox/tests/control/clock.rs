//! Changes of the clock.

use serde_json::Value;

use crate::control::Shop;

fn turned(shop: &mut Shop, body: &str) -> (u16, Value) {
    let answer = shop.control("clock", body);
    (answer.status, answer.json())
}

#[test]
fn it_is_set_to_a_date_time_of_rfc_3339_only() {
    let mut shop = Shop::new();
    let set = |shop: &mut Shop, text: &str| turned(shop, &serde_json::json!({ "set": text, "speed": 0 }).to_string());
    for (text, wanted) in [
        ("2031-01-01T00:00:00Z", "2031-01-01T00:00:00Z"),
        ("2031-01-01t00:00:00.125z", "2031-01-01T00:00:00.125Z"),
        ("2031-01-01T00:00:00.123456789Z", "2031-01-01T00:00:00.123Z"),
        ("2031-01-01T00:00:00+23:59", "2030-12-31T00:01:00Z"),
        ("2031-01-01T00:00:00-00:30", "2031-01-01T00:30:00Z"),
    ] {
        let (status, clock) = set(&mut shop, text);
        assert_eq!((status, &clock["now"]), (200, &Value::from(wanted)), "{text}: {clock}");
    }
    for text in [
        "2031-01-01T00:00:00+25:00",
        "2031-01-01T00:00:00+24:00",
        "2031-01-01T00:00:00+01:60",
        "2031-01-01T00:00:00+01",
        "2031-01-01T00:00:00+0100",
        "2031-01-01T00:00:00+01:00:30",
        "2031-01-01T00:00Z",
        "2031-01-01T00:00+01:00",
        "2031-01-01 00:00:00Z",
        " 2031-01-01T00:00:00Z",
        "2031-01-01T00:00:00Z ",
        "2031-01-01T00:00:00,5Z",
        "2031-01-01T00:00:00.Z",
        "20310101T000000Z",
        "+002031-01-01T00:00:00Z",
        "2031-01-01T00:00:00Z[UTC]",
        "2031-01-01T00:00:00+01:00[Europe/Paris]",
        "2031-13-01T00:00:00Z",
        "2031-02-29T00:00:00Z",
        "2031-01-01T24:00:00Z",
        "2031-01-01T00:00:00",
        "\u{664}031-01-01T00:00:00Z",
        "",
    ] {
        let (status, problem) = set(&mut shop, text);
        assert_eq!(status, 400, "{text}: {problem}");
        assert!(
            problem["error"].as_str().unwrap().starts_with("set must be an RFC 3339 date-time"),
            "{text}: {problem}"
        );
    }
    assert_eq!(shop.control("clock", "").json()["now"], "2031-01-01T00:30:00Z");
}

#[test]
fn it_is_not_advanced_beyond_the_last_year() {
    let mut shop = Shop::new();
    let last = "2999-12-31T23:59:59.999Z";
    turned(&mut shop, r#"{"set":"2999-12-31T23:59:00Z","speed":0}"#);
    for body in [r#"{"advanceSeconds":60}"#, r#"{"advanceSeconds":3155760000,"speed":1}"#] {
        let (status, problem) = turned(&mut shop, body);
        assert_eq!(status, 400, "{problem}");
        assert!(problem["error"].as_str().unwrap().contains("the clock ends with the year 2999"), "{problem}");
    }
    assert_eq!(turned(&mut shop, r#"{"advanceSeconds":59.999}"#).1["now"], last);
    assert_eq!(turned(&mut shop, r#"{"advanceSeconds":0.001}"#).0, 400);
    assert_eq!(turned(&mut shop, r#"{"advanceSeconds":0}"#).1["now"], last);
}
