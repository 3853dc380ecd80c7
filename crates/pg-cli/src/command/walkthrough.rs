//! Steps over real HTTP, shown as they happen: what `pg demo` and `pg trigger` have in common.

pub(super) mod browser;
pub(super) mod fields;
pub(super) mod listener;
pub(super) mod page;
pub(super) mod report;
pub(super) mod wire;
