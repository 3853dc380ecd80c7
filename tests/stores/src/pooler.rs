//! PgBouncer before a server, in a temporary folder, on a free port.

use std::{
    fs, io,
    net::{Ipv4Addr, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
};

use pg_support::left_out;
use tempfile::TempDir;

use crate::{Postgres, postgres::become_another};

const PROGRAM: &str = "/usr/sbin/pgbouncer";

/// A pooler in transaction mode, whose clients share two connections to the server. Dropping it ends it.
pub struct Pooler {
    folder: TempDir,
    port: u16,
    running: Child,
}

impl Pooler {
    /// Starts one; `None` where Debian's package `pgbouncer` is missing, unless nothing may be left out.
    ///
    /// # Errors
    /// When an installed one does not start.
    ///
    /// # Panics
    /// When none is installed on CI.
    pub fn before(server: &Postgres) -> io::Result<Option<Self>> {
        if !Path::new(PROGRAM).exists() {
            left_out(&format!("PgBouncer is not installed: no {PROGRAM} (Debian: pgbouncer)"));
            return Ok(None);
        }
        let folder = tempfile::Builder::new().prefix("pg-test-").tempdir()?;
        for _ in 0..5 {
            let port = pg_support::free_port();
            let settings = folder.path().join("pgbouncer.ini");
            let text = format!(
                "[databases]\n* = user=pg host=127.0.0.1 port={}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n\
                 unix_socket_dir =\nauth_type = any\npool_mode = transaction\ndefault_pool_size = 2\nmax_client_conn = 100\n\
                 server_reset_query =\n",
                server.port()
            );
            fs::write(&settings, text)?;
            let mut command = Command::new(PROGRAM);
            become_another(&mut command, folder.path())?;
            let log = fs::File::create(folder.path().join("log"))?;
            command.arg(&settings).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
            let mut running = command.spawn()?;
            while running.try_wait()?.is_none() {
                if TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok() {
                    return Ok(Some(Self { folder, port, running }));
                }
                std::thread::yield_now();
            }
            // Another program took the port.
        }
        Err(io::Error::other(format!("PgBouncer does not start: {}", fs::read_to_string(folder.path().join("log"))?)))
    }

    /// The same database through the pooler.
    #[must_use]
    pub fn url(&self, direct: &str) -> String {
        let database = direct.rsplit('/').next().unwrap_or_default();
        format!("postgres://pg@127.0.0.1:{}/{database}", self.port)
    }

    /// What its own log says.
    #[must_use]
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.running.kill();
        let _ = self.running.wait();
    }
}
