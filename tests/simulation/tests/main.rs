//! Every test of the simulation, in one program: it is linked once.

mod fleets;
mod planted;
mod reliability;
mod surveys;
mod worlds;
