//! The order of handshakes if more begin than can be answered.

use std::{
    collections::HashMap,
    future::poll_fn,
    mem,
    net::IpAddr,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::Poll,
};

use tokio::task::yield_now;

use crate::{RequestQueue, places::network_of};

/// Limits the number of handshakes whose next step is computed at the same time. The others wait: those of the
/// addresses with the fewest incomplete handshakes first, and among equals the newest first. Before all of them come
/// peers that resume a session.
///
/// The answer to the first message of a TLS handshake contains a signature, which costs the server as much as a whole request, and its
/// peer next to nothing. Without an order, a new connection waits behind all handshakes that attackers have begun. The newest comes first
/// because a server that gets more handshakes than it can answer fails to answer some in every order: the oldest, which
/// [`Acceptor`](crate::Acceptor) closes first.
///
/// Between two steps the runtime runs every other task that is ready and asks the system for new events, so that requests on
/// established connections wait for one step only.
///
/// ```
/// # async fn serve(handshake: impl Future<Output = std::io::Result<()>>) -> std::io::Result<()> {
/// use std::net::Ipv4Addr;
///
/// use pg_connections::HandshakeQueue;
///
/// // One for all connections of a server.
/// let handshakes = HandshakeQueue::new(1);
/// // In the task of each connection, around `TlsAcceptor::accept` or the like.
/// handshakes.run(Ipv4Addr::LOCALHOST.into(), handshake).await
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct HandshakeQueue {
    turns: RequestQueue,
    incomplete: Arc<Mutex<Incomplete>>,
}

/// Number of handshakes of each address or network that were begun and have not been completed.
type Incomplete = HashMap<IpAddr, u8>;

/// Maximum number of addresses that are counted.
const ADDRESSES: usize = 16_384;
/// Addresses with this many incomplete handshakes or more are equal.
const WORST: u8 = 8;

impl HandshakeQueue {
    /// Creates a queue that allows steps of `at_once` handshakes at the same time, at least one.
    #[must_use]
    pub fn new(at_once: usize) -> Self {
        Self { turns: RequestQueue::newest_first(at_once), incomplete: Arc::default() }
    }

    /// Runs the handshake of a peer at this address: polls it during its turns only. Set a timeout around it.
    ///
    /// A handshake that fails or is dropped counts against its address until others of this address are completed.
    ///
    /// # Errors
    ///
    /// The error of the handshake.
    pub async fn run<T, E>(&self, address: IpAddr, handshake: impl Future<Output = Result<T, E>>) -> Result<T, E> {
        let address = network_of(address);
        let ended = self.take_turns(self.begin(address), handshake).await;
        if ended.is_ok() {
            self.complete(address);
        }
        ended
    }

    /// Runs the handshake of a peer that resumes a session of this server, before those of others: to get the session, it has completed a
    /// handshake, which costs a peer as much as the server. Its address is not counted.
    pub async fn resume<H: Future>(&self, handshake: H) -> H::Output {
        self.take_turns(0, handshake).await
    }

    async fn take_turns<H: Future>(&self, rank: u64, handshake: H) -> H::Output {
        let mut handshake = pin!(handshake);
        loop {
            let turn = self.turns.take(rank).await;
            // In the current-thread runtime a step is never interrupted, so only a turn that is held here makes others wait.
            yield_now().await;
            let step = poll_fn(|context| Poll::Ready(handshake.as_mut().poll(context))).await;
            drop(turn);
            if let Poll::Ready(ended) = step {
                return ended;
            }
            woken().await;
        }
    }

    /// Counts a handshake, and returns the rank that the earlier ones give it.
    fn begin(&self, address: IpAddr) -> u64 {
        let mut incomplete = self.lock();
        if incomplete.len() >= ADDRESSES && !incomplete.contains_key(&address) {
            incomplete.retain(|_, count| {
                *count /= 2;
                *count > 0
            });
            if incomplete.len() >= ADDRESSES {
                // The next new address halves again.
                return 1;
            }
        }
        let count = incomplete.entry(address).or_default();
        let earlier = *count;
        *count = count.saturating_add(1);
        1 + u64::from(u8::BITS - earlier.min(WORST).leading_zeros())
    }

