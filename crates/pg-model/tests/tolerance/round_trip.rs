//! What is written reads as the same record again, whatever text it holds.

use pg_model::{
    AccountUpdaterBatch, Card, CardKeyDetail, CardKeyDetails, Encoding, Extra, FieldError, Keyed, Named, Record,
    RedirectData, Transaction, Transactions, UpdatedCard, Value, encode,
};
use proptest::prelude::*;

use crate::read;

/// Text that XML 1.0 can hold: no control characters but tab and line ends, no surrogates, no U+FFFE and U+FFFF.
fn text() -> impl Strategy<Value = String> {
    "([ -~]|[\t\n\r<>&'\"\\]]|[\u{80}-\u{ff}]|[\u{100}-\u{d7ff}]|[\u{e000}-\u{fffd}]|[\u{10000}-\u{10ffff}]){0,12}"
}

fn name() -> impl Strategy<Value = String> {
    "[A-Za-z_][A-Za-z0-9_.-]{0,8}"
}

fn named(prefix: &'static str) -> impl Strategy<Value = Named> {
    proptest::collection::vec((name().prop_map(move |name| format!("{prefix}{name}")), text()), 0..4)
        .prop_map(Named::from_iter)
}

/// Unknown fields as both encodings can hold them: lists of two and more, and no two neighbours of one name.
fn extra() -> impl Strategy<Value = Extra> {
    let leaf = text().prop_map(|text| Value::Text(text.into()));
    let value = leaf.prop_recursive(if cfg!(miri) { 1 } else { 3 }, 12, 4, |inner| {
        let scalar_or_record =
            inner.prop_filter("a list in a list is flattened by XML", |v| !matches!(v, Value::List(_)));
        prop_oneof![
            proptest::collection::vec(scalar_or_record.clone(), 2..4).prop_map(Value::List),
            proptest::collection::vec((name(), scalar_or_record), 1..4)
                .prop_map(|fields| Value::Record(record(fields))),
        ]
    });
    proptest::collection::vec((name(), value), 0..3).prop_map(record)
}

fn record(fields: Vec<(String, Value)>) -> Extra {
    let mut extra = Extra::default();
    for (at, (name, value)) in fields.into_iter().enumerate() {
        extra.push(format!("x{at}{name}"), value);
    }
    extra
}

prop_compose! {
    fn card()(cardholder_name in text(), number in text(), bank in text(), extra in extra()) -> Card {
        Card::default().with(|record| {
record.cardholder_name = cardholder_name;
record.card_number = number.into();
record.card_bank = bank;
record.extra = extra;
})
    }
}

prop_compose! {
    fn detail()(key in text(), identifier in "[0-9]{0,25}|0|[a-z]{1,4}", reference in text(), card in card(), extra in extra())
        -> CardKeyDetail
    {
        CardKeyDetail::default().with(|record| {
record.card_key = key.into();
record.card_unique_identifier = identifier.into();
record.merchant_customer_reference = reference.into();
record.card = card;
record.extra = extra;
})
    }
}

prop_compose! {
    fn updated_card()(key in text(), response in text(), card in card()) -> UpdatedCard {
        UpdatedCard::default().with(|record| {
record.old_card_key = key.into();
record.response = response.into();
record.card = card;
})
    }
}

prop_compose! {
    fn transaction()(code in text(), status in text(), bank in named("bank"), currency in text(), extra in extra())
        -> Transaction
    {
        Transaction::default().with(|record| {
record.transaction_status_code = code.into();
record.transaction_status = status;
record.bank = bank;
record.currency = currency.into();
record.extra = extra;
})
    }
}

prop_compose! {
    fn redirect()(
        cardholder_name in text(),
        collect in named("collect"),
        errors in proptest::collection::vec((name(), text(), text()), 0..3),
        extra in extra(),
    ) -> RedirectData {
        let mut by_name = Keyed::default();
        for (name, code, error_message) in errors {
            by_name.push(name, FieldError::default().with(|record| {
record.error_code = code.into();
record.error_message = error_message;
}));
        }
        RedirectData::default().with(|record| {
record.cardholder_name = cardholder_name;
record.collect = collect;
record.errors = by_name;
record.extra = extra;
})
    }
}

/// Rows, some of them without fields.
fn rows<R: Default + Clone + std::fmt::Debug>(row: impl Strategy<Value = R>) -> impl Strategy<Value = Vec<R>> {
    let row = prop_oneof![9 => row, 1 => Just(R::default())];
    proptest::collection::vec(row, 0..if cfg!(miri) { 2 } else { 4 })
}

fn reads_as_it_was_written<R: Record + Default + PartialEq + std::fmt::Debug>(record: &R) {
    for encoding in [Encoding::Xml, Encoding::Json] {
        let written = encode(record, encoding);
        assert_eq!(&read::<R>(&written), record, "{encoding:?}: {written}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    // spec: 1 §4.1
    #[test]
    fn stored_cards(cards in rows(detail()), extra in extra()) {
        reads_as_it_was_written(&CardKeyDetails::default().with(|record| {
record.card_key_details = cards;
record.extra = extra;
}));
    }

    #[test]
    fn transactions(rows in rows(transaction())) {
        reads_as_it_was_written(&Transactions::default().with(|record| {
record.transactions = rows;
}));
    }

    #[test]
    fn batches(cards in rows(updated_card()), batch_key in text()) {
        reads_as_it_was_written(&AccountUpdaterBatch::default().with(|record| {
record.batch_key = batch_key.into();
record.card_key_details = cards;
}));
    }

    #[test]
    fn redirect_data(data in redirect()) {
        reads_as_it_was_written(&data);
    }

    /// The writer of JSON is judged by another reader of JSON, the writer of XML by another reader of XML.
    #[test]
    fn written_xml_is_well_formed(data in redirect()) {
        serde_json::from_str::<serde_json::Value>(&encode(&data, Encoding::Json)).expect("JSON");
        let xml = encode(&data, Encoding::Xml);
        let mut reader = quick_xml::Reader::from_str(&xml);
        while !matches!(reader.read_event().expect("XML"), quick_xml::events::Event::Eof) {}
    }
}

// spec: 2 §2.2, A139: Characters that XML cannot contain are replaced there and kept in JSON.
#[test]
fn control_characters_that_xml_cannot_hold_are_replaced_there_and_kept_in_json() {
    let card = Card::default().with(|record| {
        record.card_bank = "a\u{0}b\u{1b}c\u{ffff}".into();
    });
    assert_eq!(read::<Card>(&encode(&card, Encoding::Json)), card);
    assert_eq!(read::<Card>(&encode(&card, Encoding::Xml)).card_bank, "a\u{fffd}b\u{fffd}c\u{fffd}");
}
