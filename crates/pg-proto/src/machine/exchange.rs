//! The result of one request, in the cases that machines distinguish.

use std::time::Duration;

use bytes::Bytes;
use pg_model::{ApiRequest, Remedy};

use super::{Backoff, Event, Failure, Moment};
use crate::{Account, Refused, ReplyError};

/// The result of a request.
pub(super) enum ExchangeResult<T> {
    /// A reply without an error.
    Answer(T),
    /// The service refused the request and would refuse it again, or the code is not listed.
    Refused(Refused),
    /// The service refused the request because an earlier request may have been executed, for example with the same
    /// reference.
    Done(Refused),
    /// The service refuses to examine the request for this long: locked or throttled (spec 1 §5, §8). In version 5 it may mean
    /// something else ([`Refused::hint`]): only requests that are harmless when executed twice are classified here.
    Later(Duration),
    /// The service would refuse every request: invalid credentials, or a missing permission.
    Shut(Refused),
    /// The request certainly never arrived.
    NotSent,
    /// The request was held back, as any other request would be.
    HeldBack,
    /// The request may have been executed, or may be executed later: there is no reply, the reply is unreadable, or the
    /// service failed.
    InDoubt,
}

impl<T> ExchangeResult<T> {
    /// The same for a request that is harmless when executed twice.
    pub(super) fn without_done(self) -> Self {
        if let Self::Done(refused) = self { Self::Refused(refused) } else { self }
    }
}

/// Classifies the reply to a request of `M`.
pub(super) fn sort_reply<M: ApiRequest>(account: &Account, reply: http::Response<Bytes>) -> ExchangeResult<M::Output> {
    match account.reply::<M>(reply) {
        Ok(answer) => ExchangeResult::Answer(answer),
        Err(ReplyError::Unreadable(_)) => ExchangeResult::InDoubt,
        Err(ReplyError::Refused(refused)) if refused.leaves_it_open() => ExchangeResult::InDoubt,
        Err(ReplyError::Refused(refused)) if refused.says_it_was_done() => ExchangeResult::Done(refused),
        Err(ReplyError::Refused(refused)) => match refused.hint().and_then(wait).or(wait(refused.remedy())) {
            Some(told) => ExchangeResult::Later(told),
            None if matches!(refused.remedy(), Remedy::FixCredentials | Remedy::AskOperator) => {
                ExchangeResult::Shut(refused)
            }
            None => ExchangeResult::Refused(refused),
        },
    }
}

/// Returns how long a remedy says to wait, if it says that.
pub(super) fn wait(remedy: Remedy) -> Option<Duration> {
    match remedy {
        Remedy::WaitOneMinute => Some(Duration::from_secs(60)),
        Remedy::WaitFiveMinutes => Some(Duration::from_secs(300)),
        _ => None,
    }
}

/// Classifies the event after a request of `M`. `None` for events that say nothing about it.
pub(super) fn sort_event<M: ApiRequest, I>(account: &Account, event: Event<I>) -> ExchangeResult<M::Output> {
    match event {
        Event::Reply(reply) => sort_reply::<M>(account, reply),
        Event::Failed(failure) => missed(failure),
        Event::Begin | Event::Woken | Event::Input(_) => ExchangeResult::InDoubt,
    }
}

/// Classifies a missing reply.
pub(super) fn missed<T>(failure: Failure) -> ExchangeResult<T> {
    match failure {
        Failure::NotSent => ExchangeResult::NotSent,
        // Machines end before they classify a request that was superseded.
        Failure::MaybeSent | Failure::Superseded => ExchangeResult::InDoubt,
        Failure::HeldBack => ExchangeResult::HeldBack,
    }
}

/// Returns when to continue after `earlier` pauses: they double from `first` to `longest`, with a random part.
pub(super) fn pause(first: Duration, longest: Duration, earlier: u32, now: Moment, random: u64) -> Moment {
    now.after(Backoff { first, longest }.next(earlier, random))
}

/// While the machine waits for a reply, it does nothing else.
pub(super) const UNTIL_THE_REPLY: Moment = Moment::from_millis(u64::MAX);
