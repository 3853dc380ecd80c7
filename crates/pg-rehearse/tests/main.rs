//! Every test of rehearsals from outside, in one program.

mod adapters;
mod alone;
mod charges;
mod configured;
mod documents;
mod faults;
mod reports;
mod running;
mod samples;
mod shop;
