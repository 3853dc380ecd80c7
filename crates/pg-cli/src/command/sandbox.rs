//! `pg sandbox`: the whole service on this machine.

mod certificates;
mod log;
pub(crate) mod remote;
mod store;

use std::{
    ffi::OsString,
    net::SocketAddr,
    path::{Path, PathBuf},
};

use pg_proto::BaseUrl;
use pg_sandbox::{
    CertificateError, Config, ConnectionLimits, ControlAccess, DecoderPackage, KeyFileError, OpenError, OutgoingAccess,
    Server, ServerCertificate, Settings, StartError,
    config_file::{self, ConfigFileError},
    merchants::Merchants,
    secret::Secret,
    store::StoreError,
};
use serde::Serialize;
use serde_json::{Value, json};

use super::interrupt::Interrupted;
use crate::{
    account::{Setting, dialect, variable},
    argument,
    control::TOKEN,
    failure::{Exit, Failure},
    listen_address, open_files,
    output::{self, Paint},
    shell::word,
};

/// Serves a sandbox of the whole service until it is interrupted, or controls a running one
///
/// The credentials of the built-in accounts are public, and valid nowhere else. Credentials of a config file are not
/// printed. With --json the first line of output is {"baseUrl": …, "enterpriseBaseUrl": …, "merchants": […]}. The
/// subcommands control a running sandbox.
#[derive(clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  pg sandbox                                      on port 8480, records in memory
  pg sandbox --listen 127.0.0.1:0 --json          on a free port, for programs
  pg sandbox --store shop.sqlite                  records that survive, card numbers sealed
  pg sandbox --config merchants.toml              more accounts
  pg sandbox --public-url https://pay.shop.test   customers come through a proxy
  pg sandbox --certificate-authority ca.pem       callbacks trust your own authority
  pg sandbox --dialect operator.toml              replies like those of your operator's service

Control a running sandbox:
  pg sandbox faults add transaction/auth drop-reply
  pg sandbox clock advance 31m
  pg sandbox list transactions

