//! Hostile connections, in a separate process at the lowest priority, since real attackers have their own processors.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    process::{Child, Command, Stdio},
    sync::Arc,
    time::Duration,
};

use rustls::{ClientConfig, ClientConnection, RootCertStore, crypto::ring, pki_types::ServerName};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::JoinSet,
    time::sleep,
};

use crate::{Result, wire};

/// The argument that makes this program a crowd of attackers.
pub(crate) const HOSTILE: &str = "--be-hostile";

/// What a hostile connection does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Idle,
    OneByte,
    Drip,
    Body,
    NeverRead,
    Pipeline,
    SlowReader,
    Reopened,
    HalfHello,
    Hellos,
}

/// Kinds against targets that speak HTTP.
pub(crate) const KINDS: [Kind; 8] = [
    Kind::Idle,
    Kind::OneByte,
    Kind::Drip,
    Kind::Body,
    Kind::NeverRead,
    Kind::Pipeline,
    Kind::SlowReader,
    Kind::Reopened,
];

/// Kinds against receivers, which have no large page.
pub(crate) const FOR_RECEIVERS: [Kind; 7] =
    [Kind::Idle, Kind::OneByte, Kind::Drip, Kind::Body, Kind::NeverRead, Kind::Pipeline, Kind::Reopened];

/// Kinds against targets that speak TLS.
pub(crate) const TLS_KINDS: [Kind; 4] = [Kind::Idle, Kind::HalfHello, Kind::Hellos, Kind::Reopened];

impl Kind {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle connections",
            Self::OneByte => "one byte of a request, then silence",
            Self::Drip => "heads that drip in, a byte a second",
            Self::Body => "bodies one byte short of their length and the limit",
            Self::NeverRead => "a request every tenth of a second, replies never read",
            Self::Pipeline => "requests pipelined without end, replies never read",
            Self::SlowReader => "the largest page asked for, read a byte a second",
            Self::Reopened => "idle connections, opened again a second after they were closed",
            Self::HalfHello => "half of a first message of a handshake, then silence",
            Self::Hellos => "first messages of handshakes, answered and then abandoned, opened again when closed",
        }
    }
}

/// Many connections of one kind.
pub(crate) struct Crowd {
    pub(crate) kind: Kind,
    pub(crate) to: SocketAddr,
    /// Whether each connection has its own address.
    pub(crate) many: bool,
    /// What they ask for, in turns.
    pub(crate) paths: Vec<String>,
    pub(crate) is_sandbox: bool,
    pub(crate) connections: usize,
}

/// Attackers at work, ended with this value.
pub(crate) struct AtWork(Child);

impl Drop for AtWork {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

impl Crowd {
    /// Starts the attackers in a separate process.
    pub(crate) fn start(&self) -> Result<AtWork> {
        let mut command = Command::new("nice");
        command.args(["-n", "19"]).arg(std::env::current_exe()?).arg(HOSTILE);
        command.arg(format!("{:?}", self.kind)).arg(self.to.to_string()).arg(self.many.to_string());
        command.arg(self.paths.join(",")).arg(self.is_sandbox.to_string()).arg(self.connections.to_string());
        Ok(AtWork(command.stdin(Stdio::null()).spawn()?))
    }

    /// The arguments from [`Crowd::start`] for another process.
    pub(crate) fn told(arguments: &[String]) -> Result<Self> {
        let [kind, to, many, paths, is_sandbox, connections] = arguments else { return Err("six arguments".into()) };
        let kind =
            KINDS.into_iter().chain(TLS_KINDS).find(|known| format!("{known:?}") == *kind).ok_or("no such kind")?;
        Ok(Self {
            kind,
            to: to.parse()?,
            many: many.parse()?,
            paths: paths.split(',').map(str::to_owned).collect(),
            is_sandbox: is_sandbox.parse()?,
            connections: connections.parse()?,
        })
    }

