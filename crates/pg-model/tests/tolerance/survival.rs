//! Nothing that a service adds gets lost: unknown fields, unknown codes, bank data, and values of another shape than
//! the tables expect.

use pg_model::{
    CardKeyDetail, CardKeyDetails, CardRetrievalCode, Currency, Dialect, Encoding, ErrorCode, Extra, Flag, Outcome,
    Record, RedirectData, StatusCode, Transaction, TransactionType, UpdatedCard, Value, encode,
};

use crate::{read, response};

const BOTH: [Encoding; 2] = [Encoding::Xml, Encoding::Json];

/// Reads a body and checks that what is written for it, in both encodings, reads as the same again.
fn kept<R: Record + Default + PartialEq + core::fmt::Debug>(body: &str) -> R {
    let record: R = read(body);
    for encoding in BOTH {
        let written = encode(&record, encoding);
        assert_eq!(read::<R>(&written), record, "{body}\nwritten as {encoding:?}:\n{written}");
    }
    record
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned().into())
}

fn record<const N: usize>(fields: [(&str, Value); N]) -> Value {
    let mut extra = Extra::default();
    for (name, value) in fields {
        extra.push(name, value);
    }
    Value::Record(extra)
}

// spec: 1 §2, A131, A44
#[test]
fn unknown_fields_survive_at_every_level() {
    let from_json: CardKeyDetails = kept(
        "{\"cardKeyDetails\":{\"0\":{\"cardKey\":\"k\",\"new\":\"a\",\"card\":{\"cardArt\":{\"url\":\"u\",\"size\":\
         {\"w\":\"1\",\"h\":\"2\"}}}}},\"paging\":{\"next\":\"n\"}}",
    );
    let from_xml: CardKeyDetails = kept(&response(
        "<cardKeyDetails><cardKeyDetail><cardKey>k</cardKey><new>a</new><card><cardArt><url>u</url><size><w>1</w>\
         <h>2</h></size></cardArt></card></cardKeyDetail></cardKeyDetails><paging><next>n</next></paging>",
    ));
    assert_eq!(from_json, from_xml);
    let detail = &from_json.card_key_details[0];
    assert_eq!(detail.extra.get("new"), Some(&text("a")));
    let size = record([("w", text("1")), ("h", text("2"))]);
    assert_eq!(detail.card.extra.get("cardArt"), Some(&record([("url", text("u")), ("size", size)])));
    assert_eq!(from_json.extra.get("paging"), Some(&record([("next", text("n"))])));
}

#[test]
fn unknown_repeated_fields_survive() {
    let found: CardKeyDetail = kept("{\"cardKey\":\"k\",\"tag\":[\"a\",\"b\"],\"row\":[{\"x\":\"1\"},{\"x\":\"2\"}]}");
    assert_eq!(found.extra.get("tag"), Some(&Value::List(vec![text("a"), text("b")])));
    let json = encode(&found, Encoding::Json);
    assert!(json.contains("\"tag\":[\"a\",\"b\"]"), "{json}");
    let xml: CardKeyDetail = kept(&response("<cardKey>k</cardKey><tag>a</tag><tag>b</tag>"));
    let json = encode(&xml, Encoding::Json);
    assert!(json.contains("\"tag\":[\"a\",\"b\"]"), "a name twice in one object loses a value: {json}");
}

// spec: 2 §2.3, A11
#[test]
fn unknown_codes_survive_and_are_not_taken_for_known_ones() {
    let body = "{\"transactionStatusCode\":\"777\",\"transactionType\":\"Void\",\"currency\":\"XQQ\"}";
    let transaction: Transaction = kept(body);
    assert_eq!(transaction.transaction_status_code, StatusCode::from("777"));
    assert_eq!(transaction.transaction_status_code.message(), None);
    assert_eq!(transaction.transaction_type, TransactionType::from("Void"));
    assert_eq!(transaction.currency, Currency::from("XQQ"));
    assert!(matches!(Outcome::read(transaction, &Dialect::documented()), Outcome::Other(_)));
    let updated: UpdatedCard = kept("{\"oldCardKey\":\"k\",\"response\":\"713\",\"enabled\":\"2\"}");
    assert_eq!(updated.response, CardRetrievalCode::from("713"));
    assert_eq!(updated.enabled, Flag::from("2"));
    let refusal: pg_model::ServiceError = kept("{\"errorCode\":\"555\"}");
    assert_eq!(refusal.error_code, ErrorCode::from("555"));
}

/// A code's spelling decides: neither white space nor leading zeros nor capitals make it a known one.
#[test]
fn a_code_is_known_by_its_exact_text() {
    for status in ["0600", "600 ", " 600", "600.0", "+600"] {
        let transaction: Transaction = read(&format!("{{\"transactionStatusCode\":\"{status}\"}}"));
        assert!(matches!(Outcome::read(transaction, &Dialect::documented()), Outcome::Other(_)), "{status:?}");
    }
}

// spec: 2 §2.3, A88, A89
#[test]
fn bank_data_survives_in_its_order() {
    let names = ["bankZ", "bankAuthCode", "bank", "bankNew"];
    let from_json: Transaction =
        kept("{\"transactionStatusCode\":600,\"bankZ\":\"1\",\"bankAuthCode\":93711,\"bank\":\"x\",\"bankNew\":null}");
    assert_eq!(from_json.bank.iter().map(|(name, _)| name).collect::<Vec<_>>(), names);
    assert_eq!(from_json.bank.get("bankAuthCode"), Some("93711"));
    for empty in ["<bankNew/>", "<bankNew></bankNew>"] {
        let from_xml: Transaction = kept(&response(&format!(
            "<transactionStatusCode>600</transactionStatusCode><bankZ>1</bankZ><bankAuthCode>93711</bankAuthCode>\
             <bank>x</bank>{empty}"
        )));
        assert_eq!(from_json, from_xml, "{empty}");
    }
}

