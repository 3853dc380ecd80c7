//! Buffers that hold plaintext, or a body with credentials and card data.

use alloc::string::String;
use alloc::vec::Vec;
use core::{fmt, mem};

use zeroize::optimization_barrier;

/// Bytes that are overwritten with zeros on drop. They can become fewer and never more: what a growing buffer leaves behind would
/// stay in memory.
pub struct Wiped(Vec<u8>);

impl Wiped {
    /// Takes the bytes, with the buffer that they lie in.
    #[must_use]
    pub const fn new(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// The bytes.
    #[must_use]
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The bytes, to be overwritten.
    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
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

impl AsRef<[u8]> for Wiped {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Wiped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Wiped({} bytes)", self.0.len())
    }
}

impl Drop for Wiped {
    fn drop(&mut self) {
        // A plain fill that the barrier keeps alive; wiping byte by byte would cost as much as decrypting.
        self.0.fill(0);
        optimization_barrier(self.0.as_slice());
    }
}
