//! Every test of the simulation, in one program: it is linked once.

mod fleets;
mod planted;
mod surveys;
mod worlds;
