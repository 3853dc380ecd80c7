//! What became of one request, sorted the way machines decide.

use std::time::Duration;

use bytes::Bytes;
use pg_model::{Method, Remedy, dialect::NothingFound};

use super::{Event, Failure, Moment, Pauses};
use crate::{Account, Refused, ReplyError};

/// What is known after a request.
pub(super) enum Heard<T> {
    /// It was answered, and the answer names no error.
    Answer(T),
    /// The service refused it and would refuse it again, or nobody knows its code.
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
    /// It may have been executed, or may still be: no reply, none that can be read, or one of a service that broke down.
    InDoubt,
}

impl<T> Heard<T> {
    /// The same for a request that does nothing twice that matters.
    pub(super) fn without_done(self) -> Self {
        if let Self::Done(refused) = self { Self::Refused(refused) } else { self }
    }
}

/// Sorts the reply to a request of `M`.
pub(super) fn hear<M: Method>(account: &Account, reply: http::Response<Bytes>) -> Heard<M::Output> {
    match account.reply::<M>(reply) {
        Ok(answer) => Heard::Answer(answer),
        Err(ReplyError::Unreadable(_)) => Heard::InDoubt,
        Err(ReplyError::Refused(refused)) if refused.leaves_it_open() => Heard::InDoubt,
        Err(ReplyError::Refused(refused)) if refused.says_it_was_done() => Heard::Done(refused),
        Err(ReplyError::Refused(refused)) => match refused.remedy() {
            Remedy::WaitOneMinute => Heard::Later(Duration::from_secs(60)),
            Remedy::WaitFiveMinutes => Heard::Later(Duration::from_secs(300)),
            Remedy::FixCredentials | Remedy::AskOperator => Heard::Shut(refused),
            _ => Heard::Refused(refused),
        },
    }
}

/// Sorts what came of a request of `M`; other events say nothing of it.
pub(super) fn heard<M: Method, I>(account: &Account, event: Event<I>) -> Heard<M::Output> {
    match event {
        Event::Reply(reply) => hear::<M>(account, reply),
        Event::Failed(failure) => missed(failure),
        Event::Begin | Event::Woken | Event::Input(_) => Heard::InDoubt,
    }
}

/// Whether the HTTP status of a lookup's reply is this service's way to say that it found nothing.
pub(super) fn says_not_found(account: &Account, reply: &http::Response<Bytes>) -> bool {
    reply.status() == http::StatusCode::NOT_FOUND && account.dialect().lookup.nothing == Some(NothingFound::NotFound)
}

/// Sorts the lack of a reply.
pub(super) fn missed<T>(failure: Failure) -> Heard<T> {
    match failure {
        Failure::NotSent => Heard::NotSent,
        Failure::MaybeSent => Heard::InDoubt,
        Failure::HeldBack => Heard::HeldBack,
    }
}

/// Until when to wait after `earlier` other pauses: they double from `first` to `longest`, each spread at random.
pub(super) fn pause(first: Duration, longest: Duration, earlier: u32, now: Moment, random: u64) -> Moment {
    now.after(Pauses { first, longest }.next(earlier, random))
}

/// While a reply is awaited nothing else is to be done, however long that takes.
pub(super) const UNTIL_THE_REPLY: Moment = Moment::from_millis(u64::MAX);
