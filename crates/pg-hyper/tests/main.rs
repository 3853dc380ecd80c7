//! Every test of the client from outside, in one program: it is linked once.

mod client;
mod drive;