Merchants of a config file, TOML or JSON:
  [[merchant]]
  name = \"shop\"
  apiKey = \"…32 letters and digits…\"
  apiPassword = \"…\"
  shaKey = \"…\"
  currencies = [\"GBP\"]
  rawCards = true

Exit codes: 0 stopped, 2 misuse or a store that cannot be used, 3 the database cannot be reached or the start was interrupted, \
4 the store could not be closed."
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    remote: Option<remote::Remote>,
    /// The address to listen on; port 0 picks a free port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8480", value_parser = listen_address::parse)]
    listen: SocketAddr,
    /// The store: a SQLite file with a key file beside it, memory, or a PostgreSQL database that several sandboxes may share
    #[arg(
        long,
        value_name = "FILE|memory|URL",
        default_value = "memory",
        env = "PG_SANDBOX_STORE",
        hide_env_values = true
    )]
    store: PathBuf,
    /// The key file of a PostgreSQL store, the same for every sandbox; without it, PG_STORE_KEY holds the key as 64
    /// hexadecimal digits, or PG_STORE_KEY_COMMAND holds a command that prints them
    #[arg(long, value_name = "FILE")]
    store_key: Option<PathBuf>,
    /// The file of an older key with which records of a PostgreSQL store are still sealed; repeatable.
    /// PG_STORE_KEY_OLDER holds such keys, or PG_STORE_KEY_OLDER_COMMAND holds a command that prints them, separated by
    /// white space
    #[arg(long, value_name = "FILE")]
    store_key_older: Vec<PathBuf>,
    /// Before serving, seals every record of a PostgreSQL store with its newest key; the older keys are then no longer
    /// needed
    #[arg(long)]
    reseal: bool,
    /// A file of accounts, at most 256 KiB. They are added to the built-in accounts, or replace those of the same name
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Allows other machines and proxies to use the control interface, which shows credentials and changes the clock.
    /// They send the token in PG_CONTROL_TOKEN, at least 16 characters, as a bearer token or as a password
    #[arg(long)]
    control_from_anywhere: bool,
    /// A host name that requests to the sandbox may use, besides localhost and IP addresses; repeatable
    #[arg(long, value_name = "NAME", value_parser = host_name)]
    control_host: Vec<String>,
    /// The address for customers' browsers, if it differs from the address for requests
    #[arg(long, value_name = "URL", value_parser = public_url)]
    public_url: Option<String>,
    /// Allows callbacks to private networks, even without TLS; link-local addresses stay forbidden
    #[arg(long)]
    private_networks: bool,
    /// A file of additional certificate authorities that callbacks trust, PEM or DER; repeatable
    #[arg(long, value_name = "FILE")]
    certificate_authority: Vec<PathBuf>,
    /// The certificate chain for TLS, PEM, the sandbox's own certificate first: the sandbox then serves HTTPS only
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_certificate: Option<PathBuf>,
    /// The private key of the certificate, PEM
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    tls_key: Option<PathBuf>,
    /// How many times a callback that is not acknowledged is resent: first after 10 seconds, then with the delay
    /// doubled each time
    #[arg(long, value_name = "NUMBER", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=9))]
    callback_retries: u32,
    /// Maximum number of connections from one address, this machine included. Default: 256, and no limit for this
    /// machine
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    connections_per_address: Option<u32>,
    /// The format of standard error: warnings for people, or one JSON object per line for each request, call, callback,
    /// and loss of the store
    #[arg(long, value_name = "FORMAT", value_enum, default_value = "text")]
    log_format: log::Format,
    #[arg(long, value_name = "NAME|FILE", help = format!(
        "{}; default: sandbox. Clients need the same dialect",
        dialect::help("The dialect, which decides what the documents leave open"),
    ))]
    dialect: Option<String>,
    /// The folder of the JavaScript decoder for the inspector. Default: target/pg-wasm of the repository from which
    /// this program was built, if `cargo xtask wasm` has built it
    #[arg(long, value_name = "FOLDER")]
    wasm_package: Option<PathBuf>,
}

/// Returns a name as in a Host header, without the port.
fn host_name(text: &str) -> Result<String, String> {
    let is_alone = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_'));
    if is_alone && !text.is_empty() {
        Ok(text.to_owned())
    } else {
        Err("give a host name only, such as sandbox.test".to_owned())
    }
}

/// Checks that a URL has no path, because links between pages have no base path.
fn public_url(text: &str) -> Result<String, String> {
    let base = BaseUrl::parse(text).map_err(|error| error.to_string())?;
    let path = base.as_str().split_once("://").and_then(|(_, rest)| rest.split_once('/'));
    match path {
        Some(_) => Err("it has a path; give scheme, host and port only, as in https://pay.shop.test".to_owned()),
        None => Ok(base.as_str().to_owned()),
    }
}

impl Arguments {
    /// Returns the settings of the sandbox, except its address and store.
    fn settings(&self, merchants: Merchants) -> Result<Settings, Failure> {
        let authorities = self.certificate_authority.iter().map(|path| certificates::read(path));
        let authorities = authorities.collect::<Result<Vec<_>, _>>()?.concat();
        let outgoing =
            OutgoingAccess::default().private_networks(self.private_networks).certificate_authorities(authorities);
        Ok(Settings::default()
            .merchants(merchants)
            .control(ControlAccess::default().token(self.control_token()?).hosts(self.control_host.clone()))
            .public_url(self.public_url.clone())
            .outgoing(outgoing)
            .callback_retries(self.callback_retries)
            .connections(self.connections())
            .certificate(self.certificate()?)
            .decoder(self.decoder()?)
            .dialect(self.dialect.as_deref().map(dialect::named).transpose()?))
    }
}

/// The minimum length of a token; shorter ones can be guessed.
const SHORTEST_TOKEN: usize = 16;

