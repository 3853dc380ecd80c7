//! Stored cards and the account updater (spec 1 §2).

use pg_model::{
    AccountUpdaterBatch, Acknowledgement, BatchRequested, Card, CardAddress, CardCustomer, CardKeyDetail,
    CardKeyDetails, CardRetrievalCode, Flag, ResultCode, UpdatedCard,
};

use crate::replies::golden;

/// A stored card with everything filled in (spec 1 §2.1).
fn full_token() -> CardKeyDetail {
    CardKeyDetail::default().with(|reply| {
        reply.card_key = "5b1e9f3c-7a2d-4c88-9e10-3f6d2b7a4c51".into();
        reply.card_unique_identifier = "2001934".into();
        reply.merchant_customer_reference = "customer-42".into();
        reply.enabled = Flag::YES;
        reply.card = Card::default().with(|record| {
            record.card_description = "Household card".into();
            record.cardholder_name = "Zoë O'Neill".into();
            record.card_number = "411111******1111".into();
            record.card_expiry_month = "12".into();
            record.card_expiry_year = "2030".into();
            record.card_type = "CREDIT".into();
            record.card_scheme = "VISA".into();
            record.card_bank = "Marks & Sons Bank".into();
        });
        reply.customer = CardCustomer::default().with(|record| {
            record.customer_title = "Dr".into();
            record.customer_first_name = "Zoë".into();
            record.customer_surname = "O'Neill".into();
            record.customer_email = "zoe@shop.example".into();
            record.customer_mobile = "07700900123".into();
            record.customer_telephone = "02079460123".into();
        });
        reply.cardholder_address = CardAddress::default().with(|record| {
            record.property_name = "12a".into();
            record.line1 = "High Street".into();
            record.line2 = "Old Quarter".into();
            record.line3 = "West Side".into();
            record.town = "Springfield".into();
            record.county = "Shire".into();
            record.postcode = "AB1 2CD".into();
            record.country = "United Kingdom".into();
        });
    })
}

/// A stored card with as little as there can be.
fn bare_token() -> CardKeyDetail {
    CardKeyDetail::default().with(|reply| {
        reply.card_key = "c04d17aa-1be2-4f0e-8d33-90b5e6f1a2b7".into();
        reply.card_unique_identifier = "2001935".into();
        reply.enabled = Flag::NO;
        reply.card = Card::default().with(|record| {
            record.cardholder_name = "A N Other".into();
            record.card_number = "555555******4444".into();
            record.card_expiry_month = "01".into();
            record.card_expiry_year = "2029".into();
        });
    })
}

fn details(card_key_details: Vec<CardKeyDetail>) -> CardKeyDetails {
    CardKeyDetails::default().with(|record| {
        record.card_key_details = card_key_details;
    })
}

// spec: 1 §2.1
#[test]
fn lookup() {
    golden("token/lookup").is(&details(vec![full_token(), bare_token()]));
}

// spec: 1 §4.2, A43
#[test]
fn a_lookup_that_finds_nothing() {
    golden("token/lookup-none").is(&details(vec![]));
}

// spec: 1 §2.1, A42
#[test]
fn null_empty_text_empty_element_and_absence_all_mean_not_given() {
    golden("token/lookup-empties").one_of_several_shapes().is(&details(vec![bare_token()]));
}

// spec: 1 §4.7
#[test]
fn tokenise_transaction_key() {
    golden("token/tokeniseTransactionKey").is(&details(vec![CardKeyDetail::default().with(|reply| {
        reply.card_key = "9d20cb6e-55f1-4b7a-a4c2-71e8f0d3965b".into();
        reply.card_unique_identifier = "2001936".into();
        reply.merchant_customer_reference = "customer-43".into();
        reply.enabled = Flag::YES;
        reply.card = Card::default().with(|record| {
            record.cardholder_name = "Max Muster".into();
            record.card_number = "378282*****0005".into();
            record.card_expiry_month = "07".into();
            record.card_expiry_year = "2031".into();
            record.card_type = "DEBIT".into();
            record.card_scheme = "AMEX".into();
        });
        reply.customer = CardCustomer::default().with(|record| {
            record.customer_first_name = "Max".into();
            record.customer_surname = "Muster".into();
        });
        reply.cardholder_address = CardAddress::default().with(|record| {
            record.postcode = "EC1A 1BB".into();
        });
    })]));
}

// spec: 1 §4.3; codes ResultCode OK
#[test]
fn enable_disable_delete_and_update() {
    let ok = Acknowledgement::default().with(|record| {
        record.result = ResultCode::OK;
    });
    for name in ["token/enable", "token/disable", "token/delete", "token/updateCardKeyDetails"] {
        golden(name).is(&ok);
    }
}

// spec: 1 §4.8; codes ResultCode ERROR
#[test]
fn request_account_updater() {
    golden("token/requestAccountUpdater").is(&BatchRequested::default().with(|record| {
        record.result = ResultCode::OK;
        record.batch_key = "7f3a90c2d5e84b61a0c9e7d2f4b86135".into();
    }));
    golden("token/requestAccountUpdater-error").is(&BatchRequested::default().with(|record| {
        record.result = ResultCode::ERROR;
    }));
}

// spec: 1 §2.1
#[test]
fn retrieve_account_updater() {
    let updated = UpdatedCard::default().with(|reply| {
        reply.old_card_key = "5b1e9f3c-7a2d-4c88-9e10-3f6d2b7a4c51".into();
        reply.response = CardRetrievalCode::from("700");
        reply.card_key = "e7c5a1d0-2f49-4e6b-b8a3-64d1c09f7752".into();
        reply.card_unique_identifier = "2001990".into();
        reply.merchant_customer_reference = "customer-42".into();
        reply.enabled = Flag::YES;
        reply.card = Card::default().with(|record| {
            record.card_description = "Household card".into();
            record.cardholder_name = "Zoë O'Neill".into();
            record.card_number = "400000******0002".into();
            record.card_expiry_month = "12".into();
            record.card_expiry_year = "2033".into();
            record.card_type = "CREDIT".into();
            record.card_scheme = "VISA".into();
        });
    });
    let unchanged = UpdatedCard::default().with(|record| {
        record.old_card_key = "c04d17aa-1be2-4f0e-8d33-90b5e6f1a2b7".into();
        record.response = CardRetrievalCode::from("706");
    });
    golden("token/retrieveAccountUpdater").is(&AccountUpdaterBatch::default().with(|record| {
        record.batch_key = "7f3a90c2d5e84b61a0c9e7d2f4b86135".into();
        record.created_on = "2026-03-14T09:26:53+00:00".into();
        record.card_key_details = vec![updated, unchanged];
    }));
}

// spec: 1 §6
#[test]
fn account_updater_callback() {
    golden("token/accountUpdaterCallback").is(&AccountUpdaterBatch::default().with(|reply| {
        reply.batch_key = "0a1b2c3d4e5f60718293a4b5c6d7e8f9".into();
        reply.created_on = "2026-03-15T23:59:59+01:00".into();
        reply.card_key_details = vec![UpdatedCard::default().with(|record| {
            record.old_card_key = "9d20cb6e-55f1-4b7a-a4c2-71e8f0d3965b".into();
            record.response = CardRetrievalCode::from("705");
        })];
    }));
}
