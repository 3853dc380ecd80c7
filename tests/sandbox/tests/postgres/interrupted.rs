//! Groups that the database undoes, and commits whose connection breaks: each request is carried out once.

use std::sync::{
    Arc,
    atomic::{AtomicU8, Ordering::SeqCst},
};

use http::Method;
use pg_sandbox::ResponseDelivery;
use pg_stores::Postgres;
use pg_support::with;

use super::{
    process::{Process, payment, request, shown},
    proxy,
};

const NOTHING: u8 = 0;
/// Closes the connection in place of sending the next COMMIT.
const BEFORE: u8 = 1;
/// Sends the next COMMIT, and closes the connection once the server has answered it.
const AFTER: u8 = 2;

/// The words of the question whether a commit was done.
const QUESTION: &[u8] = b"SELECT number FROM payment_sandbox.processes";

/// Stands before the server and closes a connection around a COMMIT.
struct Proxy {
    port: u16,
    cut: Arc<AtomicU8>,
}

impl Proxy {
    /// `asked` is called before the question whether a commit was done is passed on.
    fn before(server: u16, asked: impl Fn() + Clone + Send + 'static) -> Self {
        let cut = Arc::new(AtomicU8::new(NOTHING));
        let shared = Arc::clone(&cut);
        let port = proxy::before(server, move || {
            let (cut, muted) = (Arc::clone(&shared), Arc::new(AtomicU8::new(NOTHING)));
            let (answered, asked) = (Arc::clone(&muted), asked.clone());
            let up = move |seen: &mut [u8]| {
                if contains(seen, QUESTION) {
                    asked();
                }
                // Nothing but the end of a group asks for COMMIT alone.
                if !contains(seen, b"COMMIT\0") {
                    return true;
                }
                muted.store(cut.swap(NOTHING, SeqCst), SeqCst);
                muted.load(SeqCst) != BEFORE
            };
            (up, move |seen: &mut [u8]| answered.load(SeqCst) != AFTER || !contains(seen, b"COMMIT\0"))
        });
        Self { port, cut }
    }

    /// Whether the connection was closed as it was told to.
    fn has_cut(&self) -> bool {
        self.cut.load(SeqCst) == NOTHING
    }
}

fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}

#[test]
fn a_commit_whose_connection_breaks_is_done_once() {
    let Some(server) = Postgres::for_tests() else { return };
    let url = server.database().unwrap();
    let proxy = Proxy::before(server.port(), || {});
    let through = url.replace(&server.port().to_string(), &proxy.port.to_string());
    let mut process = Process::open(&through, 1);
    for (number, cut) in [AFTER, BEFORE, BEFORE, AFTER].into_iter().enumerate() {
        proxy.cut.store(cut, SeqCst);
        let (status, reply) = process.pay(&format!("order-{number}"));
        assert_eq!((status, proxy.has_cut()), (200, true), "{reply}");
        // What was answered is what the database holds.
        let key = reply["transactionKey"].as_str().unwrap();
        let held = format!("SELECT count(*) FROM payment_sandbox.transactions WHERE key = '{key}'");
        assert_eq!(server.psql(&url, &held).unwrap(), "1", "{number}");
    }
    for table in ["transactions", "unique_references"] {
        let held = format!("SELECT count(*) FROM payment_sandbox.{table}");
        assert_eq!(server.psql(&url, &held).unwrap(), "4", "{table}");
    }
}

/// Its row may be removed as that of a process that ended long ago, for example if the clock of the database jumps.
#[test]
fn a_commit_of_a_process_without_a_row_is_unknown_and_not_done_again() {
    let Some(server) = Postgres::for_tests() else { return };
    let url = server.database().unwrap();
    let removed = url.clone();
    let remove = move || drop(server.psql(&removed, "DELETE FROM payment_sandbox.processes").unwrap());
    let proxy = Proxy::before(server.port(), remove);
    let mut process = Process::open(&url.replace(&server.port().to_string(), &proxy.port.to_string()), 1);
    // A second payment under a reference would be refused.
    let pairs = with(&pg_support::payment(""), &[("uniqueMerchantReference", "")]);
    let body = process.signed("main", &pairs);
    let mut pay = || process.sandbox.handle(process.now, request(Method::POST, "/v3/transaction/auth/json", &body));
    let counted = || server.psql(&url, "SELECT count(*) FROM payment_sandbox.transactions").unwrap();
    // The first group of the process, and a later one.
    for paid in ["1", "3"] {
        proxy.cut.store(AFTER, SeqCst);
        assert_eq!(ResponseDelivery::of(&pay()), ResponseDelivery::Close);
        assert_eq!((counted().as_str(), proxy.has_cut()), (paid, true));
        assert_eq!(pay().status(), 200);
    }
    assert_eq!(counted(), "4");
}

