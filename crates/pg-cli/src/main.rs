//! The `pg` command: a reference, calls, signing and decoding, updates of millions of stored cards, a receiver of
//! callbacks, a sandbox, and a tour of the sandbox.
//!
//! It is a command line for the other crates, with one file per command in `command/`. It contains no rules of the
//! service: these are in the tables and in the crates below.
//!
//! Results go to stdout, diagnostics to stderr; with `--json` stdout is machine-readable. Exit codes: 0 done, 1 refused
//! or declined, 2 misuse, 3 not reachable, 4 outcome unknown. No command shows a card number, a CV2, a key or a
//! password, with two exceptions: `--curl` prints real credentials, and the sandbox's published accounts are shown.
//!
//! ```sh
//! pg demo
//! pg call token/lookup cardKey=4F2C-91 --dry-run
//! ```

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod account;
mod argument;
#[cfg(test)]
mod cli_reference;
mod command;
mod control;
#[cfg(test)]
mod deployment;
mod duration;
mod failure;
mod indented;
mod listen_address;
mod memory;
mod misuse;
mod open_files;
mod output;
mod redactor;
mod reference;
mod refusal;
mod shell;
mod suggestion;
mod table;
mod transport;

use std::process::ExitCode;

use clap::Parser;
use mimalloc::MiMalloc;
use zeroizing_alloc::ZeroAlloc;

/// Client for one card payment service: reference, calls, signatures, session data, and a sandbox of the service.
///
/// Results go to stdout, diagnostics to stderr.
#[derive(Parser)]
#[command(name = "pg", version, max_term_width = 100, after_help = AFTER_HELP)]
struct Arguments {
    /// Prints JSON for programs, errors included
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: command::Command,
}

const AFTER_HELP: &str = "\
Exit codes: 0 done, 1 refused or declined, 2 misuse, 3 not reachable, 4 outcome unknown.

With --json, stdout is one JSON document; after a failure it has the members exit and error, except that what `pg verify`, \
`pg trigger` and `pg rehearse` find has members of their own (valid, ok, exitCode), and that `pg completions` prints its script. Commands that run until they are stopped \
print one document a line. Results that `pg update-cards` writes to stdout are an array or a table, which a failure \
may leave incomplete.

Account details come from flags, then the environment (PG_BASE_URL, PG_API_KEY, …), then a profile file; \
`pg call --help` lists them.

Examples:
  pg demo                                     tour the whole service over loopback HTTP
  pg methods transaction/authSessionKey       the parameters of a method
  pg call token/lookup cardKey=4F2C-91 --dry-run
  pg sign --with-credentials cardKey=4F2C-91  128 hexadecimal digits
  pg update-cards cards.txt                   new card keys for stored cards
  pg listen --forward-to http://localhost:8000/callbacks
  pg trigger lost-reply --standalone          a complete scenario, step by step
  pg sandbox faults add transaction/auth drop-reply
  pg config show                              which account applies, and where it comes from
  pg survey --plan                            the requests to a staging environment
  pg rehearse init --language python          test your own integration against lost replies";

/// Wipes memory before it is freed, including memory of hyper, serde, clap and other crates that handle secrets. The
/// allocator below is made for threads: one thread of the sandbox reads requests, and another frees what the first has
/// allocated.
#[global_allocator]
static ALLOCATOR: ZeroAlloc<MiMalloc> = ZeroAlloc(MiMalloc);

fn main() -> ExitCode {
    memory::keep_to_itself();
    let arguments = match Arguments::try_parse_from(command::rehearse::with_json_file(std::env::args_os())) {
        Ok(arguments) => arguments,
        Err(error) => return misuse::not_understood(&error),
    };
    let json = arguments.json;
    argument::warn_of_misplaced(std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()));
    match command::run(arguments.command, json) {
        Ok(exit) => exit.into(),
        Err(failure) => output::failure(&failure, json).into(),
    }
}
