//! The code that both programs share: it reads the account from the environment, waits for the signal to stop, and
//! prints the error that ends a program.

use std::{env, error::Error, fs, net::SocketAddr, process::ExitCode};

use pg_hyper::proto::{Account, BaseUrl, Credentials, EnterpriseCredentials, model::Dialect};
use tokio::{net::TcpListener, signal};

/// Returns the account from the variables that `pg sandbox` prints, with the dialect of `SHOP_DIALECT`.
///
/// # Errors
/// If a variable is missing or invalid.
pub fn account_of_environment() -> Result<Account, Box<dyn Error>> {
    let variable = |name: &str| {
        env::var(name).map_err(|_| format!("{name} is not set: export the lines that `pg sandbox` prints"))
    };
    let base = variable("PG_BASE_URL")?;
    let address = |name: &str, url: &str| BaseUrl::parse(url).map_err(|error| format!("{name}: {error}"));
    let account = Account::new(
        address("PG_BASE_URL", &base)?,
        Credentials::new(variable("PG_API_KEY")?, variable("PG_API_PASSWORD")?, variable("PG_SHA_KEY")?),
    );
    // The name under which payments are stored. It stays the same when the API key is replaced, so never change it. Shops of different
    // accounts need a store each: a shop with another name does not start over a store that has payments, and under one name, each would take
    // the payments of the other for its own.
    let account = account.identity(env::var("SHOP_ACCOUNT").unwrap_or("shop".to_owned()));
    let account = account.enterprise(
        address("PG_ENTERPRISE_BASE_URL", &variable("PG_ENTERPRISE_BASE_URL")?)?,
        EnterpriseCredentials::new(variable("PG_ENTERPRISE_API_KEY")?, variable("PG_ENTERPRISE_API_PASSWORD")?),
    );
    // The dialect file contains the operator's answers to what the documents leave open, such as which status codes are
    // declines. Without a file nothing is assumed, and payments that depend on such an answer end as unknown. With a
    // sandbox, name the sandbox's dialect.
    Ok(match env::var("SHOP_DIALECT") {
        Ok(file) => {
            let wrong = |error: &dyn Error| format!("SHOP_DIALECT: cannot read {file}: {error}");
            let text = fs::read_to_string(&file).map_err(|error| wrong(&error))?;
            account.with_dialect(Dialect::from_toml(&text).map_err(|error| wrong(&error))?)
        }
        Err(_) => account,
    })
}

/// Listens on the address of `SHOP_LISTEN`.
///
/// # Errors
/// If it cannot.
pub async fn listener() -> Result<TcpListener, Box<dyn Error>> {
    let address = env::var("SHOP_LISTEN").unwrap_or("127.0.0.1:8500".to_owned());
    let bound = TcpListener::bind(&address).await;
    Ok(bound.map_err(|error| format!("cannot listen on {address}: {error}; choose another with SHOP_LISTEN"))?)
}

/// Returns the address at which browsers and the service reach the shop, which listens `here`: `SHOP_URL`. With https and a name, once a
/// proxy with a certificate is in front.
///
/// # Errors
/// If the variable is invalid, or is missing although no browser can open the address `here`.
pub fn public_url(here: SocketAddr) -> Result<BaseUrl, Box<dyn Error>> {
    match env::var("SHOP_URL") {
        Ok(url) => Ok(BaseUrl::parse(&url).map_err(|error| format!("SHOP_URL: {error}"))?),
        Err(_) if here.ip().is_unspecified() => Err(format!(
            "SHOP_URL is not set, and no browser can open http://{here}: set it to the address at which browsers and the service \
             reach the shop"
        )
        .into()),
        Err(_) => Ok(BaseUrl::parse(&format!("http://{here}"))?),
    }
}

/// Prints an error as one line.
pub fn exit_code(result: Result<(), Box<dyn Error>>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Completes when the process gets a signal to stop.
pub async fn stopped() {
    #[cfg(unix)]
    if let Ok(mut terminate) = signal::unix::signal(signal::unix::SignalKind::terminate()) {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = signal::ctrl_c() => {}
        }
        return;
    }
    // On a system without signals the program runs until it is killed, which loses nothing.
    if signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
