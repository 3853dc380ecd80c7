//! The options of a survey.

use pg_proto::machine::throttle::ThrottleLimits;

use crate::cards::Cards;

/// The options of a survey.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// Whether it pays with the test cards. Default: no.
    pub payments: bool,
    /// Whether it sends one request with a wrong password. Default: no.
    pub wrong_password: bool,
    /// The test cards.
    pub cards: Cards,
    /// The currency of payments. Default: GBP.
    pub currency: String,
    /// Maximum number of requests per minute. Default: 100, the limit of the documents (spec 1 §8). Use fewer if other
    /// programs use the account.
    pub per_minute: u32,
}

impl Default for Options {
    fn default() -> Self {
        let per_minute = ThrottleLimits::default().per_minute;
        Self { payments: false, wrong_password: false, cards: Cards::default(), currency: "GBP".to_owned(), per_minute }
    }
}
