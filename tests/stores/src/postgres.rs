//! PostgreSQL servers for tests: in a temporary folder, on a free port, as a user that is not root. A server ends when
//! the process that started it ends for any reason.

mod used_again;

use std::{
    env, fs,
    io::{self, BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::{
        Mutex, OnceLock, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
};

use self::used_again::UsedAgain;

/// Starts the server, restarts it on command, and ends it when standard input is closed. It removes the
/// folder, which belongs to the user that it runs as. The server is ready when it says so in its log, which comes through a pipe: a new one
/// for each start, since processes of the last server may still hold theirs.
const SUPERVISOR: &str = r#"
trap : INT TERM
bin=$1 folder=$2 port=$3
shift 3
"$bin/initdb" -D "$folder/data" -U pg --auth=trust -E UTF8 --locale=C --no-sync >"$folder/initdb.log" 2>&1 || { echo failed; exit 1; }
start() {
  rm -f "$folder/said"
  mkfifo "$folder/said"
  "$bin/postgres" -D "$folder/data" -p "$port" -c listen_addresses=127.0.0.1 -c unix_socket_directories="$folder" "$@" >"$folder/said" 2>&1 3<&- &
  server=$!
  exec 3<"$folder/said"
  while IFS= read -r line <&3; do
    printf '%s\n' "$line" >>"$folder/server.log"
    case $line in
      *'ready to accept connections'|*'ready to accept read-only connections')
        cat <&3 >>"$folder/server.log" &
        return 0;;
    esac
  done
  return 1
}
told() { if "$@"; then echo ready; else echo failed; fi; }
told start "$@"
while read -r word; do
  case $word in
    immediate) kill -QUIT $server; wait $server; echo ready;;
    start) told start "$@";;
  esac
done
kill -INT $server 2>/dev/null
wait $server
rm -rf "$folder"
"#;

/// A file system in memory, and the KiB that must be free in it. The servers of one process of tests need a tenth of that.
const MEMORY: &str = "/dev/shm";
const ROOM: u64 = 1 << 20;

/// How to get a missing server.
const MISSING: &str = "PostgreSQL is not installed: apt-get install postgresql";

/// A server for tests, which ends when it is dropped.
pub struct Postgres {
    bin: PathBuf,
    port: u16,
    databases: AtomicU32,
    /// Held while a database is chosen.
    used_again: Mutex<Option<UsedAgain>>,
    pipes: Mutex<Option<(ChildStdin, BufReader<ChildStdout>)>>,
    supervisor: Child,
}

impl Postgres {
    /// The folder of the newest installed server (Debian's `postgresql`).
    #[must_use]
    pub fn installed() -> Option<PathBuf> {
        let versions = fs::read_dir("/usr/lib/postgresql").ok()?.flatten();
        let number = |path: &Path| path.file_name()?.to_str()?.parse::<u32>().ok();
        let newest = versions.map(|entry| entry.path()).max_by_key(|path| number(path))?;
        Some(newest.join("bin")).filter(|bin| bin.join("postgres").is_file())
    }

