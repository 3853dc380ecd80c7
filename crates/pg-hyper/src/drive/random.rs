//! The dice of the drivers.

/// Some number. Any keeps every promise of a machine, so that a system without random bytes is no failure.
#[expect(clippy::disallowed_methods, reason = "the driver is where randomness comes in")]
pub(super) fn number() -> u64 {
    getrandom::u64().unwrap_or_default()
}
