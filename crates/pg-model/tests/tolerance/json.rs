//! Shapes of JSON that mean the same.

use pg_model::{AccountUpdaterBatch, CardKeyDetail, CardKeyDetails, ErrorCode, Flag, RedirectData, Transaction, Value};

use crate::{read, response};

// spec: 1 §2, A131, A44: A reply is read whether its values are strings or numbers, and unknown fields do not prevent
//   that.
#[test]
fn numbers_are_as_good_as_texts() {
    let as_text = "{\"cardKey\":\"k\",\"cardUniqueIdentifier\":\"2001934\",\"enabled\":\"1\"}";
    for (identifier, enabled) in [("2001934", "1"), ("\"2001934\"", "true"), ("2001934", "\"1\"")] {
        let body = format!("{{\"cardKey\":\"k\",\"cardUniqueIdentifier\":{identifier},\"enabled\":{enabled}}}");
        assert_eq!(read::<CardKeyDetail>(&body), read::<CardKeyDetail>(as_text), "{body}");
    }
    assert_eq!(read::<CardKeyDetail>("{\"enabled\":false}").enabled, Flag::NO);
    let largest = read::<CardKeyDetail>("{\"cardUniqueIdentifier\":18446744073709551615}");
    assert_eq!(largest.card_unique_identifier, "18446744073709551615");
    assert_eq!(read::<Transaction>("{\"transactionValue\":-5}").transaction_value, "-5");
    assert_eq!(read::<Transaction>("{\"transactionValue\":5.25}").transaction_value, "5.25");
}

#[test]
fn codes_may_be_numbers() {
    let refusal: RedirectData = read("{\"errors\":{\"cardNumber\":{\"errorCode\":108,\"traceCode\":12345678}}}");
    let error = refusal.errors.get("cardNumber").expect("the error of the card number");
    assert_eq!((&error.error_code, error.trace_code.as_str()), (&ErrorCode::INVALID_CARD_NUMBER, "12345678"));
}

#[test]
fn a_list_is_an_array_or_an_object_by_index_or_named_as_in_xml() {
    let (a, b) = ("{\"cardKey\":\"a\"}", "{\"cardKey\":\"b\"}");
    let array: CardKeyDetails = read(&format!("{{\"cardKeyDetails\":[{a},{b}]}}"));
    assert_eq!(array.card_key_details.iter().map(|card| card.card_key.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    for list in [
        format!("{{\"0\":{a},\"1\":{b}}}"),
        format!("{{\"1\":{a},\"2\":{b}}}"),
        format!("{{\"cardKeyDetail\":[{a},{b}]}}"),
        format!("[{a},null,{b}]"),
    ] {
        assert_eq!(read::<CardKeyDetails>(&format!("{{\"cardKeyDetails\":{list}}}")), array, "{list}");
    }
    let one: AccountUpdaterBatch = read("{\"cardKeyDetails\":{\"cardKeyDetail\":{\"oldCardKey\":\"a\"}}}");
    assert_eq!(one.card_key_details.len(), 1);
    assert_eq!(one.card_key_details[0].old_card_key, "a");
}

#[test]
fn a_byte_order_mark_and_white_space_in_front_do_no_harm() {
    for body in ["\u{feff}{\"cardKey\":\"k\"}", " \r\n\t{\"cardKey\":\"k\"} \n", "\u{feff} {\"cardKey\":\"k\"}"] {
        assert_eq!(read::<CardKeyDetail>(body).card_key, "k", "{body:?}");
    }
}

#[test]
fn escapes_in_names_and_texts_are_read() {
    let body = "{\"card\\u004bey\":\"a\\\"b\\\\c\\/d\\u00e9\\ud83d\\ude00\\n\"}";
    assert_eq!(read::<CardKeyDetail>(body).card_key, "a\"b\\c/dé😀\n");
}

#[test]
fn unknown_truth_values_keep_their_word_and_numbers_their_digits() {
    let record: CardKeyDetail = read("{\"a\":true,\"b\":7,\"c\":-1,\"d\":null,\"e\":[false,1.5]}");
    let text = |text: &str| Value::Text(text.to_owned().into());
    let found: Vec<_> = record.extra.iter().map(|(name, value)| (name, value.clone())).collect();
    assert_eq!(
        found,
        [
            ("a", text("true")),
            ("b", text("7")),
            ("c", text("-1")),
            ("d", text("")),
            ("e", Value::List(vec![text("false"), text("1.5")])),
        ]
    );
}

/// One repeated field looks the same whichever way it came.
#[test]
fn an_unknown_list_is_the_same_in_both_encodings() {
    let json: CardKeyDetail = read("{\"cardKey\":\"k\",\"tag\":[\"a\",\"b\",\"c\"],\"other\":\"d\"}");
    let xml: CardKeyDetail =
        read(&response("<cardKey>k</cardKey><tag>a</tag><tag>b</tag><tag>c</tag><other>d</other>"));
    assert_eq!(json, xml);
}
