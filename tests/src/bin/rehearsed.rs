//! What `pg rehearse init --language rust` writes, so that it compiles and is rehearsed: a charge over `pg-hyper`.

#![expect(clippy::disallowed_methods, reason = "as a program of a merchant, it asks again in real time")]

include!("../../../crates/pg-rehearse/src/init/pay.rs.txt");