    /// Attacks until every connection was closed, or this process is ended.
    pub(crate) async fn attack(self) {
        let mut attackers = JoinSet::new();
        for number in 0..self.connections {
            let hostile = Hostile {
                kind: self.kind,
                to: self.to,
                from: source(number, self.many),
                path: self.path(number),
                is_sandbox: self.is_sandbox,
            };
            attackers.spawn(hostile.attack());
            if number % 64 == 0 {
                tokio::task::yield_now().await;
            }
        }
        while attackers.join_next().await.is_some() {}
    }

    /// What a connection asks for. Half of those that pipeline requests at the sandbox ask whether it is alive, which it
    /// answers without its queue.
    fn path(&self, number: usize) -> String {
        if self.is_sandbox && self.kind == Kind::Pipeline && number % 2 == 1 {
            return "/_sandbox/health/live".to_owned();
        }
        self.paths[number % self.paths.len()].clone()
    }
}

/// One address, or another one for every connection: all of 127.0.0.0/8 is this machine.
fn source(number: usize, many: bool) -> Option<SocketAddr> {
    let number = u32::try_from(number).ok().filter(|_| many)?;
    Some(SocketAddr::new(IpAddr::V4(Ipv4Addr::from(0x7f01_0001 + number)), 0))
}

/// The first message of a handshake, which makes the server sign.
fn hello() -> Result<Vec<u8>> {
    let client = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth();
    let mut client = ClientConnection::new(Arc::new(client), ServerName::from(IpAddr::V4(Ipv4Addr::LOCALHOST)))?;
    let mut hello = Vec::new();
    client.write_tls(&mut hello)?;
    Ok(hello)
}

struct Hostile {
    kind: Kind,
    to: SocketAddr,
    from: Option<SocketAddr>,
    path: String,
    is_sandbox: bool,
}

/// The limit of bodies, of the sandbox and of the receiver.
const BODY_LIMITS: (usize, usize) = (1 << 20, 4 << 20);

impl Hostile {
    /// Opens the connection and behaves as its kind until it is closed; a reopened one begins again.
    async fn attack(self) {
        loop {
            // A connection that the server resets has failed, which is all that there is to it.
            drop(self.once().await);
            if !matches!(self.kind, Kind::Reopened | Kind::Hellos) {
                return;
            }
            sleep(Duration::from_secs(1)).await;
        }
    }

    async fn once(&self) -> Result<()> {
        let mut stream = wire::connect(self.to, self.from).await?;
        match self.kind {
            Kind::Idle | Kind::Reopened => {}
            Kind::HalfHello => stream.write_all(&hello()?[..100]).await?,
            Kind::Hellos => stream.write_all(&hello()?).await?,
            Kind::OneByte => stream.write_all(b"P").await?,
            Kind::Drip => {
                stream
                    .write_all(format!("POST {} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Drip: ", self.path).as_bytes())
                    .await?;
                loop {
                    sleep(Duration::from_secs(1)).await;
                    stream.write_all(b"x").await?;
                }
            }
            Kind::Body => self.nearly_all(&mut stream).await?,
            Kind::NeverRead => loop {
                stream.write_all(self.harmless().as_bytes()).await?;
                sleep(Duration::from_millis(100)).await;
            },
            Kind::Pipeline => {
                let many = self.harmless().repeat(64);
                loop {
                    stream.write_all(many.as_bytes()).await?;
                }
            }
            Kind::SlowReader => {
                stream.write_all(b"GET /_sandbox/pages/assumptions HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").await?;
                loop {
                    let _ = stream.read_u8().await?;
                    sleep(Duration::from_secs(1)).await;
                }
            }
        }
        // Until the server closes it.
        let _ = stream.read(&mut [0; 16]).await?;
        Ok(())
    }

    async fn nearly_all(&self, stream: &mut TcpStream) -> Result<()> {
        let length = if self.is_sandbox { BODY_LIMITS.0 } else { BODY_LIMITS.1 };
        let head = format!("POST {} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {length}\r\n\r\n", self.path);
        stream.write_all(head.as_bytes()).await?;
        let mut left = length - 1;
        while left > 0 {
            let piece = left.min(64 << 10);
            stream.write_all(&vec![b'a'; piece]).await?;
            left -= piece;
        }
        Ok(())
    }

    /// A request that needs no credentials.
    fn harmless(&self) -> String {
        format!("GET {} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", self.path)
    }
}
