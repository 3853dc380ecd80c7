//! Harness of [`pg_fuzz::amount`].

#![allow(unexpected_cfgs, reason = "`cargo fuzz` sets it")]
#![cfg_attr(fuzzing, no_main)]

pg_fuzz::harness!(amount);
