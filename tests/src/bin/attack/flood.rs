//! Thousands of connections that want to keep others out.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::JoinSet,
    time::sleep,
};

use crate::{
    Result, Wanted, payment,
    row::{Row, Table},
    target::Target,
    wire,
};

/// What a hostile connection does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Idle,
    OneByte,
    Drip,
    Body,
    NeverRead,
    Pipeline,
    SlowReader,
    Reopened,
}

const KINDS: [Kind; 8] = [
    Kind::Idle,
    Kind::OneByte,
    Kind::Drip,
    Kind::Body,
    Kind::NeverRead,
    Kind::Pipeline,
    Kind::SlowReader,
    Kind::Reopened,
];

impl Kind {
    const fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle connections",
            Self::OneByte => "one byte of a request, then silence",
            Self::Drip => "heads that drip in, a byte a second",
            Self::Body => "bodies one byte short of their length and the limit",
            Self::NeverRead => "a request every tenth of a second, replies never read",
            Self::Pipeline => "requests pipelined without end, replies never read",
            Self::SlowReader => "the largest page asked for, read a byte a second",
            Self::Reopened => "idle connections, opened again a second after they were closed",
        }
    }

    /// As it was found.
    const fn before(self, is_sandbox: bool) -> &'static str {
        match (self, is_sandbox) {
            (Self::Idle, true) => "1,024 of them: 30 s and more",
            (Self::Idle, false) => "64 of them: 30 s and more",
            (Self::Body, true) => "1,000 of them: 1.5 GB",
            (Self::NeverRead | Self::Pipeline, _) => "they keep their place for minutes",
            _ => "not measured",
        }
    }
}

/// The most that an honest request may wait longer.
const MOST_DELAY: Duration = Duration::from_millis(100);
/// The most memory, in megabytes.
const MOST_MEMORY: f64 = 100.0;
/// How long the attackers are left to themselves before honest requests are measured.
const SETTLE: Duration = Duration::from_secs(2);

pub(crate) async fn run(wanted: &Wanted, table: &mut Table<'_>) -> Result<()> {
    for is_sandbox in [true, false] {
        for many in [false, true] {
            for kind in KINDS {
                let whom = if is_sandbox { "sandbox" } else { "receiver" };
                let from = if many { "from many addresses" } else { "from one address" };
                let attack = format!("{whom}: {} {}, {from}", wanted.connections, kind.name());
                // A receiver has no large page.
                if table.wants(&attack) && (is_sandbox || kind != Kind::SlowReader) {
                    let target = if is_sandbox { wanted.program.sandbox(&[], &[])? } else { Target::receiver()? };
                    let row = attacked(&target, is_sandbox, kind, many, wanted.connections, attack).await?;
                    table.add(row);
                }
            }
        }
    }
    capped(wanted, table).await
}

/// The cap per address, which loopback addresses have only when it is asked for.
async fn capped(wanted: &Wanted, table: &mut Table<'_>) -> Result<()> {
    let attack =
        format!("sandbox: {} idle connections, from one address, at most 256 of an address", wanted.connections);
    if !table.wants(&attack) {
        return Ok(());
    }
    let target = wanted.program.sandbox(&["--connections-per-address", "256"], &[])?;
    let row = attacked(&target, true, Kind::Idle, true, wanted.connections, attack).await?;
    table.add(row);
    Ok(())
}

async fn attacked(
    target: &Target,
    is_sandbox: bool,
    kind: Kind,
    many: bool,
    connections: usize,
    attack: String,
) -> Result<Row> {
    let quiet = payment::measure(target, is_sandbox).await?.median();
    let mut attackers = JoinSet::new();
    for number in 0..connections {
        let hostile =
            Hostile { kind, to: target.address, from: source(number, many), path: target.path.clone(), is_sandbox };
        attackers.spawn(hostile.attack());
        if number % 64 == 0 {
            tokio::task::yield_now().await;
        }
    }
    sleep(SETTLE).await;
    let times = payment::measure(target, is_sandbox).await?;
    let memory = target.peak_memory()?;
    attackers.shutdown().await;
    let more = |time: Duration| time.saturating_sub(quiet).as_secs_f64() * 1e3;
    let kept = times.slowest().saturating_sub(quiet) < MOST_DELAY && memory < MOST_MEMORY;
    let now = format!("{:.1} ms more (slowest {:.1} ms), {memory:.0} MB", more(times.median()), more(times.slowest()),);
    Ok(Row { attack, before: kind.before(is_sandbox), now, bar: "slowest < 100 ms more, < 100 MB", kept })
}

/// One address, or another one for every connection: all of 127.0.0.0/8 is this machine.
fn source(number: usize, many: bool) -> Option<SocketAddr> {
    let number = u32::try_from(number).ok().filter(|_| many)?;
    Some(SocketAddr::new(IpAddr::V4(Ipv4Addr::from(0x7f01_0001 + number)), 0))
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
    /// Opens the connection and does what its kind does until it is closed; a reopened one begins again.
    async fn attack(self) {
        loop {
            // A connection that the server resets has failed, which is all that there is to it.
            drop(self.once().await);
            if self.kind != Kind::Reopened {
                return;
            }
            sleep(Duration::from_secs(1)).await;
        }
    }

    async fn once(&self) -> Result<()> {
        let mut stream = wire::connect(self.to, self.from).await?;
        match self.kind {
            Kind::Idle | Kind::Reopened => {}
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

    /// A request that anybody may make.
    fn harmless(&self) -> String {
        format!("GET {} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", self.path)
    }
}
