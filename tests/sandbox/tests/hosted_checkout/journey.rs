//! A hosted payment from its token to a repeat of the card that was stored with it.

use crate::hosted_checkout::{CARD, Shop, with};

// spec: 1 §1: Payments of another service can be submitted here.
// spec: 3 §6, A100: The callback, the reply and the success URL contain the same key, which makes a token.
// spec: 3 §4.1, A116, A136
#[test]
fn a_hosted_payment_becomes_a_stored_card() {
    let mut shop = Shop::new();
    let token = shop.token(&[
        ("auto_redirect", "1"),
        ("salutation", "Ms"),
        ("first_name", "Ann"),
        ("surname", "Other"),
        ("email", "ann@shop.example"),
        ("mobile_phone", "447700900123"),
        ("home_phone", "441632960123"),
        ("property_name", "Rose Cottage"),
        ("address_1", "Mill Lane"),
        ("address_2", "Old Town"),
        ("county", "Testshire"),
        ("town", "Testford"),
        ("postcode", "ZZ1 1AA"),
        ("country", "GB"),
    ]);
    let page = shop.visit(&token);
    let paid = shop.submit(&token, &page, &with(CARD, &[("cardExpiryYear", "30")])).trans_key();
    let made = shop.version_3(
        "token/tokeniseTransactionKey",
        &[("transactionKey", &paid), ("merchantCustomerReference", "customer-7")],
    );
    let stored = &made["cardKeyDetails"]["0"];
    for (pointer, wanted) in [
        ("/card/cardNumber", "400000******1000"),
        ("/card/cardExpiryMonth", "12"),
        ("/card/cardExpiryYear", "2030"),
        ("/card/cardholderName", "A Customer"),
        ("/customer/customerTitle", "Ms"),
        ("/customer/customerFirstName", "Ann"),
        ("/customer/customerSurname", "Other"),
        ("/customer/customerEmail", "ann@shop.example"),
        ("/customer/customerMobile", "447700900123"),
        ("/customer/customerTelephone", "441632960123"),
        ("/cardholderAddress/cardholderAddressPropertyName", "Rose Cottage"),
        ("/cardholderAddress/cardholderAddressLine1", "Mill Lane"),
        ("/cardholderAddress/cardholderAddressLine2", "Old Town"),
        ("/cardholderAddress/cardholderAddressCounty", "Testshire"),
        ("/cardholderAddress/cardholderAddressTown", "Testford"),
        ("/cardholderAddress/cardholderAddressPostcode", "ZZ1 1AA"),
        ("/cardholderAddress/cardholderAddressCountry", "GB"),
        ("/merchantCustomerReference", "customer-7"),
    ] {
        assert_eq!(stored.pointer(pointer).and_then(|text| text.as_str()), Some(wanted), "{pointer} {stored}");
    }
    let order = [
        ("cardKey", stored["cardKey"].as_str().unwrap()),
        ("currency", "GBP"),
        ("itemName0", "Tea"),
        ("itemPrice0", "499"),
    ];
    let again = shop.version_3("transaction/authCardKey", &order);
    assert_eq!(again["transactionStatusCode"], "600");
    let repeated = [
        ("prev_trans_key", again["transactionKey"].as_str().unwrap()),
        ("trans_type", "Auth"),
        ("trans_value", "2.50"),
    ];
    assert_eq!(shop.done("repeat", &repeated).text("status"), "1");
}

/// A checkout takes longer texts (spec 3 §4.1) than a token record has room for (spec 1 §2.1).
// spec: 1 §2.1, A01, A04: Customer and address fields have maximum lengths.
#[test]
fn a_text_that_a_token_has_no_room_for_loses_its_end() {
    let mut shop = Shop::new();
    let long = |length: usize| "é".repeat(length);
    let (line, town, county, postcode) = (long(150), long(100), long(50), long(15));
    let token = shop.token(&[
        ("auto_redirect", "1"),
        ("email", &format!("{}@shop.example", "a".repeat(50))),
        ("mobile_phone", "447700900123456"),
        ("address_1", &line),
        ("town", &town),
        ("county", &county),
        ("postcode", &postcode),
    ]);
    let page = shop.visit(&token);
    let name = long(60);
    let paid = shop.submit(&token, &page, &with(CARD, &[("cardholderName", &name)])).trans_key();
    let made = shop.version_3("token/tokeniseTransactionKey", &[("transactionKey", &paid)]);
    let stored = &made["cardKeyDetails"]["0"];
    for (pointer, wanted) in [
        ("/customer/customerEmail", "a".repeat(50)),
        ("/customer/customerMobile", "44770090012345".to_owned()),
        ("/cardholderAddress/cardholderAddressLine1", long(50)),
        ("/cardholderAddress/cardholderAddressTown", long(50)),
        ("/cardholderAddress/cardholderAddressCounty", long(50)),
        ("/cardholderAddress/cardholderAddressPostcode", long(8)),
        // The record gives no length for the name.
        ("/card/cardholderName", name),
    ] {
        assert_eq!(stored.pointer(pointer).and_then(|text| text.as_str()), Some(&*wanted), "{pointer} {stored}");
    }
}
