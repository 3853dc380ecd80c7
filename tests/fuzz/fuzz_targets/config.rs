//! Harness of [`pg_fuzz::config`].

#![allow(unexpected_cfgs, reason = "`cargo fuzz` sets it")]
#![cfg_attr(fuzzing, no_main)]

pg_fuzz::harness!(config);
