//! Three processes over one database under load, killed at random while the database restarts: what was acknowledged is there
//! once, and limits are exact.
//!
//! `PG_PROOF_ORDERS`, `PG_PROOF_KILLS` and `PG_PROOF_SEED` make it longer or another one.

use std::{
    collections::HashMap,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    process::{Child, Command, Stdio},
    sync::{Mutex, mpsc},
    thread,
};

use pg_sandbox::{Config, Server, Settings, SharedStore, StoreChoice, StoreKey};
use pg_stores::Postgres;
use serde_json::Value;

use super::{KEY, process::payment};

const PROCESSES: usize = 3;
const WRITERS: usize = 16;
/// Orders of each writer, unless `PG_PROOF_ORDERS` says otherwise.
const ORDERS: usize = 8;
/// How many processes are killed, unless `PG_PROOF_KILLS` says otherwise.
const KILLS: usize = 3;
/// Preauths that all writers try to capture.
const PREAUTHS: usize = 4;
/// How often a request is sent that gets no answer or error 999.
const TRIES: usize = 2_000;
/// The variable that makes the test program a process of the proof.
const URL: &str = "PG_PROOF_URL";
/// The sandbox's code of a unique reference that was used before (A92).
const REFERENCE_USED: &str = "950";

pub(super) fn setting(name: &str, usual: usize) -> usize {
    std::env::var(name).map_or(usual, |text| text.parse().unwrap())
}

/// Serves a sandbox until standard input ends, over the database or file that a variable names, or over `memory`.
#[test]
#[ignore = "a process that the proof starts"]
fn a_process_of_the_proof() {
    let url = std::env::var(URL).unwrap();
    let store = match &*url {
        "memory" => StoreChoice::Memory,
        url if url.starts_with("postgres:") => StoreChoice::Postgres(SharedStore::new(url, StoreKey::from_bytes(KEY))),
        file => StoreChoice::File(file.into()),
    };
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let server = Server::start(Config::default().store(store)).await.unwrap();
        println!("\nserves {}", server.address());
        let ended = tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new()));
        ended.await.unwrap().unwrap();
        server.shutdown().await.unwrap();
    });
}

/// A process that serves a sandbox.
pub(super) struct Serving {
    child: Child,
    pub(super) address: SocketAddr,
}

impl Serving {
    pub(super) fn start(url: &str) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "postgres::proof::a_process_of_the_proof",
                "--ignored",
                "--nocapture",
                "--test-threads=1",
            ])
            .env(URL, url)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let told = lines.find_map(|line| line.unwrap().strip_prefix("serves ").map(str::to_owned));
        // What it prints later is read by this thread, so that no write of it fails.
        thread::spawn(move || lines.for_each(drop));
        Self { child, address: told.expect("an address").parse().unwrap() }
    }
}

impl Drop for Serving {
    /// `kill -9`.
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// The processes, and where they listen now.
struct Fleet<'a> {
    url: &'a str,
    serving: Vec<Option<Serving>>,
    addresses: &'a Mutex<Vec<SocketAddr>>,
}

impl<'a> Fleet<'a> {
    fn start(url: &'a str, addresses: &'a Mutex<Vec<SocketAddr>>) -> Self {
        let serving: Vec<_> = (0..PROCESSES).map(|_| Some(Serving::start(url))).collect();
        *addresses.lock().unwrap() = serving.iter().flatten().map(|serving| serving.address).collect();
        Self { url, serving, addresses }
    }

    fn kill_and_start(&mut self, at: usize) {
        drop(self.serving[at].take());
        let started = Serving::start(self.url);
        self.addresses.lock().unwrap()[at] = started.address;
        self.serving[at] = Some(started);
    }
}

/// Sends one request over its own connection, whose answer is JSON; `None` if no whole answer came.
pub(super) fn ask(address: SocketAddr, target: &str, body: &str) -> Option<(u16, Value)> {
    let (status, answer) = ask_for_text(address, target, body)?;
    Some((status, serde_json::from_str(&answer).ok()?))
}

