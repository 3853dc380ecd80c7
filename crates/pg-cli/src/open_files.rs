//! The limit on open files of this process. Each connection is an open file.

/// More than any server of this program needs.
#[cfg(unix)]
const ENOUGH: u64 = 8_192;

/// Raises the limit to the maximum for this process. A server with a lower limit accepts fewer connections.
#[cfg(unix)]
pub(crate) fn allow_many() {
    use rustix::process::{Resource, getrlimit, setrlimit};

    let mut limit = getrlimit(Resource::Nofile);
    let wanted = limit.maximum.map_or(ENOUGH, |maximum| maximum.min(ENOUGH));
    if limit.current.is_some_and(|current| current < wanted) {
        limit.current = Some(wanted);
        // If raising the limit is forbidden, the old limit remains.
        let _ = setrlimit(Resource::Nofile, limit);
    }
}

/// Other systems have no such limit.
#[cfg(not(unix))]
pub(crate) fn allow_many() {}

#[cfg(all(test, unix))]
mod tests {
    use rustix::process::{Resource, getrlimit};

    #[test]
    fn as_many_as_the_system_allows() {
        super::allow_many();
        let limit = getrlimit(Resource::Nofile);
        let wanted = limit.maximum.map_or(super::ENOUGH, |maximum| maximum.min(super::ENOUGH));
        assert!(limit.current.is_none_or(|current| current >= wanted), "{limit:?}");
    }
}
