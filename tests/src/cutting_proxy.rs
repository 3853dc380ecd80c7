//! A proxy that cuts a connection after a given number of bytes, deterministically.

use std::{io, net::SocketAddr, sync::Arc};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpListener, TcpStream,
        tcp::{ReadHalf, WriteHalf},
    },
    sync::watch,
    task::JoinHandle,
};

/// Where a connection is cut: both sides are closed after this number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Bytes of the request.
    Request(usize),
    /// Bytes of the reply.
    Reply(usize),
}

/// A proxy in front of a server. It cuts the next connection at the given place, and forwards all others whole. It stops when it is
/// dropped.
#[derive(Debug)]
pub struct CuttingProxy {
    address: SocketAddr,
    state: Arc<watch::Sender<State>>,
    server: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct State {
    next: Option<Cut>,
    /// Connections that have not ended.
    open: usize,
    /// Bytes of the last connection that ended: request, reply.
    passed: (usize, usize),
}

impl CuttingProxy {
    /// A proxy in front of the server at this address, on a free port of this machine.
    ///
    /// # Panics
    /// If it cannot listen.
    pub async fn before(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let state = Arc::<watch::Sender<State>>::default();
        let shared = Arc::clone(&state);
        let server = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let mut cut = None;
                shared.send_modify(|state| {
                    cut = state.next.take();
                    state.open += 1;
                });
                let shared = Arc::clone(&shared);
                tokio::spawn(async move {
                    let passed = pass(client, server, cut).await.unwrap_or_default();
                    shared.send_modify(|state| {
                        state.passed = passed;
                        state.open -= 1;
                    });
                });
            }
        });
        Self { address, state, server }
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Cuts the next connection.
    pub fn cut_next(&self, cut: Cut) {
        self.state.send_modify(|state| state.next = Some(cut));
    }

    /// Waits until no connection is open, and returns the number of bytes of request and reply on the last one.
    ///
    /// # Panics
    /// Never: the proxy holds the sender.
    pub async fn passed(&self) -> (usize, usize) {
        self.state.subscribe().wait_for(|state| state.open == 0).await.expect("the sender is held here").passed
    }
}

impl Drop for CuttingProxy {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn pass(mut client: TcpStream, server: SocketAddr, cut: Option<Cut>) -> io::Result<(usize, usize)> {
    let mut server = TcpStream::connect(server).await?;
    let (mut from_client, mut to_client) = client.split();
    let (mut from_server, mut to_server) = server.split();
    let (most_of_request, most_of_reply) = match cut {
        None => (usize::MAX, usize::MAX),
        Some(Cut::Request(most)) => (most, usize::MAX),
        Some(Cut::Reply(most)) => (usize::MAX, most),
    };
    let (mut request, mut reply) = (0, 0);
    tokio::select! {
        _ = copy(&mut from_client, &mut to_server, most_of_request, &mut request) => {}
        _ = copy(&mut from_server, &mut to_client, most_of_reply, &mut reply) => {}
    }
    Ok((request, reply))
}

/// Copies until one side ends or `most` bytes have passed.
async fn copy(from: &mut ReadHalf<'_>, to: &mut WriteHalf<'_>, most: usize, passed: &mut usize) -> io::Result<()> {
    let mut buffer = [0; 4096];
    while *passed < most {
        let read = from.read(&mut buffer).await?;
        if read == 0 {
            break;
        }
        let part = &buffer[..read.min(most - *passed)];
        to.write_all(part).await?;
        *passed += part.len();
    }
    Ok(())
}
