//! Feeds SHA-512 with many short pieces without building their concatenation.

use sha2::{Digest, Sha512};
use zeroize::optimization_barrier;

use crate::stack::{HASHING, wipe_dead_frames};

/// Bytes collected before they are hashed: eight blocks.
const GATHERED: usize = 1024;

/// Block size of SHA-512.
const HASH_BLOCK: usize = 128;

/// A hasher behind a block on the stack. Whole blocks are hashed at once, which is faster.
///
/// It contains secrets, and is wiped on drop. A move leaves an unwiped copy behind: move it only while it is empty.
pub(crate) struct Feed {
    hasher: Sha512,
    gathered: [u8; GATHERED],
    used: usize,
    /// Whether the block was completely filled since it was last wiped.
    overflown: bool,
}

impl Feed {
    #[inline]
    pub(crate) fn new() -> Self {
        Self { hasher: Sha512::new(), gathered: [0; GATHERED], used: 0, overflown: false }
    }

    /// Adds one piece of any length.
    #[inline]
    pub(crate) fn put(&mut self, piece: &[u8]) {
        let end = self.used + piece.len();
        match self.gathered.get_mut(self.used..end) {
            Some(room) => {
                copy_short(room, piece);
                self.used = end;
            }
            None => self.overflow(piece),
        }
    }

    /// Returns the digest of all pieces, and empties it. No data remains on the stack below the caller.
    #[inline]
    pub(crate) fn finish(&mut self) -> [u8; 64] {
        let digest = self.digest();
        wipe_dead_frames::<HASHING>();
        digest
    }

    /// Has its own stack frame for the copies of the hash, so that the caller can overwrite it afterwards.
    #[inline(never)]
    fn digest(&mut self) -> [u8; 64] {
        let mut digest = [0; 64];
        self.hasher.update(&self.gathered[..self.used]);
        self.hasher.finalize_into_reset((&mut digest).into());
        self.wipe();
        digest
    }

    /// Overwrites the used part of the block.
    #[inline]
    fn wipe(&mut self) {
        let written = if self.overflown { GATHERED } else { self.used };
        self.gathered[..written].fill(0);
        optimization_barrier(&self.gathered);
        (self.used, self.overflown) = (0, false);
    }

    /// Fills and hashes the block, hashes whole blocks directly from the piece, and keeps the rest.
    #[inline(never)]
    fn overflow(&mut self, piece: &[u8]) {
        let (head, rest) = piece.split_at(GATHERED - self.used);
        self.gathered[self.used..].copy_from_slice(head);
        self.overflown = true;
        self.hasher.update(&self.gathered[..]);
        let (whole, tail) = rest.split_at(rest.len() / HASH_BLOCK * HASH_BLOCK);
        self.hasher.update(whole);
        self.gathered[..tail.len()].copy_from_slice(tail);
        self.used = tail.len();
    }
}

/// Copies a piece into a slice of its length. Most pieces are so short that a call of `memcpy` would take longer than
/// the copy.
#[inline]
fn copy_short(room: &mut [u8], piece: &[u8]) {
    if piece.len() > 32 {
        room.copy_from_slice(piece);
    } else if !(ends::<16>(room, piece) || ends::<8>(room, piece) || ends::<4>(room, piece)) {
        for (to, from) in room.iter_mut().zip(piece) {
            *to = *from;
        }
    }
}

/// Copies the first and the last `N` bytes, if together they cover the whole piece.
#[inline]
fn ends<const N: usize>(room: &mut [u8], piece: &[u8]) -> bool {
    if piece.len() > 2 * N {
        return false;
    }
    let (Some(head), Some(tail)) = (piece.first_chunk::<N>(), piece.last_chunk::<N>()) else {
        return false;
    };
    if let Some(to) = room.first_chunk_mut() {
        *to = *head;
    }
    if let Some(to) = room.last_chunk_mut() {
        *to = *tail;
    }
    true
}

impl Drop for Feed {
    #[inline]
    fn drop(&mut self) {
        self.wipe();
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use proptest::prelude::*;
    use sha2::{Digest, Sha512};

    use super::{Feed, GATHERED, copy_short};

    fn fed(pieces: &[Vec<u8>]) -> [u8; 64] {
        let mut feed = Feed::new();
        pieces.iter().for_each(|piece| feed.put(piece));
        feed.finish()
    }

    #[test]
    fn the_feed_is_empty_once_it_is_finished() {
        let mut feed = Feed::new();
        for piece in [&b"canary"[..], &[b'c'; 3 * GATHERED]] {
            feed.put(piece);
            assert_eq!(feed.finish(), <[u8; 64]>::from(Sha512::digest(piece)));
            assert!(feed.gathered.iter().all(|byte| *byte == 0));
        }
        // It overflows, and leaves a short rest.
        feed.put(&[b'c'; GATHERED]);
        feed.put(b"canary");
        feed.wipe();
        assert!(feed.gathered.iter().all(|byte| *byte == 0));
    }

    #[test]
    fn the_digest_of_no_pieces_is_that_of_the_empty_text() {
        assert_eq!(fed(&[]), <[u8; 64]>::from(Sha512::digest(b"")));
    }

    #[test]
    fn every_short_length() {
        for length in 0..40u8 {
            let piece: Vec<u8> = (0..length).collect();
            let mut room = alloc::vec![0xff; piece.len()];
            copy_short(&mut room, &piece);
            assert_eq!(room, piece);
        }
    }

    #[test]
    fn pieces_around_the_size_of_the_block() {
        let step = if cfg!(miri) { 6 } else { 1 };
        for first in [0, 1, 127, 128, GATHERED - 1, GATHERED, GATHERED + 1].into_iter().step_by(step) {
            for second in [0, 1, 129, GATHERED, 3 * GATHERED + 5].into_iter().step_by(step) {
                let pieces = [alloc::vec![b'a'; first], alloc::vec![b'b'; second]];
                let digest = <[u8; 64]>::from(Sha512::digest(pieces.concat()));
                assert_eq!(fed(&pieces), digest, "{first} + {second}");
            }
        }
    }

    proptest! {
        #[test]
        fn pieces_hash_as_their_concatenation(
            pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..if cfg!(miri) { 200 } else { 700 }), 0..if cfg!(miri) { 4 } else { 20 })
        ) {
            prop_assert_eq!(fed(&pieces), <[u8; 64]>::from(Sha512::digest(pieces.concat())));
        }
    }
}
