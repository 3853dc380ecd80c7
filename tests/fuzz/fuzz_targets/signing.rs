//! Harness of [`pg_fuzz::signing`].

#![allow(unexpected_cfgs, reason = "`cargo fuzz` sets it")]
#![cfg_attr(fuzzing, no_main)]

pg_fuzz::harness!(signing);
