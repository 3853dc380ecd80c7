//! Checkouts over sockets: the customer pays on the hosted page, callback and browser tell of it.

use bytes::Bytes;
use http::{Request, Response};
use pg_hyper::{Hyper, News, Next, Purpose, Receiver, Transport};
use pg_model::{CheckoutItem, Encoding, Flag, GetToken};
use pg_proto::machine::checkout::{CheckedOut, CheckoutDemand, CheckoutInput, CheckoutPlan};
use pg_tests::{browser, shop::Shop};

async fn get(url: &str) -> Response<Bytes> {
    Hyper::new().send(Request::get(url).body(Bytes::new()).unwrap()).await.unwrap()
}

/// Fills the page in and gives back where the browser is led.
async fn pay(url: &str) -> String {
    assert_eq!(get(url).await.status(), 200);
    let body = form_urlencoded::Serializer::new(String::new())
        .extend_pairs([("cardNumber", "4111111111111111"), ("cardExpiryMonth", "12"), ("cardExpiryYear", "2031")])
        .extend_pairs([("cardCV2", "987"), ("cardholderName", "A Holder")])
        .finish();
    let form = Request::post(url).header("content-type", "application/x-www-form-urlencoded");
    let reply = Hyper::new().send(form.body(body.into()).unwrap()).await.unwrap();
    browser::location(&reply).to_owned()
}

#[tokio::test]
async fn news_from_callback_and_browser_are_looked_up() {
    let shop = Shop::open(Encoding::Json).await;
    let mut receiver = Receiver::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let callback = receiver.open(Purpose::CheckoutCallback).unwrap();
    let success = receiver.open(Purpose::CheckoutReturn).unwrap();
    let request = GetToken::new()
        .item(CheckoutItem::new("Tea", "4.99"))
        .currency("GBP")
        .callback_url(callback.url())
        .success_url(success.url())
        .auto_redirect(Flag::YES);
    let mut checkout = shop.client.checkout(request, CheckoutPlan::default()).unwrap();
    let mut told = 0;
    let outcome = loop {
        match checkout.next().await {
            Next::Ask(CheckoutDemand::Redirect { url, .. }) => {
                if told == 0 {
                    // Somebody makes a payment up.
                    checkout.tell(CheckoutInput::Told("0123456789abcdef0123456789abcdef".to_owned()));
                    assert_eq!(get(&pay(url.as_str()).await).await.status(), 200);
                }
                let received = receiver.next().await.unwrap();
                let News::Paid { trans_key } = received.news else { panic!("{received:?}") };
                assert!([callback.token(), success.token()].contains(&&*received.token));
                checkout.tell(CheckoutInput::Told(trans_key));
                told += 1;
            }
            Next::Done(outcome) => break outcome,
        }
    };
    assert!(matches!(&outcome, CheckedOut::Paid { trans_key } if trans_key.len() == 32), "{outcome:?}");
    assert!(told > 0);
}
