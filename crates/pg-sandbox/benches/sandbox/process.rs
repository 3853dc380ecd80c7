//! Starts the sandbox as a process: this program itself, with an argument.

use std::{
    env, fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use bytes::Bytes;
use http::{Request, header};
use pg_measure::{Bounds, median, note, quick, ratio};
use pg_sandbox::{Config, Server, StoreChoice};

use crate::load::{Load, now};

/// The argument before the store's file.
const SERVE: &str = "--serve-a-sandbox";

/// A sandbox in its own process, over a store file.
pub(crate) struct Sandbox {
    child: Child,
    pub(crate) address: SocketAddr,
    /// From the start of the process to its first line, in milliseconds.
    started_in: f64,
}

impl Sandbox {
    /// Starts it and waits until it listens.
    pub(crate) fn start(store: &Path) -> Self {
        let begin = now();
        let mut child = Command::new(env::current_exe().expect("this program has a path"))
            .arg(SERVE)
            .arg(store)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("this program can be started");
        let mut line = String::new();
        let output = child.stdout.as_mut().expect("a pipe");
        BufReader::new(output).read_line(&mut line).expect("the address");
        let started_in = (now() - begin).as_secs_f64() * 1e3;
        Self { address: line.trim().parse().expect("an address"), child, started_in }
    }

    /// Resident memory, in MB.
    pub(crate) fn memory(&self) -> Option<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        let kib: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some(kib * 1024.0 / 1e6)
    }

    /// The processor time of each thread by its name, in seconds; that of the first thread as `main`.
    pub(crate) fn threads(&self) -> Option<Vec<(String, f64)>> {
        let id = self.child.id();
        let mut threads = Vec::new();
        for entry in fs::read_dir(format!("/proc/{id}/task")).ok()?.flatten() {
            let read = |file: &str| fs::read_to_string(entry.path().join(file)).ok();
            // A thread may have ended since.
            let (Some(name), Some(spent)) = (read("comm"), read("schedstat")) else { continue };
            let is_first = entry.file_name().to_str().is_some_and(|thread| thread == id.to_string());
            let nanoseconds: f64 = spent.split(' ').next()?.parse().ok()?;
            let name = if is_first { "main" } else { name.trim() };
            threads.push((name.to_owned(), nanoseconds / 1e9));
        }
        Some(threads)
    }

    /// How long it took to start, in milliseconds.
    pub(crate) const fn started_in(&self) -> f64 {
        self.started_in
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        drop(self.child.wait());
    }
}

/// Whether this is the process that is measured.
pub(crate) fn is_the_process() -> bool {
    env::args().nth(1).is_some_and(|argument| argument == SERVE)
}

/// Serves the store of the second argument, as `pg sandbox` does, until its input ends.
pub(crate) fn serve() {
    let path = env::args_os().nth(2).map(PathBuf::from).expect("the path of a store");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let config = Config::default().store(StoreChoice::File(path));
        let server = Server::start(config).await.expect("a sandbox");
        println!("{}", server.address());
        std::io::stdout().flush().expect("the address is told");
        let ended = tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new()));
        drop(ended.await);
        server.shutdown().await.expect("the disk has space");
    });
}

/// Start and idle memory, of a store that is made and of one that is there.
pub(crate) fn measure() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut fresh, mut again, mut memory) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..if quick() { 2 } else { 21 } {
        let store = folder.path().join(format!("{number}.sqlite"));
        fresh.push(Sandbox::start(&store).started_in());
        let sandbox = Sandbox::start(&store);
        again.push(sandbox.started_in());
        // It has answered, and has nothing more to do.
        let clock = Request::get("/_sandbox/clock").header(header::HOST, "127.0.0.1").body(Bytes::new());
        Load::connect(sandbox.address, 1).ask(clock.expect("a request"));
        memory.extend(sandbox.memory());
    }
    let start = Bounds::at_most(50.0, 15.0);
    ratio("sandbox: ms to start with a new store", median(fresh), start);
    ratio("sandbox: ms to start with an existing store", median(again), start);
    if memory.is_empty() {
        note("This system does not tell a process's memory.");
    } else {
        ratio("sandbox: MB of memory when idle", median(memory), Bounds::at_most(30.0, 12.0));
    }
}
