//! The data recorded with a payment besides its amount, card and references.

use pg_model::METHODS;

use super::*;

const PAGE: &str = "https://shop.example/page";

// spec: 2 §2.6, A65: The customer of the form is stored with the transaction and the token.
// spec: 2 §4.2, A101: The cardholder's address is for address verification; in the sandbox it never decides.
// spec: 2 §4.2, A65: cardDescription is stored with a token.
#[test]
fn every_text_of_the_card_form_is_recorded_with_its_payment() {
    let mut shop = Shop::open();
    let session = shop.session(PAN);
    let form = METHODS.iter().find(|method| method.name == "postform").unwrap();
    let recorded = ["cardholder", "cardDescription", "customer"];
    let recorded = |name: &str| recorded.iter().any(|start| name.starts_with(start));
    let texts: Vec<&str> = form.fields.iter().map(|field| field.wire).filter(|name| recorded(name)).collect();
    assert_eq!(texts.len(), 2 + 8 + 6 + 8, "{texts:?}");
    let mut pairs = vec![("sessionKey", session.as_str()), ("cardNumber", PAN), ("cardExpiryDate", "0530")];
    pairs.extend([("nextPageUrl", PAGE), ("currentPageUrl", PAGE), ("formId", "form-1"), ("collectPlan", "gold")]);
    // At most eight characters, different for each.
    let values: Vec<String> = (0..texts.len()).map(|number| format!("text {number}")).collect();
    pairs.extend(texts.iter().copied().zip(values.iter().map(String::as_str)));
    let body = serde_urlencoded::to_string(&pairs).unwrap();
    let posted = shop.sandbox.handle(shop.at, request(Method::POST, "/v3/session/postform", body));
    assert_eq!(posted.status(), 303);
    let key = shop.call("authSessionKey", &order(&[("sessionKey", &session)])).key();
    let payment = shop.payment(&key);
    for (name, value) in texts.iter().zip(&values) {
        assert_eq!(payment.details.get(*name), Some(value), "{name}");
    }
    assert!(!holds(&payment, "form-1") && !holds(&payment, "gold"));
}

// spec: 2 §4.3: Items, their references and the terminal are stored with the payment.
#[test]
fn items_and_terminal_are_recorded_as_they_were_sent() {
    let mut shop = Shop::open();
    let more = [
        ("itemReference0", "T-1"),
        ("itemName1", "Cake"),
        ("itemPrice1", "250"),
        ("terminalKey", "main-web"),
        ("cardholderName", "A Customer"),
    ];
    let key = shop.call("auth", &raw(PAN, &more)).key();
    let payment = shop.payment(&key);
    let first = [("itemName0", "Tea"), ("itemPrice0", "499"), ("itemQuantity0", "2")];
    for (name, value) in first.into_iter().chain(more) {
        assert_eq!(payment.details.get(name).map(String::as_str), Some(value), "{name}");
    }
    assert_eq!(payment.amount, 2 * 499 + 250);
}

/// The documents give no number (spec 2 §8): the limit is that of parameters (A14 and A47).
// spec: 2 §8 Limits, A14, A47: The number of items is limited only by the number of parameters.
#[test]
fn there_may_be_as_many_items_as_parameters() {
    let mut shop = Shop::open();
    for (items, wanted) in [(990, "600"), (1_000, "932")] {
        let names: Vec<[String; 2]> = (0..items).map(|n| [format!("itemName{n}"), format!("itemPrice{n}")]).collect();
        let pairs = names.iter().flat_map(|[name, price]| [(name.as_str(), "Tea"), (price.as_str(), "1")]);
        let card = [("cardNumber", PAN), ("cardExpiryMonth", "05"), ("cardExpiryYear", "26"), ("currency", "GBP")];
        let answer = shop.call("auth", &card.into_iter().chain(pairs).collect::<Vec<_>>());
        assert_eq!(answer.code(), wanted, "{items}");
    }
    assert_eq!(shop.payments()[0].amount, 990);
}

/// Spec 3 §4.1: parameters of gettoken that the page does not show are for reports and exports.
// spec: 3 §4.1, A100, A121: trans_reference is stored with the transaction and sent in the callback.
// spec: 3 §4.1, A122: payment_source, applet, trans_cat and trans_class are stored.
// spec: 3 §4.1, A91, A122
#[test]
fn a_hosted_payment_records_the_fields_of_its_token() {
    let mut shop = Shop::open();
    let told = [
        ("trans_cat", "booking"),
        ("trans_class", "spring"),
        ("payment_source", "moto"),
        ("item_name[0]", "Tea"),
        ("item_price[0]", "4.99"),
        ("item_quantity[0]", "2"),
        ("item_reference[0]", "T-1"),
    ];
    pay_on_page(&mut shop, &[&[("trans_reference", "order-7"), ("terminal_key", "main-web")][..], &told].concat());
    let payment = shop.payments().remove(0);
    for (name, value) in told {
        assert_eq!(payment.details.get(name).map(String::as_str), Some(value), "{name}");
    }
    assert_eq!(payment.details["terminalKey"], "main-web");
    assert_eq!((payment.merchant_reference.as_deref(), payment.amount), (Some("order-7"), 998));
    let rows = shop.find(&[("merchantReference", "order-7")]);
    assert_eq!(rows[0]["transactionKey"], payment.key);
}

/// A `trans_reference` may be longer than a `merchantReference`.
// spec: 2 §2.3, A100: merchantReference has up to 32 characters.
#[test]
fn a_longer_trans_reference_is_no_merchant_reference_of_version_3() {
    let mut shop = Shop::open();
    for (length, shown) in [(32, 32), (33, 0), (50, 0)] {
        let reference = "é".repeat(length);
        let item = [("item_name[0]", "Tea"), ("item_price[0]", "4.99"), ("trans_type", "PreAuth")];
        pay_on_page(&mut shop, &[&[("trans_reference", &*reference)][..], &item].concat());
        let key = shop.payments().pop().unwrap().key;
        let captured = shop.call("capturepreauth", &[("transactionKey", &key)]).text("transactionKey").to_owned();
        for key in [key, captured] {
            let row = shop.find(&[("transactionKey", &*key)]).remove(0);
            assert_eq!(row["merchantReference"].as_str().unwrap_or_default().chars().count(), shown, "{length}");
        }
    }
}

/// Pays on the page of a new token.
fn pay_on_page(shop: &mut Shop, order: &[(&str, &str)]) {
    let enterprise = account("main").enterprise.unwrap();
    let mut pairs = vec![("version", "5")];
    pairs.extend([("api_key", enterprise.api_key.expose()), ("api_password", enterprise.api_password.expose())]);
    pairs.extend(order);
    let body = serde_urlencoded::to_string(&pairs).unwrap();
    let (_, made) = text(&shop.sandbox.handle(shop.at, request(Method::POST, "/enterprise/gettoken", body)));
    let page = made[made.find("/pay/").unwrap()..][.."/pay/".len() + 32].to_owned();
    let (_, html) = text(&shop.sandbox.handle(shop.at, request(Method::GET, &page, "")));
    let visit = &html.split("name=\"visit\" value=\"").nth(1).unwrap()[..32];
    let form = format!("visit={visit}&cardNumber={PAN}&cardExpiryMonth=05&cardExpiryYear=2030&cardCV2={CV2}");
    let (status, receipt) = text(&shop.sandbox.handle(shop.at, request(Method::POST, &page, form)));
    assert_eq!(status, 200, "{receipt}");
}
