//! Card data of hosted payments in the files of a store: a number sealed, a CV2 and a date of birth
//! never.

use crate::{
    hosted_checkout::{CARD, DECLINED, PAN, SILENT, Shop, with},
    on_disk::on_disk,
};

#[test]
fn neither_number_nor_cv2_reaches_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let mut shop = Shop::in_file(&folder.path().join("store.sqlite"));
    let token = shop.token(&[("surname", "Canary-on-disk"), ("date_of_birth", "31011970")]);
    let mut page = shop.visit(&token);
    for number in ["4000000000001001", DECLINED, SILENT, PAN] {
        page = shop.submit(&token, &page, &with(CARD, &[("cardNumber", number)]));
    }
    let paid = page.trans_key();
    shop.done("repeat", &[("prev_trans_key", &paid), ("trans_type", "Auth"), ("trans_value", "1")]);
    shop.version_3("token/tokeniseTransactionKey", &[("transactionKey", &paid)]);
    let check = || {
        // The search finds a value that is there, so that an empty result proves something.
        assert!(on_disk(folder.path(), &token), "keys are in clear");
        for text in [
            "Canary-on-disk",
            "400000******1000",
            PAN,
            DECLINED,
            SILENT,
            "4000000000001001",
            "\"9173\"",
            "cardCV2",
            "31011970",
        ] {
            assert!(!on_disk(folder.path(), text), "{text}");
        }
    };
    check();
    drop(shop);
    check();
}
