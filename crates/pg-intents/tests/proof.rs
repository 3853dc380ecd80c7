//! The real thing: worker processes that are killed at random, a database that crashes in the middle, connections that are cut,
//! and a sandbox whose books are compared with the rows at the end. The rows are sealed, and their key is changed meanwhile.

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    io::{BufRead as _, BufReader},
    net::SocketAddr,
    process::{Child, Command, Stdio},
    sync::{Arc, mpsc},
    time::Duration,
};

use pg_hyper::{
    Client,
    proto::{
        Account, BaseUrl, Credentials,
        machine::{Backoff, charge::ChargeBounds, throttle::ThrottleLimits},
        model::{Auth, AuthCardKey, CardDetails, CardKey, TokeniseTransactionKey, TransactionLookup},
    },
};
use pg_intents::{
    Fleet, FleetPlan, IntentFilter, IntentStatus, IntentStore, PostgresStore, SealKey, SealedStore, Sealing,
};
use pg_sandbox::{Config, Server as Sandbox, Settings};
use pg_stores::Postgres;
use tokio::net::{TcpListener, TcpStream};

use crate::world::{CARD, order};

const WORKERS: usize = 4;
const LEASE: Duration = Duration::from_secs(2);

fn account(base_url: &str) -> Account {
    let settings = Settings::default();
    let main = settings.merchants.by_name("main").unwrap();
    let [key, password, sha] = [&main.api_key, &main.api_password, &main.sha_key].map(|secret| secret.expose());
    Account::new(BaseUrl::parse(base_url).unwrap(), Credentials::new(key, password, sha))
        .identity("main")
        .with_dialect(pg_sandbox::dialect())
}

pub(crate) fn client(base_url: &str) -> Client {
    Client::builder(account(base_url)).unwrap().limits(ThrottleLimits::unlimited()).build()
}

fn charges() -> usize {
    env::var("PG_FLEET_CHARGES").ok().map_or(240, |charges| charges.parse().expect("PG_FLEET_CHARGES is a number"))
}

/// The key is being changed: half of the workers seal with the new one, and all open with both.
fn sealing(number: usize) -> Sealing {
    let [new, old] = if number.is_multiple_of(2) { [2, 1] } else { [1, 2] };
    Sealing::new(SealKey::from_bytes(&[new; 32])).older(SealKey::from_bytes(&[old; 32]))
}

/// One in four pays by card, which only the process that holds it can send.
const fn by_card(number: usize) -> bool {
    number % 4 == 3
}

/// Passes connections on to the database until they are cut.
struct Proxy {
    address: SocketAddr,
    cut: Arc<tokio::sync::Notify>,
}

impl Proxy {
    async fn before(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let proxy = Self { address: listener.local_addr().unwrap(), cut: Arc::default() };
        let cut = Arc::clone(&proxy.cut);
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let cut = Arc::clone(&cut);
                tokio::spawn(async move {
                    let Ok(mut server) = TcpStream::connect(("127.0.0.1", port)).await else { return };
                    tokio::select! {
                        _ = tokio::io::copy_bidirectional(&mut client, &mut server) => {}
                        () = cut.notified() => {}
                    }
                });
            }
        });
        proxy
    }
}

/// A worker process: this program again, with its one test that works.
struct Worker {
    child: Child,
    number: usize,
}

impl Worker {
    fn start(number: usize, environment: &[(&str, String)], said: &mpsc::Sender<(usize, String)>) -> Self {
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--exact", "proof::a_worker_process", "--ignored", "--nocapture"])
            .envs(environment.iter().map(|(name, value)| (*name, value.as_str())))
            .env("PG_FLEET_WORKER", number.to_string())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let said = said.clone();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                if let Some(line) = line.strip_prefix("fleet: ") {
                    let _ = said.send((number, line.to_owned()));
                }
            }
        });
        Self { child, number }
    }

    /// On Unix this is SIGKILL.
    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Works as its environment variables say.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a process that the proof starts"]
