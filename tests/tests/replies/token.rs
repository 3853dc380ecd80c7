//! Stored cards and the account updater (spec 1 §2).

use pg_model::{
    AccountUpdaterBatch, Acknowledgement, BatchRequested, Card, CardAddress, CardCustomer, CardKeyDetail,
    CardKeyDetails, CardRetrievalCode, Flag, ResultCode, UpdatedCard,
};

use crate::replies::golden::golden;

/// A stored card with everything filled in (spec 1 §2.1).
fn full_token() -> CardKeyDetail {
    CardKeyDetail {
        card_key: "5b1e9f3c-7a2d-4c88-9e10-3f6d2b7a4c51".into(),
        card_unique_identifier: "2001934".into(),
        merchant_customer_reference: "customer-42".into(),
        enabled: Flag::YES,
        card: Card {
            card_description: "Household card".into(),
            cardholder_name: "Zoë O'Neill".into(),
            card_number: "411111******1111".into(),
            card_expiry_month: "12".into(),
            card_expiry_year: "2030".into(),
            card_type: "CREDIT".into(),
            card_scheme: "VISA".into(),
            card_bank: "Marks & Sons Bank".into(),
            ..Card::default()
        },
        customer: CardCustomer {
            customer_title: "Dr".into(),
            customer_first_name: "Zoë".into(),
            customer_surname: "O'Neill".into(),
            customer_email: "zoe@shop.example".into(),
            customer_mobile: "07700900123".into(),
            customer_telephone: "02079460123".into(),
            ..CardCustomer::default()
        },
        cardholder_address: CardAddress {
            property_name: "12a".into(),
            line1: "High Street".into(),
            line2: "Old Quarter".into(),
            line3: "West Side".into(),
            town: "Springfield".into(),
            county: "Shire".into(),
            postcode: "AB1 2CD".into(),
            country: "United Kingdom".into(),
            ..CardAddress::default()
        },
        ..CardKeyDetail::default()
    }
}

/// A stored card with as little as there can be.
fn bare_token() -> CardKeyDetail {
    CardKeyDetail {
        card_key: "c04d17aa-1be2-4f0e-8d33-90b5e6f1a2b7".into(),
        card_unique_identifier: "2001935".into(),
        enabled: Flag::NO,
        card: Card {
            cardholder_name: "A N Other".into(),
            card_number: "555555******4444".into(),
            card_expiry_month: "01".into(),
            card_expiry_year: "2029".into(),
            ..Card::default()
        },
        ..CardKeyDetail::default()
    }
}

fn details(card_key_details: Vec<CardKeyDetail>) -> CardKeyDetails {
    CardKeyDetails { card_key_details, ..CardKeyDetails::default() }
}

#[test]
fn lookup() {
    golden("token/lookup").is(&details(vec![full_token(), bare_token()]));
}

#[test]
fn a_lookup_that_finds_nothing() {
    golden("token/lookup-none").is(&details(vec![]));
}

#[test]
fn null_empty_text_empty_element_and_absence_all_mean_not_given() {
    golden("token/lookup-empties").one_of_several_shapes().is(&details(vec![bare_token()]));
}

#[test]
fn tokenise_transaction_key() {
    golden("token/tokeniseTransactionKey").is(&details(vec![CardKeyDetail {
        card_key: "9d20cb6e-55f1-4b7a-a4c2-71e8f0d3965b".into(),
        card_unique_identifier: "2001936".into(),
        merchant_customer_reference: "customer-43".into(),
        enabled: Flag::YES,
        card: Card {
            cardholder_name: "Max Muster".into(),
            card_number: "378282*****0005".into(),
            card_expiry_month: "07".into(),
            card_expiry_year: "2031".into(),
            card_type: "DEBIT".into(),
            card_scheme: "AMEX".into(),
            ..Card::default()
        },
        customer: CardCustomer {
            customer_first_name: "Max".into(),
            customer_surname: "Muster".into(),
            ..CardCustomer::default()
        },
        cardholder_address: CardAddress { postcode: "EC1A 1BB".into(), ..CardAddress::default() },
        ..CardKeyDetail::default()
    }]));
}

#[test]
fn enable_disable_delete_and_update() {
    let ok = Acknowledgement { result: ResultCode::OK, ..Acknowledgement::default() };
    for name in ["token/enable", "token/disable", "token/delete", "token/updateCardKeyDetails"] {
        golden(name).is(&ok);
    }
}

#[test]
fn request_account_updater() {
    golden("token/requestAccountUpdater").is(&BatchRequested {
        result: ResultCode::OK,
        batch_key: "7f3a90c2d5e84b61a0c9e7d2f4b86135".into(),
        ..BatchRequested::default()
    });
    golden("token/requestAccountUpdater-error")
        .is(&BatchRequested { result: ResultCode::ERROR, ..BatchRequested::default() });
}

#[test]
fn retrieve_account_updater() {
    let updated = UpdatedCard {
        old_card_key: "5b1e9f3c-7a2d-4c88-9e10-3f6d2b7a4c51".into(),
        response: CardRetrievalCode::from("700"),
        card_key: "e7c5a1d0-2f49-4e6b-b8a3-64d1c09f7752".into(),
        card_unique_identifier: "2001990".into(),
        merchant_customer_reference: "customer-42".into(),
        enabled: Flag::YES,
        card: Card {
            card_description: "Household card".into(),
            cardholder_name: "Zoë O'Neill".into(),
            card_number: "400000******0002".into(),
            card_expiry_month: "12".into(),
            card_expiry_year: "2033".into(),
            card_type: "CREDIT".into(),
            card_scheme: "VISA".into(),
            ..Card::default()
        },
        ..UpdatedCard::default()
    };
    let unchanged = UpdatedCard {
        old_card_key: "c04d17aa-1be2-4f0e-8d33-90b5e6f1a2b7".into(),
        response: CardRetrievalCode::from("706"),
        ..UpdatedCard::default()
    };
    golden("token/retrieveAccountUpdater").is(&AccountUpdaterBatch {
        batch_key: "7f3a90c2d5e84b61a0c9e7d2f4b86135".into(),
        created_on: "2026-03-14T09:26:53+00:00".into(),
        card_key_details: vec![updated, unchanged],
        ..AccountUpdaterBatch::default()
    });
}

#[test]
fn account_updater_callback() {
    golden("token/accountUpdaterCallback").is(&AccountUpdaterBatch {
        batch_key: "0a1b2c3d4e5f60718293a4b5c6d7e8f9".into(),
        created_on: "2026-03-15T23:59:59+01:00".into(),
        card_key_details: vec![UpdatedCard {
            old_card_key: "9d20cb6e-55f1-4b7a-a4c2-71e8f0d3965b".into(),
            response: CardRetrievalCode::from("705"),
            ..UpdatedCard::default()
        }],
        ..AccountUpdaterBatch::default()
    });
}
