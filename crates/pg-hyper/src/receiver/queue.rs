//! Notifications that wait for the owner. No address can use up the room or the turns of other addresses.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;
use http::Request;
use pg_proto::UpdaterHint;
use tokio::sync::Notify;

use super::{
    HEAD_BYTES, Notification, ReceiptHandle, Received, ReceiverLimits,
    shares::{Share, Shares},
};

/// Number of notifications of maximum length that can wait at the same time.
const LARGEST_NOTIFICATIONS: usize = 8;

/// The waiting notifications. The owner gets one from each address, then the next one from each.
pub(super) struct NotificationQueue {
    state: Mutex<State>,
    arrived: Notify,
    notifications: Shares,
    bytes: Shares,
}

#[derive(Default)]
struct State {
    waiting: HashMap<String, VecDeque<Waiting>>,
    /// The tokens with waiting notifications, the next one first.
    turns: VecDeque<String>,
    /// Whether the owner has gone.
    closed: bool,
}

struct Waiting {
    content: Content,
    receipt: ReceiptHandle,
    _place: Share,
    _bytes: Share,
}

/// The content of a waiting notification.
pub(super) enum Content {
    Read(Notification),
    /// The body of a callback about a batch. Parsed, it may take many times as much memory.
    Batch(Bytes),
}

impl Content {
    /// Returns the part of a notification that must be kept, and its length.
    pub(super) fn of(notification: Notification, request: Request<Bytes>) -> (Self, usize) {
        let length = request.body().len() + request.uri().query().map_or(0, str::len);
        match notification {
            Notification::Updater(_) => (Self::Batch(request.into_body()), length),
            Notification::CheckoutLeft | Notification::Challenged | Notification::Refused(_) => {
                (Self::Read(notification), 0)
            }
            Notification::Paid(_) | Notification::CardForm(_) => (Self::Read(notification), length),
        }
    }

    /// Reads a body that was checked to be readable.
    fn read(self) -> Option<Notification> {
        match self {
            Self::Read(notification) => Some(notification),
            Self::Batch(body) => {
                let request = Request::post("/").body(body).ok()?;
                UpdaterHint::read(&request).ok().map(Notification::Updater)
            }
        }
    }
}

impl NotificationQueue {
    pub(super) fn new(limits: &ReceiverLimits) -> Self {
        // One address alone gets half.
        let notifications = limits.waiting.max(1).saturating_mul(2);
        let bytes = limits.body_bytes.max(HEAD_BYTES).saturating_mul(LARGEST_NOTIFICATIONS);
        Self {
            state: Mutex::default(),
            arrived: Notify::new(),
            notifications: Shares::new(notifications),
            bytes: Shares::new(bytes),
        }
    }

    /// Adds a notification of this length. Returns false if there is no room for it, or no owner.
    pub(super) fn add(&self, token: String, (content, bytes): (Content, usize), receipt: ReceiptHandle) -> bool {
        let (Some(place), Some(bytes)) = (self.notifications.take(&token, 1), self.bytes.take(&token, bytes)) else {
            return false;
        };
        let mut state = self.lock();
        if state.closed {
            return false;
        }
        let of_token = state.waiting.entry(token.clone()).or_default();
        of_token.push_back(Waiting { content, receipt, _place: place, _bytes: bytes });
        if of_token.len() == 1 {
            state.turns.push_back(token);
        }
        drop(state);
        self.arrived.notify_one();
        true
    }

    /// Waits for a notification. Only one caller at a time; dropping the future loses nothing.
    pub(super) async fn next(&self) -> Received {
        loop {
            let arrived = self.arrived.notified();
            let next = self.lock().next();
            match next {
                Some((token, Waiting { content, receipt, .. })) => {
                    if let Some(notification) = content.read() {
                        return Received { token, notification, receipt };
                    }
                }
                None => arrived.await,
            }
        }
    }

    /// Refuses the notifications that the owner has not received, and all later ones.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        state.turns.clear();
        // Dropping their receipts refuses them.
        state.waiting.clear();
    }

    pub(super) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No panic can interrupt a change midway.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn next(&mut self) -> Option<(String, Waiting)> {
        let token = self.turns.pop_front()?;
        let of_token = self.waiting.get_mut(&token)?;
        let next = of_token.pop_front()?;
        if of_token.is_empty() {
            self.waiting.remove(&token);
        } else {
            self.turns.push_back(token.clone());
        }
        Some((token, next))
    }
}
