//! `cargo xtask fuzz`: the targets of `tests/fuzz` by libFuzzer.

mod corpus;
mod output;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use anyhow::{Context, Result, bail};

use self::output::Counted;
use crate::codegen::dictionaries;
use crate::nightly;
use crate::steps;

/// Where targets, corpus and past crashes are.
const FOLDER: &str = "tests/fuzz";

/// Files of words, in the work folder.
const REQUESTS: &str = "requests.dict";
const REPLIES: &str = "replies.dict";

/// Executions of earlier processes, in the work folder. Without it counting begins again.
const COUNTED: &str = "counted.txt";

/// The folder of the programs that do not trace comparisons, in the work folder.
const FAST: &str = "fast";

/// Of so many rounds, one traces comparisons. Tracing finds magic words, and takes half of the executions.
const ROUNDS: usize = 4;

/// The options of the other rounds: without statistics of how rare each edge is, and without shorter inputs for what is reached already.
/// They take up to a third of the executions.
const FASTEST: [&str; 3] = ["-entropic=0", "-reduce_inputs=0", "-reload=0"];

/// The options of a run.
pub(crate) struct Options {
    pub(crate) minutes: f64,
    /// Targets that run at the same time.
    pub(crate) jobs: usize,
    pub(crate) targets: Vec<String>,
    /// Takes what was found into the corpus of the repository.
    pub(crate) keep: bool,
    /// Repeats all targets until they have been executed so often together, counting earlier processes.
    pub(crate) executions: Option<u64>,
    /// The most seconds that one input may take.
    pub(crate) timeout: u64,
}

/// Fuzzes and prints a table. A crash is minimised, kept as a regression, and an error at the end.
pub(crate) fn run(root: &Path, options: &Options) -> Result<()> {
    let targets = chosen(root, &options.targets)?;
    nightly::install(&[])?;
    nightly::install_fuzz()?;
    let work = root.join("target/fuzz");
    let mut run = Run { root, programs: work.join(host()?).join("release"), work, settings: &[] };
    run.build(&run.work, &[])?;
    run.write_dictionaries()?;
    let rows = match options.executions {
        None => run.all(&targets, options, |_, _| Ok(()))?,
        Some(wanted) => run.until(&targets, options, wanted)?,
    };
    println!("\n{}", output::table(&rows));
    let crashed: Vec<&str> = rows.iter().filter(|row| row.1.crashed()).map(|row| row.0.as_str()).collect();
    if !crashed.is_empty() {
        bail!("{} broke a property: `cargo test -p pg-fuzz` shows how", crashed.join(", "));
    }
    Ok(())
}

/// The targets that are named, or all of them.
fn chosen(root: &Path, named: &[String]) -> Result<Vec<String>> {
    let mut known = Vec::new();
    for entry in fs::read_dir(root.join(FOLDER).join("fuzz_targets"))? {
        known.extend(entry?.path().file_stem().map(|stem| stem.to_string_lossy().into_owned()));
    }
    known.sort();
    if let Some(strange) = named.iter().find(|name| !known.contains(name)) {
        bail!("there is no target {strange:?}; there are {}", known.join(", "));
    }
    Ok(if named.is_empty() { known } else { named.to_vec() })
}

/// The programs and folders of one run.
struct Run<'a> {
    root: &'a Path,
    /// Nothing in it is committed.
    work: PathBuf,
    programs: PathBuf,
    /// More options of libFuzzer.
    settings: &'static [&'static str],
}

