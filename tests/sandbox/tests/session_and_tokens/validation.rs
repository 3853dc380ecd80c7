//! Which forms are right (spec 2 §4.2, §7; A10, A12 and A81).

use std::time::Duration;

use pg_sandbox::Timestamp;

use crate::session_and_tokens::{CURRENT, GOOD, NEXT, Shop, redirects::owned, with};

fn faults(changes: &[(&str, &str)]) -> Vec<(String, String)> {
    let mut shop = Shop::new();
    let session = shop.initiate();
    let landing = shop.post(&session, &with(GOOD, changes));
    let faults = landing.faults();
    assert_eq!(landing.page(), if faults.is_empty() { NEXT } else { CURRENT });
    faults
}

// spec: 2 §7, A81: An invalid card number gives 108 on cardNumber, an expiry 109 on cardExpiryYear, a CV2 110 on
//   cardCV2; other fields give 937.
// spec: 1 §2.4, A12; 2 §8; codes ErrorCode 108
#[test]
fn card_numbers_of_12_to_19_digits_with_a_right_check_digit() {
    for (number, masked) in [
        ("400000000002", "400000**0002"),
        ("36000000001006", "360000****1006"),
        ("340000000001007", "340000*****1007"),
        ("6799990000000001001", "679999*********1001"),
    ] {
        let mut shop = Shop::new();
        let session = shop.initiate();
        let landing = shop.post(&session, &with(GOOD, &[("cardNumber", number)]));
        assert_eq!((landing.page(), landing.shown().card_number.expose()), (NEXT, masked));
    }
    for (number, shown) in [
        ("40000000006", "***********".to_owned()),
        ("40000000000000000002", "*".repeat(20)),
        ("4000 0000 0000 1000", "*".repeat(19)),
        ("4000000000001001", "400000******1001".to_owned()),
        ("0x40000000000010", "*".repeat(16)),
        ("٤٠٠٠٠٠٠٠٠٠٠٠١٠٠٠", "*".repeat(16)),
    ] {
        let mut shop = Shop::new();
        let session = shop.initiate();
        let landing = shop.post(&session, &with(GOOD, &[("cardNumber", number)]));
        assert_eq!(landing.faults(), [owned(("cardNumber", "108"))], "{number}");
        assert_eq!(landing.shown().card_number.expose(), shown);
    }
}

// spec: 2 §4.2, A81: The expiry is a month and a year, or one field; two that differ are invalid.
// spec: codes ErrorCode 109
#[test]
fn the_expiry_in_one_field_or_in_two() {
    let none = [("cardExpiryMonth", ""), ("cardExpiryYear", "")];
    for (changes, month, year) in [
        (vec![("cardExpiryYear", "30")], "12", "30"),
        (vec![("cardExpiryYear", "2030")], "12", "2030"),
        ([&none[..], &[("cardExpiryDate", "0631")]].concat(), "06", "31"),
        ([&none[..], &[("cardExpiryDate", "062031")]].concat(), "06", "2031"),
        (vec![("cardExpiryDate", "1230")], "12", "2030"),
    ] {
        let mut shop = Shop::new();
        let session = shop.initiate();
        let landing = shop.post(&session, &with(GOOD, &changes));
        let data = landing.shown();
        let shown = (data.card_expiry_month.as_str(), data.card_expiry_year.as_str());
        assert_eq!((landing.page(), shown), (NEXT, (month, year)));
    }
    for changes in [
        vec![("cardExpiryMonth", "13")],
        vec![("cardExpiryMonth", "00")],
        vec![("cardExpiryMonth", "1")],
        vec![("cardExpiryYear", "030")],
        vec![("cardExpiryYear", "20300")],
        vec![("cardExpiryDate", "1130")],
        vec![("cardExpiryDate", "12/30")],
        [&none[..], &[("cardExpiryDate", "123")]].concat(),
        [&none[..], &[("cardExpiryDate", "1225")]].concat(),
    ] {
        assert_eq!(faults(&changes), [owned(("cardExpiryYear", "109"))], "{changes:?}");
    }
}

