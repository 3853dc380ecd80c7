//! Tests that lack something on this machine.

use std::{
    collections::BTreeSet,
    env,
    ffi::OsString,
    fs::OpenOptions,
    io::{self, Write as _},
    sync::{Mutex, PoisonError},
};

/// The variable with the file in which `cargo xtask test` collects what the tests of a program left out.
const COLLECTED: &str = "PG_LEFT_OUT";

/// Reports that the test skips what it cannot do on this machine, and why. Each test that returns early calls it, so that the summary of
/// `cargo xtask test` lists it.
///
/// # Panics
/// On CI, where no test may be skipped.
#[track_caller]
pub fn left_out(why: &str) {
    let on_ci = env::var("CI").is_ok_and(|value| value == "true" || value == "1");
    report(why, on_ci, env::var_os(COLLECTED));
}

#[track_caller]
fn report(why: &str, on_ci: bool, collected: Option<OsString>) {
    assert!(!on_ci, "nothing may be left out on CI, but {why}");
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    // Many tests lack the same. The test harness shows no output of the print macros for tests that pass.
    if SAID.lock().unwrap_or_else(PoisonError::into_inner).insert(why.to_owned()) {
        let _ = writeln!(io::stderr(), "left out: {why}");
    }
    if let Some(file) = collected {
        let line = format!("{}\n", why.replace('\n', " "));
        // One write, because tests of several threads and processes report.
        let written = OpenOptions::new()
            .append(true)
            .create(true)
            .open(&file)
            .and_then(|mut file| file.write_all(line.as_bytes()));
        assert!(written.is_ok(), "{COLLECTED} names {}, which cannot be written: {written:?}", file.display());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "nothing may be left out on CI, but there is no disk")]
    fn nothing_is_left_out_on_ci() {
        report("there is no disk", true, None);
    }

    #[test]
    fn reasons_are_collected_one_a_line() {
        let file = env::temp_dir().join(format!("pg-left-out-{}", std::process::id()));
        report("there is no disk", false, Some(file.clone().into()));
        report("there is\nno network", false, Some(file.clone().into()));
        let collected = std::fs::read_to_string(&file);
        std::fs::remove_file(&file).expect("it was written");
        assert_eq!(collected.expect("it was written"), "there is no disk\nthere is no network\n");
    }
}
