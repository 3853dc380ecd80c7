//! A job that a merchant's server works on.

use std::{collections::VecDeque, sync::Arc};

use bytes::Bytes;
use http::Request;
use pg_proto::machine::account_update::BatchResult;

use crate::{
    job::Job,
    run::{Claim, OwnerEvent, Run},
};

/// How far a task is; the merchant's own records say so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Waiting,
    /// The session is being opened.
    Opening,
    /// The customer has the card form.
    Form,
    Working,
    Ended,
    /// The customer never came back.
    Abandoned,
}

pub(crate) struct Task {
    pub(crate) client: usize,
    /// The number of the order that it belongs to.
    pub(crate) order: usize,
    pub(crate) job: Job,
    pub(crate) stage: Stage,
    /// What is stored of its machine.
    pub(crate) disk: Option<String>,
    /// The machine, while its server is up.
    pub(crate) run: Option<Box<dyn Run>>,
    /// Counts what has happened to it, so that what was meant for an earlier state passes it by.
    pub(crate) turn: u32,
    /// What waits for the throttle.
    pub(crate) parked: Option<Request<Bytes>>,
    pub(crate) claim: Option<Claim>,
    /// How often its payment was sent.
    pub(crate) payments_sent: u32,
    pub(crate) steps: u32,
    /// A request of it is on its way, or waits for the throttle.
    pub(crate) busy: bool,
    /// What it is to be told when it is busy no more.
    pub(crate) inbox: VecDeque<OwnerEvent>,
    /// The results that it has delivered, as its owner stored them.
    pub(crate) results: Vec<Arc<BatchResult>>,
    /// The network has doubled one of its requests.
    pub(crate) doubled: bool,
    /// Where its customer's bank asks.
    pub(crate) challenge: Option<String>,
    /// The payment pages that its customer was led to.
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
            pages: Vec::new(),
            posts: 0,
        }
    }
}