async fn a_worker_process() {
    let number: usize = env::var("PG_FLEET_WORKER").unwrap().parse().unwrap();
    let [service, database, key] =
        ["PG_FLEET_SERVICE", "PG_FLEET_DATABASE", "PG_FLEET_KEY"].map(|name| env::var(name).unwrap());
    let pauses = Backoff::new(Duration::from_millis(20), Duration::from_millis(200));
    let plan = FleetPlan::new(format!("w{number}"))
        .lease(LEASE)
        .per_minute(u32::MAX)
        .poll(Duration::from_millis(100))
        .bounds(ChargeBounds::default().pauses(pauses))
        .lookups([Duration::from_millis(300); 4]);
    let joined = async || {
        let store = Arc::new(PostgresStore::connect(&database).await?);
        let store = SealedStore::open(store, sealing(number)).await?;
        Fleet::new(client(&service), Arc::new(store), plan.clone()).await
    };
    let fleet = loop {
        // The database may be away just now.
        match joined().await {
            Ok(fleet) => break fleet,
            Err(error) => eprintln!("worker {number}: {error}"),
        }
        tokio::task::yield_now().await;
    };
    let running = fleet.clone();
    tokio::spawn(async move { running.run().await });
    let mut calls = tokio::task::JoinSet::new();
    // Each payment is charged by two workers, in opposite orders.
    for at in 0..charges() {
        let at = if number.is_multiple_of(2) { at } else { charges() - 1 - at };
        if at / 2 % 2 != number / 2 % 2 {
            continue;
        }
        if calls.len() >= 8 {
            calls.join_next().await;
        }
        let (fleet, key) = (fleet.clone(), CardKey::from(key.as_str()));
        calls.spawn(async move {
            loop {
                let reference = format!("fleet-{at}");
                let settled = if by_card(at) {
                    let card = CardDetails::new(CARD, "12", "49").cv2("987");
                    fleet.charge(Auth::new(card, order(&reference, 499))).await
                } else {
                    fleet.charge(AuthCardKey::new(key.clone(), order(&reference, 499))).await
                };
                match settled {
                    Ok(settled) => {
                        let paid =
                            settled.transaction().map(|paid| paid.transaction_key.to_string()).unwrap_or_default();
                        println!("fleet: {reference} {} {paid}", settled.name());
                        break;
                    }
                    // The database was away for longer than a caller waits.
                    Err(error) => eprintln!("worker {number}, {reference}: {error}"),
                }
            }
        });
    }
    while calls.join_next().await.is_some() {}
    println!("fleet: done");
    // Goes on picking up what others have left, until it is killed.
    std::future::pending::<()>().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ledger_and_fleet_agree_after_any_crash() {
    let Some(database) = Postgres::for_one_test(&[]) else { return };
    let store = Arc::new(PostgresStore::migrate(&database.url("postgres")).await.unwrap());
    let sealed = Arc::new(SealedStore::open(Arc::clone(&store), sealing(0)).await.unwrap());
    let sandbox = Sandbox::start(Config::default()).await.unwrap();
    let client = client(&sandbox.base_url());
    let first = Auth::new(CardDetails::new(CARD, "12", "49").cv2("123"), order("first", 100));
    let first = client.call(&first).await.unwrap();
    let stored = client.call(&TokeniseTransactionKey::new(&first.record().transaction_key)).await.unwrap();
    let proxy = Proxy::before(database.port()).await;
    let environment = [
        ("PG_FLEET_SERVICE", sandbox.base_url()),
        ("PG_FLEET_DATABASE", format!("postgres://pg@{}/postgres", proxy.address)),
        ("PG_FLEET_KEY", stored.card_key_details[0].card_key.to_string()),
    ];
    let (sender, said) = mpsc::channel();
    let mut workers: Vec<Worker> = (0..WORKERS).map(|number| Worker::start(number, &environment, &sender)).collect();

    let charges = charges();
    let (mut claims, mut done) = (BTreeMap::<String, BTreeSet<String>>::new(), BTreeSet::new());
    let (mut lines, mut kills, mut cuts, mut crashes) = (0_usize, 0, 0, 0);
    let mut dice = 0x2545_F491_4F6C_DD1D_u64;
    while done.len() < WORKERS {
        let heard = tokio::task::block_in_place(|| said.recv_timeout(Duration::from_secs(120)));
        let (number, line) = heard.expect("the fleet goes on");
        if line == "done" {
            done.insert(number);
            continue;
        }
        let mut words = line.splitn(2, ' ');
        let (reference, claim) = (words.next().unwrap(), words.next().unwrap());
        claims.entry(reference.to_owned()).or_default().insert(claim.to_owned());
        lines += 1;
        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        if lines % (charges / 12).max(1) == 0 && lines < charges * 2 {
            let victim = usize::try_from(dice % 4).unwrap();
            let worker = &mut workers[victim];
            worker.kill();
            done.remove(&worker.number);
            *worker = Worker::start(victim, &environment, &sender);
            kills += 1;
            // Everything is sealed with the new key while half of the workers go on with the old one. If the database crashes
            // meanwhile, the next time does it.
            let sealed = Arc::clone(&sealed);
            tokio::spawn(async move { sealed.reseal().await });
        }
        if lines % (charges / 5).max(1) == 0 {
            proxy.cut.notify_waiters();
            cuts += 1;
        }
        if crashes == 0 && lines >= charges / 2 {
            tokio::task::block_in_place(|| {
                database.stop_at_once().unwrap();
                database.start_again().unwrap();
            });
            crashes += 1;
        }
    }
    // What is still unknown was lost before it left; its lookups end.
    let mut open = 1;
    while open > 0 {
        let statuses = vec![IntentStatus::Open];
        let found = store.list(IntentFilter { statuses, most: 10_000_000, ..IntentFilter::default() }).await;
        open = found.map_or(1, |found| found.len());
        tokio::task::yield_now().await;
    }
    drop(workers);
    let resealed = sealed.reseal().await.unwrap();
    assert_eq!((resealed.unopened, resealed.first_unopened), (0, None));
    let new_key = Sealing::new(SealKey::from_bytes(&[2; 32]));
    judge(&SealedStore::open(store, new_key).await.unwrap(), &client, &claims, charges).await;
    println!(
        "{charges} charges, {kills} workers killed, {cuts} times all connections cut, {crashes} crash of the database"
    );

    let dump = database.dump("postgres").unwrap();
    assert!(dump.contains("fleet-7"));
    let settings = Settings::default();
    let main = settings.merchants.by_name("main").unwrap();
    assert!(!dump.contains("approved") && !dump.contains(&environment[2].1), "outcomes and card keys are sealed");
    for canary in [CARD, "987", main.api_key.expose(), main.api_password.expose(), main.sha_key.expose()] {
        // The three digits of a CV2 also occur in other numbers, so only whole values are searched for.
        let found = if canary.len() == 3 { dump.contains(&format!("\"{canary}\"")) } else { dump.contains(canary) };
        assert!(!found, "{canary} is in the database");
    }
}

/// Ledger and fleet agree: nothing doubled, nothing lost, nothing without an owner or an end.
async fn judge(store: &impl IntentStore, client: &Client, claims: &BTreeMap<String, BTreeSet<String>>, charges: usize) {
    let all = IntentFilter { most: 10_000_000, ..IntentFilter::default() };
    let rows = store.list(all).await.unwrap();
    assert_eq!(rows.len(), charges, "one row each");
    let (mut paid, mut unknown) = (0, 0);
    for row in rows {
        let reference = &row.key.reference;
        let number: usize = reference.strip_prefix("fleet-").unwrap().parse().unwrap();
        let lookup = TransactionLookup::new().unique_merchant_reference(reference.as_str());
        let held = client.call(&lookup).await.map(|found| found.transactions).unwrap_or_default();
        assert!(held.len() <= 1, "{reference} was paid {} times", held.len());
        let claimed = &claims[reference];
        let outcome = row.outcome.as_deref().unwrap_or_default();
        match row.status {
            IntentStatus::Ended => {
                let [held] = &held[..] else { panic!("{reference} is lost: {outcome}") };
                assert!(outcome.contains(held.transaction_key.as_str()), "{reference}: {outcome}");
                let told = format!("approved {}", held.transaction_key);
                let fits =
                    claimed.iter().all(|claim| *claim == told || by_card(number) && claim.starts_with("unknown"));
                assert!(fits, "{reference}: {claimed:?}, not {told}");
                paid += 1;
            }
            IntentStatus::Unknown => {
                // Any worker can send the others; one that was taken over again and again may run out of lookups.
                assert!(
                    by_card(number) || row.fence > 4,
                    "{reference} could be sent by any worker: {outcome}\n{}",
                    row.history
                );
                assert_eq!(held, [], "{reference} is in the books and was not found");
                unknown += 1;
            }
            IntentStatus::Open | IntentStatus::Parked => panic!("{reference} has no end: {}", row.history),
        }
    }
    println!("{paid} paid once, {unknown} unknown and not in the books, 0 doubled, 0 lost");
}