impl Run<'_> {
    /// Builds every harness, optimised and with the checks of a debug build. Nothing of ours is unsafe, so a sanitizer
    /// would find little and cost half of the executions.
    fn build(&self, folder: &Path, arguments: &[&str]) -> Result<()> {
        let mut build = nightly::cargo(self.root);
        build.args(["fuzz", "build", "--fuzz-dir", FOLDER, "--sanitizer", "none", "--features", "harness"]);
        build.args(arguments).args(["--target", &host()?, "--target-dir"]).arg(folder);
        steps::execute(&mut build).map(drop)
    }

    /// The names of the tables, beside the programs: they are never stale there.
    fn write_dictionaries(&self) -> Result<()> {
        let (requests, replies) = dictionaries::generate(self.root)?;
        fs::write(self.work.join(REQUESTS), requests)?;
        Ok(fs::write(self.work.join(REPLIES), replies)?)
    }

    /// All targets again and again, each for the same time, until their sum is reached or one has crashed. What was counted is kept after
    /// each target.
    fn until(&mut self, targets: &[String], options: &Options, wanted: u64) -> Result<Vec<(String, Counted)>> {
        let fast = self.work.join(FAST);
        self.build(&fast, &["--no-trace-compares"])?;
        let traced = self.programs.clone();
        let fast = fast.join(host()?).join("release");
        let file = self.work.join(COUNTED);
        let text = fs::read_to_string(&file).unwrap_or_default();
        let sums: Vec<(String, Counted)> =
            targets.iter().map(|target| (target.clone(), Counted::of_kept(target, &text))).collect();
        let sums = Mutex::new(sums);
        let add = |at: usize, row: &Counted| {
            let mut sums = lock(&sums);
            sums[at].1.add(row);
            Ok(fs::write(&file, sums.iter().map(|(target, sum)| sum.kept(target)).collect::<String>())?)
        };
        for round in 0.. {
            if is_over(&lock(&sums), wanted) {
                break;
            }
            let (programs, settings) = if round % ROUNDS == 0 { (&traced, &[][..]) } else { (&fast, &FASTEST[..]) };
            self.programs.clone_from(programs);
            self.settings = settings;
            self.all(targets, options, add)?;
            println!("\n{}", output::table(&lock(&sums)));
        }
        Ok(sums.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// Each target once, as many at the same time as there are jobs.
    fn all(
        &self,
        targets: &[String],
        options: &Options,
        ended: impl Fn(usize, &Counted) -> Result<()> + Sync,
    ) -> Result<Vec<(String, Counted)>> {
        let next = AtomicUsize::new(0);
        let work = || -> Result<Vec<(usize, Counted)>> {
            let mut done = Vec::new();
            loop {
                let at = next.fetch_add(1, Relaxed);
                let Some(target) = targets.get(at) else { return Ok(done) };
                println!("\n==> {target}, {} minutes", options.minutes);
                corpus::shrink(self, target)?;
                let counted = self.fuzz(target, options)?;
                ended(at, &counted)?;
                done.push((at, counted));
                if options.keep {
                    corpus::keep(self, target)?;
                }
            }
        };
        let workers: Vec<_> = thread::scope(|scope| {
            let workers: Vec<_> = (0..options.jobs.max(1)).map(|_| scope.spawn(work)).collect();
            workers.into_iter().map(thread::ScopedJoinHandle::join).collect()
        });
        let mut rows = Vec::new();
        for done in workers {
            rows.extend(done.map_err(|_| anyhow::anyhow!("a thread has panicked"))??);
        }
        rows.sort_by_key(|row| row.0);
        Ok(rows.into_iter().map(|(at, counted)| (targets[at].clone(), counted)).collect())
    }

    fn fuzz(&self, target: &str, options: &Options) -> Result<Counted> {
        let (found, crashes) = (self.folder("found", target)?, self.folder("crashes", target)?);
        let mut command = self.program(target);
        command.arg(format!("-max_total_time={}", (options.minutes * 60.0).ceil()));
        command.arg(format!("-artifact_prefix={}/", crashes.display()));
        command.arg(format!("-dict={}", self.work.join(dictionary(target)).display()));
        // An input that takes longer is an error, and so is one that takes a gigabyte.
        command.arg(format!("-timeout={}", options.timeout));
        command.args(["-rss_limit_mb=1024", "-print_final_stats=1", "-max_len=4096"]).args(self.settings);
        command.arg(&found);
        command.args(self.known(target));
        let log = self.work.join(format!("{target}.log"));
        let file = fs::File::create(&log)?;
        let status = command.stdout(file.try_clone()?).stderr(file).stdin(Stdio::null()).status()?;
        let text = String::from_utf8_lossy(&fs::read(&log)?).into_owned();
        let mut counted = output::counted(&text);
        if !status.success() {
            counted.crash = Some(self.keep_crash(target, &crashes, &text)?);
        }
        println!("{target}: {}", counted.line());
        Ok(counted)
    }

    /// Makes the newest crash as small as it gets and puts it where a test replays it.
    fn keep_crash(&self, target: &str, crashes: &Path, log: &str) -> Result<PathBuf> {
        let name = output::artifact(log).with_context(|| format!("{target} ended without a crash:\n{log}"))?;
        let crash = crashes.join(&name);
        let small = crashes.join(format!("small-{name}"));
        let mut minimise = self.program(target);
        minimise.args(["-minimize_crash=1", "-max_total_time=30"]);
        minimise.arg(format!("-exact_artifact_path={}", small.display())).arg(&crash);
        // Its verdict is the file that it leaves, or none when it is as small already.
        let _ended = minimise.stdout(Stdio::null()).stderr(Stdio::null()).status()?;
        let kept = self.root.join(FOLDER).join("regressions").join(target);
        fs::create_dir_all(&kept)?;
        let kept = kept.join(name);
        fs::copy(if small.exists() { &small } else { &crash }, &kept)?;
        println!("{}", output::reason(log));
        println!("kept as {}", kept.strip_prefix(self.root).unwrap_or(&kept).display());
        Ok(kept)
    }

    fn program(&self, target: &str) -> Command {
        let mut command = Command::new(self.programs.join(target));
        command.current_dir(self.root);
        command
    }

    /// Inputs in the repository: corpus and past crashes.
    fn known(&self, target: &str) -> Vec<PathBuf> {
        let folders = ["corpus", "regressions"].map(|kind| self.root.join(FOLDER).join(kind).join(target));
        folders.into_iter().filter(|folder| folder.is_dir()).collect()
    }

    fn folder(&self, kind: &str, target: &str) -> Result<PathBuf> {
        let folder = self.work.join(kind).join(target);
        fs::create_dir_all(&folder)?;
        Ok(folder)
    }
}

/// Whether so much was executed, or something was found.
fn is_over(sums: &[(String, Counted)], wanted: u64) -> bool {
    sums.iter().map(|(_, sum)| sum.executions).sum::<u64>() >= wanted || sums.iter().any(|(_, sum)| sum.crashed())
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Readers of replies get the names of replies, everything else those of requests.
fn dictionary(target: &str) -> &'static str {
    if matches!(target, "callback" | "json" | "machines" | "redirect" | "reply" | "saved" | "xml") {
        REPLIES
    } else {
        REQUESTS
    }
}

/// The machine that compiles, as the compiler calls it.
fn host() -> Result<String> {
    let output = Command::new("rustc").args(["+nightly", "-vV"]).env_remove("RUSTUP_TOOLCHAIN").output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("rustc does not say what it runs on")
}
