//! Harness of [`pg_fuzz::xml`].

#![allow(unexpected_cfgs, reason = "`cargo fuzz` sets it")]
#![cfg_attr(fuzzing, no_main)]

pg_fuzz::harness!(xml);
