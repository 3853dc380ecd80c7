//! What became of one request, sorted the way machines decide.

use std::time::Duration;

use bytes::Bytes;
use pg_model::{ApiRequest, Remedy};

use super::{Backoff, Event, Failure, Moment};
use crate::{Account, Refused, ReplyError};

/// What is known after a request.
pub(super) enum ExchangeResult<T> {
    /// It was answered, and the answer names no error.
    Answer(T),
    /// The service refused it and would refuse it again, or its code is not listed.
    Refused(Refused),
    /// The service refused it because an earlier request may have done it: with its reference, for example.
    Done(Refused),
    /// The service refused to look at it for so long: it is locked or throttled (spec 1 §5, §8).
    Later(Duration),
    /// The service refused it as it would every other: wrong credentials, or a permission that is missing.
    Shut(Refused),
    /// It certainly never arrived.
    NotSent,
    /// It was held back, and so would be every other.
    HeldBack,
    /// It may have been executed, or may still be: no reply, an unreadable reply, or one of a service that broke down.
    InDoubt,
}

impl<T> ExchangeResult<T> {
    /// The same for a request that does nothing twice that matters.
    pub(super) fn without_done(self) -> Self {
        if let Self::Done(refused) = self { Self::Refused(refused) } else { self }
    }
}

/// Sorts the reply to a request of `M`.
pub(super) fn sort_reply<M: ApiRequest>(account: &Account, reply: http::Response<Bytes>) -> ExchangeResult<M::Output> {
    match account.reply::<M>(reply) {
        Ok(answer) => ExchangeResult::Answer(answer),
        Err(ReplyError::Unreadable(_)) => ExchangeResult::InDoubt,
        Err(ReplyError::Refused(refused)) if refused.leaves_it_open() => ExchangeResult::InDoubt,
        Err(ReplyError::Refused(refused)) if refused.says_it_was_done() => ExchangeResult::Done(refused),
        Err(ReplyError::Refused(refused)) => match refused.remedy() {
            Remedy::WaitOneMinute => ExchangeResult::Later(Duration::from_secs(60)),
            Remedy::WaitFiveMinutes => ExchangeResult::Later(Duration::from_secs(300)),
            Remedy::FixCredentials | Remedy::AskOperator => ExchangeResult::Shut(refused),
            _ => ExchangeResult::Refused(refused),
        },
    }
}

/// Sorts what came of a request of `M`; other events say nothing of it.
pub(super) fn sort_event<M: ApiRequest, I>(account: &Account, event: Event<I>) -> ExchangeResult<M::Output> {
    match event {
        Event::Reply(reply) => sort_reply::<M>(account, reply),
        Event::Failed(failure) => missed(failure),
        Event::Begin | Event::Woken | Event::Input(_) => ExchangeResult::InDoubt,
    }
}

/// Sorts the lack of a reply.
pub(super) fn missed<T>(failure: Failure) -> ExchangeResult<T> {
    match failure {
        Failure::NotSent => ExchangeResult::NotSent,
        Failure::MaybeSent => ExchangeResult::InDoubt,
        Failure::HeldBack => ExchangeResult::HeldBack,
    }
}

/// Until when to wait after `earlier` other pauses: they double from `first` to `longest`, each spread at random.
pub(super) fn pause(first: Duration, longest: Duration, earlier: u32, now: Moment, random: u64) -> Moment {
    now.after(Backoff { first, longest }.next(earlier, random))
}

/// While a reply is awaited nothing else is to be done, however long that takes.
pub(super) const UNTIL_THE_REPLY: Moment = Moment::from_millis(u64::MAX);
