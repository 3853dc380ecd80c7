//! The whole sandbox in this process: sequences of requests, most of them valid except for one part.

mod calls;
mod looks;
mod shop;

use std::time::Duration;

use http::StatusCode;

use self::shop::Shop;
use crate::dice::Dice;

/// The maximum number of steps of one input.
const MOST_STEPS: usize = 24;

/// Sends the requests that the input describes. Each gets a response in the requested encoding, and no output shows a card or
/// a credential.
pub fn sandbox(input: &[u8]) {
    let (first, rest) = input.split_first().unwrap_or((&0, &[]));
    let once = lived(rest);
    // Every sixteenth input runs twice: the same requests at the same times get the same responses.
    if first % 16 == 15 {
        assert_eq!(once, lived(rest), "the same requests were answered differently");
    }
}

/// The status and the body of every answer.
fn lived(input: &[u8]) -> Vec<(StatusCode, Vec<u8>)> {
    let mut dice = Dice::new(input);
    let mut shop = Shop::open();
    for _ in 0..MOST_STEPS {
        if dice.is_used_up() {
            break;
        }
        match dice.below(16) {
            0..=8 => calls::method(&mut shop, &mut dice),
            9 => calls::control(&mut shop, &mut dice),
            10 => calls::page(&mut shop, &mut dice),
            11 => calls::anything(&mut shop, &mut dice),
            12 => shop.pass(Duration::from_millis(dice.number() >> dice.below(60))),
            13 => calls::callbacks(&mut shop, &mut dice),
            14 => calls::garbled(&mut shop, &mut dice),
            _ => looks::at_a_list(&mut shop, &mut dice),
        }
    }
    looks::everywhere(&mut shop);
    shop.answers
}
