//! The card form redirects the customer's browser to a receiver.

use bytes::Bytes;
use http::Request;
use pg_hyper::{EndpointPurpose, HyperTransport, Notification, Receiver, Transport};
use pg_model::{Encoding, Initiate};
use pg_proto::CardFormResult;
use pg_tests::{
    browser::{self, VISA},
    shop::Shop,
};

#[tokio::test]
async fn the_redirect_of_the_browser_can_be_decrypted() {
    let shop = Shop::open(Encoding::Json).await;
    let mut receiver = Receiver::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let [next, current, failed] = [(); 3].map(|()| receiver.open(EndpointPurpose::CardForm).unwrap());
    let session = shop.client.call(&Initiate::new(failed.url())).await.unwrap();
    let form = shop.client.account().card_form(&session.session_key, next.url(), current.url()).form_id("card");
    let mut wrong = VISA;
    wrong[0].1 = "4111111111111112";
    for (filled_in, endpoint) in [(&VISA[..], &next), (&wrong[..], &current), (&VISA[..1], &failed)] {
        let reply = browser::post(&form, filled_in).await;
        let page = Request::get(browser::location(&reply)).body(Bytes::new()).unwrap();
        assert_eq!(HyperTransport::new().send(page).await.unwrap().status(), 200);
        let received = receiver.next().await.unwrap();
        assert_eq!(received.token, endpoint.token());
        let Notification::CardForm(redirect) = received.notification else { panic!("{received:?}") };
        assert_eq!(redirect.form_id, "card");
        match redirect.open(&shop.client.account().session_cipher().unwrap()).unwrap() {
            CardFormResult::Accepted(data) => {
                assert_eq!((data.get().cardholder_name.as_str(), endpoint), ("A Holder", &next))
            }
            CardFormResult::Invalid(data) => assert_eq!((data.get().errors.is_empty(), endpoint), (false, &current)),
            CardFormResult::Failed(_) => assert_eq!(endpoint, &failed),
        }
    }
}
