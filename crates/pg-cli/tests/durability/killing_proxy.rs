//! A proxy in front of a sandbox. It kills the sandbox with SIGKILL after a number of bytes of a connection, and starts
//! it again.

use std::{
    collections::VecDeque,
    io::{Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    sync::{Arc, Condvar, Mutex, PoisonError},
    thread,
};

use crate::durability::{
    Sandbox,
    caller::{Account, Caller},
    load::spin,
};

/// When the sandbox is killed: shortly after a number of bytes of a connection's request, or of its reply.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kill {
    Request(usize, u64),
    Reply(usize),
}

/// Connections to it reach the sandbox that lives then.
pub(crate) struct KillingProxy {
    pub(crate) address: SocketAddr,
    shared: Arc<Mutex<Shared>>,
    open: Arc<Open>,
}

/// How many connections are being carried.
#[derive(Default)]
struct Open {
    count: Mutex<usize>,
    changed: Condvar,
}

struct Shared {
    /// None once the proxy is gone: the thread that waits for connections keeps the rest until the process ends.
    sandbox: Option<Sandbox>,
    store: PathBuf,
    /// One for each of the next connections.
    kills: VecDeque<Kill>,
    killed: usize,
    connections: usize,
    /// The number of bytes of request and reply on the last connection.
    passed: [usize; 2],
}

impl KillingProxy {
    pub(crate) fn before(sandbox: Sandbox, store: &Path) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (store, kills) = (store.to_owned(), VecDeque::new());
        let sandbox = Some(sandbox);
        let shared = Arc::new(Mutex::new(Shared { sandbox, store, kills, killed: 0, connections: 0, passed: [0, 0] }));
        let open = Arc::<Open>::default();
        let (shared_by_all, counted) = (Arc::clone(&shared), Arc::clone(&open));
        // It ends with the process.
        thread::spawn(move || {
            for client in listener.incoming() {
                let (shared, counted) = (Arc::clone(&shared_by_all), Arc::clone(&counted));
                counted.add(1);
                thread::spawn(move || {
                    carry(client.unwrap(), &shared);
                    counted.add(-1);
                });
            }
        });
        Self { address, shared, open }
    }

    /// What becomes of the next connections, one after the other.
    pub(crate) fn plan(&self, kills: &[Kill]) {
        self.shared.lock().unwrap().kills = kills.iter().copied().collect();
    }

    /// Returns when no connection is open any more: what was planned for one has happened.
    pub(crate) fn settled(&self) {
        drop(self.open.changed.wait_while(self.open.count.lock().unwrap(), |count| *count > 0).unwrap());
    }

    /// How often the sandbox has been killed.
    pub(crate) fn killed(&self) -> usize {
        self.shared.lock().unwrap().killed
    }

    /// How many connections there were.
    pub(crate) fn connections(&self) -> usize {
        self.shared.lock().unwrap().connections
    }

    /// The number of bytes of request and reply on the last connection.
    pub(crate) fn passed(&self) -> [usize; 2] {
        self.shared.lock().unwrap().passed
    }

    /// A connection to the sandbox that lives now, past the proxy.
    pub(crate) fn caller(&self) -> Caller {
        Caller::new(&self.account()).unwrap()
    }

    /// The sandbox that lives now.
    pub(crate) fn account(&self) -> Account {
        self.shared.lock().unwrap().sandbox.as_ref().unwrap().account.clone()
    }
}

impl Drop for KillingProxy {
    fn drop(&mut self) {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner).sandbox = None;
    }
}

impl Open {
    fn add(&self, change: isize) {
        let mut count = self.count.lock().unwrap();
        *count = count.saturating_add_signed(change);
        self.changed.notify_all();
    }
}

impl Shared {
    fn kill_and_start_again(&mut self) {
        let Some(sandbox) = &mut self.sandbox else { return };
        sandbox.kill();
        self.killed += 1;
        *sandbox = Sandbox::start(&self.store);
    }
}

/// Carries one connection.
fn carry(client: TcpStream, shared: &Mutex<Shared>) {
    let (server, kill) = {
        let mut shared = shared.lock().unwrap();
        let Some(address) = shared.sandbox.as_ref().map(|sandbox| sandbox.account.address().to_owned()) else { return };
        shared.passed = [0, 0];
        shared.connections += 1;
        (TcpStream::connect(address).unwrap(), shared.kills.pop_front())
    };
    let (client, server) = (&client, &server);
    let (request, reply) = match kill {
        Some(Kill::Request(bytes, spins)) => (Some((bytes, spins)), None),
        Some(Kill::Reply(bytes)) => (None, Some((bytes, 0))),
        None => (None, None),
    };
    thread::scope(|scope| {
        scope.spawn(move || copy([client, server], 0, request, shared));
        copy([server, client], 1, reply, shared);
    });
}

/// Copies until either side ends or the sandbox is killed; after that, neither sends anything.
fn copy([mut from, mut to]: [&TcpStream; 2], direction: usize, limit: Option<(usize, u64)>, shared: &Mutex<Shared>) {
    let mut passed = 0;
    let mut buffer = [0; 4096];
    loop {
        if let Some((bytes, spins)) = limit
            && passed == bytes
        {
            spin(spins);
            let mut shared = shared.lock().unwrap();
            shared.kill_and_start_again();
            break;
        }
        let room = limit.map_or(buffer.len(), |(bytes, _)| buffer.len().min(bytes - passed));
        match from.read(&mut buffer[..room]) {
            Ok(read) if read > 0 && to.write_all(&buffer[..read]).is_ok() => passed += read,
            _ => break,
        }
        shared.lock().unwrap().passed[direction] = passed;
    }
    // One that is closed already needs no closing.
    drop((from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both)));
}
