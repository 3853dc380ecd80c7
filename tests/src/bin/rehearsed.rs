//! What `pg rehearse init --language rust` writes, so that it compiles and is rehearsed: a charge over `pg-hyper`.

include!("../../../crates/pg-rehearse/src/init/pay.rs.txt");
