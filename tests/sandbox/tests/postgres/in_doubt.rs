//! Commits that are still on their way when the connection to the process breaks, in a database without turns.

use std::{
    io::{Read as _, Write as _},
    net::{Ipv4Addr, Shutdown, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        mpsc::{Receiver, Sender, channel},
    },
    thread,
};

use pg_stores::Postgres;
use pg_support::{payment, with};

use super::{
    planted::{LOCK, replace},
    process::Process,
};

/// The words of the question whether a commit was done.
const QUESTION: &[u8] = b"SELECT number FROM payment_sandbox.processes";
/// The message that ends a connection.
const TERMINATE: &[u8] = b"X\0\0\0\x04";

/// How much of the end of a group is delayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Delayed {
    /// COMMIT: the database has received all writes.
    Commit,
    /// The writes and COMMIT.
    All,
}

/// The end of a group, on its way to the database.
struct OnItsWay {
    server: TcpStream,
    bytes: Vec<u8>,
    /// Closed when the database has ended the connection.
    ended: Receiver<()>,
}

#[derive(Default)]
struct State {
    /// The next end of a group is delayed, and the connection to the process broken.
    armed: Option<Delayed>,
    on_its_way: Option<OnItsWay>,
    asked: bool,
}

/// Stands before the server, refuses its lock, and delays the end of one group.
struct Proxy {
    port: u16,
    state: Arc<Mutex<State>>,
}

impl Proxy {
    /// `is_waiting` tells whether a statement waits for another transaction.
    fn before(server: u16, is_waiting: impl Fn() -> bool + Clone + Send + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        // Ends with the program.
        thread::spawn(move || {
            for client in listener.incoming() {
                let (client, server) = (client.unwrap(), TcpStream::connect((Ipv4Addr::LOCALHOST, server)).unwrap());
                let ends = (client.try_clone().unwrap(), server.try_clone().unwrap());
                let (up, down, is_waiting) = (Arc::clone(&shared), Arc::clone(&shared), is_waiting.clone());
                let (open, ended) = channel();
                thread::spawn(move || pass_requests(client, server, ended, &up, &is_waiting));
                thread::spawn(move || pass_answers(ends.1, ends.0, open, &down));
            }
        });
        Self { port, state }
    }
}

fn position(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

fn pass_requests(
    mut client: TcpStream,
    mut server: TcpStream,
    ended: Receiver<()>,
    state: &Mutex<State>,
    is_waiting: &impl Fn() -> bool,
) {
    let mut buffer = vec![0; 1 << 18];
    while let Ok(length @ 1..) = client.read(&mut buffer) {
        let bytes = &mut buffer[..length];
        replace(bytes, LOCK, "LOCKS TABLE payment_sandbox.turn;");
        let commit = position(bytes, b"COMMIT\0");
        let armed = commit.and_then(|_| state.lock().unwrap().armed.take());
        if let (Some(commit), Some(delayed)) = (commit, armed) {
            // A message begins with its kind and its length.
            let at = if delayed == Delayed::All { 0 } else { commit - 5 };
            server.write_all(&bytes[..at]).unwrap();
            let rest = [&bytes[at..], TERMINATE].concat();
            state.lock().unwrap().on_its_way = Some(OnItsWay { server, bytes: rest, ended });
            client.shutdown(Shutdown::Both).unwrap();
            return;
        }
        let asks = position(bytes, QUESTION).is_some() && state.lock().unwrap().on_its_way.is_some();
        state.lock().unwrap().asked |= asks;
        if server.write_all(bytes).is_err() {
            break;
        }
        while asks && state.lock().unwrap().on_its_way.is_some() {
            if is_waiting() {
                deliver(state);
            }
        }
    }
    // It may be closed already.
    let _ = server.shutdown(Shutdown::Both);
}

fn pass_answers(mut server: TcpStream, mut client: TcpStream, open: Sender<()>, state: &Mutex<State>) {
    let mut buffer = vec![0; 1 << 18];
    while let Ok(length @ 1..) = server.read(&mut buffer) {
        if state.lock().unwrap().asked {
            // The question is answered although the end of the group is still on its way.
            deliver(state);
        }
        // The process may be gone.
        let _ = client.write_all(&buffer[..length]);
    }
    let _ = client.shutdown(Shutdown::Both);
    drop(open);
}

/// Lets the delayed end of the group arrive, and waits until the database has done what it says.
fn deliver(state: &Mutex<State>) {
    let Some(OnItsWay { mut server, bytes, ended }) = state.lock().unwrap().on_its_way.take() else { return };
    server.write_all(&bytes).unwrap();
    // Nothing is sent.
    let _ = ended.recv();
}

#[test]
fn a_commit_that_arrives_late_in_a_database_without_turns_is_done_once() {
    let Some(server) = Postgres::for_tests() else { return };
    for delayed in [Delayed::Commit, Delayed::All] {
        let url = server.database().unwrap();
        let looked = url.clone();
        let waiting =
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
        let proxy = Proxy::before(server.port(), move || server.psql(&looked, waiting).unwrap() != "0");
        let mut process = Process::open(&url.replace(&server.port().to_string(), &proxy.port.to_string()), 1);
        // A second payment under a reference would be refused.
        let pairs = with(&payment(""), &[("uniqueMerchantReference", "")]);
        assert_eq!(process.call("main", "transaction/auth", &pairs).0, 200);
        proxy.state.lock().unwrap().armed = Some(delayed);
        let (status, reply) = process.call("main", "transaction/auth", &pairs);
        assert_eq!(status, 200, "{reply}");
        assert!(proxy.state.lock().unwrap().asked, "{delayed:?}: the commit was not in doubt");
        assert_eq!(server.psql(&url, "SELECT count(*) FROM payment_sandbox.transactions").unwrap(), "2", "{delayed:?}");
        let key = reply["transactionKey"].as_str().unwrap();
        let held = format!("SELECT count(*) FROM payment_sandbox.transactions WHERE key = '{key}'");
        assert_eq!(server.psql(&url, &held).unwrap(), "1", "{delayed:?}");
    }
}
