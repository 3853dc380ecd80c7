//! One server of a shop that runs on several servers with one database.
//!
//! ```sh
//! cargo run --bin pg -- sandbox                           # in one shell; it prints the variables to export in the others
//! export SHOP_DIALECT=crates/pg-sandbox/dialects/sandbox.toml   # the decisions of the sandbox, such as which codes are declines
//! SHOP_LISTEN=127.0.0.1:8501 cargo run -p axum-shop --bin fleet-shop
//! SHOP_LISTEN=127.0.0.1:8502 cargo run -p axum-shop --bin fleet-shop
//! ```
//!
//! `SHOP_STORE` is a SQLite file, or `postgres://…`; `SHOP_URL` is the address of the load balancer before the servers.
//! `SHOP_CUSTOMERS` is a file with the customers, their stored cards and their orders; without it, there is nothing to pay.
//! `SHOP_ACCOUNT` is the name under which payments are stored; never change it. Shops of different accounts need a store
//! each.

use std::{env, error::Error, process::ExitCode, time::Duration};

use axum_shop::{
    Customers, FleetConfig, account_of_environment, exit_code, listener, public_url, serve_in_fleet, stopped,
};
use pg_intents::{PostgresStore, SqliteStore, StoreError};

const MIGRATE: &str = "the database lacks tables of this version of the program; to make them, type: \
                       pg intents --store \"$SHOP_STORE\" migrate (with a pg that was built with --features postgres)";

#[tokio::main]
async fn main() -> ExitCode {
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
    let database = env::var("SHOP_STORE").unwrap_or("intents.sqlite".to_owned());
    if database.starts_with("postgres") {
        let store = PostgresStore::connect(&database).await.map_err(|error| match error {
            StoreError::Older { .. } => MIGRATE.to_owned(),
            error => error.to_string(),
        })?;
        serve_in_fleet(listener, store, config, stopped()).await
    } else {
        let store = SqliteStore::open(&database).map_err(|error| format!("{database}: {error}"))?;
        serve_in_fleet(listener, store, config, stopped()).await
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
