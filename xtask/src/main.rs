//! The checks and the code generator of this workspace.
//!
//! `cargo xtask --help` lists the commands. Nothing here depends on the crates it checks or
//! generates, so a broken crate never prevents the command that repairs it.

mod api;
mod attack;
mod bench;
mod codegen;
mod debian;
mod dist;
mod fuzz;
mod grouped;
mod held;
mod miri;
mod nightly;
mod oldest;
mod package;
mod simulate;
mod steps;
mod targets;
mod test;
mod tidy;
mod wasm;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(bin_name = "cargo xtask", about = "The checks and the code generator of this workspace")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Generates request types, validators, reference pages and OpenAPI from the tables
    #[command(
        long_about = "Reads crates/pg-model/tables/*.toml and writes the request types and validators of pg-model, \
                      docs/reference/*.md and docs/reference/openapi.yaml. Run it after changing a table and commit both. If there \
                      are mistakes in the tables, it reports all of them and writes nothing."
    )]
    Codegen {
        /// Writes nothing; fails if a generated file is missing, outdated or no longer generated
        #[arg(long)]
        check: bool,
        /// Runs again whenever a table changes, and shows the change, until it is stopped
        #[arg(long, conflicts_with = "check")]
        watch: bool,
    },
    /// Shows everything that the tables state about a method, and the files that implement it
    Method {
        /// Such as `transaction/authCardKey`, `authCardKey` or `AuthCardKey`; without it, all methods are listed
        name: Option<String>,
    },
    /// Writes the public items of the library crates to docs/reference/api
    #[command(
        long_about = "Reads the sources of the library crates and writes their public items to docs/reference/api/*.txt, so that a \
                      change of the public API is visible in review. Run it after such a change and commit both; a test \
                      compares them. With --since it writes nothing, and says of each change since a release whether it \
                      is breaking or additive."
    )]
    Api {
        /// Writes nothing; fails if a listing is outdated, or with --since if a change is breaking
        #[arg(long)]
        check: bool,
        /// Compares with a release: a tag or commit, or a folder or file of listings
        #[arg(long, value_name = "REF|FILE")]
        since: Option<String>,
    },
    /// Checks what the compiler cannot: dependency direction, pure cores, one MSRV, file sizes
    #[command(
        long_about = "Checks what the compiler cannot: which of our crates may depend on which, that the sans-IO cores \
                      depend on no runtime, clock or random number generator, that the MSRV is stated once, that every crate inherits \
                      the workspace lints, that no hand-written source file is over 500 lines, that generated files \
                      say so, and that no tracked file holds a path of a particular machine. Each violation is one line."
    )]
    Tidy,
    /// Runs every test: unit, doc and integration tests, examples, bare-metal and wasm builds
    #[command(
        long_about = "Runs every test: cargo test of the whole workspace, every example, ten thousand worlds of the \
                      simulation, the builds for \
                      wasm32-unknown-unknown and thumbv7em-none-eabihf, the decoder for JavaScript in Node, in bundlers, in \
                      other hosts and by TypeScript, docs/reference/openapi.yaml and its examples by an OpenAPI validator and a mock server, on CI also the archive \
                      of the command in an empty root. Missing rustup \
                      targets, the validator, the mock server, the bundlers and, for root on Debian, Chromium and Node are installed; steps \
                      that lack a tool are skipped and listed at the end. With CI=true no step may be skipped."
    )]
    Test {
        /// Runs only the steps with these words in their titles
        #[arg(long, value_name = "WORDS", conflicts_with = "quick")]
        only: Option<String>,
        /// Runs only the tests of the crates changed since `main`, and a few of their dependents; lists what it skips
        #[arg(long)]
        quick: bool,
    },
    /// Builds the decoder for JavaScript as a package in target/pg-wasm/
    #[command(
        long_about = "Compiles pg-wasm for size, writes target/pg-wasm/ (an ES module with types, pg_wasm.wasm, \
                      package.json, README.md), prints every file's size raw and gzipped, and fails if the compiled \
                      module exceeds its budget. Installs the rustup target if it is missing; needs no other tool."
    )]
    Wasm,
    /// Packs the command as a static archive in target/dist/, and tries it in an empty root
    #[command(
        long_about = "Builds pg for Linux with musl, linked statically, and packs it with completions, manual pages, the licences of \
                      everything that is linked into it and a list of that (CycloneDX) as target/dist/pg-VERSION-TARGET.tar.gz, \
                      with SHA256SUMS beside it. The same sources and tools give the same archive; if the program holds a path of this machine, it \
                      fails. Then it unpacks the archive and runs the program with an empty folder as its root. Installs the rustup target and, for root on Debian, musl-tools."
    )]
    Dist {
        /// Builds without optimisation, as a quick test
        #[arg(long)]
        quick: bool,
    },
    /// Packs the published crates as for a registry, checks them, and lists files and sizes
    #[command(
        long_about = "Packs every published crate into target/package/ and prints a table of them: oldest compiler, files, bytes packed. \
                      Fails if one lacks what a registry or its readers need: description, readme, keywords, categories, licences, \
                      settings for docs.rs, documentation of each feature; or if a crate below crates/ is not \
                      published and its manifest states no reason. Publishes nothing."
    )]
    Package {
        /// Also builds each crate from its package alone
        #[arg(long)]
        verify: bool,
    },
    /// Looks for inputs that break a property of a reader, the machines, the receiver or the sandbox
    #[command(
        long_about = "Builds the targets of tests/fuzz for libFuzzer, runs them, and prints executions, executions a \
                      second and coverage as a table. A crash is minimised and kept in tests/fuzz/regressions, where an ordinary \
                      test replays it. Installs the nightly compiler and cargo-fuzz if they are missing; needs a C++ compiler."
    )]
    Fuzz {
        /// Minutes for each target
        #[arg(long, value_name = "N", value_parser = minutes, default_value_t = 1.0)]
        minutes: f64,
        /// Targets that run at the same time
        #[arg(long, value_name = "N", default_value_t = 1)]
        jobs: usize,
        /// Runs only this target; repeatable
        #[arg(long, value_name = "T")]
        target: Vec<String>,
        /// Adds found inputs to the corpus of the repository
        #[arg(long)]
        keep: bool,
        /// Repeats all targets until their executions reach this sum, which target/fuzz/counted.txt holds; an interrupted run continues
        #[arg(long, value_name = "N")]
        executions: Option<u64>,
        /// Seconds allowed for one input; raise it on a busy machine
        #[arg(long, value_name = "N", default_value_t = 20)]
        timeout: u64,
    },
    /// Runs the cores' tests under Miri, which detects undefined behaviour
    #[command(
        long_about = "Interprets the unit tests of pg-crypto and pg-proto and the tests of pg-model's readers, with the portable \
                      implementations of the ciphers and few random cases. Installs the nightly compiler with its components miri \
                      and rust-src if they are missing. Lists at the end what it had no time for."
    )]
    Miri {
        /// Runs only the tests of this package
        #[arg(short, long, value_name = "CRATE")]
        package: Option<String>,
        /// Minutes for each package
        #[arg(long, value_name = "N", value_parser = minutes, default_value_t = 20.0)]
        minutes: f64,
    },
    /// Runs the simulation with many seeds: machines against the sandbox, on virtual time
    #[command(
        long_about = "Runs the simulation, built with optimisation, with many seeds: merchants' machines against the sandbox's \
                      core, with crashes, lost, late and doubled requests, and checks after every step. For a failing seed it \
                      prints the number, the violated check and the shortest log found that shows it."
    )]
    Simulate {
        /// The number of seeds, 1000 by default
        #[arg(long, value_name = "N")]
        seeds: Option<u64>,
        /// The first seed; without --seeds, runs this seed alone and prints its whole log
        #[arg(long, value_name = "S")]
        seed: Option<u64>,
        /// Prints the table of planted bugs instead, with the check that finds each
        #[arg(long, conflicts_with_all = ["seeds", "seed"])]
        planted: bool,
        /// Runs several workers that share a database, instead of one process
        #[arg(long)]
        fleets: bool,
    },
    /// Attacks the sandbox and the receiver over the network, and prints the results as a table
    #[command(
        long_about = "Builds the command and attacks it over raw sockets: thousands of connections that are silent, slow or never read, web pages, \
                      proxies, ambiguous requests, markup, terminal escape sequences, symbolic links. Prints a \
                      table in Markdown: the attack, its effect before the fix, its effect now, the bar, and whether the bar \
                      is kept. Fails if one is missed. The figures need an idle machine."
    )]
    Attack {
        /// Runs only the attacks with these words in their description
        #[arg(long, value_name = "WORDS")]
        only: Option<String>,
        /// The number of hostile connections, 5000 by default
        #[arg(long, value_name = "N")]
        connections: Option<u32>,
        /// Attacks the release build, which takes longer to build
        #[arg(long)]
        release: bool,
    },
    /// Runs the benchmarks and writes docs/internals/performance.md from their output
    #[command(
        long_about = "Runs every [[bench]] target of the workspace, collects the ratios to their floors, prints them \
                      against their budgets and writes docs/internals/performance.md. A benchmark reports by printing lines of \
                      tab-separated fields: `ratio NAME VALUE BUDGET MOONSHOT` (a budget looks like <=1.30 or >=0.90, \
                      or - for none), `cost READER INPUTS WORST BYTES MS_A_MIB GROWTH BUDGET MOONSHOT`, `chart NAME X Y \
                      EXPECTED_EXPONENT` with `point NAME SIZE COST` after it, and `note TEXT`. Charts are drawn to \
                      docs/internals/growth. A missed budget is reported, but only a benchmark that cannot run is an error."
    )]
    Bench {
        /// Runs few rounds (sets PG_BENCH_QUICK=1 for the benchmarks); prints, but writes no file
        #[arg(long)]
        quick: bool,
        /// Runs only this package's benchmarks; repeatable; prints, but writes no file
        #[arg(short, long, value_name = "CRATE")]
        package: Vec<String>,
        /// Continues an interrupted run
        #[arg(long, conflicts_with_all = ["quick", "package"])]
        resume: bool,
        /// Builds crates from an empty target folder instead, and writes the costs into docs/internals/performance.md
        #[arg(long, conflicts_with_all = ["quick", "package", "resume"])]
        build: bool,
        /// Measures the cost of hostile input instead, and writes that section of docs/internals/performance.md
        #[arg(long, conflicts_with_all = ["quick", "package", "resume", "build"])]
        hostile: bool,
    },
}

