//! One server of a shop that runs on several servers with one database.
//!
//! ```sh
//! cargo run --bin pg -- sandbox                           # in one shell; it prints the variables to export in the others
//! export SHOP_DIALECT=crates/pg-sandbox/dialects/sandbox.toml   # the decisions of the sandbox, such as which codes are declines
//! export SHOP_STORE="$PWD/intents.sqlite"
//! cargo run --bin pg -- intents --store "$SHOP_STORE" migrate     # makes the store, once
//! SHOP_LISTEN=127.0.0.1:8501 cargo run -p axum-shop --bin fleet-shop
//! SHOP_LISTEN=127.0.0.1:8502 cargo run -p axum-shop --bin fleet-shop
//! ```
//!
//! `SHOP_STORE` is a SQLite file, or `postgres://…`. The shop makes no store, since it would pay paid orders again with an empty one. `SHOP_URL` is the address of the load balancer before the servers.
//! `SHOP_CUSTOMERS` is a file with the customers, their stored cards and their orders; without it, there is nothing to pay.
//! `SHOP_ACCOUNT` is the name under which payments are stored; never change it. Shops of different accounts need a store
//! each.

use std::{env, error::Error, io, path::Path, process::ExitCode, time::Duration};

use axum_shop::{
    Customers, FleetConfig, account_of_environment, exit_code, listener, public_url, serve_in_fleet, stopped,
};
use pg_intents::{PostgresStore, SqliteStore, StoreError};
use tracing_subscriber::filter::LevelFilter;

const UNSET: &str =
    "SHOP_STORE is not set: give the SQLite file, with its whole path, or the address of the database, postgres://…";
const EMPTY: &str = "there is no store of payments. If the shop has paid orders before, name its store (and give the role its search_path and rights), since \
                       with an empty one they are paid again; for a new shop, type: pg intents --store \"$SHOP_STORE\" migrate";
const MIGRATE: &str = "the database lacks tables of this version of the program; to make them, type: \
                       pg intents --store \"$SHOP_STORE\" migrate (for PostgreSQL with a pg that was built with --features postgres)";

#[tokio::main]
async fn main() -> ExitCode {
    // A payment that waits for the database, for example because of a missing right, says so only here.
    tracing_subscriber::fmt().with_max_level(LevelFilter::WARN).with_writer(io::stderr).init();
    exit_code(run().await)
}

async fn run() -> Result<(), Box<dyn Error>> {
    let listener = listener().await?;
    let here = listener.local_addr()?;
    let config = FleetConfig {
        account: account_of_environment()?,
        public_url: public_url(here)?,
        name: format!("shop {here}"),
        customers: env::var("SHOP_CUSTOMERS")
            .map_or_else(|_| Ok(Customers::default()), |file| Customers::read(&file))?,
        lease: seconds("SHOP_LEASE", 15)?,
        linger: seconds("SHOP_LINGER", 120)?,
    };
    let database = env::var("SHOP_STORE").map_err(|_| UNSET)?;
    let explained = |error| match error {
        StoreError::Older { found: 0, .. } => EMPTY.to_owned(),
        StoreError::Older { .. } => MIGRATE.to_owned(),
        error => error.to_string(),
    };
    if database.starts_with("postgres://") || database.starts_with("postgresql://") {
        let store = PostgresStore::connect(&database).await.map_err(explained)?;
        serve_in_fleet(listener, store, config, stopped()).await
    } else if Path::new(&database).is_file() {
        let store = SqliteStore::connect(&database).map_err(|error| format!("{database}: {}", explained(error)))?;
        serve_in_fleet(listener, store, config, stopped()).await
    } else if database.contains([':', '=']) {
        // It may have a password.
        Err("SHOP_STORE is neither a file nor an address of PostgreSQL, postgres://…".into())
    } else {
        Err(format!("SHOP_STORE is {database}: {EMPTY}").into())
    }
}

/// Returns the number of seconds in a variable.
fn seconds(variable: &str, default: u64) -> Result<Duration, String> {
    match env::var(variable) {
        Ok(seconds) => {
            seconds.parse().map(Duration::from_secs).map_err(|_| format!("{variable} is not a whole number of seconds"))
        }
        Err(_) => Ok(Duration::from_secs(default)),
    }
}