    /// The server that the tests of one process share; `None` if none is installed, unless no test may be skipped.
    ///
    /// # Panics
    /// If an installed server does not start, or none is installed on CI.
    #[must_use]
    pub fn for_tests() -> Option<&'static Self> {
        is_installed().then(|| Self::shared().expect("an installed server starts"))
    }

    /// The same, a server that no other test uses, with these options. It syncs what it commits: stores of intents refuse others.
    ///
    /// # Panics
    /// As [`Postgres::for_tests`].
    #[must_use]
    pub fn for_one_test(options: &[&str]) -> Option<Self> {
        is_installed().then(|| Self::start_in(&in_memory(), options).expect("an installed server starts"))
    }

    /// Starts a server on the disk with these options, such as `-c fsync=off`: for measurements.
    ///
    /// # Errors
    /// If no server is installed, or it does not start.
    pub fn start(options: &[&str]) -> io::Result<Self> {
        Self::start_in(&env::temp_dir(), options)
    }

    fn start_in(place: &Path, options: &[&str]) -> io::Result<Self> {
        let bin = Self::installed().ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, MISSING))?;
        let folder = tempfile::Builder::new().prefix("pg-test-").tempdir_in(place)?.keep();
        let port = pg_support::free_port();
        let mut command = Command::new("sh");
        command.args(["-c", SUPERVISOR, "supervisor"]).args([&bin, &folder]).arg(port.to_string()).args(options);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).current_dir("/");
        become_another(&mut command, &folder)?;
        let mut supervisor = command.spawn()?;
        let pipes = supervisor.stdin.take().zip(supervisor.stdout.take().map(BufReader::new));
        let server = Self {
            bin,
            port,
            databases: AtomicU32::new(0),
            used_again: Mutex::new(None),
            pipes: Mutex::new(pipes),
            supervisor,
        };
        server.answer()?;
        Ok(server)
    }

    /// The server that the tests of one process share. It never syncs.
    ///
    /// # Errors
    /// As [`Postgres::start`].
    pub fn shared() -> Result<&'static Self, &'static str> {
        static SHARED: OnceLock<Result<Postgres, String>> = OnceLock::new();
        let options = ["-c", "fsync=off", "-c", "max_connections=200"];
        let shared = SHARED.get_or_init(|| Self::start_in(&in_memory(), &options).map_err(|error| error.to_string()));
        shared.as_ref().map_err(String::as_str)
    }

    /// Creates an empty database and returns its URL.
    ///
    /// # Errors
    /// If the server cannot create one.
    pub fn database(&self) -> io::Result<String> {
        let name = format!("test{}", self.databases.fetch_add(1, Ordering::Relaxed));
        self.psql("postgres", &format!("CREATE DATABASE {name}"))?;
        Ok(self.url(&name))
    }

    /// Opens a store with this key in a database without rows. The database is used again once no connection to it is open, since
    /// creating a database and its tables takes longer than most tests.
    ///
    /// # Errors
    /// If the server cannot create one.
    pub fn with_empty_store<T>(&self, key: &[u8; 32], open: impl FnOnce(&str) -> T) -> io::Result<T> {
        // Until it is open, other tests cannot see that it is taken.
        let mut used_again = self.used_again.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = match &mut *used_again {
            Some(kept) => kept,
            none => none.insert(UsedAgain::connect(&self.url(""))?),
        };
        let kind: String = key.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let name = match kept.emptied(&kind)? {
            Some(name) => name,
            None => {
                let name = format!("store_{kind}_{}", self.databases.fetch_add(1, Ordering::Relaxed));
                kept.create(&name)?;
                name
            }
        };
        Ok(open(&self.url(&name)))
    }

    /// The URL of a database.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        format!("postgres://pg@127.0.0.1:{}/{database}", self.port)
    }

    /// The port on which the server listens, at 127.0.0.1.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Everything in a database, as SQL.
    ///
    /// # Errors
    /// If `pg_dump` fails.
    pub fn dump(&self, database: &str) -> io::Result<String> {
        self.output("pg_dump", &[&self.url(database)])
    }

    /// Returns the commits a second of pgbench with this many clients: a simple update, in a separate database.
    ///
    /// # Errors
    /// If `pgbench` fails.
    pub fn pgbench(&self, clients: usize, seconds: usize) -> io::Result<f64> {
        let url = self.database()?;
        self.output("pgbench", &["-q", "-i", "-s", "10", &url])?;
        let (clients, seconds) = (clients.to_string(), seconds.to_string());
        let said = self.output("pgbench", &["-N", "-c", &clients, "-j", "2", "-T", &seconds, &url])?;
        let rate = said.lines().find_map(|line| line.strip_prefix("tps = ")?.split(' ').next()?.parse().ok());
        rate.ok_or_else(|| io::Error::other(said))
    }

    /// Runs a statement as superuser and returns its rows, one a line.
    ///
    /// # Errors
    /// If the statement fails.
    pub fn psql(&self, database: &str, statement: &str) -> io::Result<String> {
        let database = database.rsplit('/').next().unwrap_or_default();
        let url = self.url(database);
        self.output("psql", &["-X", "-q", "-t", "-A", "-v", "ON_ERROR_STOP=1", "-d", &url, "-c", statement])
    }

    /// What a program of the server prints.
    fn output(&self, program: &str, arguments: &[&str]) -> io::Result<String> {
        // A test may have made the database read-only by default.
        let writing = ("PGOPTIONS", "-c default_transaction_read_only=off");
        let output = Command::new(self.bin.join(program)).args(arguments).env(writing.0, writing.1).output()?;
        if !output.status.success() {
            return Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()));
        }
        Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
    }

    /// Stops the server as `pg_ctl stop -m immediate` does: it loses everything that is not on the disk.
    ///
    /// # Errors
    /// If the supervisor has ended.
    pub fn stop_at_once(&self) -> io::Result<()> {
        self.tell("immediate")
    }

    /// Starts the server again.
    ///
    /// # Errors
    /// If it does not start.
    pub fn start_again(&self) -> io::Result<()> {
        self.tell("start")
    }

    fn tell(&self, word: &str) -> io::Result<()> {
        if let Some((stdin, _)) = &mut *self.pipes.lock().unwrap_or_else(PoisonError::into_inner) {
            writeln!(stdin, "{word}")?;
        }
        self.answer()
    }

    fn answer(&self) -> io::Result<()> {
        let mut line = String::new();
        if let Some((_, stdout)) = &mut *self.pipes.lock().unwrap_or_else(PoisonError::into_inner) {
            stdout.read_line(&mut line)?;
        }
        if line.trim() == "ready" { Ok(()) } else { Err(io::Error::other("PostgreSQL does not start")) }
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        drop(self.pipes.lock().unwrap_or_else(PoisonError::into_inner).take());
        // Fails only if the supervisor has already been waited for.
        let _ = self.supervisor.wait();
    }
}

