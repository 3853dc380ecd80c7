//! The wire between the integration and the service: records every request and applies the faults.

mod act;
mod body;
mod door;
mod edit;
mod exchange;
mod own;
mod serve;

use std::{
    net::{Ipv4Addr, SocketAddr, TcpListener as StdListener},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;
use http::Request;
use pg_model::mask::{self, is_invisible};
use tokio::{net::TcpListener, sync::Notify, task::JoinHandle};

pub(crate) use self::{
    act::{Act, Answer, Edit, LateAt, On, Rule},
    door::Door,
    exchange::Exchange,
    own::{Given, Own},
};
use crate::{
    clock::Clock,
    cv2,
    finding::{Event, Lane},
    house::{House, SetupError},
};

/// The wire of one drill.
pub(crate) struct Wire {
    house: House,
    state: Mutex<State>,
    clock: Clock,
    /// Notifies when the integration must be killed.
    pub(crate) kill: Notify,
    /// The target of redirecting replies, which must never receive credentials.
    trap: String,
    reach: door::Reach,
}

#[derive(Default)]
struct State {
    own: Own,
    /// The faults, each with the number of requests that it has seen.
    rules: Vec<(Rule, u32)>,
    /// The number of requests before them.
    before_rules: usize,
    /// How lookups fail now, whatever the rules say.
    lookups_fail: Option<Act>,
    exchanges: Vec<Exchange>,
    late: Vec<(LateAt, usize, Request<Bytes>)>,
    events: Vec<Event>,
    /// The requests to the trap: path, headers and body.
    trapped: Vec<String>,
    connections: u32,
    /// Whether a connection began with a TLS handshake.
    began_tls: bool,
    /// The number of starts of the integration.
    starts: u64,
    /// The number of requests, and their bytes.
    requests: usize,
    bytes: usize,
    /// Whether the integration has sent too much.
    is_full: bool,
}

/// The maximum length of a text of an integration in a report, in bytes.
const MOST_TOLD: usize = 600;
/// The maximum number of requests in a drill, and of their bytes: all of them are kept for the judge.
const MOST_REQUESTS: usize = 10_000;
const MOST_BYTES: usize = 64 << 20;

/// The service's address for a shop. It is held for the whole run, so that no other program can take it between two
/// drills.
pub(crate) struct Seat(Result<StdListener, String>);

impl Seat {
    pub(crate) fn take(listen: SocketAddr) -> Self {
        let taken = StdListener::bind(listen).and_then(|listener| {
            listener.set_nonblocking(true)?;
            Ok(listener)
        });
        Self(taken.map_err(|error| format!("cannot listen on {listen}: {error}; end the program that listens there, such as `pg sandbox`, or set [service] listen in the plan and the same address in the shop")))
    }

    fn listener(&self) -> Result<TcpListener, SetupError> {
        let held = self.0.as_ref().map_err(Clone::clone)?;
        held.try_clone().and_then(TcpListener::from_std).map_err(|error| error.to_string())
    }
}

/// A wire with its listener. Dropping it ends both.
pub(crate) struct Laid {
    pub(crate) wire: Arc<Wire>,
    /// The base URL for the integration.
    pub(crate) base: String,
    tasks: Vec<JoinHandle<()>>,
}

impl Drop for Laid {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

/// The ways in which lookups fail, with their names in the timeline. The last one occupies a shop that serves one request at a time.
pub(crate) const FAILURES: [(&str, Act); 4] = [
    ("are answered with HTTP 503", Act::Answer { executed: false, answer: Answer::Gateway(503) }),
    ("are answered with a web page", Act::Answer { executed: false, answer: Answer::Html }),
    ("end without a reply", Act::DropRequest),
    ("get no reply in time", Act::Hold),
];

impl Wire {
    /// Opens a wire to the service, at this address or at a free one.
    pub(crate) async fn lay(
        house: House,
        rules: Vec<Rule>,
        door: Door,
        seat: Option<&Seat>,
        clock: Clock,
    ) -> Result<Laid, SetupError> {
        let listener = match seat {
            Some(seat) => seat.listener()?,
            None => TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(|error| error.to_string())?,
        };
        let address = listener.local_addr().map_err(|error| error.to_string())?;
        let trap = TcpListener::bind(("127.0.0.1", 0)).await.map_err(|error| error.to_string())?;
        let trap_address = trap.local_addr().map_err(|error| error.to_string())?;
        let wire = Arc::new(Self {
            house,
            state: Mutex::default(),
            clock,
            kill: Notify::new(),
            trap: format!("http://{trap_address}"),
            reach: door::Reach::new(seat.is_some()),
        });
        wire.set_faults(&rules);
        let scheme = if door.is_tls() { "https" } else { "http" };
        let mut tasks = vec![tokio::spawn(serve::trap(Arc::clone(&wire), trap))];
        match door {
            // The port is released, and nothing listens on it.
            Door::Refused if seat.is_none() => drop(listener),
            // The address of a shop is held, so that its calls would wait for the next drill.
            Door::Refused => {
                tasks.push(tokio::spawn(door::listen(Arc::clone(&wire), listener, Door::Closing(u32::MAX))))
            }
            door => tasks.push(tokio::spawn(door::listen(Arc::clone(&wire), listener, door))),
        }
        Ok(Laid { wire, base: format!("{scheme}://{address}"), tasks })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an entry to the timeline.
    pub(crate) fn note(&self, from: Lane, to: Lane, text: impl Into<String>) {
        let event = Event { at_ms: self.clock.millis(), from, to, text: self.told(&text.into()) };
        self.state().events.push(event);
    }

    /// Sets the order of the drill. Requests about orders of other drills are cut.
    pub(crate) fn belongs_to(&self, own: Own) {
        self.state().own = own;
    }

    /// From now on, requests have these faults, each counted from the next request on. An outage ends.
    pub(crate) fn set_faults(&self, rules: &[Rule]) {
        self.reach.rise();
        let mut state = self.state();
        state.rules = rules.iter().map(|rule| (*rule, 0)).collect();
        state.before_rules = state.exchanges.len();
    }

    /// From now on, lookups fail like this, or no longer fail.
    pub(crate) fn fail_lookups(&self, how: Option<Act>) {
        self.state().lookups_fail = how;
    }

    /// Whether a running shop still sends this for an earlier drill, in whose sandbox it belongs.
    fn is_of_another_drill(&self, exchange: &Exchange) -> bool {
        self.state().own.is_of_another(exchange)
    }

    /// Ends an outage.
    pub(crate) fn rise(&self) {
        self.reach.rise();
    }

    /// Records a start of the integration, after the end of an outage that is to end; a kill for an earlier start does not apply to
    /// this one.
    pub(crate) async fn start(&self) {
        self.reach.risen().await;
        self.state().starts += 1;
    }

    /// Returns the timeline so far.
    pub(crate) fn events(&self) -> Vec<Event> {
        self.state().events.clone()
    }

    /// Returns the requests so far.
    pub(crate) fn exchanges(&self) -> Vec<Exchange> {
        self.state().exchanges.clone()
    }

    /// Returns the requests that reached the target of a redirect.
    pub(crate) fn trapped(&self) -> Vec<String> {
        self.state().trapped.clone()
    }

    /// Returns the number of connections so far.
    pub(crate) fn connections(&self) -> u32 {
        self.state().connections
    }

    /// Whether any connection so far began with a TLS handshake.
    pub(crate) fn began_tls(&self) -> bool {
        self.state().began_tls
    }

    /// Executes the delayed requests.
    pub(crate) fn arrive_late(&self, at: LateAt) {
        let due: Vec<_> = {
            let mut state = self.state();
            let (due, rest) = std::mem::take(&mut state.late).into_iter().partition(|(when, ..)| *when == at);
            state.late = rest;
            due
        };
        for (_, number, request) in due {
            self.note(Lane::Wire, Lane::Service, "the request that was held back arrives");
            self.execute(number, request);
        }
    }

    /// Returns a text as reports show it, on one short line without card numbers, CV2s, credentials of this drill, passwords in
    /// addresses and control characters. A truncated secret would not be masked, so the text is cut last.
    pub(crate) fn told(&self, text: &str) -> String {
        let masked = self.masked(text);
        let mut told = String::new();
        for letter in masked.chars() {
            if told.len() >= MOST_TOLD {
                told.push('…');
                break;
            }
            match letter {
                '\n' | '\r' | '\t' => told.push(' '),
                letter if is_invisible(letter) => told.extend(letter.escape_unicode()),
                letter => told.push(letter),
            }
        }
        told
    }

    fn masked(&self, text: &str) -> String {
        let mut masked = cv2::masked(&mask::text(&mask::without_passwords(text)));
        for (name, secret) in self.house.account.secrets() {
            if masked.contains(secret) {
                masked = masked.replace(secret, &format!("‹{name}›"));
            }
        }
        masked
    }

    /// Counts a request. False if the integration has sent too much.
    fn takes_request(&self, head: usize) -> bool {
        self.state().requests += 1;
        self.takes(head)
    }

    /// Counts bytes of a request. False if the integration has sent too much.
    fn takes(&self, bytes: usize) -> bool {
        let mut state = self.state();
        let was_full = state.is_full;
        state.bytes = state.bytes.saturating_add(bytes);
        state.is_full |= state.requests > MOST_REQUESTS || state.bytes > MOST_BYTES;
        let is_full = state.is_full;
        drop(state);
        if is_full && !was_full {
            self.note(Lane::Wire, Lane::Wire, "too many requests: further connections are closed");
        }
        !is_full
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpListener};

    use super::*;
    use crate::{dice::Dice, shop::Call};

    #[tokio::test]
    async fn no_other_program_takes_the_address_of_the_service_between_two_drills() {
        let seat = Seat::take((Ipv4Addr::LOCALHOST, pg_support::free_port()).into());
        let mut bases = Vec::new();
        for drill in ["K01", "K04"] {
            let house = House::open(&mut Dice::new(1, drill, 0), true).unwrap();
            let laid = Wire::lay(house, Vec::new(), Door::Plain, Some(&seat), Clock::start()).await.unwrap();
            bases.push(laid.base.clone());
            drop(laid);
            tokio::task::yield_now().await;
            let address = bases[0].strip_prefix("http://").unwrap();
            TcpListener::bind(address).expect_err("the run holds it");
        }
        assert_eq!(bases[0], bases[1]);
    }

    #[tokio::test]
    async fn an_address_that_another_program_holds_is_named_with_a_remedy() {
        let held = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = held.local_addr().unwrap();
        let told = Seat::take(address).listener().unwrap_err();
        assert!(told.starts_with(&format!("cannot listen on {address}: ")), "{told}");
        assert!(
            told.contains("; end the program that listens there, such as `pg sandbox`, or set [service] listen"),
            "{told}"
        );
    }

    /// Posts this on a new connection and returns the reply.
    async fn post(base: &str, body: String) -> String {
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

        let address = base.strip_prefix("http://").unwrap();
        let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
        let head = format!(
            "POST /v3/transaction/lookup/json HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        // The connection may be closed before everything is sent.
        let _ = stream.write_all((head + &body).as_bytes()).await;
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer).await;
        answer
    }

    #[tokio::test]
    async fn texts_of_an_integration_are_reported_without_its_card_and_credentials() {
        let house = House::open(&mut Dice::new(1, "M01", 0), false).unwrap();
        let laid = Wire::lay(house, Vec::new(), Door::Plain, None, Clock::start()).await.unwrap();
        let password = &laid.wire.house.account.api_password;
        let said = format!("card 4111111111111111, cvv2 795, \"cardCV2\": \"7954\", {password}, amount 998");
        let told = laid.wire.told(&said);
        assert_eq!(told, "card 411111******1111, cvv2 ***, \"cardCV2\": \"***\", ‹API password›, amount 998");
    }

    /// A running shop may still work on the order of an earlier drill, whose sandbox is gone.
    #[tokio::test]
    async fn requests_about_orders_of_other_drills_are_cut_and_not_counted() {
        let house = House::open(&mut Dice::new(1, "M28", 0), true).unwrap();
        let rules = vec![Rule::first(On::Lookup, Act::DropReply)];
        let laid = Wire::lay(house, rules, Door::Plain, None, Clock::start()).await.unwrap();
        let given = Arc::new(Given::default());
        // The card of a scenario is the same in every drill.
        for order in ["o-M27-r7", "o-M28-r7"] {
            given.take(&serde_json::json!({"sessionKey": order, "card": {"number": "4000000000002008"}}), order);
            given.take_call(&Call::page("http://shop/success", &[("trans_key", &*format!("page-{order}"))]), order);
            given
                .take_call(&Call::post("http://shop/callback", "text/plain", format!("trans_key=form-{order}")), order);
            given.take_call(&Call::json("http://shop/callback", &format!("{{\"batchKey\": \"{order}\"}}")), order);
        }
        laid.wire.belongs_to(Own { run: "-r7".to_owned(), order: "o-M28-r7".to_owned(), given });
        let ask = |reference: &str| post(&laid.base, format!("uniqueMerchantReference={reference}"));
        // A reference without the order says nothing, but the session does.
        assert_eq!(ask("16&sessionKey=o-M27-r7").await, "");
        assert_eq!(ask("o-M27-r7").await, "");
        // Callbacks and success pages gave keys.
        for key in ["trans_key=page", "trans_key=form", "prev_trans_key=form"] {
            assert_eq!(ask(&format!("&{key}-o-M27-r7")).await, "", "{key}");
        }
        assert_eq!(ask("&batchKey=o-M27-r7").await, "");
        assert_eq!(laid.wire.exchanges().len(), 0);
        // The fault meets the first lookup of this drill.
        assert_eq!(ask("o-M28-r7").await, "");
        for own in [
            "shop-o-M28-r7-payment",
            "17",
            "18&sessionKey=o-M28-r7",
            "19&cardNumber=4000000000002008",
            "&trans_key=page-o-M28-r7",
            "&batchKey=o-M28-r7",
        ] {
            assert!(ask(own).await.starts_with("HTTP/1.1 "), "{own}");
        }
        assert_eq!(laid.wire.exchanges().len(), 7);
    }

    #[tokio::test]
    async fn connections_to_the_held_address_of_a_shop_are_closed_and_do_not_wait_for_the_next_drill() {
        let seat = Seat::take((Ipv4Addr::LOCALHOST, pg_support::free_port()).into());
        let house = House::open(&mut Dice::new(1, "M27", 0), true).unwrap();
        let laid = Wire::lay(house, Vec::new(), Door::Refused, Some(&seat), Clock::start()).await.unwrap();
        assert_eq!(post(&laid.base, "a=b".to_owned()).await, "");
        assert_eq!(laid.wire.exchanges().len(), 0);
    }

    #[tokio::test]
    async fn after_an_outage_begins_connections_are_refused_until_the_faults_change() {
        let rules = [Rule::first(On::Lookup, Act::Outage)];
        for seat in [None, Some(Seat::take((Ipv4Addr::LOCALHOST, pg_support::free_port()).into()))] {
            let house = House::open(&mut Dice::new(1, "M28", 0), true).unwrap();
            let laid = Wire::lay(house, rules.to_vec(), Door::Plain, seat.as_ref(), Clock::start()).await.unwrap();
            assert_eq!(post(&laid.base, "a=b".to_owned()).await, "");
            let address = laid.base.strip_prefix("http://").unwrap();
            let refused = tokio::net::TcpStream::connect(address).await.err().map(|error| error.kind());
            assert_eq!(refused, seat.is_none().then_some(std::io::ErrorKind::ConnectionRefused));
            laid.wire.set_faults(&[]);
            laid.wire.start().await;
            assert!(post(&laid.base, "a=b".to_owned()).await.starts_with("HTTP/1.1 "));
            assert_eq!(laid.wire.exchanges().iter().filter(|one| one.executed).count(), 2);
        }
    }

    #[tokio::test]
    async fn a_drill_takes_as_many_requests_as_its_limit_says() {
        let house = House::open(&mut Dice::new(1, "M01", 0), false).unwrap();
        let laid = Wire::lay(house, Vec::new(), Door::Plain, None, Clock::start()).await.unwrap();
        laid.wire.state().requests = MOST_REQUESTS - 2;
        let mut answered = 0;
        while !post(&laid.base, "a=b".to_owned()).await.is_empty() {
            answered += 1;
        }
        assert_eq!(answered, 2);
    }

    /// An integration that sends too much fills neither the memory nor the report.
    #[tokio::test]
    async fn requests_of_an_integration_are_bounded_and_reported_in_short_visible_lines() {
        let house = House::open(&mut Dice::new(1, "M01", 0), false).unwrap();
        let laid = Wire::lay(house, Vec::new(), Door::Plain, None, Clock::start()).await.unwrap();
        // The key begins before the end of the line, and would be cut in its middle.
        let key = laid.wire.house.account.sha_key.clone();
        let reference = format!("{}{key}{}", "x".repeat(MOST_TOLD - 40), "%E2%80%AE%1B%5B2J".repeat(50_000));
        assert!(post(&laid.base, format!("uniqueMerchantReference={reference}")).await.starts_with("HTTP/1.1 "));
        let huge = format!("a={}", "b".repeat(4_000_000));
        let mut answered = 0;
        while !post(&laid.base, huge.clone()).await.is_empty() {
            answered += 1;
        }
        assert_eq!(answered, MOST_BYTES / 4_000_002);
        for event in laid.wire.events() {
            assert!(event.text.len() < 2 * MOST_TOLD && !event.text.chars().any(is_invisible), "{}", event.text);
            assert!(!event.text.contains(&key[..6]), "{}", event.text);
        }
        assert!(laid.wire.events().iter().any(|event| event.text.starts_with("too many requests")));
    }
}
