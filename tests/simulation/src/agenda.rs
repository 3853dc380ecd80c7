//! What will happen, in the order of time; what happens at the same time, in the order in which it was planned.

use std::{cmp::Reverse, collections::BinaryHeap};

/// Milliseconds of virtual time since 1970.
pub(crate) type Millis = u64;

/// What is done to a stored card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CardKeyChange {
    Disable,
    Enable,
    Delete,
}

/// Something that will happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SimulatedEvent {
    /// A copy of a call's request reaches the service; the number tells the copies apart.
    Arrive {
        call: usize,
        copy: u32,
    },
    /// The service takes what has arrived.
    Serve,
    /// A reply reaches the caller.
    Reply {
        call: usize,
        reply: usize,
    },
    /// The caller learns that there is no reply.
    NoReply {
        call: usize,
        sent: bool,
    },
    /// A task's time has come, unless something else has happened to it since.
    Wake {
        task: usize,
        turn: u32,
    },
    /// A machine that had to stop goes on.
    GoOn {
        task: usize,
        turn: u32,
    },
    /// A task may ask the throttle again.
    AskAgain {
        task: usize,
        turn: u32,
    },
    /// A task begins.
    Begin {
        task: usize,
    },
    /// A customer fills in the card form of a task.
    Post {
        task: usize,
        attempt: u32,
    },
    /// The service will crash at one of its next operations on the store.
    ServerCrash {
        operations: u32,
    },
    ServerStart,
    ClientCrash {
        client: usize,
    },
    ClientStart {
        client: usize,
    },
    ClockJump {
        client: usize,
        forwards: bool,
        by: Millis,
    },
    /// A wrong configuration is rolled out.
    CredentialsBreak {
        client: usize,
    },
    CredentialsMend {
        client: usize,
    },
    /// A stranger behind the client's address tries credentials that are wrong.
    Stranger {
        client: usize,
    },
    /// Another program of the merchant pays another amount under the reference of a task.
    ForeignPayment {
        task: usize,
    },
    /// Another program of the merchant disables, enables or deletes the stored card of a task.
    CardKey {
        task: usize,
        what: CardKeyChange,
    },
    /// A customer answers the bank.
    Visit {
        task: usize,
    },
    /// A merchant decides.
    Decide {
        task: usize,
        turn: u32,
    },
    /// A tab of a customer's browser sends its request.
    Browse {
        tab: usize,
    },
    /// Something about a checkout reaches its merchant.
    News {
        news: usize,
    },
    /// The service looks after the callbacks that are due.
    Due,
    /// A callback reaches the merchant.
    Callback {
        callback: usize,
    },
    /// A stranger makes a callback up.
    Forge {
        client: usize,
    },
    /// From now on nothing fails any more.
    Heal,
}

#[derive(Default)]
pub(crate) struct EventQueue {
    queue: BinaryHeap<Reverse<(Millis, u64, SimulatedEvent)>>,
    planned: u64,
}

impl EventQueue {
    pub(crate) fn plan(&mut self, at: Millis, what: SimulatedEvent) {
        self.planned += 1;
        self.queue.push(Reverse((at, self.planned, what)));
    }

    pub(crate) fn next(&mut self) -> Option<(Millis, SimulatedEvent)> {
        self.queue.pop().map(|Reverse((at, _, what))| (at, what))
    }
}
