//! Every test of the sandbox from outside, in one program: it is linked once, and generates what is below it once.

mod account_updater;
mod accounts;
mod control;
mod delivery;
mod hosted_checkout;
mod inspector;
mod models;
mod old_formats;
mod on_disk;
mod postgres;
mod request_rate;
mod rules;
mod session_and_tokens;
mod stores;
