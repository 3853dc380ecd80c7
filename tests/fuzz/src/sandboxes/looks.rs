//! Reads the control interface and the inspector after the requests.

use bytes::Bytes;
use http::Request;

use super::shop::Shop;
use crate::dice::Dice;

const LISTS: [&str; 9] =
    ["requests", "transactions", "tokens", "sessions", "authentications", "checkouts", "batches", "callbacks", "sms"];

/// One list, with any query.
pub(super) fn at_a_list(shop: &mut Shop, dice: &mut Dice<'_>) {
    let list = dice.one_of(&LISTS);
    let value: String = form_urlencoded::byte_serialize(dice.bytes(24)).collect();
    let target = match dice.below(5) {
        0 => format!("/_sandbox/{list}?limit={value}"),
        1 => format!("/_sandbox/{list}?before={value}&limit=1"),
        2 => format!("/_sandbox/pages/{list}?method={value}"),
        3 => format!("/_sandbox/pages/decoder?url={value}"),
        _ => format!("/_sandbox/{list}/{value}"),
    };
    look(shop, &target);
}

/// Reads all lists and their pages: two reads are equal and contain no secret.
pub(super) fn everywhere(shop: &mut Shop) {
    if shop.answers.is_empty() {
        return;
    }
    for list in LISTS {
        let target = format!("/_sandbox/{list}");
        assert_eq!(look(shop, &target), look(shop, &target), "{target} changes while nothing happens");
        look(shop, &format!("/_sandbox/pages/{list}"));
    }
}

fn look(shop: &mut Shop, target: &str) -> Bytes {
    let request = Request::get(target).header("host", "localhost").body(Bytes::new()).unwrap();
    shop.send(request).into_body()
}
