//! The account's details: from flags, then the environment, then a profile file.

mod details;
mod profile;
mod setting;

pub(crate) use details::{AccountFlags, Details};
pub(crate) use setting::Setting;
