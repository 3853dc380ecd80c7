//! Databases that tests use in turn, since creating a database and its tables takes longer than most tests.

use std::{collections::BTreeMap, future::Future, io, thread};

use tokio::runtime::{Builder, Runtime};
use tokio_postgres::{Client, NoTls};

/// Removes the rows of a store, and keeps its format and its key.
const EMPTY: &str = "DO $$ DECLARE each text; BEGIN \
    FOR each IN SELECT tablename FROM pg_tables \
    WHERE schemaname = 'payment_sandbox' AND tablename NOT IN ('store', 'turn', 'keys') \
    LOOP EXECUTE 'DELETE FROM payment_sandbox.' || quote_ident(each); END LOOP; END $$";
/// The databases without other connections.
const FREE: &str = "SELECT datname::text FROM pg_database WHERE starts_with(datname, 'store_') AND datname NOT IN \
    (SELECT datname FROM pg_stat_activity WHERE datname IS NOT NULL AND application_name <> 'used again')";

/// Connections to the databases.
pub(super) struct UsedAgain {
    runtime: Runtime,
    url: String,
    server: Client,
    databases: BTreeMap<String, Client>,
}

impl UsedAgain {
    /// Connects to a server by its URL, which ends in a slash.
    pub(super) fn connect(url: &str) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let server = wait(&runtime, connected(&format!("{url}postgres")))?;
        Ok(Self { runtime, url: url.to_owned(), server, databases: BTreeMap::new() })
    }

    /// Creates an empty database.
    pub(super) fn create(&mut self, name: &str) -> io::Result<()> {
        wait(&self.runtime, async { self.server.batch_execute(&format!("CREATE DATABASE {name}")).await })?;
        let client = wait(&self.runtime, connected(&format!("{}{name}", self.url)))?;
        self.databases.insert(name.to_owned(), client);
        Ok(())
    }

    /// Empties a store of this kind that is not open, and returns its database, if there is one.
    pub(super) fn emptied(&mut self, kind: &str) -> io::Result<Option<String>> {
        let Self { runtime, server, databases, .. } = self;
        let free = wait(runtime, async { server.query(FREE, &[]).await })?;
        let free = free.iter().filter_map(|row| row.try_get::<_, String>(0).ok());
        let kind = format!("store_{kind}_");
        let Some(name) = free.filter(|name| databases.contains_key(name)).find(|name| name.starts_with(&kind)) else {
            return Ok(None);
        };
        if let Some(client) = databases.get(&name) {
            wait(runtime, async { client.batch_execute(EMPTY).await })?;
        }
        Ok(Some(name))
    }
}

async fn connected(url: &str) -> Result<Client, tokio_postgres::Error> {
    let (client, connection) = tokio_postgres::connect(&format!("{url}?application_name=used%20again"), NoTls).await?;
    // Ends with the client, whose statements report the error.
    tokio::spawn(async move { drop(connection.await) });
    Ok(client)
}

/// Waits in a new thread, since a runtime must not wait within the runtime of a test.
fn wait<T: Send>(
    runtime: &Runtime,
    work: impl Future<Output = Result<T, tokio_postgres::Error>> + Send,
) -> io::Result<T> {
    let waited = thread::scope(|scope| scope.spawn(|| runtime.block_on(work)).join());
    waited.map_err(|_| io::Error::other("a connection panicked"))?.map_err(io::Error::other)
}
