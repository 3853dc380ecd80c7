//! One account cannot see or use records of another.

use crate::hosted_checkout::{NO_KEY, Shop};

#[test]
fn records_of_another_account_are_unknown() {
    let mut shop = Shop::new();
    let (paid, reserved) = (shop.paid(&[]), shop.paid(&[("trans_type", "PreAuth")]));
    let token = shop.token(&[]);
    shop.become_merchant("other");
    for key in [&paid, &reserved] {
        let value = [("prev_trans_key", key.as_str()), ("trans_value", "1"), ("trans_type", "Auth")];
        let none = [("prev_trans_key", NO_KEY), ("trans_value", "1"), ("trans_type", "Auth")];
        for method in ["repeat", "refund", "capture", "cancel"] {
            let (theirs, nobodys) = (shop.call(method, &value), shop.call(method, &none));
            assert_eq!((theirs.status, theirs.xml, theirs.basis), (nobodys.status, nobodys.xml, nobodys.basis));
        }
        assert_eq!(shop.refused("transaction_lookup", &[("trans_key", key)]), "943");
    }
    assert_eq!(shop.done("canceltoken", &[("tokenid", &token)]).text("status"), "0");
    assert_eq!(shop.visit(&token).status, 200);
}

#[test]
fn the_form_of_one_token_pays_no_other() {
    let mut shop = Shop::new();
    let (mine, dear) = (shop.token(&[]), shop.token(&[("item_price[0]", "900")]));
    let page = shop.visit(&mine);
    let lost = shop.submit(&dear, &page, crate::hosted_checkout::CARD);
    assert_eq!((lost.status, lost.location()), (303, format!("/pay/{dear}").as_str()));
    assert!(shop.submit(&mine, &page, crate::hosted_checkout::CARD).says("Payment complete"));
}
