//! Harness of [`pg_fuzz::saved`].

#![allow(unexpected_cfgs, reason = "`cargo fuzz` sets it")]
#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|input: &[u8]| pg_fuzz::saved(input));

#[cfg(not(fuzzing))]
fn main() -> std::io::Result<()> {
    pg_fuzz::replay_files(pg_fuzz::saved)
}
