//! `pg sandbox` as an outsider meets it: every service is walked by a client in Python that shares no code with these
//! crates (`tests/independent/`), and paid with by a script that has nothing but curl and `pg sign`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::{
    collections::BTreeSet,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Output, Stdio},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use pg_support::installed;
use serde_json::Value;

/// Every `walk_*.py`; a test below checks that none is missing.
const WALKS: [&str; 14] = [
    "account_updater",
    "accounts",
    "bad_input",
    "checkout",
    "checkout_pages",
    "credentials",
    "lockout",
    "payments",
    "preauth_and_refund",
    "references",
    "session",
    "three_d_secure",
    "tokens",
    "utility",
];

/// Walks at a time.
const AT_A_TIME: usize = 4;

#[test]
fn every_service_follows_the_documents() {
    if !installed(&["python3", "openssl"], "walks in Python") {
        return;
    }
    let walked = |name: &str| {
        let sandbox = Sandbox::start();
        let walked = sandbox.walk(name, &sandbox.facts);
        (!walked.status.success()).then(|| format!("walk_{name}.py\n{}\n", printed(&walked)))
    };
    // Some at a time: each has its own sandbox, and most of its time goes into starting programs.
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(|| {
                while let Some(name) = WALKS.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let deviation = walked(name);
                    found.lock().unwrap().extend(deviation);
                }
            });
        }
    });
    let deviations = found.into_inner().unwrap().concat();
    assert!(deviations.is_empty(), "{deviations}");
}

#[test]
fn every_walk_is_walked() {
    let files = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let walks: BTreeSet<String> =
        files.filter_map(|name| Some(name.strip_prefix("walk_")?.strip_suffix(".py")?.to_owned())).collect();
    assert_eq!(walks, WALKS.map(str::to_owned).into());
}

/// A walk that cannot fail proves nothing.
#[test]
fn a_walk_reports_deviations() {
    if !installed(&["python3", "openssl"], "walks in Python") {
        return;
    }
    let sandbox = Sandbox::start();
    let lie = sandbox.facts.replace("MainSandboxShaKey", "AnotherShaKey");
    assert_ne!(lie, sandbox.facts);
    let walked = sandbox.walk("credentials", &lie);
    let said = printed(&walked);
    assert!(!walked.status.success() && said.contains("deviates") && said.contains("(401, '123')"), "{said}");
}

#[test]
fn curl_and_a_signature_are_enough_to_pay() {
    if !installed(&["bash", "curl"], "a payment by a shell script") {
        return;
    }
    let sandbox = Sandbox::start();
    let facts: Value = serde_json::from_str(&sandbox.facts).unwrap();
    let main = &facts["merchants"][0];
    let home = tempfile::tempdir().unwrap();
    let mut script = Command::new("bash");
    script.arg(folder().join("curl.sh")).arg(env!("CARGO_BIN_EXE_pg"));
    script.env("HOME", home.path()).env("XDG_CONFIG_HOME", home.path());
    for (name, value) in [
        ("PG_BASE_URL", &facts["baseUrl"]),
        ("PG_API_KEY", &main["apiKey"]),
        ("PG_API_PASSWORD", &main["apiPassword"]),
        ("PG_SHA_KEY", &main["shaKey"]),
    ] {
        script.env(name, value.as_str().unwrap());
    }
    let paid = script.output().unwrap();
    assert!(paid.status.success() && printed(&paid).contains("paid and refunded"), "{}", printed(&paid));
}

/// A new sandbox for each walk, because walks move its clock and block its callers.
struct Sandbox {
    child: Child,
    /// The first line that it prints: its addresses and accounts.
    facts: String,
    /// Kept open, so that later output of the process cannot fail.
    _out: BufReader<ChildStdout>,
}

impl Sandbox {
    fn start() -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pg"));
        command.args(["sandbox", "--listen", "127.0.0.1:0", "--json"]);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut facts = String::new();
        out.read_line(&mut facts).unwrap();
        Self { child, facts, _out: out }
    }

    fn walk(&self, name: &str, facts: &str) -> Output {
        // -B: no bytecode beside the sources.
        let mut python = Command::new("python3");
        python.arg("-B").arg(folder().join(format!("walk_{name}.py")));
        python.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut walking = python.spawn().unwrap();
        walking.stdin.take().unwrap().write_all(facts.as_bytes()).unwrap();
        walking.wait_with_output().unwrap()
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/independent")
}

fn printed(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned()).concat()
}
