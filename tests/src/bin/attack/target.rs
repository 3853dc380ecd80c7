//! Targets of attacks: separate processes.

use std::{
    io::{BufRead, BufReader, Write, stdout},
    net::SocketAddr,
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::Arc,
};

use pg_hyper::{ConnectionLimits, EndpointPurpose, Receiver, ReceiverLimits, proto::BaseUrl, serve_guarded};
use rustls::{ClientConfig, RootCertStore, crypto::ring, pki_types::CertificateDer};
use tokio_rustls::TlsConnector;

use crate::{
    Result,
    wire::{self, Reply},
};

/// The argument that makes this program a receiver.
pub(crate) const RECEIVER: &str = "--be-a-receiver";
/// The argument that makes this program a guarded server of a router of axum with a receiver in it.
pub(crate) const NESTED: &str = "--be-a-nested-receiver";

/// Number of orders that attackers have begun.
const HOSTILE_ORDERS: usize = 16;

/// The command to attack.
pub(crate) struct Program(PathBuf);

/// A process that is attacked, ended with this value.
pub(crate) struct Target {
    child: Child,
    pub(crate) address: SocketAddr,
    /// The path at which an honest client asks for something.
    pub(crate) path: String,
    /// What attackers can ask for without the secrets of others.
    pub(crate) hostile_paths: Vec<String>,
    /// The TLS of an honest client, if the target speaks TLS.
    pub(crate) tls: Option<TlsConnector>,
}

impl Program {
    pub(crate) fn new(path: &str) -> Self {
        Self(PathBuf::from(path))
    }

    /// The command with an empty environment.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.0);
        command.env_clear().args(arguments).stdin(Stdio::null());
        command
    }

    /// A sandbox on a free port, with its records in memory.
    pub(crate) fn sandbox(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Result<Target> {
        let mut command = with_many_files(self.0.as_os_str());
        command.env_clear().envs(environment.iter().copied());
        command.args(["sandbox", "--listen", "127.0.0.1:0", "--json"]).args(arguments);
        let (child, line) = first_line(command)?;
        let facts: serde_json::Value = serde_json::from_str(&line)?;
        let base = facts["baseUrl"].as_str().unwrap_or_default();
        let address = base.trim_start_matches("http://").trim_start_matches("https://").parse()?;
        let path = "/v3/transaction/auth/json".to_owned();
        Ok(Target { child, address, hostile_paths: vec![path.clone()], path, tls: None })
    }

    /// The same with a certificate: it speaks TLS alone.
    pub(crate) fn secure_sandbox(&self) -> Result<Target> {
        let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()])?;
        // It is read at the start and not again.
        let folder = tempfile::tempdir()?;
        let [certificate, key] =
            ["server.pem", "server.key"].map(|name| folder.path().join(name).display().to_string());
        std::fs::write(&certificate, made.cert.pem())?;
        std::fs::write(&key, made.signing_key.serialize_pem())?;
        let mut target = self.sandbox(&["--tls-certificate", &certificate, "--tls-key", &key], &[])?;
        target.tls = Some(trusting(made.cert.der().clone())?);
        Ok(target)
    }
}

impl Target {
    /// A receiver of `pg-hyper`, with its own port or within another server, with a URL for an honest customer's
    /// return, and those of attackers.
    pub(crate) fn receiver(which: &str) -> Result<Self> {
        let mut command = with_many_files(std::env::current_exe()?.as_os_str());
        command.arg(which);
        let (child, line) = first_line(command)?;
        let addresses = line.trim().split(' ').map(|url| url.trim_start_matches("http://").split_once('/'));
        let mut addresses = addresses.map(|parts| parts.ok_or("no address"));
        let (address, path) = addresses.next().ok_or("no address")??;
        let hostile_paths =
            addresses.map(|parts| parts.map(|(_, path)| format!("/{path}"))).collect::<std::result::Result<_, _>>()?;
        Ok(Self { child, address: address.parse()?, path: format!("/{path}"), hostile_paths, tls: None })
    }

    /// Sends one request and reads the reply.
    pub(crate) async fn ask(&self, line: &str, headers: &[(&str, &str)], body: &str) -> Result<Reply> {
        wire::send(self.address, &wire::request(line, headers, body)).await
    }

    /// The most memory that it has had so far, in megabytes.
    pub(crate) fn peak_memory(&self) -> Result<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM in /proc")?;
        let kibibytes: f64 = line.trim().trim_end_matches("kB").trim().parse()?;
        Ok(kibibytes / 1024.0)
    }
}

fn trusting(certificate: CertificateDer<'static>) -> Result<TlsConnector> {
    let mut roots = RootCertStore::empty();
    roots.add(certificate)?;
    let client = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(client)))
}

impl Drop for Target {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// A program that may open as many files as the system allows, so that this limit is not measured.
fn with_many_files(program: &std::ffi::OsStr) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "ulimit -n $(ulimit -Hn) && exec \"$0\" \"$@\""]).arg(program);
    command
}

fn first_line(mut command: Command) -> Result<(Child, String)> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let mut line = String::new();
    let out = child.stdout.take().ok_or("no standard output")?;
    BufReader::new(out).read_line(&mut line)?;
    if line.is_empty() { Err("the target did not start".into()) } else { Ok((child, line)) }
}

/// Runs a receiver in this process until it is ended.
pub(crate) async fn receive() -> Result<()> {
    let mut receiver = Receiver::bind("127.0.0.1:0".parse()?).await?;
    tell_addresses(&receiver)?;
    while receiver.next().await.is_some() {}
    Ok(())
}

/// Every order has its own address, which its customer knows: attackers have theirs, and not those of others.
fn tell_addresses(receiver: &Receiver) -> Result<()> {
    let endpoints = (0..=HOSTILE_ORDERS).map(|_| receiver.open(EndpointPurpose::Challenge));
    let urls = endpoints.map(|endpoint| Ok(endpoint?.url().to_owned())).collect::<Result<Vec<String>>>()?;
    println!("{}", urls.join(" "));
    stdout().flush().map_err(Into::into)
}

/// Runs a receiver in a router of axum in this process, behind the guard of `pg-hyper`, until it is ended.
pub(crate) async fn receive_nested() -> Result<()> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let base = format!("http://{}/pg", listener.local_addr()?);
    let mut receiver = Receiver::nested(&BaseUrl::parse(&base)?, ReceiverLimits::default());
    tell_addresses(&receiver)?;
    let shop = axum::Router::new().nest_service("/pg", receiver.service());
    tokio::spawn(async move { while receiver.next().await.is_some() {} });
    serve_guarded(listener, ConnectionLimits::default(), shop).await;
    Ok(())
}
