//! The card form leads the customer's browser back to a receiver.

use bytes::Bytes;
use http::Request;
use pg_hyper::{Hyper, News, Purpose, Receiver, Transport};
use pg_model::{Encoding, Initiate};
use pg_proto::Returned;
use pg_tests::{
    browser::{self, VISA},
    shop::Shop,
};

#[tokio::test]
async fn what_the_browser_brings_back_can_be_opened() {
    let shop = Shop::open(Encoding::Json).await;
    let mut receiver = Receiver::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let [next, current, failed] = [(); 3].map(|()| receiver.open(Purpose::CardForm).unwrap());
    let session = shop.client.call(&Initiate::new(failed.url())).await.unwrap();
    let form = shop.client.account().card_form(&session.session_key, next.url(), current.url()).form_id("card");
    let mut wrong = VISA;
    wrong[0].1 = "4111111111111112";
    for (filled_in, door) in [(&VISA[..], &next), (&wrong[..], &current), (&VISA[..1], &failed)] {
        let reply = browser::post(&form, filled_in).await;
        let page = Request::get(browser::location(&reply)).body(Bytes::new()).unwrap();
        assert_eq!(Hyper::new().send(page).await.unwrap().status(), 200);
        let received = receiver.next().await.unwrap();
        assert_eq!(received.token, door.token());
        let News::CardForm(redirect) = received.news else { panic!("{received:?}") };
        assert_eq!(redirect.form_id, "card");
        match redirect.open(&shop.client.account().session_cipher().unwrap()).unwrap() {
            Returned::Accepted(data) => assert_eq!((data.get().cardholder_name.as_str(), door), ("A Holder", &next)),
            Returned::Invalid(data) => assert_eq!((data.get().errors.is_empty(), door), (false, &current)),
            Returned::Failed(_) => assert_eq!(door, &failed),
        }
    }
}
