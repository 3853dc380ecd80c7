//! Runs a command with its environment, input and output, and ends it with all processes that it started.

use std::{
    fs::File,
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use pg_model::mask;
use serde_json::Value;
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _},
    process::{Child, Command},
    sync::Notify,
    task::JoinHandle,
};

use super::{End, Guard, Ran};
use crate::house::Account;

/// The maximum output of an adapter on one stream.
const MOST: usize = 1 << 20;
/// How long the streams of an ended adapter may stay open, since its child processes may hold them.
const STREAMS: Duration = Duration::from_millis(500);
/// Secrets of other commands of `pg`, which no integration needs and reports could quote.
const WITHHELD: [&str; 9] = [
    "PG_CONTROL_TOKEN",
    "PG_SANDBOX_STORE",
    "PG_STORE_KEY",
    "PG_STORE_KEY_COMMAND",
    "PG_STORE_KEY_OLDER",
    "PG_STORE_KEY_OLDER_COMMAND",
    "PG_INTENTS_STORE",
    "PG_INTENTS_KEY",
    "PG_INTENTS_KEY_OLDER",
];

/// The environment of an adapter.
#[derive(Clone)]
pub(crate) struct Environment {
    pub(crate) base: String,
    pub(crate) account: Account,
    /// The authority of the drills. A command that downloads libraries trusts the usual ones instead.
    pub(crate) certificates: Option<PathBuf>,
    /// The folder that persists between the attempts of one drill.
    pub(crate) directory: PathBuf,
    /// The folder of the plan.
    pub(crate) folder: PathBuf,
    pub(crate) timeout: Duration,
    pub(crate) guard: Arc<Guard>,
}

impl Environment {
    fn variables(&self) -> Vec<(&'static str, String)> {
        let account = &self.account;
        let mut variables = vec![
            ("PG_BASE_URL", self.base.clone()),
            ("PG_ENTERPRISE_BASE_URL", format!("{}/enterprise", self.base)),
            ("PG_API_KEY", account.api_key.clone()),
            ("PG_API_PASSWORD", account.api_password.clone()),
            ("PG_SHA_KEY", account.sha_key.clone()),
            ("PG_ACCOUNT_UPDATER_KEY", account.updater_key.clone()),
            ("PG_ENTERPRISE_API_KEY", account.enterprise_api_key.clone()),
            ("PG_ENTERPRISE_API_PASSWORD", account.enterprise_api_password.clone()),
            ("PG_REHEARSE_DIR", self.directory.display().to_string()),
            ("PG_REHEARSE_TIMEOUT_SECONDS", self.timeout.as_secs().to_string()),
            ("NO_PROXY", "127.0.0.1,localhost".to_owned()),
            ("no_proxy", "127.0.0.1,localhost".to_owned()),
        ];
        if let Some(file) = &self.certificates {
            // The last three are those under which other tools expect the same file.
            let names = ["SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"];
            variables.extend(names.map(|name| (name, file.display().to_string())));
        }
        variables
    }

    pub(super) fn as_json(&self) -> Value {
        self.variables()
            .into_iter()
            .map(|(name, value)| (name.to_owned(), Value::from(value)))
            .collect::<serde_json::Map<_, _>>()
            .into()
    }
}

/// A process that is ended together with its child processes.
pub(crate) struct Group {
    child: Child,
    #[cfg(unix)]
    group: Option<rustix::process::Pid>,
    #[cfg(unix)]
    guard: Arc<Guard>,
}

impl Group {
    fn spawn(command: &mut Command, guard: &Arc<Guard>) -> std::io::Result<Self> {
        #[cfg(not(unix))]
        let _ = guard;
        command.kill_on_drop(true);
        #[cfg(unix)]
        command.process_group(0);
        let child = command.spawn()?;
        #[cfg(unix)]
        let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw);
        #[cfg(unix)]
        if let Some(group) = group {
            guard.add(group.as_raw_nonzero().get());
        }
        Ok(Self {
            child,
            #[cfg(unix)]
            group,
            #[cfg(unix)]
            guard: Arc::clone(guard),
        })
    }

    /// Returns the status of the process, if it has ended. Does not reap it: no other process gets its number, under
    /// which its group is ended later.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        #[cfg(unix)]
        if let Some(group) = self.group {
            use std::os::unix::process::ExitStatusExt as _;

            use rustix::process::{WaitId, WaitIdOptions, waitid};

            let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
            let status = waitid(WaitId::Pid(group), options).ok().flatten()?;
            let code = status.exit_status().map(|code| code << 8);
            return code.or_else(|| status.terminating_signal()).map(ExitStatus::from_raw);
        }
        self.child.try_wait().ok().flatten()
    }

    fn kill(&mut self) {
        #[cfg(unix)]
        if let Some(group) = self.group {
            // The group may have ended already.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        // The process may have ended already.
        let _ = self.child.start_kill();
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
        #[cfg(unix)]
        if let Some(group) = self.group {
            self.guard.remove(group.as_raw_nonzero().get());
        }
    }
}

/// Returns how a process ended: "exited with code 1".
pub(crate) fn how(status: ExitStatus) -> String {
    let code = status.code().map(|code| format!("exited with code {code}"));
    code.unwrap_or_else(|| format!("was killed by {}", signal(status)))
}

/// Returns the signal that ended a process without a code: "signal 9 (SIGKILL)".
fn signal(status: ExitStatus) -> String {
    status.to_string().replacen(": ", " ", 1)
}

fn command(words: &[String], environment: &Environment) -> Option<Command> {
    let (program, arguments) = words.split_first()?;
    let mut command = Command::new(found(program, &environment.folder));
    command.args(arguments).current_dir(&environment.folder).envs(environment.variables());
    for name in WITHHELD {
        command.env_remove(name);
    }
    Some(command)
}

