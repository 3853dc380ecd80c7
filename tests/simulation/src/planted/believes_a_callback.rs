//! What a callback says of a batch is taken over without fetching the batch.

use std::sync::Arc;

use pg_proto::machine::account_update::{BatchEnd, BatchResult};

use super::{Planted, twist::Twist};
use crate::{
    job::{Job, Kind},
    run::{OwnerEvent, Step},
};

pub(super) const PLANTED: Planted = Planted {
    name: "what a callback says is believed",
    check: "updates are what the service answered",
    within: 500,
    needs: None,
    differs: false,
    conduct: &Twist { of: |kind| kind == Kind::Update, told: takes_over, ..Twist::NONE },
};

fn takes_over(job: &Job, what: &OwnerEvent) -> Option<Step> {
    let OwnerEvent::Hint(hint) = what else { return None };
    let claimed = hint.claimed();
    let ours = |entry: &&pg_model::UpdatedCard| job.source.contains(&entry.old_card_key);
    let mut result = BatchResult::new(1_000, BatchEnd::Finished);
    result.batch_key = Some(claimed.batch_key.clone());
    result.entries = claimed.card_key_details.iter().filter(ours).cloned().collect();
    Some(Step::Take(Arc::new(result)))
}
