//! What users of the crate see, in one program.

mod fleet;
mod sqlite;
mod world;
