//! The seat of a process: its account, its clock, and whether it sleeps. It outlives the process.

use std::{
    net::IpAddr,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use pg_hyper::Clock;
use pg_proto::machine::Moment;
use tokio::sync::Notify;

use super::time::Time;
use crate::{agenda::Millis, dice::Dice, world::BEGIN};

pub(super) struct Seat {
    pub(super) name: String,
    pub(super) account: usize,
    pub(super) address: IpAddr,
    time: Time,
    /// How far its clock is ahead.
    ahead: i64,
    /// How many milliseconds its clock gains in a thousand seconds, at most five per second.
    drift: i64,
    asleep_until: AtomicU64,
    /// Ends the process in this seat.
    pub(super) killed: Notify,
}

impl Seat {
    /// Creates the seat with this number, of an account.
    pub(super) fn new(number: usize, account: usize, time: &Time, dice: &mut Dice, has_clock: bool) -> Arc<Self> {
        let (ahead, drift) = (dice.below(7_200_000), dice.below(10_000));
        let signed = |number: u64, zero: i64| i64::try_from(number).unwrap_or_default() - zero;
        let (ahead, drift) = if has_clock { (signed(ahead, 3_600_000), signed(drift, 5_000)) } else { (0, 0) };
        Arc::new(Self {
            name: format!("p{number}"),
            account,
            address: IpAddr::from([10, 0, 0, u8::try_from(number + 1).unwrap_or(u8::MAX)]),
            time: time.clone(),
            ahead,
            drift,
            asleep_until: AtomicU64::new(0),
            killed: Notify::new(),
        })
    }

    /// Pauses the whole process, as if it were swapped out or its machine were moved.
    pub(super) fn falls_asleep(&self, millis: Millis) {
        self.asleep_until.fetch_max(self.time.now() + millis, Ordering::SeqCst);
    }

    /// Another process takes this seat.
    pub(super) fn begins_anew(&self) {
        self.asleep_until.store(0, Ordering::SeqCst);
    }

    /// Waits while the process sleeps. Returns whether it did.
    pub(super) async fn awake(&self) -> bool {
        let mut slept = false;
        loop {
            let until = self.asleep_until.load(Ordering::SeqCst);
            if until <= self.time.now() {
                return slept;
            }
            slept = true;
            self.time.sleep_until(until).await;
        }
    }

    /// Returns the time of its clock.
    fn shown(&self, at: Millis) -> Millis {
        let passed = i64::try_from(at.saturating_sub(BEGIN)).unwrap_or(i64::MAX);
        at.saturating_add_signed(self.ahead + passed * self.drift / 1_000_000)
    }
}

/// The clock of a process.
pub(super) struct SeatClock(pub(super) Arc<Seat>);

impl Clock for SeatClock {
    fn now(&self) -> Moment {
        Moment::from_millis(self.0.shown(self.0.time.now()))
    }

    fn sleep_until(&self, moment: Moment) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let seat = Arc::clone(&self.0);
        Box::pin(async move {
            loop {
                let left = moment.millis().saturating_sub(seat.shown(seat.time.now()));
                if left == 0 {
                    break;
                }
                // A slow clock shows an earlier time when the pause is over.
                seat.time.sleep(left).await;
            }
            seat.awake().await;
        })
    }
}
