//! Every test of the protocol from outside, in one program: it is linked once.

mod examples;
mod machines;
mod redirect;
mod reply;
mod request;