impl Arguments {
    /// Returns the token for other machines, if they are allowed.
    fn control_token(&self) -> Result<Option<Secret>, Failure> {
        if !self.control_from_anywhere {
            return Ok(None);
        }
        match variable(TOKEN)? {
            Some(token) if token.chars().count() >= SHORTEST_TOKEN => Ok(Some(Secret::new(token))),
            _ => Err(Failure::misuse(format!(
                "--control-from-anywhere needs a token: set {TOKEN} to at least {SHORTEST_TOKEN} characters, for example \
                 with {TOKEN}=$(openssl rand -hex 16)"
            ))),
        }
    }

    fn connections(&self) -> ConnectionLimits {
        match self.connections_per_address.and_then(|most| usize::try_from(most).ok()) {
            Some(most) => ConnectionLimits::default().per_address(most).per_loopback_address(most),
            None => ConnectionLimits::default(),
        }
    }

    fn certificate(&self) -> Result<Option<ServerCertificate>, Failure> {
        let (Some(chain), Some(key)) = (&self.tls_certificate, &self.tls_key) else { return Ok(None) };
        let read = |flag: &str, path: &Path| {
            argument::read_certificates(path)
                .map_err(|error| Failure::misuse(format!("{flag} {}: {error}", path.display())))
        };
        let certificate = ServerCertificate::from_pem(&read("--tls-certificate", chain)?, &read("--tls-key", key)?);
        certificate.map(Some).map_err(|error| {
            let (flag, path) = if matches!(error, CertificateError::Chain(_)) {
                ("--tls-certificate", chain)
            } else {
                ("--tls-key", key)
            };
            Failure::misuse(format!("{flag} {}: {error}", path.display()))
        })
    }

    fn decoder(&self) -> Result<Option<DecoderPackage>, Failure> {
        let Some(folder) = &self.wasm_package else {
            let program = std::env::current_exe().ok();
            let beside = program.and_then(|program| Some(program.parent()?.parent()?.join("pg-wasm")));
            return Ok(beside.and_then(|folder| DecoderPackage::read(&folder).ok()));
        };
        let read = DecoderPackage::read(folder).map(Some);
        read.map_err(|error| Failure::misuse(format!("{} contains no decoder: {error}", folder.display())))
    }
}

pub(crate) fn run(mut arguments: Arguments, json: bool) -> Result<Exit, Failure> {
    match arguments.remote.take() {
        Some(remote) => remote::run(remote, json),
        None => serve(arguments, json),
    }
}

fn serve(arguments: Arguments, json: bool) -> Result<Exit, Failure> {
    let talk = log::Talk::start(arguments.log_format)?;
    let served = serve_telling(&arguments, json, &talk);
    let served = served.map_err(|failure| talk.failed(failure));
    talk.end();
    served
}

fn serve_telling(arguments: &Arguments, json: bool, talk: &log::Talk) -> Result<Exit, Failure> {
    let merchants = match &arguments.config {
        Some(path) => config_file::read_merchants(path).and_then(Merchants::with).map_err(|error| match error {
            // This error already names the file.
            ConfigFileError::Io(..) => Failure::misuse(error.to_string()),
            _ => Failure::misuse(format!("{}: {error}", path.display())),
        })?,
        None => Merchants::default(),
    };
    if !arguments.listen.ip().is_loopback() {
        talk.warn("other machines can reach this sandbox, and its credentials are public");
    }
    if arguments.private_networks {
        talk.warn("every client of this sandbox can make it send callbacks to private networks");
    }
    let settings = arguments.settings(merchants.clone())?.log(talk.log());
    let public_url = settings.public_url.clone();
    let (store, records) = store::chosen(arguments)?;
    let config = Config::default().listen(arguments.listen).store(store).settings(settings);
    open_files::allow_many();
    super::block_on(async {
        let mut interrupted = Interrupted::listen()?;
        let server = tokio::select! {
            started = Server::start(config) => started.map_err(|error| failure(&error))?,
            () = interrupted.next() => return Err(Failure::new(Exit::NotReachable, INTERRUPTED_AT_THE_START)),
        };
        let config = arguments.config.as_deref();
        let up =
            Up { server: &server, merchants: &merchants, config, records: &records, public_url: public_url.as_deref() };
        talk.tell("started", json!({ "baseUrl": up.base_url(), "store": records }), None);
        if json {
            output::json(&up.facts())?;
        } else {
            output::page(&up.page(Paint::of_stdout()))?;
        }
        let watched = async {
            talk.store_failed(&lost(&server.store_failed().await, Path::new(&records)));
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = interrupted.wait() => {}
            () = watched => {}
        }
        let text = "pg: stopping: answering pending requests, then closing the store";
        talk.tell("stopping", json!({}), Some(text));
        server.shutdown().await.map_err(|error| unclosed(&error, Path::new(&records)))?;
        talk.tell("stopped", json!({}), None);
        Ok(Exit::Done)
    })
}

