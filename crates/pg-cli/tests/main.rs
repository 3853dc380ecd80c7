//! Every test of the command from outside, in one program: it is linked once.

mod command;
mod durability;
mod independent;
