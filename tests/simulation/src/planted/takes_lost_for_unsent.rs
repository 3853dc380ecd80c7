//! A request without a reply is taken for one that never left.

use pg_proto::machine::{Event, Failure};

use super::Planted;
use crate::conduct::Conduct;

pub(super) const PLANTED: Planted = Planted {
    name: "a request that may have arrived is taken for one that never left",
    check: "claims are true",
    within: 300,
    conduct: &TakesLostForUnsent,
};

struct TakesLostForUnsent;

impl Conduct for TakesLostForUnsent {
    fn tells(&self, event: Event) -> Event {
        match event {
            Event::Failed(Failure::MaybeSent) => Event::Failed(Failure::NotSent),
            other => other,
        }
    }
}
