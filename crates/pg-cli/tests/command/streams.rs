//! Readers that close early, full disks, and standard streams that are no terminals.

use crate::command::pg::words;
#[cfg(target_os = "linux")]
use crate::command::sandbox::{CARD, Running};

/// A pipe whose reader is gone already.
pub(crate) fn closed_pipe() -> std::io::PipeWriter {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer
}

#[test]
fn a_closed_pipe_is_no_failure() {
    for command in
        ["methods", "methods --json", "completions bash", "demo", "call token/lookup cardKey=a --dry-run", "--help"]
    {
        let ended = words(command).run_into(closed_pipe()).ends(0);
        assert!(!ended.err.contains("Broken pipe"), "{command}: {}", ended.err);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_write_error_of_the_results_is_reported() {
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    words("methods").run_into(full()).ends(4).says("cannot write the result to standard output");
    for command in ["--version", "--help", "call --help"] {
        words(command).run_into(full()).ends(4).says("cannot write the result to standard output");
    }
    words("demo --json").run_into(full()).ends(4).says("cannot write the result to standard output");
}

/// The disk is full, and the payment is made: running the command again would charge twice.
#[test]
#[cfg(target_os = "linux")]
fn a_reply_that_cannot_be_printed_hides_no_payment() {
    let sandbox = Running::start(&[]);
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    for (number, unique, verdict) in [
        ("4000000000001000", "uniqueMerchantReference=full-1", "approved: status 600"),
        ("4000000000002008", "uniqueMerchantReference=full-2", "declined: status "),
        ("4000000000001000", "", "approved: status 600"),
    ] {
        let pay = words(&format!("call transaction/auth cardNumber={number} {CARD} {unique}"));
        let ended = sandbox.with_account(pay, "main").run_into(full()).ends(4);
        let ended = ended.says(verdict).says("transactionKey ").says("the reply could not be printed: cannot write");
        let ended = ended.says("do not send the request again");
        if !unique.is_empty() {
            ended.says(&format!("\n  pg call transaction/lookup {unique}"));
        }
    }
    // A reader that has gone saw no reply either.
    let pay =
        words(&format!("call transaction/auth cardNumber=4000000000001000 {CARD} uniqueMerchantReference=closed-1"));
    let ended = sandbox.with_account(pay, "main").run_into(closed_pipe()).ends(4);
    ended.says("approved: status 600").says("transactionKey ").says("do not send the request again");
    let lookup = || sandbox.with_account(words("call transaction/lookup uniqueMerchantReference=full-1"), "main");
    lookup().run_into(closed_pipe()).ends(0);
    let ended = lookup().run_into(full()).ends(4).says("cannot write the result");
    assert!(!ended.err.contains("do not send"), "{}", ended.err);
}

#[test]
fn only_terminals_get_colour() {
    for command in ["methods", "methods transaction/auth", "demo", "call token/lookup cardKey=a --dry-run"] {
        let ended = words(command).env("TERM", "xterm-256color").run().ends(0);
        assert!(!ended.out.contains('\u{1b}') && !ended.err.contains('\u{1b}'), "{command}");
    }
}
