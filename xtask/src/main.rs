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
mod miri;
mod nightly;
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
    /// Write what follows from the tables: request types, validators, reference pages, OpenAPI
    #[command(
        long_about = "Reads crates/pg-model/tables/*.toml and writes the request types and validators of pg-model, \
                      docs/reference/*.md and docs/reference/openapi.yaml. Run it after changing a table and commit both. Every \
                      mistake in the tables is told at once, and then nothing is written."
    )]
    Codegen {
        /// Write nothing; fail if a generated file is missing, outdated or no longer generated
        #[arg(long)]
        check: bool,
        /// Write again whenever a table changes, and show the change, until it is stopped
        #[arg(long, conflicts_with = "check")]
        watch: bool,
    },
    /// Show everything that the tables know of a method, and where each generated thing is
    Method {
        /// Such as `transaction/authCardKey`, `authCardKey` or `AuthCardKey`; without it, all methods are listed
        name: Option<String>,
    },
    /// Write the public items of the library crates to docs/reference/api
    #[command(
        long_about = "Reads the sources of the library crates and writes what they offer to docs/reference/api/*.txt, so that a \
                      change of the public API is seen in review. Run it after such a change and commit both; a test \
                      compares them. With --since it writes nothing, and says of each change since a release whether \
                      programs that compiled with it still do: breaking or additive."
    )]
    Api {
        /// Write nothing; fail if a listing is stale, or with --since if a change is breaking
        #[arg(long)]
        check: bool,
        /// Compare with a release: a tag or commit, or a folder or file of listings
        #[arg(long, value_name = "REF|FILE")]
        since: Option<String>,
    },
    /// Check what the compiler cannot: dependency direction, pure cores, one MSRV, file sizes
    #[command(
        long_about = "Checks what the compiler cannot: which of our crates may depend on which, that the sans-IO cores \
                      reach no runtime, no clock and no dice, that the MSRV is stated once, that every crate inherits \
                      the workspace lints, that no hand-written source file is over 500 lines, that generated files \
                      say so, and that no tracked file holds a path of a particular machine. Each violation is one line."
    )]
    Tidy,
    /// Run every test: unit, doc and integration tests, examples, bare-metal and wasm builds
    #[command(
        long_about = "Runs every test: cargo test of the whole workspace, every example, ten thousand worlds of the \
                      simulation, the builds for \
                      wasm32-unknown-unknown and thumbv7em-none-eabihf, the decoder for JavaScript in Node, in bundlers, in \
                      other hosts and by TypeScript, docs/reference/openapi.yaml and its examples by an OpenAPI validator and a mock server, on CI also the archive \
                      of the command in an empty root. Missing rustup \
                      targets, the validator, the mock server, the bundlers and, for root on Debian, Chromium and Node are installed; what \
                      cannot be is left out and said so at the end. With CI=true nothing may be left out."
    )]
    Test {
        /// Only the steps that have this in their titles
        #[arg(long, value_name = "WORDS", conflicts_with = "quick")]
        only: Option<String>,
        /// Runs only the tests of the crates changed since `main`, and a few of their dependents; lists what it skips
        #[arg(long)]
        quick: bool,
    },
    /// Build the decoder for JavaScript as a package in target/pg-wasm/
    #[command(
        long_about = "Compiles pg-wasm for size, writes target/pg-wasm/ (an ES module with types, pg_wasm.wasm, \
                      package.json, README.md), prints every file's size raw and gzipped, and fails when the compiled \
                      module is over its budget. Installs the rustup target if it is missing; needs no other tool."
    )]
    Wasm,
    /// Pack the command as a static archive in target/dist/, and try it in an empty root
    #[command(
        long_about = "Builds pg for Linux with musl, linked statically, and packs it with completions, manual pages, the licences of \
                      everything that is linked into it and a list of that (CycloneDX) as target/dist/pg-VERSION-TARGET.tar.gz, \
                      with SHA256SUMS beside it. The same sources give the same archive. Then it unpacks the archive and runs the \
                      program with an empty folder as its root. Installs the rustup target and, for root on Debian, musl-tools."
    )]
    Dist {
        /// Without optimisation, to see that it works
        #[arg(long)]
        quick: bool,
    },
    /// Pack the published crates as for a registry, check what each needs, and list files and sizes
    #[command(
        long_about = "Packs every published crate into target/package/ and prints a table of them: oldest compiler, files, bytes packed. \
                      Fails when one lacks what a registry or its readers need: description, readme, keywords, categories, licences, \
                      settings for docs.rs, a word in its documentation about each feature; or when a crate below crates/ is not \
                      published for no stated reason. Publishes nothing."
    )]
    Package {
        /// Also build each crate from its package alone
        #[arg(long)]
        verify: bool,
    },
    /// Look for inputs that break a property of a reader, the machines, the receiver or the sandbox
    #[command(
        long_about = "Builds the targets of tests/fuzz for libFuzzer, runs them, and prints executions, executions a \
                      second and coverage as a table. A crash is minimised and kept in tests/fuzz/regressions, where an ordinary \
                      test replays it. Installs the nightly compiler and cargo-fuzz where they are missing; needs a C++ compiler."
    )]
    Fuzz {
        /// So long for each target
        #[arg(long, value_name = "N", default_value_t = 1.0)]
        minutes: f64,
        /// Targets that run at the same time
        #[arg(long, value_name = "N", default_value_t = 1)]
        jobs: usize,
        /// Only this target, can be repeated
        #[arg(long, value_name = "T")]
        target: Vec<String>,
        /// Take what was found into the corpus of the repository
        #[arg(long)]
        keep: bool,
        /// Repeat until all targets together were executed so often; counts are kept in target/fuzz/counted.txt, and an interrupted run goes on
        #[arg(long, value_name = "N")]
        executions: Option<u64>,
        /// The most seconds for one input; more where other work stops the fuzzers
        #[arg(long, value_name = "N", default_value_t = 20)]
        timeout: u64,
    },
    /// Run the cores' tests under Miri, which sees undefined behaviour
    #[command(
        long_about = "Interprets the unit tests of pg-crypto and pg-proto and the tests of pg-model's readers, with the portable \
                      implementations of the ciphers and few random cases. Installs the nightly compiler with its components miri \
                      and rust-src where they are missing. What there is no time for is told at the end."
    )]
    Miri {
        /// Only this package
        #[arg(short, long, value_name = "CRATE")]
        package: Option<String>,
        /// So long for each package
        #[arg(long, value_name = "N", default_value_t = 20.0)]
        minutes: f64,
    },
    /// Live many worlds of the simulation: machines against the sandbox, on virtual time, from seeds
    #[command(
        long_about = "Lives the worlds of many seeds, built with optimisation: merchants' machines against the sandbox's \
                      core, with crashes, lost, late and doubled requests, and checks after every step. A failing seed \
                      prints its number, the violated check and the shortest log found that shows it."
    )]
    Simulate {
        /// The number of worlds, 1000 by default
        #[arg(long, value_name = "N")]
        seeds: Option<u64>,
        /// The first seed; without --seeds, this world alone with its whole log
        #[arg(long, value_name = "S")]
        seed: Option<u64>,
        /// Instead: the table of planted bugs, and which check finds each of them
        #[arg(long, conflicts_with_all = ["seeds", "seed"])]
        planted: bool,
        /// Worlds of several workers that share a database, in place of worlds of one process
        #[arg(long)]
        fleets: bool,
    },
    /// Attack the sandbox and the receiver over the network, and print the results as a table
    #[command(
        long_about = "Builds the command and attacks it over raw sockets: thousands of silent, slow and deaf connections, web pages, \
                      proxies, requests that can be read in two ways, markup, tricks on terminals, files that are links. Prints a \
                      table in Markdown: the attack, what came of it before it was mended, what comes of it now, the bar, and whether it \
                      is kept. Fails when one is missed. The figures need a machine that has nothing else to do."
    )]
    Attack {
        /// Only the attacks that have this in their description
        #[arg(long, value_name = "WORDS")]
        only: Option<String>,
        /// The number of hostile connections, 5000 by default
        #[arg(long, value_name = "N")]
        connections: Option<u32>,
        /// The command as it is released, which takes longer to build
        #[arg(long)]
        release: bool,
    },
    /// Run the benchmarks and write docs/internals/performance.md from what they print
    #[command(
        long_about = "Runs every [[bench]] target of the workspace, collects the ratios to their floors, prints them \
                      against their budgets and writes docs/internals/performance.md. A benchmark reports by printing lines of \
                      tab-separated fields: `ratio NAME VALUE BUDGET MOONSHOT` (a budget looks like <=1.30 or >=0.90, \
                      or - for none), `cost READER INPUTS WORST BYTES MS_A_MIB GROWTH BUDGET MOONSHOT`, `chart NAME X Y \
                      EXPECTED_EXPONENT` with `point NAME SIZE COST` after it, and `note TEXT`. Charts are drawn to \
                      docs/internals/growth. A missed budget is shown, but only a benchmark that cannot run is an error."
    )]
    Bench {
        /// Few rounds (sets PG_BENCH_QUICK=1 for the benchmarks); prints, but writes no file
        #[arg(long)]
        quick: bool,
        /// Only this package's benchmarks, can be repeated; prints, but writes no file
        #[arg(short, long, value_name = "CRATE")]
        package: Vec<String>,
        /// Continue an interrupted run
        #[arg(long, conflicts_with_all = ["quick", "package"])]
        resume: bool,
        /// Instead: build crates from an empty target folder, and write the costs into docs/internals/performance.md
        #[arg(long, conflicts_with_all = ["quick", "package", "resume"])]
        build: bool,
        /// Instead: measure what hostile input costs, and write that section of docs/internals/performance.md
        #[arg(long, conflicts_with_all = ["quick", "package", "resume", "build"])]
        hostile: bool,
    },
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
        Command::Dist { quick } => dist::run(&root, quick),
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
