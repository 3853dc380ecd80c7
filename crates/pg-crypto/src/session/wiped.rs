//! Buffers for plaintext, and for request bodies with credentials and card data.

use alloc::string::String;
use alloc::vec::Vec;
use core::{fmt, mem};

use zeroize::optimization_barrier;

/// Bytes that are overwritten with zeros on drop. Their number can only decrease: a growing buffer would leave its old
/// allocation in memory.
pub struct Wiped(Vec<u8>);

impl Wiped {
    /// Takes ownership of the bytes and their buffer.
    #[must_use]
    pub const fn new(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// Returns the bytes.
    #[must_use]
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the bytes, for overwriting.
    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }

    /// Keeps the first `len` bytes, and returns them as text if they are UTF-8.
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
        // The barrier keeps the compiler from removing this fill. Wiping byte by byte would cost as much as decrypting.
        self.0.fill(0);
        optimization_barrier(self.0.as_slice());
    }
}
