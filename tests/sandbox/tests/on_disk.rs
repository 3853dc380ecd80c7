//! A look for what must not be readable in the files of a store.

use std::{fs, path::Path};

/// Whether a text is anywhere in the files of a folder, a store's write-ahead log included.
pub(crate) fn on_disk(folder: &Path, text: &str) -> bool {
    fs::read_dir(folder).expect("the folder can be read").any(|entry| {
        let bytes = fs::read(entry.expect("a file").path()).expect("the file can be read");
        bytes.windows(text.len()).any(|window| window == text.as_bytes())
    })
}
