//! One server of a shop that runs on several, with one database.
//!
//! ```sh
//! cargo run --bin pg -- sandbox                           # in one shell; it prints the variables to export in the others
//! SHOP_LISTEN=127.0.0.1:8501 cargo run -p axum-shop --bin fleet-shop
//! SHOP_LISTEN=127.0.0.1:8502 cargo run -p axum-shop --bin fleet-shop
//! ```
//!
//! `SHOP_STORE` is a SQLite file, or `postgres://…`; `SHOP_URL` is the address of what distributes requests to the servers.

use std::{env, error::Error, time::Duration};

use axum_shop::{FleetConfig, account_of_environment, serve_in_fleet, stopped};
use pg_hyper::proto::BaseUrl;
use pg_intents::{PostgresStore, SqliteStore};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind(env::var("SHOP_LISTEN").unwrap_or("127.0.0.1:8500".to_owned())).await?;
    let here = listener.local_addr()?;
    let config = FleetConfig {
        account: account_of_environment()?,
        public_url: BaseUrl::parse(&env::var("SHOP_URL").unwrap_or(format!("http://{here}")))?,
        name: format!("shop {here}"),
        lease: Duration::from_secs(env::var("SHOP_LEASE").map_or(Ok(15), |seconds| seconds.parse())?),
    };
    let store = env::var("SHOP_STORE").unwrap_or("intents.sqlite".to_owned());
    println!("the shop is at http://{here}");
    if store.starts_with("postgres") {
        serve_in_fleet(listener, PostgresStore::connect(&store).await?, config, stopped()).await
    } else {
        serve_in_fleet(listener, SqliteStore::open(&store)?, config, stopped()).await
    }
}
