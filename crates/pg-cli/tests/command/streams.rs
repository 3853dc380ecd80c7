//! Readers that close early, full disks, and standard streams that are no terminals.

use crate::command::pg::words;

/// A pipe whose reader is gone already.
fn closed_pipe() -> std::io::PipeWriter {
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

#[test]
fn only_terminals_get_colour() {
    for command in ["methods", "methods transaction/auth", "demo", "call token/lookup cardKey=a --dry-run"] {
        let ended = words(command).env("TERM", "xterm-256color").run().ends(0);
        assert!(!ended.out.contains('\u{1b}') && !ended.err.contains('\u{1b}'), "{command}");
    }
}
