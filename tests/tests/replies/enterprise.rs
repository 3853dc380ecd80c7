//! Hosted checkout and utilities, version 5 (spec 3 §2).

use pg_model::{
    AddressReply, AddressResult, CheckoutItemLine, CheckoutToken, CheckoutUser, Currency, EnterpriseResult,
    EnterpriseTransaction, EnterpriseTransactionType, Flag, Outcome, SmsReply, SmsResult, SystemAction, Token,
    TokenCancellation, TransactionCategory,
};

use crate::replies::golden::golden_xml;

#[test]
fn gettoken() {
    let token = Token {
        token_id: "4fd2c19a8be04d7396a5c1e0f7b82d64".into(),
        merchant: "Tea Shop".into(),
        applet: "default".into(),
        redemption_url: "https://pay.service.example/pay/4fd2c19a8be04d7396a5c1e0f7b82d64".into(),
        token_start: "2026-03-14T09:26:53Z".into(),
        token_expiry: "2026-03-21T09:26:53Z".into(),
        creation: "2026-03-14T09:26:53Z".into(),
        uses: "1".into(),
        redemptions: "-1".into(),
        success_url: "https://shop.example/thanks?order=7&lang=en".into(),
        cancel_url: "https://shop.example/basket".into(),
        callback_url: "https://shop.example/callback".into(),
        trans_type: EnterpriseTransactionType::AUTH,
        trans_cat: TransactionCategory::PURCHASE,
        currency: Currency::GBP,
        ..Token::default()
    };
    let user = CheckoutUser {
        salutation: "Dr".into(),
        first_name: "Zoë".into(),
        surname: "O'Neill".into(),
        date_of_birth: "31011970".into(),
        mobile_phone: "447700900123".into(),
        home_phone: "442079460123".into(),
        property_name: "12a".into(),
        address_1: "High Street".into(),
        address_2: "Old Quarter".into(),
        town: "Springfield".into(),
        county: "Shire".into(),
        postcode: "AB1 2CD".into(),
        country: "GB".into(),
        ..CheckoutUser::default()
    };
    let tea = CheckoutItemLine {
        name: "Tea".into(),
        price: "5.95".into(),
        quantity: "2".into(),
        reference: "sku-4711".into(),
        ..CheckoutItemLine::default()
    };
    let cup = CheckoutItemLine { name: "Cup & saucer".into(), price: "12".into(), ..CheckoutItemLine::default() };
    golden_xml("enterprise/gettoken").is(&CheckoutToken {
        token,
        user,
        items: vec![tea, cup],
        ..CheckoutToken::default()
    });
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
        golden_xml(name).is(&EnterpriseResult {
            trans_type: kind,
            trans_value: value.into(),
            prev_trans_key: previous.into(),
            trans_class: class.into(),
            system_action: action,
            status: Flag::YES,
            trans_key: key.into(),
            auth_code: auth_code.into(),
            ..EnterpriseResult::default()
        });
    }
}

#[test]
fn status_0_is_a_decline() {
    let failed = EnterpriseResult {
        trans_type: EnterpriseTransactionType::AUTH,
        trans_value: "5.95".into(),
        prev_trans_key: "4100233".into(),
        system_action: SystemAction::REPEAT,
        status: Flag::NO,
        trans_key: "4100305".into(),
        ..EnterpriseResult::default()
    };
    golden_xml("enterprise/repeat-failed").is(&failed);
    assert!(matches!(Outcome::read(failed, &pg_model::Dialect::documented()), Outcome::Declined(_)));
}

#[test]
fn sms() {
    let sms = SmsResult {
        msisdn: "+447700900123".into(),
        message: "Your tea is on its way: 2 < 3 days".into(),
        status: Flag::YES,
        message_id: "88120045".into(),
        ..SmsResult::default()
    };
    golden_xml("enterprise/sms").is(&SmsReply { sms, ..SmsReply::default() });
}

#[test]
fn address() {
    let address = AddressResult {
        status: Flag::YES,
        address_1: "10 Downing Street".into(),
        address_2: "Westminster".into(),
        town: "London".into(),
        county: "Greater London".into(),
        postcode: "SW1A 2AA".into(),
        ..AddressResult::default()
    };
    golden_xml("enterprise/address").is(&AddressReply { address, ..AddressReply::default() });
}

#[test]
fn transaction_lookup() {
    golden_xml("enterprise/transaction_lookup").is(&EnterpriseTransaction {
        status: "Success".into(),
        token: "4fd2c19a8be04d7396a5c1e0f7b82d64".into(),
        value: "1,000.00".into(),
        currency: Currency::GBP,
        ..EnterpriseTransaction::default()
    });
}

#[test]
fn canceltoken() {
    golden_xml("enterprise/canceltoken").is(&TokenCancellation { status: Flag::YES, ..TokenCancellation::default() });
}
