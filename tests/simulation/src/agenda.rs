//! Future events in order of time; events at the same time are in the order in which they were planned.

use std::{cmp::Reverse, collections::BinaryHeap};

/// Milliseconds of virtual time since 1970.
pub(crate) type Millis = u64;

/// A change of a stored card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CardKeyChange {
    Disable,
    Enable,
    Delete,
}

/// A future event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SimulatedEvent {
    /// A copy of a call's request reaches the service; the number distinguishes the copies.
    Arrive {
        call: usize,
        copy: u32,
    },
    /// The service handles the requests that have arrived.
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
    /// The wait of a task is over, unless something else has happened to it since.
    Wake {
        task: usize,
        turn: u32,
    },
    /// A stopped machine continues.
    GoOn {
        task: usize,
        turn: u32,
    },
    /// A task may ask the throttle again.
    AskAgain {
        task: usize,
        turn: u32,
    },
    /// A task starts.
    Begin {
        task: usize,
    },
    /// A customer fills in the card form of a task.
    Post {
        task: usize,
        attempt: u32,
    },
    /// The service will crash during one of its next operations on the store.
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
    /// A wrong configuration is deployed.
    CredentialsBreak {
        client: usize,
    },
    CredentialsMend {
        client: usize,
    },
    /// A stranger behind the client's address tries wrong credentials.
    Stranger {
        client: usize,
    },
    /// Another program of the merchant pays something else under the reference of a task.
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
    /// A report about a checkout reaches its merchant.
    News {
        news: usize,
    },
    /// The service checks for due callbacks.
    Due,
    /// A callback reaches the merchant.
    Callback {
        callback: usize,
    },
    /// A stranger forges a callback.
    Forge {
        client: usize,
    },
    /// Another program of the first merchant opens more sessions at once than its limit allows.
    Burst,
    /// An operator lets the next calls fail, whichever process they reach.
    Operate {
        calls: u32,
    },
    /// From now on no fault occurs.
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