/// The same, with an answer of any text.
pub(super) fn ask_for_text(address: SocketAddr, target: &str, body: &str) -> Option<(u16, String)> {
    let mut stream = TcpStream::connect(address).ok()?;
    let kind = if body.starts_with('{') { "application/json" } else { "application/x-www-form-urlencoded" };
    let request = format!(
        "{target} HTTP/1.1\r\nhost: {address}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    Some((status, body.to_owned()))
}

/// Sends a signed call to one process after the other, from the one with this number on, until one has decided.
fn decided(
    addresses: &Mutex<Vec<SocketAddr>>,
    first: usize,
    account: &str,
    method: &str,
    pairs: &[(&str, &str)],
) -> (u16, Value) {
    let settings = Settings::default();
    let body = pg_support::signed_form(settings.merchants.by_name(account).unwrap(), pairs);
    for attempt in 0..TRIES {
        let address = addresses.lock().unwrap()[(first + attempt) % PROCESSES];
        match ask(address, &format!("POST /v3/{method}/json"), &body) {
            Some((status, reply)) if status != 503 && reply["errorCode"] != "999" => return (status, reply),
            _ => thread::yield_now(),
        }
    }
    panic!("{method} was not decided after {TRIES} attempts");
}

/// Pays under a reference, whatever happens meanwhile, and gives the key of the one transaction.
fn pay(addresses: &Mutex<Vec<SocketAddr>>, first: usize, method: &str, reference: &str) -> String {
    let pairs = payment(reference);
    let pairs: Vec<(&str, &str)> = pairs.iter().map(|(name, value)| (*name, &**value)).collect();
    let (status, reply) = decided(addresses, first, "main", method, &pairs);
    if status == 200 {
        return reply["transactionKey"].as_str().unwrap().to_owned();
    }
    // An earlier attempt was carried out and its answer was lost.
    assert_eq!(reply["errorCode"], REFERENCE_USED, "{reply}");
    let [key] = &found(addresses, first, reference)[..] else { panic!("{reference} is there more than once, or not") };
    key.clone()
}

/// The keys of the transactions with a reference.
fn found(addresses: &Mutex<Vec<SocketAddr>>, first: usize, reference: &str) -> Vec<String> {
    let (_, reply) = decided(addresses, first, "main", "transaction/lookup", &[("uniqueMerchantReference", reference)]);
    let all = reply["transactions"].as_object();
    all.into_iter().flatten().map(|(_, one)| one["transactionKey"].as_str().unwrap().to_owned()).collect()
}

/// What one writer was acknowledged: payments by reference.
fn write(
    addresses: &Mutex<Vec<SocketAddr>>,
    number: usize,
    preauths: &[String],
    acknowledged: &mpsc::Sender<()>,
) -> HashMap<String, String> {
    let mut paid = HashMap::new();
    for order in 0..setting("PG_PROOF_ORDERS", ORDERS) {
        let reference = format!("writer-{number}-order-{order}");
        let key = pay(addresses, number + order, "transaction/auth", &reference);
        paid.insert(reference, key);
        if let Some(preauth) = preauths.get(order) {
            decided(addresses, number, "main", "transaction/capturepreauth", &[("transactionKey", preauth)]);
        }
        begin_session(addresses, number + order);
        acknowledged.send(()).unwrap();
    }
    paid
}

/// Begins a session as an account with 100 requests a minute.
fn begin_session(addresses: &Mutex<Vec<SocketAddr>>, first: usize) -> u16 {
    let pairs = [("errorPageUrl", "https://shop.example/error")];
    decided(addresses, first, "strict", "session/initiate", &pairs).0
}

#[test]
fn killed_processes_and_a_restarted_database_lose_and_double_nothing() {
    let Some(server) = Postgres::for_one_test(&[]) else { return };
    let url = server.database().unwrap();
    let addresses = Mutex::new(Vec::new());
    let mut fleet = Fleet::start(&url, &addresses);
    // No minute passes, so that the limit of a minute is one for the whole run.
    let first = addresses.lock().unwrap()[0];
    assert_eq!(ask(first, "POST /_sandbox/clock", r#"{"speed":0}"#).unwrap().0, 200);
    let preauths: Vec<String> = (0..PREAUTHS)
        .map(|number| pay(&addresses, number, "transaction/preauth", &format!("preauth-{number}")))
        .collect();

    let (orders, kills) = (setting("PG_PROOF_ORDERS", ORDERS), setting("PG_PROOF_KILLS", KILLS));
    let step = (WRITERS * orders / (kills + 2)).max(1);
    let mut dice = u64::try_from(setting("PG_PROOF_SEED", 17)).unwrap();
    let (acknowledged, acknowledgements) = mpsc::channel();
    let paid: HashMap<String, String> = thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|number| {
                let (addresses, preauths, acknowledged) = (&addresses, &preauths, acknowledged.clone());
                scope.spawn(move || write(addresses, number, preauths, &acknowledged))
            })
            .collect();
        drop(acknowledged);
        for (count, ()) in acknowledgements.iter().enumerate() {
            match (count + 1) / step {
                _ if (count + 1) % step != 0 => {}
                event if event == kills / 2 + 1 => {
                    server.stop_at_once().unwrap();
                    server.start_again().unwrap();
                }
                event if event <= kills + 1 => {
                    dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    fleet.kill_and_start(usize::try_from(dice >> 33).unwrap() % PROCESSES);
                }
                _ => {}
            }
        }
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
    });

    // Acknowledged, and there once.
    assert_eq!(paid.len(), WRITERS * orders);
    let wrong: Vec<_> =
        paid.iter().filter(|(reference, key)| found(&addresses, 0, reference) != [(*key).clone()]).collect();
    assert!(wrong.is_empty(), "lost or doubled: {wrong:?}");
    let count = |what: &str| -> usize {
        server.psql(&url, &format!("SELECT count(*) FROM payment_sandbox.{what}")).unwrap().parse().unwrap()
    };
    // Every writer captured every preauth; one of them did.
    let captured = PREAUTHS.min(orders);
    assert_eq!(count("transactions"), paid.len() + PREAUTHS + captured);
    for preauth in &preauths[..captured] {
        assert_eq!(count(&format!("transactions WHERE parent = '{preauth}'")), 1, "captures of one preauth");
    }
    // The limit is used up to the last request, and no further.
    let more = (0..200).take_while(|number| begin_session(&addresses, *number) == 200).count();
    assert!(more < 200);
    assert_eq!(count("sessions WHERE merchant = 'strict'"), 100);
    drop(fleet);
    println!("{} payments acknowledged, {kills} processes killed: 0 lost, 0 doubled", paid.len());
}
