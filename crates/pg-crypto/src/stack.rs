//! What finished functions leave on the stack.

use zeroize::optimization_barrier;

/// Bytes that hashing takes below its caller, and some more: SHA-512 has frames of 1.3 KiB with vectors, of less without.
/// Without optimisation frames are larger.
pub(crate) const HASHING: usize = if cfg!(debug_assertions) { 16 << 10 } else { 2 << 10 };

/// The same of ciphers: AES without instructions of its own works on eight blocks and their round keys at once.
pub(crate) const CIPHERS: usize = if cfg!(debug_assertions) { 16 << 10 } else { 4 << 10 };

/// Overwrites so many bytes of the stack below the caller, where the functions lay that the caller has called: the blocks of a hash and the round
/// keys of a cipher pass through it. Values are wiped where they lie, but what was moved, or spilled from registers, is
/// no longer part of a live value.
///
/// Call it after the last function that saw a secret, and outside its frame.
#[inline(never)]
pub(crate) fn wipe_dead_frames<const BYTES: usize>() {
    let zeros = [0_u8; BYTES];
    optimization_barrier(&zeros);
}
