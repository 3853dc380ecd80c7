//! The queue of the thread that owns the sandbox, and when the thread stops waiting for more.

use std::{
    sync::mpsc::{Receiver, RecvTimeoutError, Sender},
    time::Duration,
};

use bytes::Bytes;
use http::{Response, StatusCode};
use tokio::sync::oneshot;

use crate::inbound::Inbound;

/// The most requests handed over together. Fewer than twice as many share one write.
pub(super) const GROUP: usize = 64;

#[expect(clippy::large_enum_variant, reason = "nearly every job is a request, and a box for each would cost more")]
pub(super) enum Job {
    /// A request and the channel for its response.
    Answer(Inbound, oneshot::Sender<Response<Bytes>>),
    /// The result of a callback.
    Report(String, Result<StatusCode, String>),
}

/// A message to the thread.
pub(super) enum Message {
    /// Jobs that arrived in one round of the runtime.
    Jobs(Vec<Job>),
    /// There are no more jobs.
    End,
}

/// On drop, tells the thread that there are no more jobs.
pub(super) struct Last(pub(super) Sender<Message>);

impl Drop for Last {
    fn drop(&mut self) {
        // If the thread has ended, the message is not needed.
        let _ = self.0.send(Message::End);
    }
}

/// Received requests without a response.
pub(super) struct Inbox {
    messages: Receiver<Message>,
    /// A message that was received and not taken yet.
    early: Option<Message>,
    /// The channels for the responses, in order.
    pub(super) waiting: Vec<oneshot::Sender<Response<Bytes>>>,
    pub(super) reports: Vec<(String, Result<StatusCode, String>)>,
    pub(super) ended: bool,
}

impl Inbox {
    pub(super) const fn new(messages: Receiver<Message>) -> Self {
        Self { messages, early: None, waiting: Vec::new(), reports: Vec::new(), ended: false }
    }

    /// Waits for a message, up to a limit, and takes all that have arrived.
    pub(super) fn wait(&mut self, requests: &mut Vec<Inbound>, most: Option<Duration>) {
        let first = match (self.early.take(), most) {
            (Some(early), _) => Ok(early),
            (None, None) => self.messages.recv().map_err(|_| RecvTimeoutError::Disconnected),
            (None, Some(most)) => self.messages.recv_timeout(most),
        };
        match first {
            Ok(message) => self.take(message, requests),
            Err(RecvTimeoutError::Timeout) => return,
            Err(RecvTimeoutError::Disconnected) => self.ended = true,
        }
        self.add(requests);
    }

    /// Takes the messages that have arrived meanwhile, unless a write is large enough without them.
    pub(super) fn add(&mut self, requests: &mut Vec<Inbound>) {
        while requests.len() < GROUP
            && let Some(message) = self.early.take().or_else(|| self.messages.try_recv().ok())
        {
            self.take(message, requests);
        }
    }

    /// Whether a message waits.
    pub(super) fn has_more(&mut self) -> bool {
        if self.early.is_none() {
            self.early = self.messages.try_recv().ok();
        }
        self.early.is_some()
    }

    fn take(&mut self, message: Message, requests: &mut Vec<Inbound>) {
        match message {
            Message::Jobs(jobs) => jobs.into_iter().for_each(|job| match job {
                Job::Answer(request, answer) => {
                    requests.push(request);
                    self.waiting.push(answer);
                }
                Job::Report(id, result) => self.reports.push((id, result)),
            }),
            Message::End => self.ended = true,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use http::Request;

    use super::*;
    use crate::Settings;

    fn request() -> Message {
        let request = Inbound::new(&Settings::default(), Request::new(Bytes::new()));
        Message::Jobs(vec![Job::Answer(request, oneshot::channel().0)])
    }

    #[test]
    fn a_write_takes_all_pending_groups_without_waiting() {
        let (to, messages) = channel();
        let (mut inbox, mut requests) = (Inbox::new(messages), Vec::new());
        to.send(request()).unwrap();
        inbox.wait(&mut requests, None);
        inbox.add(&mut requests);
        assert_eq!(requests.len(), 1);
        to.send(request()).unwrap();
        to.send(request()).unwrap();
        inbox.add(&mut requests);
        assert_eq!((requests.len(), inbox.waiting.len()), (3, 3));
    }

    #[test]
    fn a_write_is_not_larger_than_two_groups() {
        let (to, messages) = channel();
        let (mut inbox, mut requests) = (Inbox::new(messages), Vec::new());
        (0..3 * GROUP).for_each(|_| to.send(request()).unwrap());
        inbox.wait(&mut requests, None);
        inbox.add(&mut requests);
        assert_eq!(requests.len(), GROUP);
    }

    #[test]
    fn a_message_that_was_seen_is_taken_first() {
        let (to, messages) = channel();
        let (mut inbox, mut requests) = (Inbox::new(messages), Vec::new());
        assert!(!inbox.has_more());
        to.send(request()).unwrap();
        assert!(inbox.has_more() && inbox.has_more());
        drop(Last(to));
        inbox.wait(&mut requests, None);
        assert_eq!((requests.len(), inbox.ended, inbox.has_more()), (1, true, false));
    }

    #[test]
    fn the_end_of_the_queue_is_noticed() {
        let (to, messages) = channel();
        let (mut inbox, mut requests) = (Inbox::new(messages), Vec::new());
        drop(Last(to));
        inbox.wait(&mut requests, None);
        assert!(inbox.ended);
    }
}
