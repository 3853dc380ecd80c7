//! A job in progress on a merchant's server.

use std::{collections::VecDeque, sync::Arc};

use bytes::Bytes;
use http::Request;
use pg_proto::machine::account_update::BatchResult;

use crate::{
    job::Job,
    run::{Claim, OwnerEvent, Run},
};

/// The stage of a task, in the merchant's own records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Waiting,
    /// The session is being opened.
    Opening,
    /// The customer has the card form.
    Form,
    Working,
    Ended,
    /// The customer never returned.
    Abandoned,
}

pub(crate) struct Task {
    pub(crate) client: usize,
    /// The number of the order that it belongs to.
    pub(crate) order: usize,
    pub(crate) job: Job,
    pub(crate) stage: Stage,
    /// The saved state of its machine.
    pub(crate) disk: Option<String>,
    /// The machine, while its server is up.
    pub(crate) run: Option<Box<dyn Run>>,
    /// Counts its changes, so that events for an earlier state are ignored.
    pub(crate) turn: u32,
    /// A request that waits for the throttle.
    pub(crate) parked: Option<Request<Bytes>>,
    pub(crate) claim: Option<Claim>,
    /// How often its payment was sent.
    pub(crate) payments_sent: u32,
    pub(crate) steps: u32,
    /// Whether a request of it is in flight, or waits for the throttle.
    pub(crate) busy: bool,
    /// Inputs for it once it is no longer busy.
    pub(crate) inbox: VecDeque<OwnerEvent>,
    /// Its results, as its owner stored them.
    pub(crate) results: Vec<Arc<BatchResult>>,
    /// Whether the network has doubled one of its requests.
    pub(crate) doubled: bool,
    /// The page of its customer's bank.
    pub(crate) challenge: Option<String>,
    /// Whether its merchant has decided to pay without liability shift.
    pub(crate) proceeds: bool,
    /// The payment pages that its customer was sent to.
    pub(crate) pages: Vec<String>,
    /// How often its customer has posted the card form.
    pub(crate) posts: u32,
}

impl Task {
    pub(crate) fn new(client: usize, order: usize, job: Job) -> Self {
        Self {
            client,
            order,
            job,
            stage: Stage::Waiting,
            disk: None,
            run: None,
            turn: 0,
            parked: None,
            claim: None,
            payments_sent: 0,
            steps: 0,
            busy: false,
            inbox: VecDeque::new(),
            results: Vec::new(),
            doubled: false,
            challenge: None,
            proceeds: false,
            pages: Vec::new(),
            posts: 0,
        }
    }
}
