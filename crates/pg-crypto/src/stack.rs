//! What finished functions leave on the stack.

use zeroize::optimization_barrier;

/// Bytes below the caller that are overwritten: more than hashing and ciphers take. Without optimisation frames are larger.
const DEAD: usize = if cfg!(debug_assertions) { 16 << 10 } else { 4 << 10 };

/// Overwrites the part of the stack where the functions lay that the caller has called: the blocks of a hash and the round
/// keys of a cipher pass through it. Values are wiped where they lie, but what was moved, or spilled from registers, is
/// nobody's value any more.
///
/// Call it after the last function that saw a secret, and outside its frame.
#[inline(never)]
pub(crate) fn wipe_dead_frames() {
    let zeros = [0_u8; DEAD];
    optimization_barrier(&zeros);
}
