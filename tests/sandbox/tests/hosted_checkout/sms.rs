//! Text messages (spec 3 §2.3, §4.6; A127).

use pg_model::SmsReply;

use crate::hosted_checkout::Shop;

// spec: 3 §2.3, A127: The result contains number, message and status, and the identifier if it was sent.
// spec: 3 §1; method enterprise/sms
#[test]
fn a_message_is_listed_and_not_sent() {
    let mut shop = Shop::new();
    for number in ["+447700900123", "00447700900123", "447700900123"] {
        let answer = shop.done("sms", &[("msisdn", number), ("message", "Ready <at> 5 & later: caf\u{e9}")]);
        let sms = answer.record::<SmsReply>().sms;
        assert_eq!((sms.msisdn.as_str(), sms.message.as_str()), ("447700900123", "Ready <at> 5 & later: caf\u{e9}"));
        let id = sms.message_id.as_str();
        assert!(sms.status.as_str() == "1" && id.len() == 16 && id.bytes().all(|byte| byte.is_ascii_digit()));
    }
    let listed = shop.control("sms");
    let listed = listed.as_array().unwrap();
    assert_eq!(listed.len(), 3);
    assert_eq!((&listed[0]["merchant"], &listed[0]["status"]), (&"main".into(), &"1".into()));
    assert_eq!(listed[0]["created"], "2026-05-04T10:00:00Z");
    let newest = shop.control("sms?limit=1");
    assert_eq!(newest.as_array().unwrap(), &listed[..1]);
    let before = format!("sms?limit=2&before={}", listed[0]["id"].as_str().unwrap());
    assert_eq!(shop.control(&before).as_array().unwrap(), &listed[1..]);
    assert!(shop.control("sms?limit=0")["error"].is_string());
}

// spec: 3 §4.6
#[test]
fn a_message_may_have_lines() {
    let mut shop = Shop::new();
    let message = "Order 7\nis ready.\r\n\r\nThank you\r";
    let answer = shop.done("sms", &[("msisdn", "447700900123"), ("message", message)]);
    assert_eq!(answer.record::<SmsReply>().sms.message, message);
    assert!(answer.xml.contains("7\nis ready.&#13;\n&#13;\nThank you&#13;</message>"), "{}", answer.xml);
    assert_eq!(shop.control("sms")[0]["message"], message);
}

// spec: 3 §2.3, A127; 3 §7, A113
#[test]
fn a_number_that_cannot_be_reached_fails() {
    let mut shop = Shop::new();
    let answer = shop.done("sms", &[("msisdn", "+447700900000"), ("message", "Hello")]);
    assert_eq!((answer.text("status").as_str(), answer.basis.as_str()), ("0", "3 4.6, A41, A42, A113, A127"));
    assert!(answer.xml.contains("<messid></messid>"), "{}", answer.xml);
    assert_eq!(shop.control("sms")[0]["status"], "0");
}

// spec: 3 §4.6: message has at most 160 characters.
// spec: 3 §8 Limits: A message has at most 160 characters.
// spec: 3 §8 Limits: msisdn has at most 15 characters.
// spec: 3 §4.6, A127
#[test]
fn length_and_form_are_checked() {
    let mut shop = Shop::new();
    let (most, more) = ("\u{e9}".repeat(160), "\u{e9}".repeat(161));
    shop.done("sms", &[("msisdn", "447700900123"), ("message", &most)]);
    for (number, message) in [
        ("447700900123", more.as_str()),
        ("07700900123", "x"),
        ("+07700900123", "x"),
        ("+44 7700 900123", "x"),
        ("4477009001234567", "x"),
        ("+", "x"),
        ("00", "x"),
        ("nobody", "x"),
        ("447700900123", "a\u{7}b"),
        ("447700900123", "a\tb"),
    ] {
        assert_eq!(shop.refused("sms", &[("msisdn", number), ("message", message)]), "937", "{number}");
    }
    assert_eq!(shop.control("sms").as_array().unwrap().len(), 1);
}

#[test]
fn a_card_number_in_a_message_is_masked_in_the_list() {
    let mut shop = Shop::new();
    shop.done("sms", &[("msisdn", "447700900123"), ("message", "card 5200 0000 0000 1005")]);
    assert_eq!(shop.control("sms")[0]["message"], "card 5200 00** **** 1005");
}
