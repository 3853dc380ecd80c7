//! `docs/reference/`: one page a service.
use super::tables::Tables;

pub(super) fn generate(_tables: &Tables) -> Vec<(String, String)> {
    Vec::new()
}