const INTERRUPTED_AT_THE_START: &str = "interrupted while the store was opened: no request was served; if --reseal was given, start it again with the same keys";

/// Whether the arguments, which may be invalid, ask for a log in JSON.
pub(crate) fn logs_as_json(arguments: impl Iterator<Item = OsString>) -> bool {
    let arguments: Vec<OsString> = arguments.collect();
    arguments.windows(2).any(|pair| pair[0] == "--log-format" && pair[1] == "json")
        || arguments.iter().any(|argument| argument == "--log-format=json")
}

/// Logs that the arguments are invalid.
pub(crate) fn log_misuse(message: &str) {
    if let Ok(talk) = log::Talk::start(log::Format::Json) {
        talk.failed(Failure::misuse(message));
        talk.end();
    }
}

/// Returns the remedy for a sandbox that does not start.
pub(super) fn failure(error: &StartError) -> Failure {
    let advice = match error {
        StartError::Address(..) => "; choose another with --listen; port 0 picks a free one",
        StartError::Store(_, OpenError::Store(StoreError::Full)) => "; make space on it",
        StartError::Store(path, problem) if may_be_another(path, problem) => "; choose another with --store",
        StartError::CertificateAuthority(..) => "; give an authority's certificate with --certificate-authority",
        _ => "",
    };
    let exit = match error {
        #[cfg(feature = "postgres")]
        StartError::Database(_, OpenError::Store(StoreError::Unreachable(_))) => Exit::NotReachable,
        _ => Exit::Misuse,
    };
    Failure::new(exit, format!("{error}{advice}"))
}

/// Whether another store is the remedy. It is none for a store that exists and may become usable: in another one, used references
/// would pay again.
fn may_be_another(path: &Path, problem: &OpenError) -> bool {
    match problem {
        OpenError::Store(StoreError::InUse | StoreError::Foreign) => true,
        OpenError::KeyFile(KeyFileError::Io(..)) | OpenError::Store(StoreError::Engine(_)) => !path.exists(),
        _ => false,
    }
}

/// The failure of a sandbox whose store could not be closed.
pub(super) fn unclosed(error: &StoreError, store: &Path) -> Failure {
    if matches!(error, StoreError::Unsynced(_)) {
        return Failure::new(Exit::Unknown, lost(error, store));
    }
    let store = store.display().to_string();
    let store = output::harmless(&store);
    let text = format!(
        "cannot close the store {store}: {error}. Nothing is lost, but its logs (-wal and -redo) still belong to it: copy none of \
         these files alone; when the disk has space, start and stop the sandbox again"
    );
    Failure::new(Exit::Unknown, text)
}

/// What is to be said of a disk that has failed.
fn lost(error: &StoreError, store: &Path) -> String {
    let store = store.display().to_string();
    let store = output::harmless(&store);
    format!(
        "the store {store} has failed: {error}. The outcome of the requests that were in progress is unknown: their connections were \
         closed; no request is executed until the next start"
    )
}

