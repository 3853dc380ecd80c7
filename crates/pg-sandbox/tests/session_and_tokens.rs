//! The client session and the card tokens as a merchant meets them: through requests and answers
//! alone, in memory, on a clock that the test turns.

#![expect(clippy::unwrap_used, reason = "a test may panic, also in the functions that it calls")]

mod at_rest;
mod card_form_rules;
mod error_page;
mod expiry;
mod hostile;
mod initiate;
mod openssl;
mod redirects;
mod several_posts;
mod shop;
mod states;
mod tokenise;
mod tokens;
mod validation;
mod wrong_fields;
