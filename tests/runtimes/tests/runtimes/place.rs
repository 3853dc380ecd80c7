//! A listening sandbox, with and without TLS, and the programs that the tests run against it.

use std::{
    path::PathBuf,
    process::{Output, Stdio},
    sync::Arc,
};

use bytes::Bytes;
use pg_hyper::{
    Client, Transport,
    proto::{
        Account, BaseUrl, Credentials,
        model::{Transaction, TransactionLookup},
    },
};
use pg_sandbox::{Config, Server, Settings};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::{ServerConfig, crypto::ring, pki_types::PrivatePkcs8KeyDer};
use tempfile::TempDir;
use tokio::{
    io::{AsyncWriteExt as _, copy, split},
    net::{TcpListener, TcpStream},
    process::Command,
};
use tokio_rustls::TlsAcceptor;

pub(crate) struct Place {
    server: Server,
    pub(crate) folder: TempDir,
    client: Client,
}

/// How a server ends a connection after its last reply.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ending {
    Closed,
    /// Without the end of TLS.
    Cut,
    /// Not before the client does.
    Kept,
}

/// The file of the certificate authority, and the address of a server with its certificate.
pub(crate) struct Protected {
    pub(crate) authority: PathBuf,
    pub(crate) address: String,
}

impl Place {
    pub(crate) async fn new() -> Self {
        let server = Server::start(Config::default()).await.unwrap();
        let [api_key, password, sha_key] = credentials();
        let account = Account::new(
            BaseUrl::parse(&server.base_url()).unwrap(),
            Credentials::new(api_key.as_str(), password.as_str(), sha_key.as_str()),
        )
        .with_dialect(pg_sandbox::dialect());
        Self { server, folder: tempfile::tempdir().unwrap(), client: Client::new(account).unwrap() }
    }

    pub(crate) fn address(&self) -> String {
        self.server.base_url()
    }

    /// A program of this package with an account and an order in its environment.
    pub(crate) fn program(&self, program: &str, address: &str, order: &str) -> Command {
        let [api_key, password, sha_key] = credentials();
        let [enterprise_key, enterprise_password] = enterprise_credentials();
        let mut command = Command::new(program);
        command
            .env("PG_BASE_URL", address)
            .env("PG_API_KEY", api_key)
            .env("PG_API_PASSWORD", password)
            .env("PG_SHA_KEY", sha_key)
            .env("PG_ENTERPRISE_BASE_URL", format!("{address}/enterprise"))
            .env("PG_ENTERPRISE_API_KEY", enterprise_key)
            .env("PG_ENTERPRISE_API_PASSWORD", enterprise_password)
            .env("PG_ORDER", order)
            .env("PG_DIALECT", concat!(env!("CARGO_MANIFEST_DIR"), "/../../crates/pg-sandbox/dialects/sandbox.toml"))
            .env_remove("PG_CA_FILE")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        command
    }

    pub(crate) async fn fault(&self, kind: &str) {
        self.fault_of("transaction/auth", kind).await;
    }

