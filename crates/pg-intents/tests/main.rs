//! What users of the crate see, in one program.

#![cfg(test)]

mod accounts;
mod administered;
mod between;
mod bouncer;
mod clocks;
mod configured;
mod connections;
mod failures;
mod figures;
mod fleet;
mod limits;
mod lingering;
mod machines;
mod matrix;
mod model;
mod own_store;
mod planted;
mod postgres;
mod proof;
mod reconcile;
mod sealed;
mod sqlite;
mod telemetry;
mod tls;
mod unknown;
mod unwritable;
mod waiting;
mod without_notifications;
mod world;
