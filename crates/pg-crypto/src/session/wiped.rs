//! Buffers that hold plaintext.

use alloc::string::String;
use alloc::vec::Vec;
use core::mem;

use zeroize::optimization_barrier;

/// Bytes that are overwritten with zeros on drop. The buffer must not grow: what it left behind would stay.
pub(crate) struct Wiped(Vec<u8>);

impl Wiped {
    pub(crate) const fn new(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }

    /// Keeps the first `len` bytes, and takes them as text if they are UTF-8.
    pub(crate) fn into_text(mut self, len: usize) -> Option<String> {
        self.0.truncate(len);
        match String::from_utf8(mem::take(&mut self.0)) {
            Ok(text) => Some(text),
            Err(error) => {
                self.0 = error.into_bytes();
                None
            }
        }
    }
}

impl Drop for Wiped {
    fn drop(&mut self) {
        // A plain fill that the barrier keeps alive; wiping byte by byte would cost as much as decrypting.
        self.0.fill(0);
        optimization_barrier(self.0.as_slice());
    }
}
