//! Steps over real HTTP, shown as they happen, shared by `pg demo` and `pg trigger`.

pub(super) mod browser;
pub(super) mod fields;
pub(super) mod listener;
pub(super) mod page;
pub(super) mod payment;
pub(super) mod report;
pub(super) mod wire;