/// Returns the path of a program. If its name contains a folder, it is relative to the plan.
fn found(program: &str, folder: &Path) -> PathBuf {
    if program.contains('/') { folder.join(program) } else { PathBuf::from(program) }
}

/// Starts a process that keeps running, for example a shop. Its output goes to a file.
pub(crate) fn start(words: &[String], environment: &Environment, output: Option<&File>) -> Result<Group, String> {
    let mut command = command(words, environment).ok_or("the command is empty")?;
    let stream = || output.map_or_else(|| Ok(Stdio::null()), |file| file.try_clone().map(Stdio::from));
    let (out, err) = (stream().map_err(|error| error.to_string())?, stream().map_err(|error| error.to_string())?);
    command.stdin(Stdio::null()).stdout(out).stderr(err);
    // What stays in a buffer is not searched for secrets.
    command.env("PYTHONUNBUFFERED", "1");
    Group::spawn(&mut command, &environment.guard).map_err(|error| format!("{}: {error}", words[0]))
}

/// Runs a command to its end, for example a compiler.
pub(crate) async fn prepare(words: &[String], environment: &Environment) -> Result<(), String> {
    failure(&run(words, environment, "", std::future::pending()).await, environment).map_or(Ok(()), Err)
}

/// Returns why a command failed, with the first line of its output.
fn failure(ran: &Ran, environment: &Environment) -> Option<String> {
    let ended = match &ran.end {
        End::Done(0) | End::Replied(_) | End::NoReply(_) => return None,
        End::Done(code) => format!("ended with code {code}"),
        End::Signalled(signal) => format!("was killed by {signal}"),
        End::Killed => "was killed".to_owned(),
        End::TimedOut => format!("took more than {} seconds and was killed", environment.timeout.as_secs()),
        End::TooMuch => "printed more than 1 MiB and was killed".to_owned(),
        End::NotStarted(why) => return Some(format!("it could not be started: {why}")),
    };
    let said = if ran.stderr.trim().is_empty() { &ran.stdout } else { &ran.stderr };
    let first = mask::text(&mask::without_passwords(said.trim().lines().next().unwrap_or_default()));
    // A truncated secret would not be masked.
    let first: String = first.chars().take(200).collect();
    Some(if first.is_empty() { ended } else { format!("{ended}; its output begins: {first}") })
}

pub(super) async fn run(
    words: &[String],
    environment: &Environment,
    line: &str,
    killed: impl Future<Output = ()>,
) -> Ran {
    let not_started = |why: String| Ran::new(End::NotStarted(why), String::new(), String::new());
    let Some(mut command) = command(words, environment) else { return not_started("the command is empty".to_owned()) };
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut group = match Group::spawn(&mut command, &environment.guard) {
        Ok(group) => group,
        Err(error) => return not_started(format!("{}: {error}", words[0])),
    };
    if let Some(mut input) = group.child.stdin.take() {
        let line = format!("{line}\n");
        tokio::spawn(async move {
            // A command may ignore its input.
            drop(input.write_all(line.as_bytes()).await);
        });
    }
    let (out, err) = (group.child.stdout.take(), group.child.stderr.take());
    let flooded = Arc::new(Notify::new());
    let (out, err) = (Stream::read(out, Arc::clone(&flooded)), Stream::read(err, Arc::clone(&flooded)));
    let end = tokio::select! {
        status = group.child.wait() => match status {
            Ok(status) => status.code().map_or_else(|| End::Signalled(signal(status)), End::Done),
            Err(error) => End::NotStarted(format!("{}: {error}", words[0])),
        },
        () = killed => End::Killed,
        _ = crate::clock::pause(environment.timeout) => End::TimedOut,
        () = flooded.notified() => End::TooMuch,
    };
    group.kill();
    // Reaps the process, whose group was killed.
    let _ = tokio::time::timeout(STREAMS, group.child.wait()).await;
    let (out, err) = (out.text().await, err.text().await);
    Ran::new(end, out, err)
}

/// Returns the output of a command, for example a database dump, and why it failed.
pub(crate) async fn output_of(words: &[String], environment: &Environment) -> (String, Option<String>) {
    let ran = run(words, environment, "", std::future::pending()).await;
    let failure = failure(&ran, environment);
    (ran.stdout + &ran.stderr, failure)
}

/// A stream that is read while the process runs.
struct Stream {
    bytes: Arc<Mutex<Vec<u8>>>,
    task: JoinHandle<()>,
}

impl Stream {
    /// Reads until the stream ends or exceeds the limit, which is reported.
    fn read(stream: Option<impl AsyncRead + Unpin + Send + 'static>, flooded: Arc<Notify>) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let read = Arc::clone(&bytes);
        let task = tokio::spawn(async move {
            let Some(mut stream) = stream else { return };
            let mut chunk = vec![0; 16 << 10];
            while let Ok(count @ 1..) = stream.read(&mut chunk).await {
                let mut bytes = read.lock().unwrap_or_else(PoisonError::into_inner);
                bytes.extend_from_slice(&chunk[..count]);
                if bytes.len() > MOST {
                    flooded.notify_one();
                    return;
                }
            }
        });
        Self { bytes, task }
    }

    /// Returns the output so far. Does not wait for child processes that hold the stream open.
    async fn text(mut self) -> String {
        if tokio::time::timeout(STREAMS, &mut self.task).await.is_err() {
            self.task.abort();
        }
        let bytes = std::mem::take(&mut *self.bytes.lock().unwrap_or_else(PoisonError::into_inner));
        String::from_utf8_lossy(&bytes).into_owned()
    }
}
