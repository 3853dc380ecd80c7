//! Harness of [`pg_fuzz::request`].

#![allow(unexpected_cfgs, reason = "`cargo fuzz` sets it")]
#![cfg_attr(fuzzing, no_main)]

pg_fuzz::harness!(request);
