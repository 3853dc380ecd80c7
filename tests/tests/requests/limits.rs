//! The limits of the documents, written down once more by hand, at their very edges.

use pg_model::{METHODS, Parameters, Rule, field::Length, format::Format};

use crate::requests::methods::{info, names};

/// The rule that one value of a parameter breaks, the others left out.
fn broken(path: &str, name: &str, value: &str) -> Option<Rule> {
    let found = info(path).check_parameters(&Parameters::from_iter([(name, value)]));
    found.iter().find(|violation| violation.name == name).map(|violation| violation.rule)
}

// spec: 2 §8 Limits: Maximum lengths: itemName 64, itemReference 32, merchantReference 32, uniqueMerchantReference 128,
//   merchantCustomerReference 45, postcode 8.
// spec: 1 §8; 3 §8
#[test]
fn lengths_of_the_documents() {
    for (path, name, longest) in [
        ("token/delete", "merchantCustomerReference", 45),
        ("token/updateCardKeyDetails", "customerTitle", 12),
        ("token/updateCardKeyDetails", "customerEmail", 50),
        ("token/updateCardKeyDetails", "customerMobile", 14),
        ("token/updateCardKeyDetails", "customerTelephone", 14),
        ("token/updateCardKeyDetails", "cardholderAddressLine3", 50),
        ("token/updateCardKeyDetails", "cardholderAddressPostcode", 8),
        ("token/updateCardKeyDetails", "cardDescription", 50),
        ("token/updateCardKeyDetails", "cardholderName", 50),
        ("session/postform", "sessionKey", 32),
        ("session/postform", "formId", 32),
        ("session/postform", "customerLandline", 14),
        ("session/postform", "customerAddressPostcode", 8),
        ("session/postform", "customerAddressCountry", 50),
        ("transaction/auth", "itemName0", 64),
        ("transaction/auth", "itemReference0", 32),
        ("transaction/auth", "merchantReference", 32),
        ("transaction/auth", "uniqueMerchantReference", 128),
        ("transaction/auth", "merchantCustomerReference", 45),
        ("transaction/update", "merchantReference", 32),
        ("transaction/lookup", "uniqueMerchantReference", 128),
        ("enterprise/gettoken", "item_name[0]", 128),
        ("enterprise/gettoken", "item_reference[0]", 16),
        ("enterprise/gettoken", "trans_reference", 50),
        ("enterprise/gettoken", "salutation", 10),
        ("enterprise/gettoken", "surname", 32),
        ("enterprise/gettoken", "address_2", 150),
        ("enterprise/gettoken", "town", 100),
        ("enterprise/gettoken", "postcode", 15),
        ("enterprise/repeat", "trans_class", 32),
        ("enterprise/sms", "message", 160),
        ("enterprise/address", "property_name", 32),
        ("enterprise/transaction_lookup", "trans_key", 32),
    ] {
        // Characters are counted, not bytes.
        for letter in ["a", "é", "€", "😀"] {
            assert_eq!(broken(path, name, &letter.repeat(longest)), None, "{path} {name} {letter}");
            let rule = broken(path, name, &letter.repeat(longest + 1));
            assert!(matches!(rule, Some(Rule::Length(_))), "{path} {name} {letter}: {rule:?}");
        }
    }
}

#[test]
fn exact_lengths_of_the_documents() {
    for (path, name) in [
        ("transaction/refund", "transactionKey"),
        ("transaction/capturepreauth", "transactionKey"),
        ("transaction/auth3DSecure", "authenticationKey"),
        ("token/retrieveAccountUpdater", "batchKey"),
    ] {
        assert_eq!(broken(path, name, &"aZ09".repeat(8)), None, "{path} {name}");
        for length in [1, 31, 33] {
            let rule = broken(path, name, &"a".repeat(length));
            assert!(matches!(rule, Some(Rule::Length(_))), "{path} {name}: {length}");
        }
        assert!(matches!(broken(path, name, &"a-b_".repeat(8)), Some(Rule::Format(Format::Alphanumeric))), "{path}");
    }
}

// spec: 1 §2.4, A12: The Luhn check is left to the service: the SDK checks digits and length only.
// spec: 2 §8
#[test]
fn digits_of_a_card() {
    for (path, least, most) in
        [("session/postform", 12, 19), ("transaction/auth", 13, 19), ("transaction/preauth", 13, 19)]
    {
        for length in 10..22 {
            let fits = (least..=most).contains(&length);
            assert_eq!(broken(path, "cardNumber", &"4".repeat(length)).is_none(), fits, "{path}: {length} digits");
        }
        assert!(broken(path, "cardNumber", "4111 1111 1111 1111").is_some());
        assert!(broken(path, "cardNumber", "４１１１１１１１１１１１１１１１").is_some(), "digits of another script");
        for (cv2, fits) in [("12", false), ("123", true), ("1234", true), ("12345", false), ("12a", false)] {
            assert_eq!(broken(path, "cardCV2", cv2).is_none(), fits, "{path}: {cv2}");
        }
    }
    assert!(broken("transaction/auth", "cardExpiryYear", "2030").is_some());
    assert!(broken("transaction/auth", "cardExpiryYear", "30").is_none());
    for (year, fits) in [("30", true), ("2030", true), ("230", false), ("20300", false)] {
        assert_eq!(broken("session/postform", "cardExpiryYear", year).is_none(), fits, "{year}");
        assert_eq!(broken("token/updateCardKeyDetails", "cardExpiryYear", year).is_none(), fits, "{year}");
    }
}

#[test]
fn numbers_of_version_5() {
    for name in ["token_uses", "token_redemptions"] {
        for (value, fits) in [("-2", false), ("-1", true), ("0", true), ("127", true), ("128", false)] {
            assert_eq!(broken("enterprise/gettoken", name, value).is_none(), fits, "{name}={value}");
        }
    }
    for (number, fits) in [("+44770090012345", true), ("004477009001234", true), ("+447700900123456", false)] {
        assert_eq!(broken("enterprise/sms", "msisdn", number).is_none(), fits, "{number}");
    }
}

// spec: 1 §4.8, A70; 1 §8
#[test]
fn five_thousand_card_keys_and_no_more() {
    let keys = |count: usize| (0..count).map(|n| format!("key-{n}")).collect::<Vec<_>>().join(",");
    let path = "token/requestAccountUpdater";
    assert_eq!(broken(path, "cardKey", &keys(5_000)), None);
    assert!(broken(path, "cardKey", &keys(5_001)).is_some());
    assert!(broken(path, "cardKey", &(keys(3) + ",key-1")).is_some());
    assert!(broken(path, "cardKey", "a,").is_some());
}

/// The edge of every length in the tables, independent of the documents.
// spec: 1 §8 Limits: Fields have the maximum lengths of their tables, counted in characters.
// spec: 3 §8 Limits: Fields have the maximum lengths of their tables.
#[test]
fn every_length_is_kept_at_its_edges() {
    for method in METHODS {
        for field in method.fields.iter().filter(|field| matches!(field.format, Format::Text | Format::Lines)) {
            let Length::Between(least, most) = field.length else { continue };
            let name = &names(field, 1)[0];
            let path = format!("{}/{}", method.service.name, method.name);
            for (length, fits) in
                [(least.max(1), true), (most, true), (most + 1, false), (least.saturating_sub(1), least <= 1)]
            {
                let value = "ß".repeat(usize::from(length));
                if value.is_empty() {
                    continue;
                }
                assert_eq!(broken(&path, name, &value).is_none(), fits, "{path} {name}: {length}");
            }
        }
    }
}
