//! The requests of an honest client during an attack.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use pg_model::{ApiRequest, Auth, CardDetails, Currency, Item, Order};
use pg_tests::shop::account_at;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    time::timeout,
};
use tokio_rustls::TlsConnector;

use crate::{
    Result,
    target::Target,
    wire::{self, PATIENCE, Reply},
};

/// Returns the body of a signed request of an account that every sandbox has.
pub(crate) fn signed<M: ApiRequest>(address: SocketAddr, method: &M) -> Result<String> {
    let request = account_at(&format!("http://{address}"), "main").request(method)?;
    Ok(String::from_utf8(request.body().to_vec())?)
}

/// The form of a payment.
pub(crate) fn form(address: SocketAddr) -> Result<String> {
    let order = Order::new(Currency::GBP).item(Item::new("Tea", 499));
    signed(address, &Auth::new(CardDetails::new("4000000000001000", "12", "49"), order))
}

/// How long honest requests take, each on a new connection.
pub(crate) struct Times(Vec<Duration>);

impl Times {
    pub(crate) fn median(&self) -> Duration {
        self.0[self.0.len() / 2]
    }

    pub(crate) fn slowest(&self) -> Duration {
        self.0[self.0.len() - 1]
    }
}

/// The number of measured requests.
const TIMES: usize = 21;
/// The pause between two of them.
const PAUSE: Duration = Duration::from_millis(20);

/// Measures honest requests: payments at a sandbox, customers' returns at a receiver.
///
/// Runs in a separate thread, since the attackers keep this one busy.
pub(crate) async fn measure(target: &Target, is_sandbox: bool) -> Result<Times> {
    let (host, path, tls) = (target.address, target.path.clone(), target.tls.clone());
    tokio::task::spawn_blocking(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(ask_for(host, &path, is_sandbox, tls.as_ref()))
    })
    .await?
}

async fn ask_for(host: SocketAddr, path: &str, is_sandbox: bool, tls: Option<&TlsConnector>) -> Result<Times> {
    let bytes = if is_sandbox {
        let body = form(host)?;
        let headers = [("Host", "127.0.0.1"), ("Content-Type", "application/x-www-form-urlencoded")];
        wire::request(&format!("POST {path}"), &headers, &body)
    } else {
        wire::request(&format!("GET {path}"), &[("Host", "127.0.0.1")], "")
    };
    let mut times = Vec::with_capacity(TIMES);
    for _ in 0..TIMES {
        let begun = Instant::now();
        let reply = timeout(PATIENCE, ask(host, &bytes, tls)).await.unwrap_or_else(|_| Ok(Reply::default()));
        times.push(begun.elapsed());
        let reply = reply.unwrap_or_default();
        let done = reply.status == 200 && (!is_sandbox || reply.body.contains("\"600\""));
        if !done {
            // A failed request counts with the longest time.
            times.push(PATIENCE);
            break;
        }
        tokio::time::sleep(PAUSE).await;
    }
    times.sort_unstable();
    Ok(Times(times))
}

async fn ask(to: SocketAddr, bytes: &[u8], tls: Option<&TlsConnector>) -> Result<Reply> {
    let stream = wire::connect(to, None).await?;
    match tls {
        None => talk(stream, bytes).await,
        Some(tls) => talk(tls.connect(to.ip().into(), stream).await?, bytes).await,
    }
}

async fn talk(mut stream: impl AsyncRead + AsyncWrite + Unpin, bytes: &[u8]) -> Result<Reply> {
    stream.write_all(bytes).await?;
    let mut all = Vec::new();
    stream.read_to_end(&mut all).await?;
    Ok(Reply::of(all))
}