#[test]
fn a_record_in_place_of_a_text_survives() {
    let fields = record([("month", text("12")), ("year", text("2030"))]);
    for body in [
        "{\"cardKey\":{\"month\":\"12\",\"year\":\"2030\"}}".to_owned(),
        response("<cardKey><month>12</month><year>2030</year></cardKey>"),
        response("<cardKey>\n  <month>12</month>\n  <year>2030</year>\n</cardKey>"),
    ] {
        let detail: CardKeyDetail = kept(&body);
        assert!(detail.card_key.is_empty());
        assert_eq!(detail.extra.get("cardKey"), Some(&fields), "{body}");
    }
    let detail: CardKeyDetail = read("{\"cardKey\":[\"a\",\"b\"]}");
    assert_eq!(detail.extra.get("cardKey"), Some(&Value::List(vec![text("a"), text("b")])));
}

#[test]
fn a_text_in_place_of_a_record_a_list_or_a_map_survives() {
    let text_for = |name: &str| [format!("{{\"{name}\":\"none\"}}"), response(&format!("<{name}>none</{name}>"))];
    for body in text_for("card") {
        assert_eq!(kept::<CardKeyDetail>(&body).extra.get("card"), Some(&text("none")), "{body}");
    }
    for body in text_for("cardKeyDetails") {
        assert_eq!(kept::<CardKeyDetails>(&body).extra.get("cardKeyDetails"), Some(&text("none")), "{body}");
    }
    for body in text_for("errors") {
        assert_eq!(kept::<RedirectData>(&body).extra.get("errors"), Some(&text("none")), "{body}");
    }
}

#[test]
fn a_text_among_the_records_of_a_list_survives() {
    let json: CardKeyDetails = read("{\"cardKeyDetails\":[{\"cardKey\":\"a\"},\"odd\"]}");
    let xml: CardKeyDetails = read(&response(
        "<cardKeyDetails><cardKeyDetail><cardKey>a</cardKey></cardKeyDetail><cardKeyDetail>odd</cardKeyDetail>\
         </cardKeyDetails>",
    ));
    for found in [json, xml] {
        assert_eq!(found.card_key_details.len(), 1, "{found:?}");
        assert!(format!("{:?}", found.extra).contains("odd"), "{found:?}");
    }
}

#[test]
fn a_text_among_records_by_name_survives() {
    let json: RedirectData = read("{\"errors\":{\"cardNumber\":\"odd\",\"cardCV2\":{\"errorCode\":110}}}");
    let xml: RedirectData =
        read(&response("<errors><cardNumber>odd</cardNumber><cardCV2><errorCode>110</errorCode></cardCV2></errors>"));
    for found in [json, xml] {
        assert!(found.errors.get("cardCV2").is_some(), "{found:?}");
        assert!(format!("{:?}", found.extra).contains("odd"), "{found:?}");
    }
}

#[test]
fn bank_data_of_another_shape_survives() {
    for body in ["{\"bankCheck\":{\"avs\":\"M\"}}".to_owned(), response("<bankCheck><avs>M</avs></bankCheck>")] {
        let transaction: Transaction = kept(&body);
        assert_eq!(transaction.extra.get("bankCheck"), Some(&record([("avs", text("M"))])), "{body}");
    }
}

// spec: 1 §2.1, A23: The spellings of the examples are written; the spellings of the tables are read too.
#[test]
fn misspelt_names_of_the_documents_are_accepted() {
    let detail: CardKeyDetail = kept(
        "{\"card\":{\"cardHolderName\":\"A\",\"cardExipryYear\":\"2030\"},\"cardholderAddress\":\
         {\"cardholderAdressTown\":\"T\",\"cardHolderAddressCounty\":\"C\"}}",
    );
    assert_eq!((detail.card.cardholder_name.as_str(), detail.card.card_expiry_year.as_str()), ("A", "2030"));
    assert_eq!((detail.cardholder_address.town.as_str(), detail.cardholder_address.county.as_str()), ("T", "C"));
    let written = encode(&detail, Encoding::Json);
    assert!(written.contains("cardholderAddressTown") && !written.contains("cardholderAdressTown"), "{written}");
    assert_eq!(kept::<pg_model::ServiceError>(&response("<errorcode>3</errorcode>")).error_code, "3");
}

// spec: 2 §2.2, A139
#[test]
fn names_that_xml_cannot_hold_are_made_to_fit() {
    let detail: CardKeyDetail =
        read("{\"cardKey\":\"k\",\"a b\":\"1\",\"2c\":\"2\",\"\":\"3\",\"größe\":\"4\",\"<x>\":\"5\"}");
    let written = encode(&detail, Encoding::Xml);
    let again: CardKeyDetail = read(&written);
    let values: Vec<_> = again.extra.iter().filter_map(|(_, value)| value.as_text()).collect();
    assert_eq!(values, ["1", "2", "3", "4", "5"], "{written}");
    assert_eq!(again.extra.get("größe"), Some(&text("4")), "{written}");
}
