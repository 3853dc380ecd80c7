//! The shop as a program: its account comes from the environment, and Ctrl-C or SIGTERM stops it gracefully.
//!
//! ```sh
//! cargo run --bin pg -- sandbox     # in one shell; it prints the variables to export in the other
//! cargo run -p axum-shop                      # http://127.0.0.1:8500
//! ```

use std::{env, error::Error, fs, path::PathBuf};

use axum_shop::Config;
use pg_hyper::proto::{Account, BaseUrl, Credentials, EnterpriseCredentials, model::Dialect};
use tokio::{net::TcpListener, signal};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let variable = |name: &str| {
        env::var(name).map_err(|_| format!("{name} is not set: export the lines that `pg sandbox` prints"))
    };
    let base = variable("PG_BASE_URL")?;
    let account = Account::new(
        BaseUrl::parse(&base)?,
        Credentials::new(variable("PG_API_KEY")?, variable("PG_API_PASSWORD")?, variable("PG_SHA_KEY")?),
    );
    let account = account.enterprise(
        BaseUrl::parse(&variable("PG_ENTERPRISE_BASE_URL")?)?,
        EnterpriseCredentials::new(variable("PG_ENTERPRISE_API_KEY")?, variable("PG_ENTERPRISE_API_PASSWORD")?),
    );
    // What the documents leave open, such as which status codes are declines: the operator's answers, in a dialect file.
    // Without one nothing is assumed, and what it would decide ends as unknown.
    let account = match env::var("SHOP_DIALECT") {
        Ok(file) => account.with_dialect(Dialect::from_toml(&fs::read_to_string(file)?)?),
        Err(_) => account,
    };
    let listener = TcpListener::bind(env::var("SHOP_LISTEN").unwrap_or("127.0.0.1:8500".to_owned())).await?;
    // What browsers and the service call it: https and a name, once a proxy with a certificate stands before it.
    let public_url = env::var("SHOP_URL").unwrap_or(format!("http://{}", listener.local_addr()?));
    let folder = PathBuf::from(env::var("SHOP_ORDERS").unwrap_or("orders".to_owned()));
    println!("the shop is at {public_url}, its orders in {}", folder.display());
    axum_shop::serve(listener, Config::new(account, BaseUrl::parse(&public_url)?, folder), stopped()).await
}

/// Ends when the process is told to stop.
async fn stopped() {
    #[cfg(unix)]
    if let Ok(mut terminate) = signal::unix::signal(signal::unix::SignalKind::terminate()) {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = signal::ctrl_c() => {}
        }
        return;
    }
    // Without signals it runs until it is killed, which loses nothing.
    if signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
