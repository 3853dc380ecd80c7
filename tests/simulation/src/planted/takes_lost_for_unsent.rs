//! A request without a reply is taken for one that never left.

use std::ops::ControlFlow;

use pg_proto::machine::{Event, Failure};

use super::{Planted, twist::Twist};

pub(super) const PLANTED: Planted = Planted {
    name: "a request that may have arrived is taken for one that never left",
    check: "claims are true",
    within: 300,
    needs: None,
    differs: false,
    conduct: &Twist { of: |_| true, hears: |event| ControlFlow::Continue(lost_is_unsent(event)), ..Twist::NONE },
};

pub(super) fn lost_is_unsent(event: Event) -> Event {
    match event {
        Event::Failed(Failure::MaybeSent) => Event::Failed(Failure::NotSent),
        other => other,
    }
}
