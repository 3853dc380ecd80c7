//! A tour through the services in which everything succeeds.

use bytes::Bytes;
use http::{Method, Response};

use crate::store_errors::shop::{CV2, PAN, Request, Shop, card, order};

/// Makes each request of the tour; `send` brings its answer, however often it takes.
pub(crate) fn walk(shop: &mut Shop, mut send: impl FnMut(&mut Shop, &Request) -> Response<Bytes>) {
    let mut done = |shop: &mut Shop, request: Request| {
        let response = send(shop, &request);
        let body = String::from_utf8(response.body().to_vec()).unwrap();
        assert!(response.status().is_success() || response.status() == 303, "{}: {body}", request.path);
        let location = response.headers().get("location").map_or("", |location| location.to_str().unwrap());
        format!("{location} {body}")
    };
    payments(shop, &mut done);
    tokens(shop, &mut done);
    session(shop, &mut done);
    checkout(shop, &mut done);
}

type Done<'a> = &'a mut dyn FnMut(&mut Shop, Request) -> String;

fn payments(shop: &mut Shop, done: Done<'_>) {
    let request = shop.payment("order-1");
    let paid = after(&done(shop, request), r#""transactionKey":""#);
    let pairs = [("transactionKey", &*paid), ("transactionValue", "100")];
    let request = shop.version_3("transaction/refund/json", &pairs);
    done(shop, request);

    let pairs = [card(), order(), vec![("uniqueMerchantReference", "order-2"), ("merchantReference", "two")]].concat();
    let request = shop.version_3("transaction/preauth", &pairs);
    let reserved = after(&done(shop, request), "<transactionKey>");
    for method in ["transaction/cancelpreauth/json", "transaction/capturepreauth"] {
        let pairs = [("transactionKey", &*reserved), ("transactionValue", "200")];
        let request = shop.version_3(method, &pairs);
        done(shop, request);
    }
    let pairs = [("transactionKey", &*reserved), ("merchantCustomerReference", "ann")];
    let request = shop.version_3("transaction/update/json", &pairs);
    done(shop, request);
    let request = shop.version_3("transaction/lookup/json", &[("merchantReference", "two")]);
    assert!(done(shop, request).contains(&reserved));
}

fn tokens(shop: &mut Shop, done: Done<'_>) {
    let request = shop.payment("order-3");
    let paid = after(&done(shop, request), r#""transactionKey":""#);
    let request = shop.version_3("token/tokeniseTransactionKey", &[("transactionKey", &paid)]);
    let token = after(&done(shop, request), "<cardKey>");
    for (method, more) in [("disable", ""), ("enable", ""), ("updateCardKeyDetails", "Ann"), ("lookup", "")] {
        let mut pairs = vec![("cardKey", &*token)];
        pairs.extend((!more.is_empty()).then_some(("cardholderName", more)));
        let request = shop.version_3(&format!("token/{method}/json"), &pairs);
        done(shop, request);
    }
    let pairs = [vec![("cardKey", &*token), ("uniqueMerchantReference", "order-4")], order()].concat();
    let request = shop.version_3("transaction/authCardKey/json", &pairs);
    done(shop, request);

    let updater = shop.merchant.account_updater_key.clone().unwrap();
    let hook = "http://127.0.0.1:9/hook";
    let pairs = [("accountUpdaterKey", updater.expose()), ("cardKey", &token), ("callbackUrl", hook)];
    let request = shop.version_3("token/requestAccountUpdater/json", &pairs);
    let batch = after(&done(shop, request), r#""batchKey":""#);
    shop.wait(121);
    let request = shop.version_3("token/retrieveAccountUpdater/json", &[("batchKey", &batch)]);
    done(shop, request);
    let request = shop.version_3("token/delete", &[("cardKey", &token)]);
    done(shop, request);
}

fn session(shop: &mut Shop, done: Done<'_>) {
    let request = shop.version_3("session/initiate/json", &[("errorPageUrl", "https://shop.example/error")]);
    let session = after(&done(shop, request), r#""sessionKey":""#);
    let pages = [("nextPageUrl", "https://shop.example/next"), ("currentPageUrl", "https://shop.example/card")];
    let pairs = [vec![("sessionKey", &*session)], card(), pages.to_vec()].concat();
    let request = shop.post("/v3/session/postform/json", &pairs);
    done(shop, request);

    let pairs = [vec![("sessionKey", &*session), ("returnUrl", "https://shop.example/back")], order()].concat();
    let request = shop.version_3("transaction/initiate3DSecureSessionKey/json", &pairs);
    let key = after(&done(shop, request), r#""authenticationKey":""#);
    let request = shop.request(Method::GET, &format!("/3ds/{key}"), String::new());
    done(shop, request);
    let request = shop.post(&format!("/3ds/{key}"), &[("outcome", "authenticate")]);
    done(shop, request);
    for method in ["getAuthenticationStatus", "auth3DSecure"] {
        let request = shop.version_3(&format!("transaction/{method}/json"), &[("authenticationKey", &key)]);
        done(shop, request);
    }
    let pairs = [vec![("sessionKey", &*session), ("uniqueMerchantReference", "order-5")], order()].concat();
    let request = shop.version_3("transaction/authSessionKey", &pairs);
    done(shop, request);
}

fn checkout(shop: &mut Shop, done: Done<'_>) {
    let pairs = [
        ("currency", "GBP"),
        ("item_name[0]", "Tea"),
        ("item_price[0]", "4.99"),
        ("callback_url", "https://shop.example/callback"),
        ("success_url", "https://shop.example/paid"),
        ("auto_redirect", "1"),
        ("token_uses", "1"),
        ("token_redemptions", "1"),
    ];
    let request = shop.version_5("gettoken", &pairs);
    let token = after(&done(shop, request), "<tokenid>");
    let request = shop.request(Method::GET, &format!("/pay/{token}"), String::new());
    let visit = after(&done(shop, request), r#"name="visit" value=""#);
    let form = [("cardNumber", PAN), ("cardExpiryMonth", "12"), ("cardExpiryYear", "2049"), ("cardCV2", CV2)];
    let request = shop.post(&format!("/pay/{token}"), &[&[("visit", &*visit)], &form[..]].concat());
    let paid = after(&done(shop, request), "trans_key=");

    let pairs = [("prev_trans_key", &*paid), ("trans_type", "PreAuth"), ("trans_value", "7.50")];
    // A capture ends its reservation, and so does a cancellation.
    let mut reserve = |shop: &mut Shop| {
        let request = shop.version_5("repeat", &pairs);
        after(&done(shop, request), "<trans_key>")
    };
    let [captured, cancelled] = [reserve(shop), reserve(shop)];
    for (method, of) in [("capture", &captured), ("cancel", &cancelled), ("refund", &paid)] {
        let request = shop.version_5(method, &[("prev_trans_key", of), ("trans_value", "1.25")]);
        done(shop, request);
    }
    let request = shop.version_5("transaction_lookup", &[("trans_key", &paid)]);
    done(shop, request);
    let request = shop.version_5("canceltoken", &[("tokenid", &token)]);
    done(shop, request);
    let request = shop.version_5("sms", &[("msisdn", "447700900123"), ("message", "Paid")]);
    done(shop, request);
}

/// The key after a mark.
fn after(text: &str, mark: &str) -> String {
    let (_, rest) = text.split_once(mark).unwrap_or_else(|| panic!("no {mark} in {text}"));
    rest.chars().take_while(|character| character.is_ascii_alphanumeric() || *character == '-').collect()
}
