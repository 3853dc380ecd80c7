//! A page of a gateway on the way is taken for a refusal of the service.

use std::ops::ControlFlow;

use pg_proto::machine::Event;

use super::{Planted, twist::Twist};
use crate::{
    job::Kind,
    run::{Claim, Step},
};

pub(super) const PLANTED: Planted = Planted {
    name: "a reply that cannot be read is taken for a refusal",
    check: "claims are true",
    within: 300,
    needs: None,
    differs: false,
    conduct: &Twist { of: Kind::charges, hears: believes_a_page, ..Twist::NONE },
};

fn believes_a_page(event: Event) -> ControlFlow<Step, Event> {
    let page = matches!(&event, Event::Reply(reply) if reply.body().starts_with(b"<html>"));
    if page { ControlFlow::Break(Step::Ended(Claim::Refused { for_good: true })) } else { ControlFlow::Continue(event) }
}
