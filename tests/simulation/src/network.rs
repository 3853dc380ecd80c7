//! The network between clients and the service: each request becomes any number of copies, each with its own fate.

use std::net::IpAddr;

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
const DEADLINE: Millis = 30_000;

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
pub(crate) struct Fate {
    /// How many copies the network makes of it.
    pub(crate) copies: u64,
    /// A short description for the log.
    pub(crate) told: String,
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
    pub(crate) fn carry(&mut self, now: Millis, call: usize, service_is_up: bool, agenda: &mut EventQueue) -> Fate {
        let (weather, dice) = (self.weather, &mut self.dice);
        if !service_is_up || dice.per_mille(weather.refused) {
            agenda.plan(now + dice.between(1, 50), SimulatedEvent::NoReply { call, sent: false });
            return Fate { copies: 0, told: "connection refused".to_owned() };
        }
        agenda.plan(now + DEADLINE, SimulatedEvent::NoReply { call, sent: true });
        if dice.per_mille(weather.cut) {
            agenda.plan(now + dice.between(1, 3_000), SimulatedEvent::NoReply { call, sent: true });
        }
        let copies = if dice.per_mille(weather.duplicate) { dice.between(2, 3) } else { 1 };
        let mut told = String::new();
        for copy in 0..copies {
            let (lost, delay) = (dice.per_mille(weather.lost_request), delay(dice, weather));
            if !told.is_empty() {
                told.push_str(", ");
            }
            if lost {
                told.push_str("lost");
                continue;
            }
            told.push_str(&format!("arrives in {delay} ms"));
            agenda.plan(now + delay, SimulatedEvent::Arrive { call, copy: u32::try_from(copy).unwrap_or_default() });
        }
        Fate { copies, told }
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

/// Truncates a reply, or replaces it by a proxy's page.
fn garble(reply: &mut Response<Bytes>, dice: &mut Dice) {
    if dice.per_mille(500) {
        let half = reply.body().len() / 2;
        *reply.body_mut() = reply.body().slice(..half);
    } else {
        let status = dice.pick(&[StatusCode::BAD_GATEWAY, StatusCode::GATEWAY_TIMEOUT, StatusCode::OK]);
        *reply.status_mut() = status;
        *reply.body_mut() = Bytes::from_static(b"<html><body>The page cannot be shown</body></html>");
    }
}