    /// Forgets this handshake and half of the others of the address.
    fn complete(&self, address: IpAddr) {
        let mut incomplete = self.lock();
        if let Some(count) = incomplete.get_mut(&address) {
            *count = count.saturating_sub(1) / 2;
            if *count == 0 {
                incomplete.remove(&address);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Incomplete> {
        // No panic can interrupt a change midway.
        self.incomplete.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits until the task is woken once.
async fn woken() {
    let mut waited = false;
    poll_fn(|_| if mem::replace(&mut waited, true) { Poll::Ready(()) } else { Poll::Pending }).await;
}

#[cfg(test)]
mod tests {
    use std::{future::pending, net::Ipv4Addr};

    use tokio::{
        runtime::{Builder, Runtime},
        spawn,
        sync::oneshot,
        task::JoinHandle,
        time::timeout,
    };

    use super::*;

    const ATTACKER: [u8; 4] = [192, 0, 2, 1];
    const HONEST: [u8; 4] = [192, 0, 2, 2];
    const NEWCOMER: [u8; 4] = [192, 0, 2, 3];

    /// Handshakes, and the order in which their steps were computed.
    #[derive(Clone)]
    struct Log {
        queue: HandshakeQueue,
        steps: Arc<Mutex<Vec<&'static str>>>,
    }

    impl Log {
        fn new() -> Self {
            Self { queue: HandshakeQueue::new(1), steps: Arc::default() }
        }

        fn note(&self, step: &'static str) {
            self.steps.lock().unwrap().push(step);
        }

        /// Begins a handshake of one step. Its peer fails it or completes it.
        fn begin(&self, name: &'static str, address: [u8; 4], is_completed: bool) -> JoinHandle<()> {
            let log = self.clone();
            spawn(async move {
                let step = async {
                    log.note(name);
                    is_completed.then_some(()).ok_or(())
                };
                let _ = log.queue.run(Ipv4Addr::from(address).into(), step).await;
            })
        }

        async fn each(&self, times: usize, address: [u8; 4], is_completed: bool) {
            for _ in 0..times {
                self.begin("earlier", address, is_completed).await.unwrap();
            }
        }

        fn taken(&self) -> Vec<&'static str> {
            mem::take(&mut self.steps.lock().unwrap())
        }
    }

    /// Virtual time, which passes only while nothing else can happen.
    fn runtime() -> Runtime {
        Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
    }

    async fn all(handshakes: impl IntoIterator<Item = JoinHandle<()>>) {
        for handshake in handshakes {
            handshake.await.unwrap();
        }
    }

    #[test]
    fn the_newest_comes_first() {
        runtime().block_on(async {
            let log = Log::new();
            all([
                log.begin("first", [192, 0, 2, 11], true),
                log.begin("second", [192, 0, 2, 12], true),
                log.begin("third", [192, 0, 2, 13], true),
                log.begin("fourth", [192, 0, 2, 14], true),
            ])
            .await;
            // Nothing waits when the first one begins.
            assert_eq!(log.taken(), ["first", "fourth", "third", "second"]);
        });
    }

    #[test]
    fn addresses_with_incomplete_handshakes_wait_for_the_others() {
        runtime().block_on(async {
            let log = Log::new();
            log.each(3, ATTACKER, false).await;
            log.taken();
            all([
                log.begin("first", HONEST, true),
                log.begin("newcomer", NEWCOMER, true),
                log.begin("attack", ATTACKER, false),
                log.begin("attack", ATTACKER, false),
            ])
            .await;
            assert_eq!(log.taken(), ["first", "newcomer", "attack", "attack"]);
        });
    }

    #[test]
    fn one_of_many_attackers_from_an_address_comes_first_if_it_is_new() {
        runtime().block_on(async {
            let log = Log::new();
            log.each(usize::from(WORST), ATTACKER, false).await;
            log.taken();
            all(["first", "older", "newer"].map(|name| log.begin(name, ATTACKER, false))).await;
            assert_eq!(log.taken(), ["first", "newer", "older"]);
        });
    }

    /// A listener for IPv6 and IPv4 has such addresses.
    #[test]
    fn a_mapped_address_counts_as_its_own_ipv4_address() {
        runtime().block_on(async {
            let queue = HandshakeQueue::new(1);
            for last in [1, 2, 3] {
                let address = Ipv4Addr::new(192, 0, 2, last).to_ipv6_mapped();
                let _ = queue.run(address.into(), std::future::ready(Err::<(), ()>(()))).await;
            }
            assert_eq!(queue.lock().len(), 3);
        });
    }

    #[test]
    fn peers_that_resume_a_session_come_before_all_others() {
        runtime().block_on(async {
            let log = Log::new();
            let (first, own) = (log.begin("first", HONEST, true), log.clone());
            let resumed = spawn(async move { own.queue.resume(async { own.note("resumed") }).await });
            all([first, log.begin("newer", NEWCOMER, true), resumed]).await;
            assert_eq!(log.taken(), ["first", "resumed", "newer"]);
        });
    }

    #[test]
    fn completed_handshakes_redeem_their_address() {
        runtime().block_on(async {
            let log = Log::new();
            log.each(3, ATTACKER, false).await;
            log.each(3, ATTACKER, true).await;
            log.taken();
            all([
                log.begin("first", HONEST, true),
                log.begin("other", NEWCOMER, true),
                log.begin("redeemed", ATTACKER, true),
            ])
            .await;
            assert_eq!(log.taken(), ["first", "redeemed", "other"]);
        });
    }

    #[test]
    fn every_step_waits_for_a_turn() {
        runtime().block_on(async {
            let log = Log::new();
            let (answer, answered) = oneshot::channel();
            let (own, other) = (log.clone(), log.clone());
            let attack = spawn(async move {
                let steps = async {
                    own.note("first step");
                    let _ = answered.await;
                    own.note("second step");
                    Err::<(), ()>(())
                };
                own.queue.run(Ipv4Addr::from(ATTACKER).into(), steps).await
            });
            let handshake = spawn(async move {
                let step = async {
                    // The attacker answers while this step is computed.
                    answer.send(()).unwrap();
                    other.note("other handshake");
                    Ok::<(), ()>(())
                };
                let begun = other.begin("newer handshake", NEWCOMER, true);
                let _ = other.queue.run(Ipv4Addr::from(HONEST).into(), step).await;
                begun.await.unwrap();
            });
            assert!(attack.await.unwrap().is_err());
            handshake.await.unwrap();
            assert_eq!(log.taken(), ["first step", "newer handshake", "other handshake", "second step"]);
        });
    }

    #[test]
    fn a_peer_that_never_answers_holds_up_no_other() {
        runtime().block_on(async {
            let log = Log::new();
            let silent = log.queue.run(Ipv4Addr::from(ATTACKER).into(), pending::<Result<(), ()>>());
            let both = async { tokio::join!(silent, log.begin("honest", HONEST, true)) };
            assert!(timeout(std::time::Duration::from_secs(60), both).await.is_err());
            assert_eq!(log.taken(), ["honest"]);
        });
    }

    #[test]
    fn between_two_steps_every_other_task_runs() {
        runtime().block_on(async {
            let log = Log::new();
            let begun: Vec<_> = (0..9).map(|_| log.begin("step", HONEST, true)).collect();
            let established = log.clone();
            let requests = spawn(async move {
                for _ in 0..9 {
                    yield_now().await;
                    established.note("request");
                }
            });
            all(begun).await;
            requests.await.unwrap();
            let taken = log.taken();
            let mut steps = 0_usize;
            for (at, step) in taken.iter().enumerate() {
                steps += usize::from(*step == "step");
                assert!(steps.abs_diff(at + 1 - steps) <= 1, "{taken:?}");
            }
        });
    }

    #[test]
    fn a_bounded_number_of_addresses_is_counted() {
        let queue = HandshakeQueue::new(1);
        for number in 0..3 * u32::try_from(ADDRESSES).unwrap() {
            queue.begin(Ipv4Addr::from_bits(number).into());
            queue.begin(Ipv4Addr::from_bits(number).into());
        }
        assert!(queue.lock().len() <= ADDRESSES);
    }
}
