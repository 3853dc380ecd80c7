//! The shop as a program: its account comes from the environment, and Ctrl-C or SIGTERM stops it gracefully.
//!
//! ```sh
//! cargo run --bin pg -- sandbox     # in one shell; it prints the variables to export in the other
//! export SHOP_DIALECT=crates/pg-sandbox/dialects/sandbox.toml   # the decisions of the sandbox, such as which codes are declines
//! cargo run -p axum-shop            # http://127.0.0.1:8500
//! ```

use std::{env, error::Error, path::PathBuf, process::ExitCode};

use axum_shop::{Config, account_of_environment, exit_code, listener, public_url, stopped};

#[tokio::main]
async fn main() -> ExitCode {
    exit_code(run().await)
}

async fn run() -> Result<(), Box<dyn Error>> {
    let listener = listener().await?;
    let public_url = public_url(listener.local_addr()?)?;
    let folder = PathBuf::from(env::var("SHOP_ORDERS").unwrap_or("orders".to_owned()));
    let account = account_of_environment()?;
    println!("the shop is at {public_url}, its orders in {}", folder.display());
    axum_shop::serve(listener, Config::new(account, public_url, folder), stopped()).await
}
