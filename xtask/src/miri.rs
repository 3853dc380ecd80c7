//! `cargo xtask miri`: the interpreter that sees undefined behaviour, over what it can run, for a limited time.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::held::Held;
use crate::nightly;
use crate::steps::{self, Run, Step};

/// The tests for Miri. It does not support processor-specific instructions, so the ciphers use portable code; property
/// tests run few cases, because Miri is some hundred times slower.
const RUNS: [(&str, &[&str]); 3] =
    [("pg-crypto", &["--lib"]), ("pg-model", &["--lib", "--test", "tolerance"]), ("pg-proto", &["--lib"])];

const FLAGS: &str = "--cfg aes_backend=\"soft\" --cfg sha2_backend=\"soft\"";

/// Tests that take from minutes to hours here, since they only repeat what shorter tests execute: a diagnosis hashes hundreds of texts, the
/// others loop over thousands of values or blocks.
const LONG: [&str; 6] = [
    "explain::tests::",
    "encrypting_needs_a_good_iv_and_a_bounded_text",
    "item_numbers_come_in_the_order_of_their_texts",
    "any_text_is_as_long_as_before_and_shows_no_number",
    "many_unknown_fields_are_read_in_time",
    "more_records_than_the_length_is_good_for_are_refused",
];

/// Tests that play a machine through, which takes half a minute each here: they sign and read as tests that remain do, and what they add is
/// the machine's own safe code. Some tests of each machine remain.
const PLAYS: [&str; 25] = [
    "account_update::tests::clocks::",
    "account_update::tests::crashes::",
    "account_update::tests::doubts::",
    "account_update::tests::ends::",
    "account_update::tests::events::",
    "account_update::tests::intake::each_key",
    "account_update::tests::intake::never_more",
    "account_update::tests::intake::unexpected",
    "charge::model_tests::",
    "charge::tests::a",
    "charge::tests::documented::",
    "charge::tests::every_run_ends",
    "charge::tests::only_requests",
    "charge::tests::resuming",
    "checkout::tests::clocks::",
    "checkout::tests::closing::",
    "checkout::tests::waiting::",
    "the_claim_always_matches_the_ledger",
    "the_service_never_sees_more_than_it_allows_in_any_minute",
    "three_d_secure::tests::authorising::",
    "three_d_secure::tests::challenged::",
    "three_d_secure::tests::checking::",
    "three_d_secure::tests::clocks::",
    "three_d_secure::tests::initiating::",
    "three_d_secure::tests::looking_up::",
];

/// What `timeout` answers when the time is over.
const TIME_IS_OVER: i32 = 124;

/// Runs every package, or the named one, each within the time limit; reports those without time left.
pub(crate) fn run(root: &Path, package: Option<&str>, minutes: f64) -> Result<()> {
    let chosen = chosen(package)?;
    nightly::install(&["miri", "rust-src"])?;
    let steps = chosen
        .into_iter()
        .map(|(name, targets)| Step::new(format!("{name} under Miri"), move || test(root, name, targets, minutes)));
    let mut run = Run::new(false);
    run.one_by_one(steps.collect());
    run.end()
}

/// The package, or all.
fn chosen(package: Option<&str>) -> Result<Vec<(&'static str, &'static [&'static str])>> {
    let chosen: Vec<_> = RUNS.into_iter().filter(|(name, _)| package.is_none_or(|wanted| wanted == *name)).collect();
    if chosen.is_empty() {
        let names = RUNS.map(|(name, _)| name).join(", ");
        bail!("nothing of {} runs under Miri; only {names}", package.unwrap_or_default());
    }
    Ok(chosen)
}

fn test(root: &Path, package: &str, targets: &[&str], minutes: f64) -> Result<steps::Outcome> {
    steps::execute(miri(root, package, targets).arg("--no-run"))?;
    let mut miri = miri(root, package, targets);
    miri.args(["--", "--test-threads", "1", "-Z", "unstable-options", "--report-time"]);
    miri.args(LONG.iter().chain(&PLAYS).flat_map(|name| ["--skip", name]));
    let mut limited = Held::spawn(within(minutes, &miri).stdout(Stdio::piped())).context("timeout(1) cannot be run")?;
    let mut passed = 0;
    for line in BufReader::new(limited.stdout().context("no output")?).lines() {
        let line = line?;
        passed += usize::from(has_passed(&line));
        println!("{line}");
    }
    match limited.wait()?.code() {
        Some(0) => {
            println!("{package}: {passed} tests passed");
            Ok(steps::Outcome::Done)
        }
        Some(TIME_IS_OVER) => Ok(steps::Outcome::LeftOut(format!(
            "what comes after {passed} tests: {minutes} minutes are over, and those have shown nothing"
        ))),
        code => bail!("Miri ended with {code:?} after {passed} tests"),
    }
}

fn miri(root: &Path, package: &str, targets: &[&str]) -> Command {
    let mut command = nightly::cargo(root);
    command.args(["miri", "test", "-p", package]).args(targets).args(["--target-dir", "target/miri"]);
    command.env("RUSTFLAGS", FLAGS).env("PROPTEST_CASES", "4");
    // Tests read their vectors from files.
    command.env("MIRIFLAGS", "-Zmiri-disable-isolation");
    command
}

/// The same command, ended with all its processes when the time is over.
fn within(minutes: f64, command: &Command) -> Command {
    let mut limited = Command::new("timeout");
    limited.arg(format!("{:.3}s", minutes * 60.0)).arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => limited.env(name, value),
            None => limited.env_remove(name),
        };
    }
    if let Some(folder) = command.get_current_dir() {
        limited.current_dir(folder);
    }
    limited
}

/// Whether a line reports a passed test, with or without its time.
fn has_passed(line: &str) -> bool {
    line.starts_with("test ") && line.split(" ... ").nth(1).is_some_and(|word| word.split(' ').next() == Some("ok"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_that_does_not_run_under_miri_is_refused() {
        assert_eq!(chosen(None).unwrap().len(), RUNS.len());
        assert_eq!(chosen(Some("pg-model")).unwrap().len(), 1);
        let told = chosen(Some("pg-modell")).unwrap_err().to_string();
        assert_eq!(told, "nothing of pg-modell runs under Miri; only pg-crypto, pg-model, pg-proto");
    }

    #[test]
    fn tests_that_have_passed_are_counted() {
        let lines =
            "running 3 tests\ntest a::b ... ok <0.1s>\ntest a::c ... ok\ntest a::d ... FAILED\ntest result: ok. 2";
        assert_eq!(lines.lines().filter(|line| has_passed(line)).count(), 2);
    }

    #[test]
    fn a_command_that_takes_too_long_is_ended() {
        let mut sleeps = Command::new("sh");
        sleeps.args(["-c", "sleep 600"]).env("A", "1").env_remove("B").current_dir("/");
        let limited = within(0.000_01, &sleeps).status().unwrap();
        assert_eq!(limited.code(), Some(TIME_IS_OVER));
    }
}
