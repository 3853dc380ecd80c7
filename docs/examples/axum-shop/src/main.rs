//! The shop as a program: its account comes from the environment, and Ctrl-C or SIGTERM stops it gracefully.
//!
//! ```sh
//! cargo run --bin pg -- sandbox     # in one shell; it prints the variables to export in the other
//! cargo run -p axum-shop                      # http://127.0.0.1:8500
//! ```

use std::{env, error::Error, path::PathBuf};

use axum_shop::{Config, account_of_environment, stopped};
use pg_hyper::proto::BaseUrl;
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind(env::var("SHOP_LISTEN").unwrap_or("127.0.0.1:8500".to_owned())).await?;
    // What browsers and the service call it: https and a name, once a proxy with a certificate stands before it.
    let public_url = env::var("SHOP_URL").unwrap_or(format!("http://{}", listener.local_addr()?));
    let folder = PathBuf::from(env::var("SHOP_ORDERS").unwrap_or("orders".to_owned()));
    println!("the shop is at {public_url}, its orders in {}", folder.display());
    axum_shop::serve(listener, Config::new(account_of_environment()?, BaseUrl::parse(&public_url)?, folder), stopped())
        .await
}
