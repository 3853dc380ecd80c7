//! The network between clients and the service: each request becomes any number of copies, each with its own fate.

use std::{fmt, net::IpAddr};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use pg_proto::machine::throttle::Ticket;

use crate::{
    agenda::{EventQueue, Millis, SimulatedEvent},
    dice::Dice,
    weather::NetworkConditions,
};

/// A request in flight, and the caller that waits for the reply.
pub(crate) struct Call {
    pub(crate) caller: Caller,
    pub(crate) request: Request<Bytes>,
    pub(crate) from: IpAddr,
    /// The caller waits for the reply.
    pub(crate) open: bool,
    pub(crate) ticket: Option<Ticket>,
    pub(crate) sent: Millis,
    /// Whether the network made more than one copy of it.
    pub(crate) doubled: bool,
    /// Whether a copy was executed; later executions are caused by the network.
    pub(crate) executed: bool,
    pub(crate) replies: Vec<Response<Bytes>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caller {
    /// The merchant's server, for a task at a turn.
    Task {
        task: usize,
        turn: u32,
    },
    /// A customer's browser, for a task.
    Customer {
        task: usize,
    },
    /// A tab of a customer's browser on the payment page.
    Tab {
        tab: usize,
    },
    Stranger,
}

/// How long a caller waits for a reply.
pub(crate) const DEADLINE: Millis = 30_000;

impl Fate {
    /// How many copies the network makes.
    pub(crate) fn copies(&self) -> usize {
        match self {
            Self::Refused(_) => 0,
            Self::Carried { copies, .. } => copies.len(),
        }
    }
}

/// A short description for the log.
impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Carried { copies, .. } = self else { return f.write_str("connection refused") };
        for (number, copy) in copies.iter().enumerate() {
            f.write_str(if number > 0 { ", " } else { "" })?;
            match copy {
                Some(delay) => write!(f, "arrives in {delay} ms")?,
                None => f.write_str("lost")?,
            }
        }
        Ok(())
    }
}

impl Call {
    pub(crate) const fn new(caller: Caller, request: Request<Bytes>, from: IpAddr, sent: Millis) -> Self {
        Self {
            caller,
            request,
            from,
            open: true,
            ticket: None,
            sent,
            doubled: false,
            executed: false,
            replies: Vec::new(),
        }
    }
}

/// The fate of a request.
pub(crate) enum Fate {
    /// No connection: the caller learns it after so long.
    Refused(Millis),
    Carried {
        /// The connection breaks after so long.
        cut: Option<Millis>,
        /// For each copy that the network makes when it arrives; `None` if it is lost.
        copies: Vec<Option<Millis>>,
    },
}

pub(crate) struct Network {
    pub(crate) weather: NetworkConditions,
    dice: Dice,
}

impl Network {
    pub(crate) fn new(seed: u64, weather: NetworkConditions) -> Self {
        Self { weather, dice: Dice::new(seed, "network") }
    }

    /// Decides the fate of a request.
    pub(crate) fn fate(&mut self, service_is_up: bool) -> Fate {
        let (weather, dice) = (self.weather, &mut self.dice);
        if !service_is_up || dice.per_mille(weather.refused) {
            return Fate::Refused(dice.between(1, 50));
        }
        let cut = dice.per_mille(weather.cut).then(|| dice.between(1, 3_000));
        let copies = if dice.per_mille(weather.duplicate) { dice.between(2, 3) } else { 1 };
        let mut copy = || {
            let (lost, delay) = (dice.per_mille(weather.lost_request), delay(dice, weather));
            (!lost).then_some(delay)
        };
        Fate::Carried { cut, copies: (0..copies).map(|_| copy()).collect() }
    }

    /// Plans the fate of a request.
    pub(crate) fn carry(&mut self, now: Millis, call: usize, service_is_up: bool, agenda: &mut EventQueue) -> Fate {
        let fate = self.fate(service_is_up);
        match &fate {
            Fate::Refused(after) => agenda.plan(now + after, SimulatedEvent::NoReply { call, sent: false }),
            Fate::Carried { cut, copies } => {
                agenda.plan(now + DEADLINE, SimulatedEvent::NoReply { call, sent: true });
                if let Some(after) = cut {
                    agenda.plan(now + after, SimulatedEvent::NoReply { call, sent: true });
                }
                for (copy, delay) in (0..).zip(copies) {
                    if let Some(delay) = delay {
                        agenda.plan(now + delay, SimulatedEvent::Arrive { call, copy });
                    }
                }
            }
        }
        fate
    }

    /// Returns when each copy of a callback arrives.
    pub(crate) fn carry_callback(&mut self) -> Vec<Millis> {
        let (weather, dice) = (self.weather, &mut self.dice);
        let copies = if dice.per_mille(weather.duplicate) { 2 } else { 1 };
        let all: Vec<_> = (0..copies).map(|_| (dice.per_mille(weather.lost_request), delay(dice, weather))).collect();
        all.into_iter().filter(|(lost, _)| !lost).map(|(_, delay)| delay).collect()
    }

    /// Decides the delay of a reply; `None` if it is lost.
    pub(crate) fn bring(&mut self, reply: &mut Response<Bytes>) -> Option<Millis> {
        let (weather, dice) = (self.weather, &mut self.dice);
        let (lost, garbled, delay) =
            (dice.per_mille(weather.lost_reply), dice.per_mille(weather.garbled), delay(dice, weather));
        if garbled {
            garble(reply, dice);
        }
        (!lost).then_some(delay)
    }

    /// Whether a reply is delivered a second time.
    pub(crate) fn brings_again(&mut self) -> bool {
        self.dice.per_mille(self.weather.duplicate)
    }
}

fn delay(dice: &mut Dice, weather: NetworkConditions) -> Millis {
    let short = dice.between(5, 400);
    let (long, scale) = (dice.per_mille(weather.long_delay), dice.below(3));
    let long_one = match scale {
        0 => dice.between(2_000, 60_000),
        1 => dice.between(60_000, 600_000),
        _ => dice.between(600_000, 3 * 3_600_000),
    };
    if long { long_one } else { short }
}

/// Truncates a reply, or replaces it by a proxy's page or empty object.
fn garble(reply: &mut Response<Bytes>, dice: &mut Dice) {
    if dice.per_mille(500) {
        let half = reply.body().len() / 2;
        *reply.body_mut() = reply.body().slice(..half);
    } else {
        const PAGE: &str = "<html><body>The page cannot be shown</body></html>";
        let (status, body) = dice.pick(&[
            (StatusCode::BAD_GATEWAY, PAGE),
            (StatusCode::GATEWAY_TIMEOUT, PAGE),
            (StatusCode::OK, PAGE),
            (StatusCode::OK, "{}"),
        ]);
        *reply.status_mut() = status;
        *reply.body_mut() = Bytes::from_static(body.as_bytes());
    }
}
