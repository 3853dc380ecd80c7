//! A store that other processes write to as well.

use bytes::Bytes;
use http::Response;

use super::Sandbox;
use crate::{inbound::Inbound, store::StoreError, timestamp::Timestamp};

/// How often a request is tried whose transaction was undone by a conflict or a lost connection.
const ATTEMPTS: u32 = 8;

impl Sandbox {
    /// Forgets what other processes may have changed: the clock and the faults are read again, and the schedule asks again
    /// what is due.
    pub(super) fn learn_from_others(&mut self) -> Result<(), StoreError> {
        self.clock = self.stored_clock()?;
        self.faults = self.stored_faults()?;
        self.schedule.look_again();
        Ok(())
    }

    /// Answers the requests of a group that was undone, each in a transaction of its own.
    pub(super) fn one_by_one(&mut self, real_now: Timestamp, requests: &mut Vec<Inbound>) -> Vec<Response<Bytes>> {
        let mut responses = Vec::with_capacity(requests.len());
        for request in std::mem::take(requests) {
            let mut alone = vec![request];
            responses.append(&mut self.tried_again(real_now, &mut alone));
            requests.append(&mut alone);
        }
        responses
    }

    fn tried_again(&mut self, real_now: Timestamp, alone: &mut Vec<Inbound>) -> Vec<Response<Bytes>> {
        let journaled = self.journal.last();
        let mut left = ATTEMPTS;
        loop {
            let error = match self.try_group(real_now, alone, &mut |_| {}) {
                Ok(responses) => {
                    self.cv2.settle();
                    return responses;
                }
                Err(error) => error,
            };
            let again = self.store.may_try_again();
            self.forget_group(journaled);
            left -= 1;
            if !again || left == 0 {
                return alone.iter().map(|request| self.failure(real_now, request, &error)).collect();
            }
        }
    }
}
