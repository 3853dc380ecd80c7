//! The dialect of the services that this crate's tests simulate: the sandbox's, from its file.

use std::sync::{Arc, OnceLock};

use pg_model::Dialect;

/// Returns the sandbox's dialect. This crate does not depend on `pg-sandbox`, so that a mistake cannot hide in both.
pub(crate) fn sandbox() -> Arc<Dialect> {
    static DIALECT: OnceLock<Arc<Dialect>> = OnceLock::new();
    let read = || Dialect::from_toml(include_str!("../../pg-sandbox/dialects/sandbox.toml")).expect("a dialect file");
    Arc::clone(DIALECT.get_or_init(|| Arc::new(read())))
}
