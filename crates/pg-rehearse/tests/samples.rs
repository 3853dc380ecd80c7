//! Sample integrations, and how they are rehearsed.

use std::{
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
};

use pg_rehearse::{Options, Plan, Report, RunError, Verdict};

pub(crate) fn crate_folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Runs `work` for each row on several threads, since the rows are independent and mostly wait for timeouts.
pub(crate) fn each<T: Sync>(rows: &[T], at_a_time: usize, work: impl Fn(usize, &T) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..at_a_time {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(row) = rows.get(at) else { break };
                    work(at, row);
                }
            });
        }
    });
}

/// Runs a plan on its own runtime.
pub(crate) fn rehearse(plan: &str, folder: &Path, options: &Options) -> Result<Report, RunError> {
    let plan = Plan::parse(plan, folder).expect("it works");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("it works");
    runtime.block_on(pg_rehearse::run(plan, options, |_| {}, std::future::pending()))
}

/// The numbers of the drills with this verdict.
pub(crate) fn with(report: &Report, verdict: Verdict) -> Vec<&'static str> {
    report.outcomes.iter().filter(|one| one.verdict == verdict).map(|one| one.drill.id).collect()
}

/// Options for these drills alone.
pub(crate) fn only(drills: &[&str]) -> Options {
    let mut options = Options::default();
    options.only = drills.iter().map(ToString::to_string).collect();
    options
}