#[test]
fn a_card_is_good_to_the_last_moment_of_its_month() {
    for (now, month, year, good) in [
        ("2026-05-31T23:59:59.999Z", "05", "26", true),
        ("2026-05-31T23:59:59.999Z", "05", "2026", true),
        ("2026-06-01T00:00:00Z", "05", "26", false),
        ("2026-06-01T00:00:00Z", "05", "2026", false),
        ("2026-12-31T23:59:59Z", "12", "26", true),
        ("2027-01-01T00:00:00Z", "12", "26", false),
        ("2027-01-01T00:00:00Z", "01", "27", true),
        ("2028-02-29T23:59:59Z", "02", "28", true),
        ("2028-03-01T00:00:00Z", "02", "28", false),
    ] {
        let mut shop = Shop::new();
        shop.now = Timestamp::parse(now).unwrap();
        let session = shop.initiate();
        let landing = shop.post(&session, &with(GOOD, &[("cardExpiryMonth", month), ("cardExpiryYear", year)]));
        assert_eq!(landing.faults().is_empty(), good, "{now} {month}/{year}");
    }
}

#[test]
fn the_sandboxs_clock_decides_and_not_the_real_one() {
    let mut shop = Shop::new();
    let session = shop.initiate();
    let may = with(GOOD, &[("cardExpiryMonth", "05"), ("cardExpiryYear", "26")]);
    assert_eq!(shop.post(&session, &may).page(), NEXT);
    shop.send("/_sandbox/clock", r#"{"set":"2026-06-01T00:00:00Z"}"#);
    let session = shop.initiate();
    assert_eq!(shop.post(&session, &may).page(), CURRENT);
    shop.pass(Duration::from_secs(1));
    assert_eq!(shop.post(&session, &may).faults(), [owned(("cardExpiryYear", "109"))]);
}

// spec: 2 §4.2, A101: The CV2 is optional; in the sandbox it never decides.
// spec: 2 §8 Limits: A CV2 has 3 or 4 digits.
// spec: 2 §7, A81; codes ErrorCode 110
#[test]
fn a_cv2_has_three_or_four_digits_or_is_left_out() {
    for cv2 in ["", "123", "1234"] {
        assert!(faults(&[("cardCV2", cv2)]).is_empty());
    }
    for cv2 in ["12", "12345", "12a", "١٢٣"] {
        assert_eq!(faults(&[("cardCV2", cv2)]), [owned(("cardCV2", "110"))], "{cv2}");
    }
}

// spec: 2 §2.6
#[test]
fn every_other_field_is_named_when_it_is_too_long_or_no_text() {
    // Spec 2 §2.6 and §4.2, by hand.
    for (name, most) in [
        ("customerTitle", 12),
        ("customerFirstName", 50),
        ("customerSurname", 50),
        ("customerEmail", 50),
        ("customerMobile", 14),
        ("customerLandline", 14),
        ("customerAddressPropertyName", 50),
        ("customerAddressLine1", 50),
        ("customerAddressLine2", 50),
        ("customerAddressLine3", 50),
        ("customerAddressTown", 50),
        ("customerAddressCounty", 50),
        ("customerAddressCountry", 50),
        ("customerAddressPostcode", 8),
        ("cardholderAddressPropertyName", 50),
        ("cardholderAddressLine1", 50),
        ("cardholderAddressLine2", 50),
        ("cardholderAddressLine3", 50),
        ("cardholderAddressTown", 50),
        ("cardholderAddressCounty", 50),
        ("cardholderAddressCountry", 50),
        ("cardholderAddressPostcode", 8),
        ("formId", 32),
    ] {
        let (fits, too_long) = ("é".repeat(most), "é".repeat(most + 1));
        assert!(faults(&[(name, &fits)]).is_empty(), "{name}");
        assert_eq!(faults(&[(name, &too_long)]), [owned((name, "937"))]);
    }
    let wrong = faults(&[("collectNote", "a\u{7}b"), ("cardholderName", "a\u{7f}b"), ("cardCV2", "1")]);
    let wanted = [("cardCV2", "110"), ("cardholderName", "937"), ("collectNote", "937")];
    assert_eq!(wrong, wanted.map(owned));
}

// spec: 2 §2.1
#[test]
fn an_invalid_form_id_is_not_repeated() {
    let mut shop = Shop::new();
    let session = shop.initiate();
    let landing = shop.post(&session, &with(GOOD, &[("formId", &"x".repeat(33))]));
    assert_eq!((landing.faults(), landing.form_id), (vec![owned(("formId", "937"))], None));
    let landing = shop.post(&session, &with(GOOD, &[("formId", "a b&c=é#")]));
    assert_eq!(landing.form_id.as_deref(), Some("a b&c=é#"));
    assert!(landing.location.contains("?formId=a%20b%26c%3D%C3%A9%23&data="), "{}", landing.location);
}