/// A time that passes: 0 is no limit for the programs that get it.
fn minutes(text: &str) -> Result<f64, String> {
    let minutes = text.parse().ok().filter(|minutes: &f64| minutes.is_finite() && *minutes > 0.0);
    minutes.ok_or_else(|| "must be a number above 0".to_owned())
}

fn main() -> ExitCode {
    match run(Arguments::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> anyhow::Result<()> {
    let root = workspace::root()?;
    match command {
        Command::Codegen { watch: true, .. } => codegen::watch::run(&root),
        Command::Codegen { check, .. } => codegen::run(&root, check),
        Command::Method { name } => codegen::method::run(&root, name.as_deref()),
        Command::Api { check, since: Some(release) } => api::since(&root, &release, check),
        Command::Api { check, .. } => api::run(&root, check),
        Command::Tidy => tidy::run(&root),
        Command::Test { only, quick } => test::run(&root, only.as_deref(), quick),
        Command::Dist { quick } => dist::run(&root, if quick { &dist::Build::Quick } else { &dist::Build::Optimised }),
        Command::Package { verify } => package::run(&root, verify).map(drop),
        Command::Wasm => wasm::run(&root).map(drop),
        Command::Fuzz { minutes, jobs, target, keep, executions, timeout } => {
            fuzz::run(&root, &fuzz::Options { minutes, jobs, targets: target, keep, executions, timeout })
        }
        Command::Miri { package, minutes } => miri::run(&root, package.as_deref(), minutes),
        Command::Simulate { seeds, seed, planted, fleets } => simulate::run(&root, seeds, seed, planted, fleets),
        Command::Attack { only, connections, release } => attack::run(&root, release, only.as_deref(), connections),
        Command::Bench { build: true, .. } => bench::builds(&root),
        Command::Bench { hostile: true, .. } => bench::hostile(&root),
        Command::Bench { quick, package, resume, .. } => {
            bench::run(&root, &bench::Choice { quick, resume, packages: package })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::minutes;

    #[test]
    fn no_minutes_are_not_without_end() {
        assert_eq!(minutes("0.5"), Ok(0.5));
        for wrong in ["0", "-1", "inf", "NaN", "one"] {
            assert!(minutes(wrong).is_err(), "{wrong}");
        }
    }
}
