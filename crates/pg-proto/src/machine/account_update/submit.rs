//! Submits batches (spec 1 §4.8).

use bytes::Bytes;
use pg_model::{ApiRequest as _, BatchKey, BatchRequested, ErrorCode, RequestAccountUpdater, ResultCode};

use super::{
    AccountUpdate, Flight,
    batch::{Batch, Phase, told},
    key_set::print_of,
    report::{BatchEnd, UpdateEnd},
};
use crate::{
    Refused, ReplyError,
    machine::{
        Moment,
        exchange::{ExchangeResult, sort_reply, wait},
    },
};

impl AccountUpdate {
    /// Returns the request for the first batch that is ready.
    pub(super) fn submit_next(&mut self, now: Moment) -> Option<http::Request<Bytes>> {
        let batch = self.state.open.iter_mut().find(|batch| batch.phase == Phase::Ready)?;
        let submission = self.plan.request(std::mem::take(&mut batch.keys));
        let request = self.account.request_unchecked(&submission);
        batch.keys = submission.card_keys;
        // Version 3 needs no further credentials, so none can be missing.
        let request = request.ok()?;
        if batch.asked_first == Moment::default() {
            batch.asked_first = now;
        }
        (batch.phase, batch.replied) = (Phase::Sending { since: now }, None);
        self.flight = Some(Flight::Submit(batch.number));
        Some(request)
    }

    pub(super) fn sort_submission(&self, reply: http::Response<Bytes>) -> ExchangeResult<BatchRequested> {
        let service = RequestAccountUpdater::INFO.service;
        match self.account.reply_as::<BatchRequested>(service, &reply) {
            // The HTTP status of such a code may ask for a pause, as if nothing had been done.
            Err(ReplyError::Refused(refused)) if !refused.is_known() && wait(refused.remedy()).is_some() => {
                ExchangeResult::Refused(refused)
            }
            // A proxy may repeat a request without its body, and return this reply alone (assumption A141).
            Err(ReplyError::Refused(refused)) if *refused.code() == ErrorCode::NO_DATA_SENT => ExchangeResult::InDoubt,
            _ => sort_reply::<RequestAccountUpdater>(&self.account, reply).without_done(),
        }
    }

    /// Handles the result of a submission.
    pub(super) fn submitted(&mut self, number: u64, heard: ExchangeResult<BatchRequested>, now: Moment, random: u64) {
        let first_poll = now.after(self.plan.first_poll);
        let is_taken = matches!(&heard, ExchangeResult::Answer(answer) if self.is_taken(&answer.batch_key));
        let replied = self.useless.as_ref().map(|reply| reply.status);
        let Some(batch) = self.batch(number) else { return };
        batch.replied = replied;
        let Phase::Sending { since } = batch.phase else { return };
        match heard {
            ExchangeResult::Answer(answer) => {
                accept(batch, &answer, is_taken, since, now);
                batch.polls.next = first_poll;
                if batch.submitted().is_some() {
                    self.count_submitted(number);
                }
                self.reached();
            }
            // An unlisted code may mean that the batch was accepted before, or come from a proxy in place of the reply.
            ExchangeResult::Refused(refused) if !refused.is_known() => {
                batch.doubt(since, Some(&refused));
                let heard = wait(refused.remedy()).map_or(ExchangeResult::<()>::InDoubt, ExchangeResult::Later);
                self.brought_nothing(heard, now, random);
            }
            ExchangeResult::Shut(refused) if !refused.is_known() => {
                batch.doubt(since, Some(&refused));
                self.stopped = Some(UpdateEnd::Refused(refused));
            }
            ExchangeResult::Refused(refused) if concerns_all(refused.code()) => {
                batch.phase = Phase::Ready;
                self.stopped = Some(UpdateEnd::Refused(refused));
            }
            ExchangeResult::Refused(refused) => {
                batch.end_as(refused_as(&refused));
                self.reached();
            }
            ExchangeResult::InDoubt => {
                batch.doubt(since, None);
                self.brought_nothing(ExchangeResult::<()>::InDoubt, now, random);
            }
            nothing => {
                batch.phase = Phase::Ready;
                self.brought_nothing(nothing, now, random);
            }
        }
    }

    /// Whether another batch has this key: then the reply answers another request.
    fn is_taken(&self, key: &BatchKey) -> bool {
        let is_of = |batch: &Batch| batch.key() == Some(key.as_str());
        self.state.open.iter().any(is_of) || self.over.contains(print_of(key.as_str()))
    }

    pub(super) fn count_submitted(&mut self, number: u64) {
        let length = self.batch(number).map_or(0, |batch| batch.length as u64);
        self.state.counts.submitted += length;
    }
}

fn refused_as(refused: &Refused) -> BatchEnd {
    let (code, message) = told(refused);
    BatchEnd::Refused { code, message }
}

fn accept(batch: &mut Batch, answer: &BatchRequested, is_taken: bool, since: Moment, now: Moment) {
    if answer.result == ResultCode::ERROR {
        batch.end_as(BatchEnd::Refused { code: ResultCode::ERROR.to_string(), message: String::new() });
    } else if answer.batch_key.is_empty() || is_taken {
        // The service may have accepted the batch, but under an unknown key.
        batch.doubt(since, None);
    } else {
        batch.phase = Phase::Submitted { key: answer.batch_key.to_string(), since: now };
    }
}

/// Whether every batch would get this refusal: an invalid updater key or callback address.
fn concerns_all(code: &ErrorCode) -> bool {
    [ErrorCode::INVALID_ACCOUNT_UPDATER_KEY, ErrorCode::INVALID_CALLBACK_URL].contains(code)
}
