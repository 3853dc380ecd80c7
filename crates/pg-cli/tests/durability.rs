//! The promises of `pg sandbox` about its records, over real processes, real files and real HTTP: acknowledged data
//! survives `kill -9`, a full disk is an error but does not end the process, an unusable store is reported, and a stop
//! signal lets pending replies out first.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod audit;
mod caller;
#[cfg(target_os = "linux")]
mod full_disk;
mod kill_9;
mod killed_charging;
mod killing_proxy;
mod load;
mod refused_stores;
mod stopping;
mod writer;

use std::{
    ffi::OsString,
    io::{BufRead, BufReader, Read},
    path::Path,
    process::{Child, ChildStdout, Command, Output, Stdio},
};

use serde_json::Value;

use crate::durability::caller::{Account, Caller};

/// A sandbox that serves a store.
pub(crate) struct Sandbox {
    child: Child,
    /// Where it listens, and its main account.
    pub(crate) account: Account,
    /// Kept open, so that later output of the process cannot fail.
    _out: BufReader<ChildStdout>,
}

impl Sandbox {
    /// Starts one on a free port.
    #[track_caller]
    pub(crate) fn start(store: &Path) -> Self {
        Self::started(command(store)).unwrap_or_else(|ended| panic!("it did not start: {ended:?}"))
    }

    /// Starts one by a command that ends in executing [`command`]; or how it ended.
    pub(crate) fn started(mut command: Command) -> Result<Self, Output> {
        let mut child = piped(&mut command).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut facts = String::new();
        out.read_line(&mut facts).unwrap();
        match serde_json::from_str::<Value>(&facts) {
            Ok(facts) => Ok(Self { child, account: Account::of(&facts), _out: out }),
            Err(_) => Err(child.wait_with_output().unwrap()),
        }
    }

    /// A connection to it.
    pub(crate) fn caller(&self) -> Caller {
        Caller::new(&self.account).unwrap()
    }

    /// `kill -9`. What it was in the middle of stays undone.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal that it may answer in its own way.
    pub(crate) fn signal(&self, name: &str) {
        assert!(Command::new("kill").args([name, &self.id().to_string()]).status().unwrap().success());
    }

    /// Its exit code and output, once it has ended.
    pub(crate) fn ended(mut self) -> (Option<i32>, String) {
        let code = self.child.wait().unwrap().code();
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (code, said)
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// `pg sandbox` over a store, as it is typed.
pub(crate) fn command(store: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pg"));
    command.args(arguments(store));
    command
}

/// The same under a shell script that has `exec "$@"` in it.
pub(crate) fn under(script: &str, store: &Path) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script, "sh", env!("CARGO_BIN_EXE_pg")]).args(arguments(store));
    command
}

/// With captured output, and without input.
pub(crate) fn piped(command: &mut Command) -> &mut Command {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped())
}

fn arguments(store: &Path) -> [OsString; 6] {
    ["sandbox".into(), "--listen".into(), "127.0.0.1:0".into(), "--json".into(), "--store".into(), store.into()]
}
