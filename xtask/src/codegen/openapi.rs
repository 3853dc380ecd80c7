//! `docs/openapi.yaml`.
use super::tables::Tables;

pub(super) fn generate(_tables: &Tables) -> String {
    String::new()
}
