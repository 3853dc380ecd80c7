//! Wipes what finished functions leave on the stack.

use zeroize::optimization_barrier;

/// Stack size of hashing below its caller, with a margin: SHA-512 has frames of 1.3 KiB with vector instructions, and
/// smaller ones without. Unoptimised frames are larger.
pub(crate) const HASHING: usize = if cfg!(debug_assertions) { 16 << 10 } else { 2 << 10 };

/// The same for ciphers: AES without hardware support processes eight blocks and their round keys at once.
pub(crate) const CIPHERS: usize = if cfg!(debug_assertions) { 16 << 10 } else { 4 << 10 };

/// Overwrites this many bytes of the stack below the caller. Functions that the caller has called had their frames
/// there, with the blocks of a hash or the round keys of a cipher. Values are wiped in place, but copies of moved
/// values, or of spilled registers, no longer belong to a live value.
///
/// Call it after the last function that had access to a secret, and outside the frame of that function.
#[inline(never)]
pub(crate) fn wipe_dead_frames<const BYTES: usize>() {
    let zeros = [0_u8; BYTES];
    optimization_barrier(&zeros);
}
