//! The checks and the code generator of this workspace.
fn main() {}