/// The folder for servers of tests. A server has a thousand files, and each database 300 more. On a disk, making and removing them
/// takes a third of the processor time of such tests, and syncing them most of the time; in memory the same commands do neither.
fn in_memory() -> PathBuf {
    let printed = Command::new("df").args(["-Pk", MEMORY]).output();
    let has_room = printed.is_ok_and(|printed| has_room(&String::from_utf8_lossy(&printed.stdout)));
    if has_room { PathBuf::from(MEMORY) } else { env::temp_dir() }
}

/// Reads what `df -Pk` prints: below the titles, the fourth word is what is free.
fn has_room(printed: &str) -> bool {
    let free = printed.lines().nth(1).and_then(|line| line.split_whitespace().nth(3)?.parse().ok());
    free.is_some_and(|free: u64| free >= ROOM)
}

/// Whether tests can run over a server. On CI they must.
fn is_installed() -> bool {
    let installed = Postgres::installed().is_some();
    if !installed {
        pg_support::left_out(MISSING);
    }
    installed
}

/// Runs a command as another user, who gets the folder, if this process is root: PostgreSQL refuses to run as root.
#[cfg(unix)]
pub(crate) fn become_another(command: &mut Command, folder: &Path) -> io::Result<()> {
    use std::os::unix::{
        fs::{MetadataExt as _, chown},
        process::CommandExt as _,
    };
    if fs::metadata(folder)?.uid() != 0 {
        return Ok(());
    }
    let users = fs::read_to_string("/etc/passwd")?;
    let ids = |name: &str| {
        let mut fields = users.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?.split(':').skip(1);
        Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
    };
    let (user, group): (u32, u32) =
        ids("postgres").or_else(|| ids("nobody")).ok_or_else(|| io::Error::other("no user for PostgreSQL"))?;
    chown(folder, Some(user), Some(group))?;
    command.uid(user).gid(group);
    Ok(())
}

#[cfg(not(unix))]
pub(crate) fn become_another(_command: &mut Command, _folder: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_with_a_wrong_option_does_not_start() {
        let Some(server) = Postgres::for_one_test(&[]) else { return };
        server.psql("postgres", "SELECT 1").unwrap();
        assert!(Postgres::start(&["-c", "no_such_setting=1"]).is_err());
    }

    #[test]
    fn a_file_system_without_room_is_not_used() {
        let printed = |free| {
            format!("Filesystem 1024-blocks Used Available Capacity Mounted on\ntmpfs 65536 0 {free} 0% /dev/shm\n")
        };
        assert!(has_room(&printed("1048576")));
        for free in [printed("1048575"), printed("-"), String::new()] {
            assert!(!has_room(&free), "{free}");
        }
    }

    #[test]
    fn the_server_is_waited_for_without_pauses() {
        assert!(!SUPERVISOR.contains("sleep"));
    }

    #[test]
    fn a_server_keeps_its_databases_when_it_starts_again() {
        let Some(server) = Postgres::for_one_test(&[]) else { return };
        let url = server.database().unwrap();
        server.psql(&url, "CREATE TABLE kept AS SELECT 7 AS number").unwrap();
        server.stop_at_once().unwrap();
        assert!(server.psql(&url, "SELECT 1").is_err());
        server.start_again().unwrap();
        assert_eq!(server.psql(&url, "SELECT number FROM kept").unwrap(), "7");
    }
}
