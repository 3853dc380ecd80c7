//! Protection of this process's memory, which contains keys and card numbers.

/// Disables core dumps, and prevents other processes of the same user from reading memory, environment and open files.
///
/// The limit alone is not enough: a system that pipes core dumps into a program ignores it. A debug build stays
/// readable, since debuggers attach to it in the same way.
#[cfg(unix)]
pub(crate) fn keep_to_itself() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let maximum = getrlimit(Resource::Core).maximum;
    let kept = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum }).and_then(|()| hide());
    if let Err(error) = kept {
        crate::output::warn(&format!("a crash of this program may write its memory to disk: {error}"));
    }
}

#[cfg(all(unix, target_os = "linux"))]
fn hide() -> rustix::io::Result<()> {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};

    if cfg!(debug_assertions) { Ok(()) } else { set_dumpable_behavior(DumpableBehavior::NotDumpable) }
}

#[cfg(all(unix, not(target_os = "linux")))]
fn hide() -> rustix::io::Result<()> {
    Ok(())
}

/// Other systems have no core dumps that can be disabled.
#[cfg(not(unix))]
pub(crate) fn keep_to_itself() {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use rustix::process::{DumpableBehavior, Resource, dumpable_behavior, getrlimit};

    #[test]
    fn there_are_no_core_dumps() {
        super::keep_to_itself();
        assert_eq!(getrlimit(Resource::Core).current, Some(0));
        assert_eq!(
            dumpable_behavior(),
            Ok(if cfg!(debug_assertions) { DumpableBehavior::Dumpable } else { DumpableBehavior::NotDumpable })
        );
    }
}
