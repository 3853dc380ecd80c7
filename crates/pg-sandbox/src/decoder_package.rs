//! The JavaScript decoder for front-end tiers, which the inspector can run.

use std::{fs, io, path::Path};

use bytes::Bytes;

/// The package built by `cargo xtask wasm`: the files that a browser loads.
#[derive(Debug, Clone)]
pub struct DecoderPackage {
    pub(crate) files: [(&'static str, Bytes); 3],
}

impl DecoderPackage {
    /// Reads the files from the folder of the package.
    ///
    /// # Errors
    /// If one of them is missing.
    pub fn read(folder: &Path) -> io::Result<Self> {
        let file = |name| fs::read(folder.join(name)).map(|bytes| (name, Bytes::from(bytes)));
        Ok(Self { files: [file("web.js")?, file("decoder.js")?, file("pg_wasm.wasm")?] })
    }
}
