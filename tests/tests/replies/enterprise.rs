//! Hosted checkout and utilities, version 5 (spec 3 §2).

use pg_model::{
    AddressReply, AddressResult, CheckoutItemLine, CheckoutToken, CheckoutUser, Currency, EnterpriseResult,
    EnterpriseTransaction, EnterpriseTransactionType, Flag, Outcome, SmsReply, SmsResult, SystemAction, Token,
    TokenCancellation, TransactionCategory,
};

use crate::replies::golden_xml;

// spec: 3 §2.1, A115, A116
#[test]
fn gettoken() {
    let token = Token::default().with(|record| {
        record.token_id = "4fd2c19a8be04d7396a5c1e0f7b82d64".into();
        record.merchant = "Tea Shop".into();
        record.applet = "default".into();
        record.redemption_url = "https://pay.service.example/pay/4fd2c19a8be04d7396a5c1e0f7b82d64".into();
        record.token_start = "2026-03-14T09:26:53Z".into();
        record.token_expiry = "2026-03-21T09:26:53Z".into();
        record.creation = "2026-03-14T09:26:53Z".into();
        record.uses = "1".into();
        record.redemptions = "-1".into();
        record.success_url = "https://shop.example/thanks?order=7&lang=en".into();
        record.cancel_url = "https://shop.example/basket".into();
        record.callback_url = "https://shop.example/callback".into();
        record.trans_type = EnterpriseTransactionType::AUTH;
        record.trans_cat = TransactionCategory::PURCHASE;
        record.currency = Currency::GBP;
    });
    let user = CheckoutUser::default().with(|record| {
        record.salutation = "Dr".into();
        record.first_name = "Zoë".into();
        record.surname = "O'Neill".into();
        record.date_of_birth = "31011970".into();
        record.mobile_phone = "447700900123".into();
        record.home_phone = "442079460123".into();
        record.property_name = "12a".into();
        record.address_1 = "High Street".into();
        record.address_2 = "Old Quarter".into();
        record.town = "Springfield".into();
        record.county = "Shire".into();
        record.postcode = "AB1 2CD".into();
        record.country = "GB".into();
    });
    let tea = CheckoutItemLine::default().with(|record| {
        record.name = "Tea".into();
        record.price = "5.95".into();
        record.quantity = "2".into();
        record.reference = "sku-4711".into();
    });
    let cup = CheckoutItemLine::default().with(|record| {
        record.name = "Cup & saucer".into();
        record.price = "12".into();
    });
    golden_xml("enterprise/gettoken").is(&CheckoutToken::default().with(|record| {
        record.token = token;
        record.user = user;
        record.items = vec![tea, cup];
    }));
}

#[test]
fn operations_on_earlier_transactions() {
    use {EnterpriseTransactionType as Kind, SystemAction as Action};
    for (name, kind, value, previous, class, action, key, auth_code) in [
        ("enterprise/repeat", Kind::AUTH, "5.95", "4100233", "monthly box", Action::REPEAT, "4100301", "776601"),
        ("enterprise/refund", Kind::REFUND, "0.95", "4100301", "goodwill", Action::REFUND, "4100302", "776602"),
        ("enterprise/capture", Kind::CAPTURE, "1000.00", "4100290", "deposit", Action::CAPTURE, "4100303", "776603"),
        ("enterprise/cancel", Kind::CANCEL, "5", "4100291", "changed mind", Action::CANCEL, "4100304", "776604"),
    ] {
        golden_xml(name).is(&EnterpriseResult::default().with(|record| {
            record.trans_type = kind;
            record.trans_value = value.into();
            record.prev_trans_key = previous.into();
            record.trans_class = class.into();
            record.system_action = action;
            record.status = Flag::YES;
            record.trans_key = key.into();
            record.auth_code = auth_code.into();
        }));
    }
}

// spec: 3 §2.2, A113, A124
#[test]
fn status_zero_is_a_decline() {
    let failed = EnterpriseResult::default().with(|record| {
        record.trans_type = EnterpriseTransactionType::AUTH;
        record.trans_value = "5.95".into();
        record.prev_trans_key = "4100233".into();
        record.system_action = SystemAction::REPEAT;
        record.status = Flag::NO;
        record.trans_key = "4100305".into();
    });
    golden_xml("enterprise/repeat-failed").is(&failed);
    assert!(matches!(Outcome::read(failed, &pg_model::Dialect::documented()), Outcome::Declined(_)));
}

#[test]
fn sms() {
    let sms = SmsResult::default().with(|record| {
        record.msisdn = "+447700900123".into();
        record.message = "Your tea is on its way: 2 < 3 days".into();
        record.status = Flag::YES;
        record.message_id = "88120045".into();
    });
    golden_xml("enterprise/sms").is(&SmsReply::default().with(|record| {
        record.sms = sms;
    }));
}

#[test]
fn address() {
    let address = AddressResult::default().with(|record| {
        record.status = Flag::YES;
        record.address_1 = "10 Downing Street".into();
        record.address_2 = "Westminster".into();
        record.town = "London".into();
        record.county = "Greater London".into();
        record.postcode = "SW1A 2AA".into();
    });
    golden_xml("enterprise/address").is(&AddressReply::default().with(|record| {
        record.address = address;
    }));
}

// spec: 3 §4.8, A125
#[test]
fn transaction_lookup() {
    golden_xml("enterprise/transaction_lookup").is(&EnterpriseTransaction::default().with(|record| {
        record.status = "Success".into();
        record.token = "4fd2c19a8be04d7396a5c1e0f7b82d64".into();
        record.value = "1,000.00".into();
        record.currency = Currency::GBP;
    }));
}

#[test]
fn canceltoken() {
    golden_xml("enterprise/canceltoken").is(&TokenCancellation::default().with(|record| {
        record.status = Flag::YES;
    }));
}
