//! The `pg` command.
fn main() {}