    pub(crate) async fn fault_of(&self, method: &str, kind: &str) {
        let fault = format!(r#"{{"method": "{method}", "kind": "{kind}"}}"#);
        self.control(http::Method::POST, fault).await;
    }

    /// Delays the next reply to a payment.
    pub(crate) async fn delay(&self, milliseconds: u32) {
        let fault = format!(r#"{{"method": "transaction/auth", "kind": "delay", "milliseconds": {milliseconds}}}"#);
        self.control(http::Method::POST, fault).await;
    }

    /// Loses the replies to all lookups.
    pub(crate) async fn no_lookups(&self) {
        let fault = r#"{"method": "transaction/lookup", "kind": "drop-reply", "times": 1000}"#;
        self.control(http::Method::POST, fault.to_owned()).await;
    }

    pub(crate) async fn no_more_faults(&self) {
        self.control(http::Method::DELETE, String::new()).await;
    }

    /// Pays on the hosted page as a customer's browser does: opens it, then submits its form. Returns the `trans_key` in the
    /// address of the return.
    pub(crate) async fn pay_on_page(&self, url: &str) -> String {
        let page = http::Request::get(url).body(Bytes::new()).unwrap();
        assert_eq!(self.client.transport().send(page).await.unwrap().status(), 200);
        let fields =
            "cardNumber=4111111111111111&cardExpiryMonth=12&cardExpiryYear=2049&cardCV2=987&cardholderName=A+Holder";
        let form = http::Request::post(url).header("content-type", "application/x-www-form-urlencoded");
        let reply = self.client.transport().send(form.body(fields.into()).unwrap()).await.unwrap();
        let location = reply.headers()["location"].to_str().unwrap();
        location.split_once("trans_key=").unwrap().1.split('&').next().unwrap().to_owned()
    }

    async fn control(&self, method: http::Method, body: String) {
        let address = format!("{}/_sandbox/faults", self.address());
        let request = http::Request::builder().method(method).uri(address).body(body.into()).unwrap();
        let reply = self.client.transport().send(request).await.unwrap();
        assert!(reply.status().is_success(), "{:?}", reply.body());
    }

    /// Every payment of an order in the service's ledger.
    pub(crate) async fn ledger(&self, order: &str) -> Vec<Transaction> {
        self.client.call(&TransactionLookup::new().unique_merchant_reference(order)).await.unwrap().transactions
    }

    /// The same sandbox behind TLS, for `localhost`, with a private certificate authority.
    pub(crate) async fn protected(&self, ending: Ending) -> Protected {
        let mut params = CertificateParams::new([]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let key = KeyPair::generate().unwrap();
        let certificate =
            CertificateParams::new(["localhost".to_owned()]).unwrap().signed_by(&key, &authority).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], PrivatePkcs8KeyDer::from(key.serialize_der()).into())
            .unwrap();
        let file = self.folder.path().join("authority.pem");
        std::fs::write(&file, authority.pem()).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("https://localhost:{}", listener.local_addr().unwrap().port());
        tokio::spawn(pass_on(listener, TlsAcceptor::from(Arc::new(config)), self.server.address(), ending));
        Protected { authority: file, address }
    }
}

async fn pass_on(listener: TcpListener, tls: TlsAcceptor, sandbox: std::net::SocketAddr, ending: Ending) {
    while let Ok((stream, _)) = listener.accept().await {
        let tls = tls.clone();
        tokio::spawn(async move {
            // A client that does not trust the authority closes the connection.
            let Ok(outside) = tls.accept(stream).await else { return };
            let (mut requests, mut replies) = split(outside);
            let (mut from, mut to) = TcpStream::connect(sandbox).await.unwrap().into_split();
            let sent = tokio::spawn(async move { copy(&mut requests, &mut to).await });
            // The client may have closed the connection.
            let _ = copy(&mut from, &mut replies).await;
            let _ = replies.flush().await;
            match ending {
                Ending::Closed => drop(replies.shutdown().await),
                Ending::Kept => drop(sent.await),
                Ending::Cut => sent.abort(),
            }
        });
    }
}

/// The stdout and stderr of a program that must have succeeded.
pub(crate) fn printed(output: Output) -> (String, String) {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let (out, err) = (text(output.stdout), text(output.stderr));
    assert!(output.status.success(), "{}: {out}{err}", output.status);
    (out, err)
}

fn enterprise_credentials() -> [String; 2] {
    let settings = Settings::default();
    let own = settings.merchants.by_name("main").unwrap().enterprise.as_ref().unwrap();
    [&own.api_key, &own.api_password].map(|secret| secret.expose().to_owned())
}

fn credentials() -> [String; 3] {
    let settings = Settings::default();
    let main = settings.merchants.by_name("main").unwrap();
    [&main.api_key, &main.api_password, &main.sha_key].map(|secret| secret.expose().to_owned())
}