struct Up<'a> {
    server: &'a Server,
    merchants: &'a Merchants,
    /// The file with additional accounts.
    config: Option<&'a Path>,
    /// A description of the store.
    records: &'a str,
    public_url: Option<&'a str>,
}

/// The details with which a program can use the sandbox.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Facts<'a> {
    base_url: String,
    enterprise_base_url: String,
    /// The URL for customers' browsers, if it differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    public_url: Option<&'a str>,
    merchants: Value,
}

impl Up<'_> {
    /// Returns the URL by which this machine reaches it, even when bound to 0.0.0.0.
    fn base_url(&self) -> String {
        listen_address::from_here(&self.server.base_url(), self.server.address())
    }

    fn enterprise_base_url(&self) -> String {
        listen_address::from_here(&self.server.enterprise_base_url(), self.server.address())
    }

    fn facts(&self) -> Facts<'_> {
        Facts {
            base_url: self.base_url(),
            enterprise_base_url: self.enterprise_base_url(),
            public_url: self.public_url,
            merchants: self.merchants.view(),
        }
    }

    /// Prints comments, and exports for the first account, so that the output can be pasted into a shell.
    fn page(&self, paint: Paint) -> String {
        let base = self.base_url();
        let mut lines = vec![
            paint.bold("# The sandbox is up. Ctrl-C ends it."),
            format!("# Records are {}.", self.records),
            format!("# Look at {base}/_sandbox/ in a browser; /_sandbox/cards has card numbers to try."),
            format!("export {}={base}", Setting::BaseUrl.variable()),
            format!("export {}={}", Setting::EnterpriseBaseUrl.variable(), self.enterprise_base_url()),
        ];
        if let Some(public) = self.public_url {
            lines.insert(2, format!("# Customers' browsers are sent to {public}."));
        }
        for (at, merchant) in self.merchants.view().as_array().into_iter().flatten().enumerate() {
            lines.push(String::new());
            lines.push(paint.bold(&format!("# Account {}: {}", text(&merchant["name"]), abilities(merchant))));
            if merchant[Setting::ApiKey.member()].is_null() {
                let file = self.config.map_or_else(|| "the config file".into(), |file| file.display().to_string());
                lines.push(format!("# Its credentials are in {}.", output::harmless(&file)));
            }
            // Exports one account; the others are commented out.
            let prefix = if at == 0 { "" } else { "# " };
            for setting in Setting::ALL {
                if let Some(value) = setting_of(merchant, setting) {
                    lines.push(format!("{prefix}export {}={}", setting.variable(), word(value)));
                }
            }
        }
        lines.push(String::new());
        lines
            .push(paint.dim("# Then, in that shell: pg call session/initiate errorPageUrl=https://shop.example/error"));
        lines.join("\n")
    }
}

/// Returns a short list of an account's permissions.
pub(crate) fn abilities(merchant: &Value) -> String {
    let mut said: Vec<String> =
        vec![merchant["currencies"].as_array().into_iter().flatten().map(text).collect::<Vec<_>>().join(" ")];
    for (member, name) in [("rawCards", "raw card numbers"), ("accountUpdater", "account updater")] {
        let allowed = merchant[member].as_bool().unwrap_or_default();
        said.push(if allowed { name.to_owned() } else { format!("no {name}") });
    }
    if let Some(limit) = merchant["requestsPerMinute"].as_u64() {
        said.push(format!("{limit} requests a minute"));
    }
    said.join(", ")
}

/// Returns the value of an account's setting, unless the account may not do what it is for.
pub(crate) fn setting_of(merchant: &Value, setting: Setting) -> Option<&str> {
    let is_useless = setting == Setting::AccountUpdaterKey && merchant["accountUpdater"] == false;
    merchant[setting.member()].as_str().filter(|_| !is_useless)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
