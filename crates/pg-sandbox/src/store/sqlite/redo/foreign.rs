//! Files at the path of a store's redo log that are not its log: they may hold the only copy of another store's commits.

use std::{fs::File, path::Path};

use super::{REGION, StoreError, Tags, WHOLE, file, read};

/// Fails if the log of a store that does not exist yet contains anything.
pub(in super::super) fn check_unused(store: &Path, redo: Option<&File>) -> Result<(), StoreError> {
    match redo {
        Some(redo) if !is_unused(&read(redo, 0, WHOLE)?) => Err(StoreError::ForeignLog(file::redo(store))),
        _ => Ok(()),
    }
}

/// Whether a file has content, but no generation of a log with this key.
pub(super) fn is_foreign(file: &File, tags: &Tags) -> Result<bool, StoreError> {
    let bytes = read(file, 0, WHOLE)?;
    let has_header = || bytes.chunks(REGION as usize).any(|region| tags.header_of(region).is_some());
    Ok(!is_unused(&bytes) && !has_header())
}

/// Whether nothing was written here: the log gets its length before its content.
fn is_unused(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte == 0)
}
