//! A saved machine is resumed under whatever account the server is configured with.

use std::sync::Arc;

use pg_proto::{Account, machine::SavedState};

use super::Planted;
use crate::{conduct::ClientBehaviour, job::Job, run::Run, scenario::Disturbance};

pub(super) const PLANTED: Planted = Planted {
    name: "a saved machine is resumed under another account",
    check: "one payment an intent",
    within: 500,
    needs: Some(Disturbance::OtherAccounts),
    differs: false,
    conduct: &ResumesUnderAnotherAccount,
};

struct ResumesUnderAnotherAccount;

impl ClientBehaviour for ResumesUnderAnotherAccount {
    fn resume(&self, job: &Job, saved: &str, account: Arc<Account>, with_request: bool) -> Box<dyn Run> {
        job.resume(rebound(saved, &account).text(), account, with_request)
    }

    fn resume_elsewhere(
        &self,
        job: &Job,
        saved: &str,
        other: Arc<Account>,
        with_request: bool,
    ) -> Option<Box<dyn Run>> {
        job.try_resume(&rebound(saved, &other), other, with_request).ok()
    }
}

fn rebound(saved: &str, account: &Account) -> SavedState {
    SavedState::from_text(saved).rebind(account).expect("what was stored of a machine can be read")
}
