//! The account's details: from flags, then the environment, then a profile file.

mod details;
pub(crate) mod dialect;
pub(crate) mod profile;
mod setting;
mod values;

pub(crate) use details::{AccountFlags, Details, variable};
pub(crate) use setting::Setting;

/// Where `--help` shows the flags.
const HEADING: &str = "Account (flag, else environment, else profile)";
