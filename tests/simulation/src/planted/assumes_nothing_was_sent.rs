//! After a crash everything begins anew.

use std::sync::Arc;

use pg_proto::Account;

use super::Planted;
use crate::{conduct::ClientBehaviour, job::Job, run::Run};

pub(super) const PLANTED: Planted = Planted {
    name: "a machine is resumed as if nothing had been sent",
    check: "claims are true",
    within: 300,
    needs: None,
    differs: false,
    conduct: &AssumesNothingWasSent,
};

struct AssumesNothingWasSent;

impl ClientBehaviour for AssumesNothingWasSent {
    fn resume(&self, job: &Job, _: &str, account: Arc<Account>, _: bool) -> Box<dyn Run> {
        job.begin(account)
    }
}
