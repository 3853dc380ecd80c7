//! Every test of rehearsals from outside, in one program.

mod documents;
