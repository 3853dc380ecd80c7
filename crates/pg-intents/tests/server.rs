//! A PostgreSQL of a test's own: in a temporary folder, on a free port, as a user that is not root.

use std::{
    env, fs,
    net::{Ipv4Addr, TcpListener},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use tempfile::TempDir;

pub(crate) struct Server {
    folder: TempDir,
    programs: PathBuf,
    pub(crate) port: u16,
    running: Option<Child>,
}

impl Server {
    /// `None` where Debian's package is missing, unless nothing may be left out.
    pub(crate) fn start() -> Option<Self> {
        let Some(programs) = programs() else {
            let why = "no PostgreSQL under /usr/lib/postgresql (Debian's package postgresql)";
            assert!(!on_ci(), "nothing may be left out here, but {why}");
            eprintln!("left out: {why}");
            return None;
        };
        let folder = tempfile::Builder::new().prefix("pg-intents-").tempdir().unwrap();
        let data = folder.path().join("data");
        fs::create_dir(&data).unwrap();
        owned_by_user(folder.path());
        let arguments = ["--auth=trust", "--username=pg", "--encoding=UTF8", "--locale=C", "--no-sync", "-D"];
        let _ = succeed(program(&programs, "initdb").args(arguments).arg(&data));
        let mut server = Self { folder, programs, port: 0, running: None };
        server.run();
        Some(server)
    }

    pub(crate) fn url(&self) -> String {
        self.url_at(self.port)
    }

    pub(crate) fn url_at(&self, port: u16) -> String {
        format!("postgres://pg@127.0.0.1:{port}/postgres?sslmode=disable")
    }

    /// The address of a new database on this server.
    pub(crate) fn database(&self, name: &str) -> String {
        let _ = self.psql(&format!("CREATE DATABASE {name}"));
        self.url().replace("/postgres?", &format!("/{name}?"))
    }

    /// As after a power cut, as far as the processes are concerned.
    pub(crate) fn crash(&mut self) {
        let data = self.folder.path().join("data");
        let _ = succeed(program(&self.programs, "pg_ctl").args(["stop", "-w", "-m", "immediate", "-D"]).arg(data));
        if let Some(mut child) = self.running.take() {
            child.wait().unwrap();
        }
    }

    /// Starts it, at its old port if it had one, and waits until it answers.
    pub(crate) fn run(&mut self) {
        let folder = self.folder.path().to_owned();
        for _ in 0..5 {
            if self.port == 0 {
                self.port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
            }
            let mut child = program(&self.programs, "postgres")
                .arg("-D")
                .arg(folder.join("data"))
                .args(["-p", &self.port.to_string(), "-h", "127.0.0.1", "-c", "shared_buffers=32MB", "-k"])
                .arg(&folder)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(fs::File::create(folder.join("log")).unwrap())
                .spawn()
                .unwrap();
            loop {
                let mut ready = program(&self.programs, "pg_isready");
                if ready.args(["-q", "-h", "127.0.0.1", "-p", &self.port.to_string()]).status().unwrap().success() {
                    self.running = Some(child);
                    return;
                }
                if child.try_wait().unwrap().is_some() {
                    break;
                }
                std::thread::yield_now();
            }
            // Another program took the port.
            self.port = 0;
        }
        panic!("PostgreSQL does not start: {}", fs::read_to_string(folder.join("log")).unwrap());
    }

    /// Everything in the database, as text.
    pub(crate) fn dump(&self) -> String {
        let mut dump = program(&self.programs, "pg_dump");
        succeed(dump.args(["-h", "127.0.0.1", "-U", "pg", "-p", &self.port.to_string(), "postgres"]))
    }

    /// Commits a second of the server's own benchmark: a simple update by eight clients.
    pub(crate) fn pgbench(&self) -> f64 {
        let port = self.port.to_string();
        let to = ["-h", "127.0.0.1", "-U", "pg", "-p", &port];
        let _ = succeed(program(&self.programs, "pgbench").args(["-q", "-i", "-s", "10"]).args(to).arg("postgres"));
        let mut bench = program(&self.programs, "pgbench");
        let said = succeed(bench.args(["-N", "-c", "8", "-j", "2", "-T", "10"]).args(to).arg("postgres"));
        let line = said.lines().find_map(|line| line.strip_prefix("tps = ")).unwrap();
        line.split(' ').next().unwrap().parse().unwrap()
    }

    /// What a statement returns, unaligned.
    pub(crate) fn psql(&self, statement: &str) -> String {
        let mut psql = program(&self.programs, "psql");
        let port = self.port.to_string();
        succeed(psql.args([
            "-h",
            "127.0.0.1",
            "-U",
            "pg",
            "-p",
            &port,
            "-v",
            "ON_ERROR_STOP=1",
            "-At",
            "-c",
            statement,
            "postgres",
        ]))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut child) = self.running.take() {
            // SIGQUIT to the postmaster ends all of its processes; if it fails, the signal at our death does.
            let data = self.folder.path().join("data");
            let _ = program(&self.programs, "pg_ctl").args(["stop", "-w", "-m", "immediate", "-D"]).arg(data).output();
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The user that Debian's package makes.
const USER: &str = "postgres";

/// Gives a folder to the user that programs run as.
pub(crate) fn owned_by_user(folder: &Path) {
    if is_root() {
        let _ = succeed(Command::new("chown").args(["-R", USER]).arg(folder));
    }
}

/// A program as a user that is not root, and not without this test.
pub(crate) fn unprivileged(program: &Path) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL"]);
    if is_root() {
        command.args(["--reuid", USER, "--regid", USER, "--clear-groups"]);
    }
    command.arg(program);
    command
}

/// A program of PostgreSQL.
fn program(programs: &Path, name: &str) -> Command {
    let mut command = unprivileged(&programs.join(name));
    command.current_dir("/").env_remove("PGHOST").env_remove("PGPORT");
    command.env("PGOPTIONS", "-c default_transaction_read_only=off");
    command
}

fn succeed(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The newest.
fn programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?;
    let mut found: Vec<PathBuf> = versions.flatten().map(|version| version.path().join("bin")).collect();
    found.retain(|folder| folder.join("postgres").exists());
    found.sort();
    found.pop()
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

pub(crate) fn on_ci() -> bool {
    env::var("CI").is_ok_and(|value| value == "true" || value == "1")
}
