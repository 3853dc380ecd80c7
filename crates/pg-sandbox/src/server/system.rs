//! The real clock and the system's randomness, which the core takes as arguments.

use std::{
    io,
    time::{SystemTime, UNIX_EPOCH},
};

use zeroize::Zeroizing;

use crate::Timestamp;

/// Returns the real time.
pub(super) fn now() -> Timestamp {
    #[expect(clippy::disallowed_methods, reason = "the one place where real time comes in")]
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH);
    // A clock before 1970 counts as 1970.
    let millis = since_epoch.map_or(0, |duration| duration.as_millis());
    Timestamp::from_millis(i64::try_from(millis).unwrap_or(i64::MAX))
}

/// Returns an unpredictable seed for [`crate::Sandbox::open`]: on the heap, where a move copies no secret.
///
/// # Errors
/// If the operating system provides no random bytes.
pub(crate) fn random_seed() -> io::Result<Box<Zeroizing<[u8; 32]>>> {
    let mut seed = Box::new(Zeroizing::new([0; 32]));
    #[expect(clippy::disallowed_methods, reason = "the one place where real randomness comes in")]
    getrandom::fill(&mut **seed).map_err(io::Error::other)?;
    Ok(seed)
}