/// Makes the database undo the next transactions that record a payment.
fn plant_conflicts(server: &Postgres, url: &str, number: u32) {
    let planted = format!(
        "DROP SCHEMA IF EXISTS planted CASCADE; CREATE SCHEMA planted; CREATE SEQUENCE planted.met; \
         CREATE FUNCTION planted.conflict() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
         IF nextval('planted.met') <= {number} THEN RAISE EXCEPTION 'planted' USING ERRCODE = '40001'; END IF; \
         RETURN NULL; END $$; \
         CREATE TRIGGER conflict AFTER INSERT ON payment_sandbox.transactions \
         FOR EACH STATEMENT EXECUTE FUNCTION planted.conflict()"
    );
    server.psql(url, &planted).unwrap();
}

/// A database may answer that it does not know whether it has committed. It did not, here.
#[test]
fn a_commit_of_which_the_database_says_nothing_is_asked_for_and_done_once() {
    let Some(server) = Postgres::for_tests() else { return };
    let url = server.database().unwrap();
    let mut process = Process::open(&url, 1);
    server
        .psql(
            &url,
            "CREATE SCHEMA planted; CREATE SEQUENCE planted.met; \
             CREATE FUNCTION planted.doubt() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
             IF nextval('planted.met') <= 1 THEN RAISE EXCEPTION 'planted' USING ERRCODE = '40003'; END IF; \
             RETURN NULL; END $$; \
             CREATE CONSTRAINT TRIGGER doubt AFTER INSERT ON payment_sandbox.transactions \
             DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION planted.doubt()",
        )
        .unwrap();
    let (status, reply) = process.pay("order-1");
    assert_eq!(status, 200, "{reply}");
    let counted = "SELECT count(*) || ' of ' || (SELECT last_value FROM planted.met) FROM payment_sandbox.transactions";
    assert_eq!(server.psql(&url, counted).unwrap(), "1 of 2");
    server.psql(&url, "DROP SCHEMA planted CASCADE").unwrap();
}

#[test]
fn a_group_that_meets_conflicts_is_split_and_tried_again_a_bounded_number_of_times() {
    let Some(server) = Postgres::for_tests() else { return };
    let url = server.database().unwrap();
    let mut process = Process::open(&url, 1);
    let counted = || server.psql(&url, "SELECT count(*) FROM payment_sandbox.transactions").unwrap();
    let met = || server.psql(&url, "SELECT last_value FROM planted.met").unwrap();

    plant_conflicts(server, &url, 4);
    // The third is paid under the reference of the first.
    let group = ["order-1", "order-2", "order-1", "order-3"].map(|reference| {
        let pairs = payment(reference);
        let pairs: Vec<(&str, &str)> = pairs.iter().map(|(name, value)| (*name, &**value)).collect();
        request(Method::POST, "/v3/transaction/auth/json", &process.signed("main", &pairs))
    });
    let replies: Vec<u16> =
        process.sandbox.handle_group(process.now, group.into()).iter().map(|reply| shown(reply).0).collect();
    assert_eq!(replies, [200, 200, 400, 200]);
    // One for the group, three for the first payment, and three payments that were recorded.
    assert_eq!((counted(), met()), ("3".to_owned(), "7".to_owned()));

    plant_conflicts(server, &url, u32::MAX);
    let (status, reply) = process.pay("order-4");
    assert_eq!(status, 500);
    assert!(reply["errorMessage"].as_str().unwrap().contains("send the request again"), "{reply}");
    assert_eq!((counted(), met()), ("3".to_owned(), "9".to_owned()));
    server.psql(&url, "DROP SCHEMA planted CASCADE").unwrap();
    assert_eq!(process.pay("order-4").0, 200);
    assert_eq!(counted(), "4");
}

#[test]
fn a_group_whose_number_is_committed_already_is_rolled_back_and_not_answered() {
    let Some(server) = Postgres::for_tests() else { return };
    let url = server.database().unwrap();
    let mut process = Process::open(&url, 1);
    assert_eq!(process.pay("order-1").0, 200);
    // As if an attempt whose commit seemed lost had been committed after all.
    server.psql(&url, "UPDATE payment_sandbox.processes SET number = number + 1").unwrap();
    let pairs = payment("order-2");
    let pairs: Vec<(&str, &str)> = pairs.iter().map(|(name, value)| (*name, &**value)).collect();
    let body = process.signed("main", &pairs);
    let response = process.sandbox.handle(process.now, request(Method::POST, "/v3/transaction/auth/json", &body));
    assert_eq!(ResponseDelivery::of(&response), ResponseDelivery::Close);
    assert_eq!(server.psql(&url, "SELECT count(*) FROM payment_sandbox.transactions").unwrap(), "1");
    // The next group has a number of its own.
    assert_eq!(process.pay("order-2").0, 200);
}
